package arm_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"interlock/arm"
	"interlock/units"
)

// tipRows are the check values of the published model, tip in centimetres.
func tipRows() []struct {
	q     arm.Joints
	tipCm units.Vec3
} {
	return []struct {
		q     arm.Joints
		tipCm units.Vec3
	}{
		{arm.Joints{}, units.Vec3{39.13615, -0.09795, 24.63452}},
		{arm.Joints{0.3, -0.5, 0.7, 0.4, -1}, units.Vec3{29.26001, -8.96860, 12.19863}},
		{arm.Joints{0, -1.7453293, 1.69, 1.2, 0}, units.Vec3{16.46387, -0.09795, -0.27589}},
		{arm.Joints{0, 1.2, -1, 0.8, 0}, units.Vec3{41.36517, -0.09795, -1.79253}},
		{arm.Joints{1.91986, 1.7453293, 1.69, 1.658063, 2.7438473}, units.Vec3{1.80911, -7.21977, 24.73775}},
		{arm.Joints{-1.91986, -1.7453293, -1.69, -1.658063, -2.7438473}, units.Vec3{9.88490, -15.29664, -7.14379}},
		{arm.Home(), units.Vec3{20.74708, 1.17974, 8.84189}},
	}
}

// Verifies: K01
func TestTipMatchesPublishedCheckValues(t *testing.T) {
	c := arm.SO101()
	for _, row := range tipRows() {
		got := c.Tip(row.q).Scale(100)
		if d := got.Distance(row.tipCm); !(d <= 1e-4) {
			t.Errorf("tip at %v = %v cm, want %v: off by %g cm", row.q, got, row.tipCm, d)
		}
	}
}

// Verifies: K02
func TestJacobianMatchesPublishedValues(t *testing.T) {
	want := [3][arm.JointCount]float64{
		{-0.08969, 0.00515, -0.10206, -0.08132, 0.00738},
		{-0.25377, -0.00159, 0.03157, 0.02516, 0.00378},
		{0, -0.23854, -0.26793, -0.13469, 0.00867},
	}
	got := arm.SO101().Jacobian(arm.Joints{0.3, -0.5, 0.7, 0.4, -1})
	for r := range want {
		for i := range want[r] {
			if d := math.Abs(got[r][i] - want[r][i]); !(d <= 1e-5) {
				t.Errorf("jacobian[%d][%d] = %.6f, want %.5f", r, i, got[r][i], want[r][i])
			}
		}
	}
}

func drawJoints(t *rapid.T, c *arm.Chain) arm.Joints {
	var q arm.Joints
	limits := c.Limits()
	for i := range q {
		q[i] = rapid.Float64Range(limits[i].MinRad, limits[i].MaxRad).Draw(t, "rad")
	}
	return q
}

// Verifies: K02
func TestJacobianIsTheDerivativeOfTip(t *testing.T) {
	c := arm.SO101()
	const h = 1e-5
	rapid.Check(t, func(t *rapid.T) {
		q := drawJoints(t, c)
		m := c.Jacobian(q)
		for i := range q {
			up, down := q, q
			up[i] += h
			down[i] -= h
			d := c.Tip(up).Sub(c.Tip(down)).Scale(1 / (2 * h))
			if e := d.Distance(units.Vec3{m[0][i], m[1][i], m[2][i]}); !(e <= 1e-9) {
				t.Fatalf("joint %d at %v: jacobian off by %g m/rad", i, q, e)
			}
		}
	})
}

// Verifies: K02
func TestTipPoseIsARotationWithTheHandsPitch(t *testing.T) {
	c := arm.SO101()
	rapid.Check(t, func(t *rapid.T) {
		q := drawJoints(t, c)
		tip, r := c.TipPose(q)
		if tip != c.Tip(q) {
			t.Fatalf("TipPose and Tip disagree at %v", q)
		}
		x, y, z := r.Column(0), r.Column(1), r.Column(2)
		if e := x.Cross(y).Distance(z); !(e <= 1e-12) {
			t.Fatalf("not a rotation at %v: off by %g", q, e)
		}
		if e := math.Abs(z[2] - math.Sin(q.PitchRad())); !(e <= 1e-5) {
			t.Fatalf("approach at %v is not pitched by PitchRad: off by %g", q, e)
		}
	})
}

func TestServosOfRefusesWrongLengthAndNonFinite(t *testing.T) {
	for _, v := range [][]float64{nil, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6, 7}, {0, 0, math.NaN(), 0, 0, 0}, {0, 0, 0, 0, 0, math.Inf(1)}} {
		if _, ok := arm.ServosOf(v); ok {
			t.Errorf("ServosOf(%v) accepted", v)
		}
	}
	s, ok := arm.ServosOf([]float64{1, 2, 3, 4, 5, 6})
	if !ok || s.Joints().With(6) != s {
		t.Errorf("ServosOf = %v, %v", s, ok)
	}
}
