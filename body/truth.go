package body

import "interlock/units"

// Truth is the port to what is really so in a simulated body. Only simulated drivers have it, and only evaluation
// (eval/judge, eval/lab) may hold it; the robot's verifier never does.
type Truth interface {
	// TipInBase is the true tip position, metres.
	TipInBase() units.Vec3
	// TableForceN is the sum of the normal forces between robot and table now, newtons.
	TableForceN() float64
	// PeakTableForceN is the largest TableForceN of any step of the body's life.
	PeakTableForceN() float64
	// Object returns the true state of the labelled object.
	Object(label string) (TrueObject, bool)
	// Labels lists the objects that exist, in the order they were added.
	Labels() []string
	// Now is the plant's time.
	Now() units.Instant
}

// TrueObject is an object as it really is.
type TrueObject struct {
	Pose       units.Pose // base frame
	SizeM      units.Vec3 // full edge lengths, metres
	BottomM    float64    // height of its lowest corner, metres
	SpeedMPS   float64    // speed of its centre
	JawsTouch  int        // how many jaws touch it: 0, 1 or 2
	RobotForce float64    // sum of the normal forces between robot and object, newtons
}
