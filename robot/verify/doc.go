// Package verify says whether a motion did what its capability promises: it evaluates the postconditions (`ensures`) on
// readings taken after the motion, and the invariants on every tick of it.
//
// A Watch is given a snapshot every robot tick once the motion has ended. It succeeds only when every postcondition is
// true at once and has been for its hold time, on readings of different times; it fails when one was measured false
// when its time was up; everything else is unverified. There is no "probably": what is missing, stale, older than the
// motion, closer to the bound than its error allows, or cannot be evaluated is unknown, and unknown never succeeds.
//
// The package must never read a clock, the last command, a prediction or the model's words, and it must share no code
// with the judge of the evaluation.
package verify
