package sim

import (
	"math"
	"math/rand/v2"
	"slices"

	"interlock/body"
	"interlock/units"
)

// faults is what the configured faults are doing now.
type faults struct {
	armed        []armedFault
	stuck        [NumJoints]bool
	encoderError [NumJoints]float64
}

// armedFault is one fault with its place in the run.
type armedFault struct {
	Fault
	object, joint int
	phase         phase
	triggered     int64        // step of the trigger
	frozen        body.Reading // what a frozen sensor keeps telling
	hasFrozen     bool
}

type phase uint8

const (
	waiting  phase = iota // for its trigger
	counting              // After runs
	acting
	over
)

// heldEffort is the jaw torque, N·m, from which a cube between the jaws counts as held. A weak grip may be weaker.
const heldEffort = 0.3

func newFaults(c *Config) faults {
	f := faults{armed: make([]armedFault, len(c.Faults))}
	for i, fault := range c.Faults {
		object, _ := c.indexOf(fault.Object)
		f.armed[i] = armedFault{Fault: fault, object: object, joint: jointNumber(fault.Joint)}
	}
	return f
}

// act moves every fault on by one step, before the world's.
func (f *faults) act(w *World) {
	for i := range f.armed {
		a := &f.armed[i]
		if a.phase == waiting && a.fires(w) {
			a.phase, a.triggered = counting, w.steps
		}
		since := (w.steps - a.triggered) * int64(Step)
		if a.phase == counting && since >= int64(a.After) {
			a.phase = acting
			f.begin(a, w)
		}
		if a.phase == acting && a.For > 0 && since >= int64(a.After+a.For) {
			a.phase = over
			f.end(a, w)
		}
	}
}

// fires reports whether the trigger is met now.
func (a *armedFault) fires(w *World) bool {
	switch a.When {
	case WhenNear:
		return w.tip().sub(w.cubes[a.object].at).norm() < a.NearM
	case WhenHeld:
		for i := range w.cubes[:w.numCubes] {
			if (a.object < 0 || a.object == i) && w.held(i) {
				return true
			}
		}
		return false
	case WhenAt:
	}
	return true
}

// held reports whether both jaws press cube i and the jaw's servo pushes to close.
func (w *World) held(i int) bool {
	return w.cubes[i].jaws == fixedJawBit|movingJawBit && w.effort[jaw] < -heldEffort
}

// begin changes the state for a fault of the world or the body; sensor faults act in report.
func (f *faults) begin(a *armedFault, w *World) {
	switch a.Kind {
	case SlipAfterGrasp:
		w.jawMu = a.Amount
	case ObjectMoved:
		w.teleport(a.object, fromVec3(a.Vector), w.cubes[a.object].turnQ)
	case Knocked:
		w.cubes[a.object].push = fromVec3(a.Vector)
	case WeakGrip:
		w.effortMax[jaw] = a.Amount
	case StuckGripper:
		f.stuck[jaw] = true
	case TrackingError:
		w.misread[a.joint] = a.Amount
	case EncoderError:
		w.misread[a.joint], f.encoderError[a.joint] = a.Amount, a.Amount
	case HeavyObject:
		w.cubes[a.object].massKg = a.Amount
		w.cubes[a.object].calm = 0
	case FrozenTime, FrozenValue, Replayed, Stale, NotANumber, Biased, Swapped, Dropped, UnitScaled:
	}
}

// end undoes begin, as far as the world can be undone: what was moved stays where it is.
func (f *faults) end(a *armedFault, w *World) {
	switch a.Kind {
	case SlipAfterGrasp:
		w.jawMu = friction
	case Knocked:
		w.cubes[a.object].push = vec{}
	case WeakGrip:
		w.effortMax[jaw] = maxEffortNm
	case StuckGripper:
		f.stuck[jaw] = false
	case TrackingError:
		w.misread[a.joint] = 0
	case EncoderError:
		w.misread[a.joint], f.encoderError[a.joint] = 0, 0
	case ObjectMoved, HeavyObject, FrozenTime, FrozenValue, Replayed, Stale, NotANumber, Biased, Swapped, Dropped, UnitScaled:
	}
}

// report changes the readings as the acting sensor faults say, in the order of the configuration.
func (f *faults) report(rs []body.Reading, now units.Instant, random *rand.Rand) []body.Reading {
	for i := range f.armed {
		a := &f.armed[i]
		if a.phase != acting || a.Fact == "" {
			continue
		}
		k := slices.IndexFunc(rs, func(r body.Reading) bool { return r.Fact == a.Fact })
		if k < 0 {
			continue
		}
		if a.Kind == Dropped {
			if random.Float64() < a.Amount {
				rs = slices.Delete(rs, k, k+1)
			}
			continue
		}
		a.distort(&rs[k], now)
	}
	return rs
}

// distort changes one reading.
func (a *armedFault) distort(r *body.Reading, now units.Instant) {
	if !a.hasFrozen {
		a.frozen, a.hasFrozen = *r, true
		a.frozen.Objects = slices.Clone(r.Objects)
	}
	switch a.Kind {
	case FrozenTime:
		r.At = a.frozen.At
	case FrozenValue:
		at := r.At
		*r = a.frozen
		r.At, r.Objects = at, slices.Clone(a.frozen.Objects)
	case Replayed:
		*r = a.frozen
		r.Objects = slices.Clone(a.frozen.Objects)
	case Stale:
		r.At = now - units.Instant(math.Round(a.Amount*1e9))
	case NotANumber:
		scaleReading(r, math.NaN())
	case Biased:
		shiftReading(r, a.Amount, a.Vector)
	case UnitScaled:
		scaleReading(r, a.Amount)
	case Swapped:
		swapLabels(r.Objects, a.Object, a.Other)
	case Dropped, SlipAfterGrasp, ObjectMoved, Knocked, WeakGrip, StuckGripper, TrackingError, EncoderError, HeavyObject:
	}
}

func scaleReading(r *body.Reading, by float64) {
	r.Number *= by
	r.Point = r.Point.Scale(by)
	for i := range r.Objects {
		r.Objects[i].Pose.Position = r.Objects[i].Pose.Position.Scale(by)
	}
}

func shiftReading(r *body.Reading, by float64, vector units.Vec3) {
	r.Number += by
	if r.Kind == body.Point {
		r.Point = r.Point.Add(vector)
	}
	for i := range r.Objects {
		r.Objects[i].Pose.Position = r.Objects[i].Pose.Position.Add(vector)
	}
}

func swapLabels(objects []body.SeenObject, a, b string) {
	for i := range objects {
		switch objects[i].Label {
		case a:
			objects[i].Label = b
		case b:
			objects[i].Label = a
		}
	}
}
