// Package world is what is known: measured facts, predictions kept apart from them, and the records that verification
// leaves behind.
//
// A Fact comes from a witness (a sensor of a driver), with the time of its source, an error and an age. A Belief is a
// prediction (a twin, a plan); nothing here or elsewhere turns one into a Fact. The package must never read a clock,
// judge a condition or touch a driver.
package world
