// Package llmtest is the suite that every provider with a wire passes: a real client against fake servers that misbehave
// as real ones do.
//
// A fake speaks a Dialect: it writes what a server of that kind writes, and each misbehaviour in it was reported of a real
// server. The suite asks for what a provider owes to its caller (bytes as they came, stop reasons only from a terminal
// event, calls as a claim, faults as data, keys nowhere); it never asks for a particular text of a message.
package llmtest
