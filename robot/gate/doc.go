// Package gate decides whether a call may run now: from the call, the contract and the measured world, and from
// nothing else. It never guesses, clamps, repairs meaning or asks a model, and it never moves anything.
//
// Judge works through stages, cheap first, and reports all faults of the first stage that has any:
//
//	1 strict decode            4 shape and limits                  7 licence
//	2 known, permitted         5 conditions that only compare      8 approval
//	3 stop, lease, busy        6 conditions that need kinematics, and the plan
//
// A motion starts only from a Cleared, which only Judge makes and whose zero value means "do not move". It carries the
// plan, so that gate and skill cannot disagree and the kinematics are solved once.
package gate
