// Package drills kills and freezes real processes while an arm moves, and reads from the plant's truth whether it stood
// still. Its tests build the command once and start it as a user would.
//
// A run under `go test` is short; INTERLOCK_DRILLS=N makes every drill N kills long. The package must leave no process
// behind and must never end one that it did not start.
package drills
