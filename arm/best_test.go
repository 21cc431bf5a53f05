package arm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"interlock/arm"
	"interlock/units"
)

// Accuracy that counts as reached.
const (
	reachedM   = 0.001
	reachedRad = math.Pi / 180
)

// Verifies: K22
func TestBestReachesTenThousandReachableTargets(t *testing.T) {
	c := arm.SO101()
	r := rand.New(rand.NewPCG(22, 1))
	const n = 10_000
	reached := 0
	for range n {
		target := c.Tip(randomJoints(r, c))
		s := arm.Best(c, target)
		if d := c.Tip(s.Joints).Distance(target); d != s.MissM || !within(c, s.Joints) {
			t.Fatalf("best at %v reports %g, its joints %v miss by %g", target, s.MissM, s.Joints, d)
		}
		if s.MissM <= reachedM {
			reached++
		} else {
			t.Logf("best misses %v by %.3f mm", target, s.MissM*1e3)
		}
	}
	if reached*10_000 < n*9_999 {
		t.Errorf("best reached %d of %d", reached, n)
	}
}

// Verifies: K23
func TestBestPoseReachesTenThousandReachablePoses(t *testing.T) {
	c := arm.SO101()
	r := rand.New(rand.NewPCG(23, 1))
	const n = 10_000
	reached := 0
	for range n {
		tip, rot := c.TipPose(randomJoints(r, c))
		s := arm.BestPose(c, arm.Pose{TipInBase: tip, GripperInBase: rot})
		tip2, rot2 := c.TipPose(s.Joints)
		if d := tip2.Distance(tip); d != s.MissM || !within(c, s.Joints) {
			t.Fatalf("best pose at %v reports %g, its joints %v miss by %g", tip, s.MissM, s.Joints, d)
		}
		if a := angleBetween(rot, rot2); !(math.Abs(a-s.TurnRad) <= 1e-6) {
			t.Fatalf("best pose at %v reports %g rad, its joints are %g off", tip, s.TurnRad, a)
		}
		if s.MissM <= reachedM && s.TurnRad <= reachedRad {
			reached++
		} else {
			t.Logf("best pose misses %v by %.3f mm, %g rad", tip, s.MissM*1e3, s.TurnRad)
		}
	}
	if reached*10_000 < n*9_999 {
		t.Errorf("best pose reached %d of %d", reached, n)
	}
}

// angleBetween returns the angle between two rotations from the vector part, good for small and large ones.
func angleBetween(a, b units.Mat3) float64 {
	var v units.Vec3
	trace := 0.0
	for k := range 3 {
		v = v.Add(a.Column(k).Cross(b.Column(k)))
		trace += a.Column(k).Dot(b.Column(k))
	}
	return math.Atan2(v.Norm()/2, (trace-1)/2)
}

// Verifies: K23
func TestBestPoseOutOfReachStaysNearAndWithinLimits(t *testing.T) {
	c := arm.SO101()
	r := rand.New(rand.NewPCG(23, 2))
	for range 200 {
		tip, rot := c.TipPose(randomJoints(r, c))
		tip = tip.Add(units.Vec3{0.05 * r.NormFloat64(), 0.05 * r.NormFloat64(), 0.05 * r.NormFloat64()})
		s := arm.BestPose(c, arm.Pose{TipInBase: tip, GripperInBase: rot})
		if !within(c, s.Joints) || !units.Finite(s.MissM, s.TurnRad) {
			t.Fatalf("%v: %+v", tip, s)
		}
		// Never farther, by the solver's own measure, than what the position alone leaves.
		p := arm.Best(c, tip)
		_, rot2 := c.TipPose(p.Joints)
		if math.Hypot(s.MissM, 0.1*s.TurnRad) > math.Hypot(p.MissM, 0.1*angleBetween(rot, rot2))+0.02 {
			t.Errorf("%v: leaves %g m and %g rad, the position alone %g m", tip, s.MissM, s.TurnRad, p.MissM)
		}
	}
	for _, p := range []arm.Pose{{}, {TipInBase: units.Vec3{math.NaN()}, GripperInBase: units.Identity()},
		{TipInBase: units.Vec3{0.2, 0, 0.1}, GripperInBase: units.Mat3{1, 0, 0, 0, 1, 0, 0, 0, -1}}} {
		if s := arm.BestPose(c, p); !math.IsInf(s.MissM, 1) || !within(c, s.Joints) {
			t.Errorf("%+v: %+v, want an infinite miss", p, s)
		}
	}
}

// Verifies: K24
func TestBestEndsAtTheConstrainedMinimum(t *testing.T) {
	c := arm.SO101()
	r := rand.New(rand.NewPCG(24, 1))
	n, worst := 0, 0.0
	for n < 60 {
		target := units.Vec3{1.4*r.Float64() - 0.7, 1.4*r.Float64() - 0.7, 1.2*r.Float64() - 0.4}
		s := arm.Best(c, target)
		if s.MissM <= reachedM {
			continue
		}
		n++
		if found := searched(r, c, target, s.Joints); found < s.MissM {
			worst = math.Max(worst, s.MissM-found)
		}
	}
	t.Logf("a search of its own finds at most %.4f mm less at %d targets", worst*1e3, n)
	if !(worst <= 0.0001) {
		t.Errorf("best leaves %.3f mm more than need be", worst*1e3)
	}
}

// searched returns the least miss that a blind search finds: random starts, and from each of them and from what the
// solver found a walk that shrinks its steps, one joint or two at a time. It shares nothing with the solver but Tip.
func searched(r *rand.Rand, c *arm.Chain, target units.Vec3, found arm.Joints) float64 {
	least := walked(r, c, target, found)
	for range 3 {
		start, miss := arm.Joints{}, math.Inf(1)
		for range 300 {
			if q := randomJoints(r, c); c.Tip(q).Distance(target) < miss {
				start, miss = q, c.Tip(q).Distance(target)
			}
		}
		least = math.Min(least, walked(r, c, target, start))
	}
	return least
}

func walked(r *rand.Rand, c *arm.Chain, target units.Vec3, q arm.Joints) float64 {
	limits := c.Limits()
	miss := c.Tip(q).Distance(target)
	for step := 0.3; step > 1e-4; {
		better := false
		for range 40 {
			next := q
			for i := range next {
				next[i] = math.Max(limits[i].MinRad, math.Min(limits[i].MaxRad, next[i]+step*r.NormFloat64()))
			}
			if d := c.Tip(next).Distance(target); d < miss {
				q, miss, better = next, d, true
			}
		}
		if !better {
			step *= 0.6
		}
	}
	return miss
}

func TestAtRollKeepsTheRoll(t *testing.T) {
	c := arm.SO101()
	target := cm(20, 5, 10)
	for _, roll := range []float64{-2, -math.Pi / 2, 0, 1, math.Pi / 2} {
		s, ok := arm.AtRoll(c, target, roll)
		if !ok || s.Joints[arm.WristRoll] != roll || !(c.Tip(s.Joints).Distance(target) <= 1e-6) || !within(c, s.Joints) {
			t.Errorf("roll %g: %+v, %v", roll, s, ok)
		}
	}
	for _, roll := range []float64{3, math.NaN()} {
		if s, ok := arm.AtRoll(c, target, roll); ok {
			t.Errorf("roll %g: %+v", roll, s)
		}
	}
	if s, ok := arm.AtRoll(c, cm(70, 0, 10), 0); ok {
		t.Errorf("out of reach: %+v", s)
	}
}
