package units

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

// TestConversions holds each against a number everybody knows, and each pair against its inverse.
//
// Verifies: U02
func TestConversions(t *testing.T) {
	known := map[string][2]float64{
		"20 cm in metres":    {MetresFromCm(20), 0.2},
		"0.2 m in cm":        {CmFromMetres(0.2), 20},
		"5 mm in metres":     {MetresFromMm(5), 0.005},
		"0.005 m in mm":      {MmFromMetres(0.005), 5},
		"180 degrees in rad": {RadFromDeg(180), math.Pi},
		"a right angle":      {DegFromRad(math.Pi / 2), 90},
	}
	for name, k := range known {
		if !near(k[0], k[1]) {
			t.Errorf("%s is %v, want %v", name, k[0], k[1])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e6, 1e6).Draw(t, "value")
		for name, back := range map[string]float64{
			"cm": CmFromMetres(MetresFromCm(v)), "mm": MmFromMetres(MetresFromMm(v)), "deg": DegFromRad(RadFromDeg(v)),
		} {
			if !near(back, v) {
				t.Errorf("%s: %v came back as %v", name, v, back)
			}
		}
	})
}

// TestFinite: one bad number spoils all.
func TestFinite(t *testing.T) {
	if !Finite() || !Finite(0, -1, math.MaxFloat64) || !(Vec3{1, 2, 3}).Finite() {
		t.Error("finite numbers are not finite")
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if Finite(1, bad, 2) || Finite(bad) || (Vec3{0, 0, bad}).Finite() || (Vec3{bad}).Finite() {
			t.Errorf("%v is finite", bad)
		}
	}
}

// TestInstant: order, distance and the two ways to print one.
func TestInstant(t *testing.T) {
	a := Instant(0).Add(1500 * time.Millisecond)
	b := a.Add(-250 * time.Microsecond)
	if !b.Before(a) || !a.After(b) || a.Before(a) || a.After(a) || a.Sub(b) != 250*time.Microsecond || b.Sub(a) >= 0 {
		t.Errorf("%v and %v are out of order", a, b)
	}
	if a.Seconds() != 1.5 || a.Millis() != 1500 || b.Millis() != 1499 {
		t.Errorf("%v s, %d ms, %d ms", a.Seconds(), a.Millis(), b.Millis())
	}
}

// TestVectors holds the products against their definitions.
func TestVectors(t *testing.T) {
	x, y, z := Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}
	if x.Cross(y) != z || y.Cross(z) != x || z.Cross(x) != y || y.Cross(x) != z.Scale(-1) {
		t.Error("the cross product is not right-handed")
	}
	a, b := Vec3{3, 4, 12}, Vec3{1, 1, 1}
	if a.Norm() != 13 || a.Dot(b) != 19 || a.Sub(b).Add(b) != a || a.Distance(a.Add(Vec3{0, 3, 4})) != 5 {
		t.Error("norm, dot, sum or distance is wrong")
	}
}

// TestRotations: a rotation keeps lengths and angles, its transpose undoes it, and the product turns right first.
func TestRotations(t *testing.T) {
	quarter := YawQuat(math.Pi / 2).Mat()
	if got := quarter.Apply(Vec3{1, 0, 0}); !(got.Distance(Vec3{0, 1, 0}) <= 1e-12) {
		t.Errorf("a quarter turn about z takes x to %v", got)
	}
	tilt := Quat{math.Sqrt(0.5), math.Sqrt(0.5), 0, 0}.Mat() // a quarter turn about x: y to z
	if got := tilt.Mul(quarter).Apply(Vec3{1, 0, 0}); !(got.Distance(Vec3{0, 0, 1}) <= 1e-12) {
		t.Errorf("first about z, then about x, takes x to %v", got)
	}
	if got := tilt.Column(1); !(got.Distance(Vec3{0, 0, 1}) <= 1e-12) {
		t.Errorf("the tilted y axis points to %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Float64Range(-2, 2)
		q := Quat{one.Draw(t, "w"), one.Draw(t, "x"), one.Draw(t, "y"), one.Draw(t, "z")}
		if !(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3] >= 0.01) {
			return // no direction to normalise
		}
		r := q.Mat()
		v, w := Vec3{one.Draw(t, "a"), 1, -0.5}, Vec3{0.3, one.Draw(t, "b"), 2}
		if !(r.ApplyT(r.Apply(v)).Distance(v) <= 1e-9) || !(math.Abs(r.Apply(v).Dot(r.Apply(w))-v.Dot(w)) <= 1e-9) {
			t.Fatalf("%v is no rotation", r)
		}
		if !(r.Mul(Identity()).Apply(v).Distance(r.Apply(v)) <= 1e-12) || !(r.Column(0).Cross(r.Column(1)).Distance(r.Column(2)) <= 1e-9) {
			t.Fatalf("%v mirrors", r)
		}
	})
}
