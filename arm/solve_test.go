package arm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"interlock/arm"
	"interlock/units"
)

func cm(x, y, z float64) units.Vec3 { return units.Vec3{x / 100, y / 100, z / 100} }

// Verifies: K03
func TestDLSReproducesThePublishedMisses(t *testing.T) {
	c := arm.SO101()
	for _, row := range []struct {
		target     units.Vec3
		missMm     float64
		iterations int
	}{
		{cm(20, 5, 15), 0.06, 3},
		{cm(20, 0, 2), 0.17, 3},
		{cm(22, 3, 1.1), 0.24, 3},
		{cm(70, 0, 10), 326.07, 300},
		{cm(50, 0, 1.1), 37.23, 300},
	} {
		s := arm.DLS(c, row.target, arm.PublishedDLS())
		if got := math.Round(s.MissM*1e5) / 100; got != row.missMm || s.Iterations != row.iterations {
			t.Errorf("dls at %v: %.4f mm in %d steps, published %.2f in %d", row.target, s.MissM*1e3, s.Iterations, row.missMm, row.iterations)
		}
		if d := c.Tip(s.Joints).Distance(row.target); d != s.MissM {
			t.Errorf("dls at %v reports %g m, its joints miss by %g", row.target, s.MissM, d)
		}
	}
}

func TestDLSRefusesUnusableTargets(t *testing.T) {
	c := arm.SO101()
	for _, target := range unusable() {
		s := arm.DLS(c, target, arm.PublishedDLS())
		if !math.IsInf(s.MissM, 1) || !within(c, s.Joints) || s.Iterations != 0 {
			t.Errorf("dls at %v = %+v, want an infinite miss and no step", target, s)
		}
		if b := arm.Best(c, target); !math.IsInf(b.MissM, 1) || !within(c, b.Joints) {
			t.Errorf("best at %v = %+v, want an infinite miss", target, b)
		}
		if b := arm.Near(c, target, arm.Home()); !math.IsInf(b.MissM, 1) || b.Joints != arm.Home() {
			t.Errorf("near at %v = %+v, want the seed and an infinite miss", target, b)
		}
	}
	bad := arm.Joints{0, math.NaN()}
	published := arm.PublishedDLS()
	published.Seed = bad
	for _, s := range []arm.Solution{arm.DLS(c, cm(20, 0, 5), published), arm.Near(c, cm(20, 0, 5), bad)} {
		if !math.IsInf(s.MissM, 1) || !within(c, s.Joints) {
			t.Errorf("a seed of NaN leads to %+v", s)
		}
	}
}

func unusable() []units.Vec3 {
	return []units.Vec3{{math.NaN(), 0, 0}, {0, math.Inf(1), 0}, {0, 0, math.Inf(-1)}, {1e200, 0, 0}, {0, -1e9, 0}}
}

func within(c *arm.Chain, q arm.Joints) bool {
	limits := c.Limits()
	return limits.Hold(q.With(0))
}

// Verifies: K04
func TestBestFindsTheTrueMinima(t *testing.T) {
	c := arm.SO101()
	for _, row := range []struct {
		target units.Vec3
		missMm float64
	}{
		{cm(70, 0, 10), 220.305},
		{cm(50, 0, 1.1), 32.841},
		{cm(20, 5, 15), 0},
		{cm(20, 0, 2), 0},
		{cm(22, 3, 1.1), 0},
	} {
		s := arm.Best(c, row.target)
		if d := math.Abs(s.MissM*1000 - row.missMm); !(d <= 0.01) {
			t.Errorf("best at %v leaves %.4f mm, the true minimum is %.3f", row.target, s.MissM*1000, row.missMm)
		}
	}
}

