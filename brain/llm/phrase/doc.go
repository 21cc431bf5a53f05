// Package phrase is a provider with no model behind it: it reads a small English of moving, picking, putting, looking and
// gestures, calls the tools the words ask for, and reports what was measured. It is what a conversation uses when nothing
// is installed.
//
// The grammar takes an utterance whole or not at all. A number without its unit, a negation, a relation or any word left
// over makes no call: the answer is prose that says what it can read. It must never guess a unit, a name or a verb,
// report what was not in a result, or share its reading of words with what decides whether a request was fulfilled.
package phrase
