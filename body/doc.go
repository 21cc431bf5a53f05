// Package body is the line between the robot and its hardware: the Driver interface, the observations a driver
// returns, and the Truth port that only simulated drivers have.
//
// A driver moves and reports what its sensors read; it never judges whether a task worked. What was sent, what was
// applied and what was observed are three facts and stay apart. A driver never clips in silence: Send returns what was
// really sent. Every driver is opened through body/guard, which owns the stop latch, expiry, silence and limits.
package body
