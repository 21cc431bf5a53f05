// Package skill plans a judged call as phases of motion and plays a cleared plan setpoint by setpoint.
//
// The Planner is what the gate asks: it lends kinematics to one judgement, remembers what they solved, and makes the
// plan from it, so that gate and skill cannot disagree. It never decides whether a miss is small enough; that is a
// condition of the contract. It refuses only where there is no plan at all: UNREACHABLE, NO_SUCH_OBJECT, STALE_FACT, and
// PATH_BLOCKED where the planned path would meet the table, a keep-out or the arm itself.
//
// A Player exists only for a gate.Cleared. It says where the joints should be at a time since the start and that the
// motion has ended, exactly where the plan ends. The package must never say whether a motion worked, never touch a
// driver and never read a clock; expiry, the stop and waiting are the shell's.
//
// A verb may be played by a Source from outside, such as a learned policy: the plan is then the way to where it starts, and
// a bound on what follows. The one place that knows the machine's time is there: how long a tick waits for its answer. A
// source is asked by a goroutine of its own, is never trusted, and never makes the caller wait for more than that.
package skill
