// Package ollama talks to a model behind Ollama's /api/chat.
//
// The best way to ask is a constrained one: the tools stand in the messages, the schema of one call goes into "format",
// and the content is read by who asked. With Native the tools go through the wire's own field; then whatever the server
// makes of the model's text is a claim to be checked, since its parser has been seen to take a tool's name out of the
// middle of a word. Calls are kept in the order in which they came; their index is not looked at.
//
// It must never parse, complete or merge what a model wrote, and never report a stop reason that no terminal event said.
package ollama
