package sim

import (
	"math/bits"

	"interlock/body"
	"interlock/units"
)

// Truth returns the port to what is really so. It is for evaluation only: the robot's verifier never holds it.
func (d *Driver) Truth() body.Truth { return truth{d} }

// truth reads the state of one driver, whatever its sensors report.
type truth struct{ d *Driver }

func (t truth) lock() func() {
	t.d.mu.Lock()
	return t.d.mu.Unlock
}

// TipInBase implements body.Truth.
func (t truth) TipInBase() units.Vec3 {
	defer t.lock()()
	return t.d.world.tip().vec3()
}

// TableForceN implements body.Truth.
func (t truth) TableForceN() float64 {
	defer t.lock()()
	return t.d.world.tableN
}

// PeakTableForceN implements body.Truth: the largest of every step of the body's life.
func (t truth) PeakTableForceN() float64 {
	defer t.lock()()
	return t.d.world.peakTableN
}

// Object implements body.Truth.
func (t truth) Object(label string) (body.TrueObject, bool) {
	defer t.lock()()
	for i := range t.d.cfg.Objects {
		if t.d.cfg.Objects[i].Label == label {
			return t.d.world.trueObject(i), true
		}
	}
	return body.TrueObject{}, false
}

// Labels implements body.Truth.
func (t truth) Labels() []string {
	labels := make([]string, len(t.d.cfg.Objects))
	for i := range labels {
		labels[i] = t.d.cfg.Objects[i].Label
	}
	return labels
}

// Now implements body.Truth.
func (t truth) Now() units.Instant {
	defer t.lock()()
	return t.d.now()
}

func (w *World) trueObject(i int) body.TrueObject {
	c := &w.cubes[i]
	e := 2 * c.half
	return body.TrueObject{
		Pose:       units.Pose{Position: c.at.vec3(), Orientation: c.turnQ},
		SizeM:      units.Vec3{e, e, e},
		BottomM:    c.bottom(),
		SpeedMPS:   c.lastMove,
		JawsTouch:  bits.OnesCount8(c.jaws),
		RobotForce: c.robotN,
	}
}
