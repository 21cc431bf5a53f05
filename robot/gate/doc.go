// Package gate decides whether a call may run now: from the call, the contract and the measured world, and from
// nothing else. It must never guess, clamp, repair meaning or ask a model, and it never moves anything.
//
// Judge works through stages, cheap first, and reports all faults of the first stage that has any:
//
//	1 strict decode                 4 shape and limits                  7 licence
//	2 known, permitted, in scope    5 conditions that only compare      8 approval
//	3 stop, busy                    6 conditions that need kinematics, and the plan
//
// What cannot be decided is refused: a fact that is missing or stale by STALE_FACT, anything else that leaves a
// condition open by CONDITION. A soft condition (on_false: ask) that is undecided is refused like a hard one; only one
// that is known to be false is a person's to allow, and waits for stage 8. Where the contract hides bounds, no refusal
// carries a limit.
//
// A motion starts only from a Cleared, which only Judge makes and whose zero value means "do not move". It carries the
// plan, so that gate and skill cannot disagree and the kinematics are solved once.
package gate
