// Package openai talks to a model behind a server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio and
// many more.
//
// A streamed tool call arrives in pieces that are put together by index and id: a new id on a used index is a new call, and
// a name that is sent again is not appended. A stream without a finish reason was dropped, whatever it holds. Calls are
// asked for one at a time, since a robot makes one motion at a time.
//
// It must never parse, complete or repair what a model wrote, and never report a stop reason that no terminal event said.
package openai