// Verifies: K04
func TestBestReachesWhatTheArmReaches(t *testing.T) {
	c := arm.SO101()
	r := rand.New(rand.NewPCG(20, 26))
	const n = 2000
	best, published := 0, 0
	for range n {
		q := randomJoints(r, c)
		target := c.Tip(q)
		s := arm.Best(c, target)
		if d := c.Tip(s.Joints).Distance(target); d != s.MissM || !within(c, s.Joints) {
			t.Fatalf("best at %v reports %g, its joints %v miss by %g", target, s.MissM, s.Joints, d)
		}
		d := arm.DLS(c, target, arm.PublishedDLS())
		if s.MissM > d.MissM+1e-6 {
			t.Errorf("best at %v leaves %g m, dls %g", target, s.MissM, d.MissM)
		}
		if s.MissM <= 0.001 {
			best++
		}
		if d.MissM <= 0.001 {
			published++
		}
	}
	if best < n*995/1000 {
		t.Errorf("best reached %d of %d", best, n)
	}
	if published > n*95/100 {
		t.Errorf("dls reached %d of %d: not the published solver", published, n)
	}
}

func randomJoints(r *rand.Rand, c *arm.Chain) (q arm.Joints) {
	limits := c.Limits()
	for i := range q {
		q[i] = limits[i].MinRad + r.Float64()*(limits[i].MaxRad-limits[i].MinRad)
	}
	return q
}

// Verifies: K09
func TestSolversAllocateNothingAndRepeat(t *testing.T) {
	c := arm.SO101()
	var a, b arm.Solution
	for name, f := range map[string]func() arm.Solution{
		"dls":  func() arm.Solution { return arm.DLS(c, cm(50, 0, 1.1), arm.PublishedDLS()) },
		"best": func() arm.Solution { return arm.Best(c, cm(50, 0, 1.1)) },
		"grasp": func() arm.Solution {
			g, _ := arm.PlanGrasp(c, cube(0.2, 0.1, 0.3), 0)
			return arm.Solution{Joints: g.At, MissM: g.MissM}
		},
	} {
		if n := testing.AllocsPerRun(5, func() { a = f() }); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
		if b = f(); a != b {
			t.Errorf("%s: %v, then %v", name, a, b)
		}
	}
}

func FuzzSolversStayWithinLimits(f *testing.F) {
	f.Add(0.22, 0.03, 0.015, 0.3, 0.03, 0.0)
	f.Add(0.5, 0.0, 0.015, 0.0, 0.03, 0.02)
	f.Add(0.0388353, 0.0, 0.2, 9.0, 0.001, -0.02)
	f.Add(math.NaN(), 1e300, -1e-300, math.Inf(1), -1.0, math.NaN())
	f.Add(-0.2, 0.1, 0.3, 1e18, 0.07, 5.0)
	c := arm.SO101()
	f.Fuzz(func(t *testing.T, x, y, z, yaw, edge, dz float64) {
		target := units.Vec3{x, y, z}
		for _, s := range []arm.Solution{arm.DLS(c, target, arm.PublishedDLS()), arm.Best(c, target), arm.Near(c, target, arm.Joints{x, y, z, yaw, dz})} {
			if units.Finite(s.MissM) && !within(c, s.Joints) {
				t.Errorf("%v: %+v", target, s)
			}
			if math.IsNaN(s.MissM) {
				t.Errorf("%v: the miss is NaN", target)
			}
		}
		size := units.Vec3{edge, edge, edge}
		if g, ok := arm.PlanGrasp(c, arm.Box{Centre: target, SizeM: size, YawRad: yaw}, dz); ok &&
			!(within(c, g.Above) && within(c, g.At) && within(c, g.Lift) && g.MissM <= 0.003) {
			t.Errorf("grasp at %v: %+v", target, g)
		}
		if p, ok := arm.PlanPlace(c, target, size); ok && !(within(c, p.Above) && within(c, p.At) && within(c, p.Retreat) && p.MissM <= 0.003) {
			t.Errorf("placement at %v: %+v", target, p)
		}
	})
}
