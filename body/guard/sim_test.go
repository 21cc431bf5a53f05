package guard_test

import (
	"math"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/units"
)

// The straight-down grasp of a cube at (22, 3) cm, as joint angles: above, at the cube, closed.
func aboveRad() []float64 {
	return []float64{-0.099817, -0.094230, 0.074043, 1.590983, 1.570796, 0.6}
}
func graspRad() []float64 {
	return []float64{-0.099817, 0.013114, 0.457766, 1.099916, 1.570796, 0.6}
}
func shutRad() []float64 {
	q := graspRad()
	q[5] = -0.17
	return q
}

// guardedSim is an open simulated arm in a guard, with a cube at (22, 3) cm.
func guardedSim(t testing.TB, faults ...sim.Fault) (*guard.Guard, body.Truth) {
	t.Helper()
	cfg := sim.DefaultConfig()
	cfg.Objects = []sim.Object{{Label: "red cube", Position: units.Vec3{0.22, 0.03, 0.015}}}
	cfg.Faults = faults
	inner, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(inner, guard.Config{
		Ceiling: guard.Limits{TipSpeedMPS: 1, JointSpeedRadS: 4.71},
		Tip:     func(q []float64) units.Vec3 { return sim.TipInBase([sim.NumJoints]float64(q)) },
	})
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	return g, inner.Truth()
}

const tick = 20 * time.Millisecond

// glide plays a minimum-jerk motion as a robot does: a setpoint and an observation per tick. It returns the error of
// the first refusal.
func glide(t testing.TB, g *guard.Guard, to []float64, over time.Duration) error {
	t.Helper()
	o, err := g.Observe()
	if err != nil {
		t.Fatal(err)
	}
	from := append([]float64(nil), o.GoalRad...)
	for gone := tick; gone <= over; gone += tick {
		s := float64(gone) / float64(over)
		s *= s * s * (10 + s*(6*s-15))
		p := body.Setpoint{PositionsRad: make([]float64, len(to)), Over: tick, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number}
		for i := range to {
			p.PositionsRad[i] = from[i] + (to[i]-from[i])*s
		}
		if _, err := g.Send(p); err != nil {
			return err
		}
		if err := g.Advance(tick); err != nil {
			t.Fatal(err)
		}
		if o, err = g.Observe(); err != nil {
			t.Fatal(err)
		}
	}
	return nil
}

func pickUp(t testing.TB, g *guard.Guard) {
	t.Helper()
	for _, m := range []struct {
		to   []float64
		over time.Duration
	}{{aboveRad(), 1200 * time.Millisecond}, {graspRad(), 800 * time.Millisecond}, {shutRad(), 500 * time.Millisecond}} {
		if err := glide(t, g, m.to, m.over); err != nil {
			t.Fatal(err)
		}
	}
	lift := aboveRad()
	lift[5] = -0.17
	if err := glide(t, g, lift, 600*time.Millisecond); err != nil {
		t.Fatal(err)
	}
}

// Verifies: B24
func TestWhatIsGrippedStaysGrippedAfterAStop(t *testing.T) {
	g, truth := guardedSim(t)
	pickUp(t, g)
	o, err := g.Observe()
	if err != nil {
		t.Fatal(err)
	}
	away := append([]float64(nil), o.GoalRad...)
	away[0] += 0.6
	p := body.Setpoint{PositionsRad: away, Over: 900 * time.Millisecond, Expires: o.At.Add(body.MaxAhead)}
	if _, err := g.Send(p); err != nil {
		t.Fatal(err)
	}
	if err := g.Advance(400 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	g.Stop("test")
	if err := g.Advance(400 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if o, err = g.Observe(); err != nil || !o.Standstill {
		t.Errorf("no standstill 400 ms after a stop: %v", err)
	}
	if off := math.Abs(o.JointsRad[0] - away[0]); !(off > 0.2) {
		t.Error("the stopped motion went on")
	}
	for range 20 {
		if err := g.Advance(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if red, _ := truth.Object("red cube"); red.JawsTouch != 2 || !(red.BottomM > 0.04) {
		t.Errorf("two seconds after a stop the cube is %+v", red)
	}
}

// Verifies: B22
func TestASensorWithoutNumbersLatches(t *testing.T) {
	g, truth := guardedSim(t, sim.Fault{Kind: sim.NotANumber, Fact: sim.FactObjects, After: 500 * time.Millisecond})
	aside := aboveRad()
	aside[0] = 0.5
	if err := glide(t, g, aside, 1200*time.Millisecond); err == nil {
		t.Fatal("the motion went on on readings that are not numbers")
	}
	if err := g.Advance(500 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	o, err := g.Observe()
	if err != nil || !o.Latch.Stopped || o.Health.FaultCode != "not_finite" || !o.Standstill {
		t.Errorf("%v: %+v", err, o)
	}
	if miss := truth.TipInBase().Distance(sim.TipInBase([sim.NumJoints]float64(aside))); !(miss > 0.02) {
		t.Error("the arm arrived all the same")
	}
}

// A tick's motion at a pick's speed: the guard's share of the time of an episode.
func BenchmarkGuardedTick(b *testing.B) {
	g, _ := guardedSim(b)
	o, err := g.Observe()
	if err != nil {
		b.Fatal(err)
	}
	q := append([]float64(nil), o.GoalRad...)
	for i := 0; b.Loop(); i++ {
		q[0] = 0.3 * math.Sin(float64(i)*0.02)
		if _, err := g.Send(body.Setpoint{PositionsRad: q, Over: tick, Expires: o.At.Add(body.Expiry)}); err != nil {
			b.Fatal(err)
		}
		if err := g.Advance(tick); err != nil {
			b.Fatal(err)
		}
		if o, err = g.Observe(); err != nil {
			b.Fatal(err)
		}
	}
}
