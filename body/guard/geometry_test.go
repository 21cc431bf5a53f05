package guard_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/reject"
	"interlock/units"
)

// spacedSim is an open simulated arm at home in a guard with a geometry; nil: without.
func spacedSim(t testing.TB, g guard.Geometry) (*guard.Guard, body.Truth) {
	t.Helper()
	inner, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	d := guard.New(inner, guard.Config{
		Ceiling: guard.Limits{TipSpeedMPS: 1, JointSpeedRadS: units.RadFromDeg(240)}, Geometry: g,
		Tip: func(q []float64) units.Vec3 { return sim.TipInBase([sim.NumJoints]float64(q)) },
	})
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	return d, inner.Truth()
}

func space(t testing.TB, keepOuts ...arm.KeepOut) *arm.Space {
	t.Helper()
	s, ok := arm.SO101().Space(keepOuts...)
	if !ok {
		t.Fatal("no space")
	}
	return s
}

func line(g *guard.Guard, q []float64, over time.Duration) error {
	o, err := g.Observe()
	if err != nil {
		return err
	}
	_, err = g.Send(body.Setpoint{PositionsRad: q, Over: over, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number})
	return err
}

// A setpoint whose line passes through the table, the arm itself or a keep-out is refused with the configuration at which
// it does, and moves nothing. Without a geometry it is followed.
//
// Verifies: V105
func TestSetpointsKeepOffWhatTheArmMustNotMeet(t *testing.T) {
	wall := arm.KeepOut{Name: "wall", MinM: units.Vec3{0.1, 0.1, 0}, MaxM: units.Vec3{0.4, 0.15, 0.5}}
	home := sim.HomeRad()
	aside := home
	aside[0] = -1
	down := home
	down[1] += 1
	folded := home
	folded[1], folded[2], folded[3] = -1.5, 1.6, 1.6
	for _, row := range []struct {
		name string
		to   [sim.NumJoints]float64
		over time.Duration
		rule string
	}{
		{"table", down, 1500 * time.Millisecond, arm.MeetsTable},
		{"keep-out", aside, 1500 * time.Millisecond, arm.MeetsKeepOut},
		{"self", folded, 3 * time.Second, arm.MeetsSelf},
	} {
		g, _ := spacedSim(t, space(t, wall))
		err := line(g, row.to[:], row.over)
		wantRejection(t, err, reject.PathBlocked, row.rule, "path")
		var r reject.Rejection
		var got arm.Obstruction
		if !errors.As(err, &r) || json.Unmarshal([]byte(r.Got), &got) != nil || len(got.JointsRad) != sim.NumJoints || got.Part == "" {
			t.Errorf("%s: %+v", row.name, r)
		}
		if err := g.Advance(500 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		o, err := g.Observe()
		if err != nil || o.Applied != 0 || [sim.NumJoints]float64(o.GoalRad) != home {
			t.Errorf("%s: the refused setpoint moved it: %v, %v", row.name, o.GoalRad, err)
		}
		free, _ := spacedSim(t, nil)
		if err := line(free, row.to[:], row.over); err != nil {
			t.Errorf("%s without a geometry: %v", row.name, err)
		}
	}
	g, _ := spacedSim(t, space(t, wall))
	up := home
	up[1] -= 0.2
	if err := line(g, up[:], time.Second); err != nil {
		t.Errorf("up: %v", err)
	}
	if err := guard.New(newPlant(), guard.Config{Ceiling: guard.Limits{TipSpeedMPS: 1, JointSpeedRadS: 1}, Tip: tipOf, Geometry: space(t)}).Open(); err == nil {
		t.Error("a geometry of another arm was taken")
	}
}

// Whoever sends, each time, the fastest setpoint towards the table that is taken, and is stopped somewhere on the way, does
// not touch it. Without a geometry the same sender presses it.
//
// Verifies: V106
func TestNoSenderReachesTheTable(t *testing.T) {
	const runs = 60
	pressed := 0
	for seed := range uint64(runs) {
		for _, with := range []guard.Geometry{space(t), nil} {
			if with == nil && seed > 5 {
				continue
			}
			force := dive(t, seed, with)
			if with != nil && force != 0 {
				t.Errorf("sender %d presses the table with %.1f N", seed, force)
			}
			if with == nil && force > 0 {
				pressed++
			}
		}
	}
	if pressed == 0 {
		t.Error("without a geometry nothing presses either: the senders are tame")
	}
}

// dive rises a little and then sends the arm down at a random place, as fast as the guard takes it. It returns the largest
// force on the table, newtons.
func dive(t *testing.T, seed uint64, with guard.Geometry) float64 {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	g, truth := spacedSim(t, with)
	target := sim.HomeRad()
	target[0], target[1], target[2] = rng.Float64()-0.5, target[1]-0.6*rng.Float64(), target[2]-0.6*rng.Float64()
	top := units.RadFromDeg(240) * tick.Seconds() * (0.1 + 0.9*rng.Float64())
	stopAt := 65 + rng.IntN(35)
	for n := range 120 {
		if n == 60 {
			target[1], target[2], target[3] = target[1]+0.9+0.7*rng.Float64(), target[2]+0.3+0.6*rng.Float64(), target[3]+0.4*rng.Float64()
		}
		if n == stopAt && with != nil {
			g.Stop("test")
		}
		o, err := g.Observe()
		if err != nil {
			t.Fatal(err)
		}
		for scale := 1.0; scale > 0.001; scale *= 0.9 {
			far := 0.0
			for i := range target {
				far = math.Max(far, math.Abs(target[i]-o.GoalRad[i]))
			}
			q := append([]float64(nil), o.GoalRad...)
			for i := range q {
				q[i] += (target[i] - q[i]) * math.Min(1, scale*top/math.Max(far, 1e-9))
			}
			if line(g, q, tick) == nil || g.Latch().Stopped {
				break
			}
		}
		if err := g.Advance(tick); err != nil {
			t.Fatal(err)
		}
	}
	return truth.PeakTableForceN()
}

// fence is a geometry of two joints that ends at an angle of the first.
type fence struct{ rad float64 }

func (fence) JointCount() int { return 2 }

func (f fence) Line(_, to []float64, _ time.Duration) (arm.Blocked, bool) {
	return arm.Blocked{Rule: arm.MeetsKeepOut, Other: "fence"}, !(to[0] <= f.rad)
}

// The ramp after a stop goes on beyond what was sent; it ends before what the arm must not meet.
//
// Verifies: V107
func TestTheRampEndsBeforeAnObstacle(t *testing.T) {
	end := func(f guard.Geometry) float64 {
		p := newPlant()
		cfg := config()
		cfg.Geometry = f
		g := guard.New(p, cfg)
		if err := g.Open(); err != nil {
			t.Fatal(err)
		}
		r := &rig{g, t, p}
		r.send(r.setpoint(0.1, 200*time.Millisecond))
		r.advance(198 * time.Millisecond)
		r.Stop("test")
		r.quiet("stop")
		return p.at[0]
	}
	if free := end(nil); !(free > 0.105) {
		t.Errorf("without a fence the ramp ends at %v rad", free)
	}
	if at := end(fence{0.105}); !(at > 0.1 && at <= 0.105) {
		t.Errorf("with a fence at 0.105 rad the ramp ends at %v", at)
	}
}

// BenchmarkSendWithGeometry times the check of a robot's setpoint, beside BenchmarkSendWithout.
func BenchmarkSendWithGeometry(b *testing.B) { benchmarkSend(b, space(b)) }
func BenchmarkSendWithout(b *testing.B)      { benchmarkSend(b, nil) }

func benchmarkSend(b *testing.B, with guard.Geometry) {
	g, _ := spacedSim(b, with)
	o, err := g.Observe()
	if err != nil {
		b.Fatal(err)
	}
	q := append([]float64(nil), o.GoalRad...)
	for i := range q {
		q[i] -= 0.01
	}
	s := body.Setpoint{PositionsRad: q, Over: tick, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Send(s); err != nil {
			b.Fatal(err)
		}
	}
}
