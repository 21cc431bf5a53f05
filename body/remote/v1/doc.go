// Package driverv1 holds the messages and Connect stubs of driver.proto: what a robot, a person and an evaluation say to
// the process beside the hardware.
//
// The Go code is generated (`go generate ./body/remote/v1`) and committed; a check regenerates and compares it. Nothing
// is added here by hand: a message carries, it never decides.
package driverv1

//go:generate go run ../gen
