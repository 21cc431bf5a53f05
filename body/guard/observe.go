package guard

import (
	"fmt"
	"math"
	"time"

	"interlock/body"
	"interlock/units"
)

// Observe implements body.Driver; it is also the robot's sign of life. A reading that is not finite is withheld and
// latches a stop, as does a body whose time runs back or that does not answer.
func (g *Guard) Observe() (body.Observation, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open {
		g.heard, g.asleep = g.now, false
	}
	return g.observe()
}

func (g *Guard) observe() (body.Observation, error) {
	if !g.open {
		return body.Observation{}, body.ErrNotOpen
	}
	o, err := g.read()
	if err != nil {
		return body.Observation{}, err
	}
	g.settle()
	o.Latch, o.Applied = g.latch.read(), g.applied
	o.Holding = g.holding(o.Latch)
	o.GoalRad = append([]float64(nil), g.command...)
	if g.fault >= 0 {
		o.Health.FaultCode = ladder[g.fault].code
	}
	o.Health.MotionAllowed = o.Health.MotionAllowed && !o.Latch.Stopped
	return o, nil
}

// read reads a body on virtual time now, and of one with its own clock what was last read.
func (g *Guard) read() (body.Observation, error) {
	if g.stepper == nil {
		return g.readLive(), nil
	}
	o, err := g.inner.Observe()
	if err != nil {
		g.fail(hazardDriverLost, err.Error())
		return body.Observation{}, err
	}
	g.examine(&o)
	shift(&o, g.offset)
	return o, nil
}

// examine holds an observation against the last one.
func (g *Guard) examine(o *body.Observation) {
	if o.At.Before(g.lastAt) {
		g.fail(hazardTimeBack, "the body's time ran back")
		o.At = g.lastAt
	}
	g.lastAt = o.At
	g.withhold(o)
	g.watchFound(o)
}

// foundRad is how far a joint of a body that was told nothing may come, radians: an arm that takes up its load sags by less.
const foundRad = 0.1

// watchFound latches a stop where a body moves before anything was sent to it: nobody here knows that motion, and none is taken
// over. After a person's reset where it is then is where it is.
func (g *Guard) watchFound(o *body.Observation) {
	switch {
	case g.sent:
		return
	case g.latch.read().Stopped || len(g.found) != len(o.JointsRad):
		g.found = append(g.found[:0], o.JointsRad...)
		return
	}
	for i, q := range o.JointsRad {
		if !(math.Abs(q-g.found[i]) <= foundRad) {
			g.fail(hazardUnasked, fmt.Sprintf("%s moved by %.2f rad before anything was sent", g.joints[i].Name, q-g.found[i]))
			return
		}
	}
}

// shift puts an observation from the body's clock on the guard's.
func shift(o *body.Observation, by time.Duration) {
	o.At = o.At.Add(by)
	for i := range o.Readings {
		o.Readings[i].At = o.Readings[i].At.Add(by)
	}
}

// settle forgets a fault once a person reset its stop; the cause, if it is still there, latches anew.
func (g *Guard) settle() {
	if g.fault >= 0 && !g.latch.read().Stopped {
		g.fault = -1
	}
}

// holding is why the body does not follow setpoints.
func (g *Guard) holding(l body.Latch) body.HoldReason {
	switch {
	case l.Stopped:
		return body.HoldStopped
	case g.halts.Load() != g.halted:
		return body.HoldHalted
	case g.hold < 0:
		return body.HoldNone
	case ladder[g.hold].reason == body.HoldStopped: // reset since: it stands, but nothing is stopped any more
		return body.HoldHalted
	}
	return ladder[g.hold].reason
}

// withhold takes out of an observation what is not finite, and latches a stop for it.
func (g *Guard) withhold(o *body.Observation) {
	kept := o.Readings[:0]
	for _, r := range o.Readings {
		if finite(&r) {
			kept = append(kept, r)
			continue
		}
		g.fail(hazardNotFinite, fmt.Sprintf("the reading of %s by %s is not finite", r.Fact, r.Witness))
	}
	o.Readings = kept
	if !units.Finite(o.JointsRad...) {
		g.fail(hazardNotFinite, "a joint's position is not finite")
		o.JointsRad = nil
	}
}

func finite(r *body.Reading) bool {
	ok := units.Finite(r.Number, r.Sigma) && r.Point.Finite()
	for i := range r.Objects {
		p, q := &r.Objects[i].Pose, r.Objects[i].Pose.Orientation
		ok = ok && p.Position.Finite() && r.Objects[i].SizeM.Finite() && units.Finite(q[0], q[1], q[2], q[3])
	}
	return ok && !math.IsNaN(r.Sigma)
}
