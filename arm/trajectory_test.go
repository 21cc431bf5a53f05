package arm_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/arm"
	"interlock/units"
)

func speeds(jointRadS, tipMPS float64) arm.SpeedLimits {
	return arm.SpeedLimits{JointRadS: jointRadS, TipMPS: tipMPS}
}

// Verifies: K10
func TestMinJerkKeepsItsLimits(t *testing.T) {
	c := arm.SO101()
	const dt = 2 * time.Millisecond
	rapid.Check(t, func(t *rapid.T) {
		from := drawJoints(t, c).With(rapid.Float64Range(-0.17, 1.7).Draw(t, "jaw"))
		to := drawJoints(t, c).With(rapid.Float64Range(-0.17, 1.7).Draw(t, "jaw"))
		limits := speeds(rapid.Float64Range(0.2, 6).Draw(t, "rad/s"), rapid.Float64Range(0.05, 1.5).Draw(t, "m/s"))
		s, ok := c.MinJerk(from, to, arm.LeastMove, limits)
		if !ok || s.T < arm.LeastMove {
			t.Fatalf("segment %+v, %v", s, ok)
		}
		if s.At(0) != from || s.At(s.T) != to || s.At(s.T+time.Hour) != to || s.At(-dt) != from {
			t.Fatalf("the ends of %+v are not exact", s)
		}
		last := from
		for at := dt; at <= s.T+dt; at += dt {
			q := s.At(at)
			for i := range q {
				if v := math.Abs(q[i]-last[i]) / dt.Seconds(); !(v <= limits.JointRadS*1.0001) {
					t.Fatalf("servo %d at %v: %g rad/s over %g", i, at, v, limits.JointRadS)
				}
			}
			if v := c.Tip(q.Joints()).Distance(c.Tip(last.Joints())) / dt.Seconds(); !(v <= limits.TipMPS*1.001) {
				t.Fatalf("tip at %v: %g m/s over %g", at, v, limits.TipMPS)
			}
			last = q
		}
		if s.PeakJointRadS() > limits.JointRadS*1.0001 || c.PeakTipMPS(s) > limits.TipMPS*1.0001 {
			t.Fatalf("peaks %g rad/s, %g m/s over %+v", s.PeakJointRadS(), c.PeakTipMPS(s), limits)
		}
	})
}

func TestMinJerkDurations(t *testing.T) {
	c := arm.SO101()
	home := arm.Home().With(1)
	far := home
	far[arm.Pan] = 1.5
	jaw := home
	jaw[arm.Jaw] = -0.17
	wide := speeds(100, 100)
	for _, row := range []struct {
		name   string
		to     arm.Servos
		least  time.Duration
		limits arm.SpeedLimits
		want   time.Duration
	}{
		{"nothing to do", home, arm.LeastMove, wide, 500 * time.Millisecond},
		{"half a second per radian", far, arm.LeastMove, wide, 750 * time.Millisecond},
		{"joint limit", far, arm.LeastMove, speeds(1, 100), 2813 * time.Millisecond},
		{"jaw by its limit alone", jaw, 300 * time.Millisecond, speeds(1.875, 100), 1170 * time.Millisecond},
		{"jaw in no less than asked", jaw, 300 * time.Millisecond, wide, 300 * time.Millisecond},
		{"a wait", home, 100 * time.Millisecond, wide, 100 * time.Millisecond},
	} {
		s, ok := c.MinJerk(home, row.to, row.least, row.limits)
		if !ok || s.T != row.want {
			t.Errorf("%s: %v, %v, want %v", row.name, s.T, ok, row.want)
		}
	}
}

func TestMinJerkRefusesWhatItCannotUse(t *testing.T) {
	c := arm.SO101()
	home := arm.Home().With(1)
	far, nan := home, home
	far[arm.Pan] = 1
	nan[arm.Lift] = math.NaN()
	wide := speeds(4, 1)
	for _, row := range []struct {
		from, to arm.Servos
		limits   arm.SpeedLimits
	}{
		{nan, home, wide}, {home, nan, wide},
		{home, far, speeds(0, 1)}, {home, far, speeds(4, 0)}, {home, far, speeds(-1, 1)},
		{home, far, speeds(math.NaN(), 1)}, {home, far, speeds(4, math.Inf(1))},
		{home, far, speeds(1e-6, 1)}, {home, far, speeds(4, 1e-9)},
	} {
		if s, ok := c.MinJerk(row.from, row.to, arm.LeastMove, row.limits); ok {
			t.Errorf("%v to %v within %+v: %+v", row.from, row.to, row.limits, s)
		}
	}
}

func TestTrajectoryRunsThroughItsPhases(t *testing.T) {
	c := arm.SO101()
	a := arm.Home().With(1)
	b, d := a, a
	b[arm.Pan], d[arm.Jaw] = 0.4, 0
	first, _ := c.MinJerk(a, b, arm.LeastMove, speeds(4, 1))
	second, _ := c.MinJerk(b, d, arm.LeastMove, speeds(4, 1))
	tr := arm.Trajectory{{Name: "one", Segment: first}, {Name: "two", Segment: second}}
	for _, row := range []struct {
		at   time.Duration
		want arm.Servos
		name string
	}{{-time.Second, a, "one"}, {0, a, "one"}, {first.T, b, "two"}, {tr.Duration(), d, "two"}, {time.Hour, d, "two"}} {
		if q, name, ok := tr.At(row.at); !ok || q != row.want || name != row.name {
			t.Errorf("at %v: %v %q, want %v %q", row.at, q, name, row.want, row.name)
		}
	}
	if end, ok := tr.End(); !ok || end != d {
		t.Errorf("end %v", end)
	}
	if _, _, ok := (arm.Trajectory{}).At(0); ok {
		t.Error("an empty trajectory has a configuration")
	}
}

// The tip's speed as the arm's plane gives it is the one of the Jacobian.
//
// Verifies: Q06
func TestPeakTipSpeedIsTheJacobians(t *testing.T) {
	c := arm.SO101()
	r := rand.New(rand.NewPCG(7, 2026))
	for range 200 {
		s := arm.Segment{From: randomJoints(r, c).With(0), To: randomJoints(r, c).With(1), T: time.Second}
		want := 0.0
		for k := range 64 {
			u := (float64(k) + 0.5) / 64
			done, rate := u*u*u*(10+u*(-15+6*u)), u*u*(30+u*(-60+30*u))
			var q arm.Joints
			for i := range q {
				q[i] = s.From[i] + done*(s.To[i]-s.From[i])
			}
			var v units.Vec3
			for axis, row := range c.Jacobian(q) {
				for i := range q {
					v[axis] += rate * row[i] * (s.To[i] - s.From[i])
				}
			}
			want = math.Max(want, v.Norm())
		}
		if got := c.PeakTipMPS(s); !(math.Abs(got-want) <= 1e-12) {
			t.Fatalf("%v to %v: %.15g m/s, by the Jacobian %.15g", s.From, s.To, got, want)
		}
	}
}
