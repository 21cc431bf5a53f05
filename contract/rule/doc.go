// Package rule compiles and evaluates the conditions of a contract: CEL over measured facts, with units and frames
// checked from names and declarations, and with an unknown wherever nothing fresh was measured.
//
// It knows the contract's words (a Vocabulary) and nothing about files: its complaints carry a place in the condition's
// own text, and package contract says where in the file that is. Order of work: parse and type (typing.go), expand
// predicates and plan (compile.go), evaluate (condition.go) and, when a condition is not true, find why (cause.go).
//
// The package must never read a clock, keep state between evaluations, or take a number without knowing its unit. Other
// rooms use it through package contract.
package rule
