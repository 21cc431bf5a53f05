// Package bodytest is the conformance suite of body drivers: a new body is done when Run passes on it, inside
// body/guard.
//
// It moves the first joint by a few hundredths of a radian and needs nothing else of the body than the interface; it
// must never look behind it or wait on a clock: time is what Advance makes of it. Each check is a function that returns
// an error, so that a test can show that it fails on a broken body.
package bodytest
