package arm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"interlock/units"
)

func probeJoints(r *rand.Rand, c *Chain) (q Joints) {
	for i := range q {
		q[i] = c.limits[i].MinRad + r.Float64()*(c.limits[i].MaxRad-c.limits[i].MinRad)
	}
	return q
}

func quant(ns []int64) string {
	sort.Slice(ns, func(i, j int) bool { return ns[i] < ns[j] })
	n := len(ns)
	return fmt.Sprintf("min %.1f p50 %.1f p90 %.1f p99 %.1f p999 %.1f max %.1f µs", float64(ns[0])/1e3, float64(ns[n/2])/1e3, float64(ns[n*9/10])/1e3, float64(ns[n*99/100])/1e3, float64(ns[n*999/1000])/1e3, float64(ns[n-1])/1e3)
}

func TestProbeReach(t *testing.T) {
	c := SO101()
	r := rand.New(rand.NewPCG(7, 7))
	const n = 50000
	ok, slow := 0, 0
	var ns []int64
	hist := map[int]int{}
	for range n {
		q := probeJoints(r, c)
		p := c.Tip(q)
		t0 := time.Now()
		s := Best(c, p)
		ns = append(ns, time.Since(t0).Nanoseconds())
		if s.Iterations > 0 {
			slow++
			hist[s.Iterations/10]++
		}
		if s.MissM <= 1e-3 {
			ok++
		} else {
			fmt.Printf("miss %.3f mm at %v from %v\n", s.MissM*1e3, p, q)
		}
	}
	fmt.Println(ok, "of", n, "slow", slow, hist, quant(ns))
}

func TestProbeFar(t *testing.T) {
	c := SO101()
	r := rand.New(rand.NewPCG(8, 7))
	var ns []int64
	worse, n := 0, 0
	for n < 1500 {
		p := units.Vec3{r.Float64()*1.6 - 0.8, r.Float64()*1.6 - 0.8, r.Float64()*1.2 - 0.4}
		t0 := time.Now()
		s := Best(c, p)
		d := time.Since(t0).Nanoseconds()
		if s.MissM <= 1e-6 {
			continue
		}
		ns = append(ns, d)
		n++
		best := math.Inf(1)
		for range 60 {
			b := c.settle(probeJoints(r, c), p, 300)
			best = math.Min(best, b.MissM)
		}
		if s.MissM > best+1e-5 {
			worse++
			fmt.Printf("worse: %.4f vs %.4f at %v q %v\n", s.MissM*1e3, best*1e3, p, s.Joints)
		}
	}
	fmt.Println("worse", worse, "of", n, quant(ns))
	for _, p := range []units.Vec3{{.7, 0, .1}, {.5, 0, .011}} {
		t0 := time.Now()
		s := Best(c, p)
		fmt.Println(p, s.MissM*1e3, s.Iterations, time.Since(t0))
	}
}

func TestProbePose(t *testing.T) {
	c := SO101()
	r := rand.New(rand.NewPCG(7, 9))
	const n = 50000
	ok, slow := 0, 0
	var ns []int64
	for range n {
		q := probeJoints(r, c)
		p, m := c.TipPose(q)
		t0 := time.Now()
		s := BestPose(c, Pose{p, m})
		ns = append(ns, time.Since(t0).Nanoseconds())
		if s.Iterations > 0 {
			slow++
		}
		if s.MissM <= 1e-3 && s.TurnRad <= math.Pi/180 {
			ok++
		} else {
			fmt.Printf("miss %.3f mm %.3f deg at %v from %v: %v\n", s.MissM*1e3, s.TurnRad*57.3, p, q, s.Joints)
		}
	}
	fmt.Println(ok, "of", n, "slow", slow, quant(ns))
}
