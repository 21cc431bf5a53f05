// Package scripted holds personas: small programs that stand in for a language model, each with one habit that models
// were seen to have.
//
// A persona sees what a model sees (the request's words, tool specs, results) and answers in raw text like a model, some
// of it fenced or with a trailing comma. It is a pure function of the conversation: the same messages give the same
// reply. It must never read anything else; TruthReader alone is handed an answer from outside, and says so.
package scripted
