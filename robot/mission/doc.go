// Package mission is one motion as a state machine without a clock: Step(state, event) → (state, effects).
//
//	accepted → running → verifying → succeeded | failed | unverified
//	accepted | running | verifying → cancelling → cancelled | failed | aborted | interrupted
//
// All ends are final; to go on, a new mission is needed. Every way that ends a motion early goes through cancelling:
// the body is halted at once, and the last word waits until standstill was measured over a window that began after the
// halt. If that does not happen in time the word is aborted(stop_unconfirmed), whatever was asked for, and the stop
// latch is requested. The only exception is interrupted(restart), which is said at once and says nothing about standstill.
//
// Effects are owed in this order: halt (with a latch it asks for), record, move (play, play back, verify), wake, reply.
// A Record must be durable before the effects after it happen. One step never owes both a halt and a move.
//
// What cannot happen latches: an unknown event, an event that its state excludes, time or stop numbers that run
// backwards. What can happen late or twice (the end of a motion that was cancelled, a verdict nobody waits for any
// more) changes nothing.
//
// The package must never read a clock, start a goroutine or do I/O; it must never believe a command instead of a
// measurement.
package mission
