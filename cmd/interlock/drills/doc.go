// Package drills kills, freezes, floods and fights real processes while an arm moves, and reads from the plant's truth, on
// the plant's own clock, whether it stood still. Its tests build the command once and start it as a user would.
//
// A run under `go test` is short; INTERLOCK_DRILLS=N makes every drill N kills long, and INTERLOCK_DRILLS_TELL=FILE adds
// what they found to a file; `make drills` does both. A drill must never depend on being fast: it waits for what happens,
// makes anew what a busy machine spoilt, and lets a bound grow by what the machine was late meanwhile. The package must
// leave no process behind and must never end one that it did not start.
package drills
