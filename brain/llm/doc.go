// Package llm declares what a language model is to an agent: a conversation in, the model's bytes out.
//
// A provider keeps the bytes as the model wrote them, with the stop reason as the provider's wire says it. It must never
// parse, repair, trim or complete them, and never invent a stop reason: what no terminal event confirmed is reported as
// an empty one.
package llm
