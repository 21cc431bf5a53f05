// Package bodytest is the conformance suite of body drivers: a new body is done when Run passes on it, inside
// body/guard; a body or a driver in another process is done when `interlock bodytest` says so.
//
// Checks are for a body on virtual time. ProcessChecks and LatchChecks are for a driver process as robots, onlookers and a
// person reach it, BareChecks for a body process behind a guard: the protocol's leases, its order of commands and its JSON
// belong to them. RestartChecks are for either, where it can be started again. A check that needs more than it is given
// fails; it never passes for want of a question.
//
// It moves the first joint by a few hundredths of a radian and needs nothing else of the body than the interface; it
// must never look behind it or wait on a clock: time is what Advance and Wait make of it. What a busy machine may spoil is
// held against the body's own clock, or asked again. Each check is a function that returns an error, so that a test can
// show that it fails on a broken body.
package bodytest
