package eval_test

import (
	"math"
	"testing"

	"interlock/eval"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// The exact coverage of the printed 95 % interval is at least 95 % for every true rate and size: summed over the
// binomial distribution, not simulated, so that no luck is in it.
//
// Verifies: P38
func TestCoverage(t *testing.T) {
	worst, at := 1.0, [2]float64{}
	for _, n := range []int{5, 6, 7, 8, 10, 13, 17, 20, 25, 32, 40, 50, 64, 80, 100, 150, 200, 300, 400, 500} {
		intervals := make([]eval.Proportion, n+1)
		for k := range intervals {
			intervals[k] = eval.NewProportion(k, n)
		}
		for _, p := range rates() {
			inside := 0.0
			b := distuv.Binomial{N: float64(n), P: p}
			for k, iv := range intervals {
				if iv.Low <= p && p <= iv.High {
					inside += b.Prob(float64(k))
				}
			}
			if inside < worst {
				worst, at = inside, [2]float64{float64(n), p}
			}
		}
	}
	if !(worst >= 0.95) {
		t.Errorf("coverage %.5f at n = %g, p = %g", worst, at[0], at[1])
	}
	if worst > 0.97 {
		t.Errorf("the worst coverage is %.4f: the grid no longer finds the tight places, or the interval is too wide", worst)
	}
}

// rates is a grid over 0.001…0.999, finer towards the ends.
func rates() []float64 {
	var out []float64
	for p := 0.001; p < 0.02; p += 0.001 {
		out = append(out, p, 1-p)
	}
	for p := 0.02; p < 0.5; p += 0.006 {
		out = append(out, p, 1-p)
	}
	return append(out, 0.5)
}

// Sample sizes that are needed to claim below 5 %, 1 % and 0.1 % with no failure seen.
func TestZeroFailures(t *testing.T) {
	for limit, n := range map[float64]int{0.05: 72, 0.01: 368, 0.001: 3688} {
		if enough := eval.NewProportion(0, n).High; !(enough < limit) {
			t.Errorf("0 of %d: upper bound %g, want below %g", n, enough, limit)
		}
		if before := eval.NewProportion(0, n-1).High; before < limit {
			t.Errorf("0 of %d would do for %g already", n-1, limit)
		}
	}
}

func TestProportionEdges(t *testing.T) {
	for _, tc := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 0, 0, 1}, {-1, 5, 0, 1}, {6, 5, 0, 1}, {5, 5, 0.4782, 1}, {0, 5, 0, 0.5218}, {6, 14, 0.1766, 0.7114}, {3, 7, 0.0990, 0.8159},
	} {
		p := eval.NewProportion(tc.k, tc.n)
		if math.Abs(p.Low-tc.low) > 5e-5 || math.Abs(p.High-tc.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f–%.4f, want %.4f–%.4f", tc.k, tc.n, p.Low, p.High, tc.low, tc.high)
		}
	}
	if got := eval.NewProportion(0, 0).String(); got != "–" {
		t.Errorf("nothing of nothing prints %q", got)
	}
}

// Verifies: E11
func TestMcNemar(t *testing.T) {
	for _, tc := range []struct {
		b, c int
		p    float64
	}{{0, 0, 1}, {1, 1, 1}, {0, 5, 0.0625}, {0, 6, 0.03125}, {1, 9, 0.021484375}, {9, 1, 0.021484375}, {3, 7, 0.34375}, {0, 1100, 0}} {
		if got := eval.McNemar(tc.b, tc.c); math.Abs(got-tc.p) > 1e-12 {
			t.Errorf("McNemar(%d, %d) = %g, want %g", tc.b, tc.c, got, tc.p)
		}
	}
}

// Verifies: E12
func TestPassK(t *testing.T) {
	for _, tc := range []struct {
		n, c, k int
		want    float64
	}{{10, 9, 1, 0.9}, {10, 9, 5, 0.5}, {10, 9, 10, 0}, {10, 10, 10, 1}, {10, 0, 1, 0}, {4, 2, 2, 1.0 / 6}} {
		if got := eval.PassK(tc.n, tc.c, tc.k); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("pass^%d of %d/%d = %g, want %g", tc.k, tc.c, tc.n, got, tc.want)
		}
	}
	for _, bad := range [][3]int{{3, 3, 4}, {3, 4, 1}, {3, -1, 1}, {3, 3, 0}} {
		if got := eval.PassK(bad[0], bad[1], bad[2]); !math.IsNaN(got) {
			t.Errorf("PassK%v = %g: nothing can be said", bad, got)
		}
	}
}

// pass^k has no bias: over all samples of n tries with rate p its mean is p^k.
func TestPassKUnbiased(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		k := rapid.IntRange(1, n).Draw(t, "k")
		p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		mean, b := 0.0, distuv.Binomial{N: float64(n), P: p}
		for c := range n + 1 {
			mean += b.Prob(float64(c)) * eval.PassK(n, c, k)
		}
		if math.Abs(mean-math.Pow(p, float64(k))) > 1e-9 {
			t.Fatalf("mean %g, p^k %g", mean, math.Pow(p, float64(k)))
		}
	})
}
