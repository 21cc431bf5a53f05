// Package robot is the shell around the pure rooms: it owns the one goroutine, the pacer and the open driver. Requests
// come in over a channel, ticks come from the pacer; everything that decides is a pure room that gets the time handed
// in (gate, mission, verify, goal), and everything that moves goes through skill and the guarded driver.
//
// Per tick, in this order: send the next setpoint, let time pass, observe, tell the mission, check the invariants,
// verify. Effects of a step are carried out in the order mission owes them: halt, record, move, wake, reply.
//
// The package must never judge a condition itself, invent a reading, or let anything but a Cleared move the body. It
// has no method that resets a stop.
package robot
