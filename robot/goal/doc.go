// Package goal decides what became of a request: the goal fixed before the first call, measured; the licence to touch
// objects that the goal implies; what else was moved; and the task, as a state machine without a clock.
//
// A task is done only if a goal was fixed when it was opened and was then measured true, whatever anybody claims. Its
// words, provenance, goal, licence and budgets are frozen and hashed at the opening; afterwards conjuncts may be added to
// the goal, never taken away or changed. A task without a goal runs, and ends unverified.
//
// The package must never read a clock, the brain's words or a prediction as evidence.
package goal
