// Package inproc joins a brain and a robot that live in one process. It is what the demo, the tests and the evaluation
// use, and it behaves like a wire: every request, reply and event is copied through its bytes, so neither side can
// hold, or change, a message of the other.
//
// It must never decide, retry, or invent an answer, and it starts no goroutine: a call runs in its caller's.
package inproc
