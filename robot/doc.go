// Package robot is the shell around the pure rooms: it owns the one goroutine, the pacer and the open driver. Requests
// come in over a channel, ticks come from the pacer; everything that decides is a pure room that gets the time handed
// in (gate, mission, verify, goal), and everything that moves goes through skill and the guarded driver.
//
// Per tick, in this order: send the next setpoint, let time pass, observe, tell the mission, check the invariants,
// verify. Effects of a step are carried out in the order mission owes them: halt, record, move, wake, reply. While a
// mission moves, a few requests are heard per tick; while a goal is measured, nothing begins.
//
// The robot's own time is the driver's clock as last read plus what was paced since; a driver counts as alive only while
// the source of some reading tells a newer time. A stop that came after a task was opened ends the task. Asked to end,
// the robot halts, waits for standstill within the time a stop has, and only then closes the body.
//
// What moves is on record before it moves. What happened while nothing could be written is told all the same, and written
// down under the number it was told by as soon as that is possible, in its order.
//
// The package must never judge a condition itself, invent a reading, or let anything but a Cleared move the body. It
// has no method that resets a stop.
package robot
