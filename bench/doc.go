// Package bench holds the work that the promises about speed are measured on: a model's raw text read, judged and
// answered, and the postconditions of a motion watched for one tick. `go test -bench` and `interlock bench decide` time
// the very same cases.
//
// Each case checks its own answer every time it is run, so that no number stands for a decision that was not made. The
// package must never decide anything itself and nothing in a robot may import it.
package bench
