// Package guard stands between the robot and any driver: one implementation, for all bodies, of the stop latch and its
// number, of expiry and silence, and of the limits that every setpoint must keep.
//
// A Guard is itself a body.Stepper. It plays each setpoint as a straight line in joint space, one point per driver
// step, and owns the way motion ends: on a stop, a halt, an expired setpoint or silence the commanded velocity falls to
// zero along the path within RampTime and the position is held with torque on; the jaw keeps its own command, so what
// is gripped stays gripped. The order of a step: read the latch, judge the hazards, move the command, send it, step the
// body, count time.
//
// Where a geometry is given, the line of every setpoint is held against the table, the keep-outs and the arm itself, with
// the room that the arm needs to stop at its end, and so is every step of a ramp. This is for senders whose paths no gate
// has swept; what a gate has swept passes. It judges commands: a servo that is thrown to and fro at its limits lags behind
// them, and cuts corners that nobody commanded.
//
// It never clips: a setpoint that breaks a limit is refused whole and moves nothing. It never revives: each motion
// carries the stop's number, and a reset only permits what is sent after it with the new number. It never tells
// standstill from its own command: that is the body's measurement. It never judges whether a task worked.
//
// Time moves by Advance, or by Run with the monotonic clock, in which case the guard may own a lease (only its holder's
// setpoints are followed, and only its holder is heard), and may guard a body with a clock of its own, which is talked to
// without holding the lock: a body that hangs hangs nobody. The latch file is written by a goroutine of Run beside all
// of this; only the beginning of a motion waits for the disk, since after a crash the next process must know of it.
//
// Stop is accepted in every state, before Open too, from any goroutine, and never waits for the body. It is a latched
// software stop, not an emergency stop in the sense of ISO 13850.
package guard
