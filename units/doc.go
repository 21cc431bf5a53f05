// Package units holds the quantities every room shares and the only conversions between their units.
//
// Inside Interlock every number is SI: metres, radians, seconds, newtons, kilograms, in the contract's base frame
// unless a name says otherwise. A name that crosses a boundary ends in its unit (x_cm, miss_mm, speed_mps); the
// functions here are the one place where such a number becomes SI or stops being it.
//
// The package must never read a clock: an Instant is handed in by whoever owns one.
package units
