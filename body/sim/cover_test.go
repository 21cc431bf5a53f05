package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"interlock/arm"
	"interlock/units"
)

// surfacePoint is a random point on the surface of a solid, in the base frame.
func (w *World) surfacePoint(r *rand.Rand, s *solid) vec {
	p := vec{2*r.Float64() - 1, 2*r.Float64() - 1, 2*r.Float64() - 1}
	side := math.Copysign(1, r.Float64()-0.5)
	switch r.IntN(4) {
	case 0:
		p.x = side
	case 1:
		p.y = side
	case 2:
		p.z = side
	default: // a corner, which is what jams
		p = corner(r.IntN(8), vec{1, 1, 1})
	}
	l := &w.links[s.body]
	in := s.at.add(s.turn.apply(vec{p.x * s.half.x, p.y * s.half.y, p.z * s.half.z}))
	return l.origin.add(l.turn.apply(in))
}

// outside is how far a point in the base frame is from a solid, metres; zero inside.
func (w *World) outside(p vec, s *solid) float64 {
	l := &w.links[s.body]
	in := s.turn.applyT(l.turn.applyT(p.sub(l.origin)).sub(s.at))
	return vec{max(math.Abs(in.x)-s.half.x, 0), max(math.Abs(in.y)-s.half.y, 0), max(math.Abs(in.z)-s.half.z, 0)}.norm()
}

// tuckedM is how near random points on the solids of hand and shoulder come to the other at least in a pose, metres.
func tuckedM(q [NumJoints]float64, seed uint64) float64 {
	const points = 40
	w, r, least := newWorld(q), rand.New(rand.NewPCG(seed, 120)), math.Inf(1)
	for i := range solids {
		if solids[i].body != gripper { // no other one meets the shoulder
			continue
		}
		for k := range shoulderSolids {
			for range points {
				least = min(least, w.outside(w.surfacePoint(r, &solids[i]), &shoulderSolids[k]))
				least = min(least, w.outside(w.surfacePoint(r, &shoulderSolids[k]), &solids[i]))
			}
		}
	}
	return least
}

// Every solid of the arm that meets another link here is covered by what a path is swept with: no path is let pass that ends
// where a point on the surface of one is just about to touch, or has just touched, a solid of the other.
//
// Verifies: S120
func TestTheSweepCoversWhateverMeetsTheShoulder(t *testing.T) {
	const (
		poses = 3000
		nearM = 0.0009 // the sweep keeps 1 mm
	)
	r := rand.New(rand.NewPCG(120, 2026))
	chain, home := arm.SO101(), arm.Servos(HomeRad())
	between := func(low, high float64) float64 { return low + r.Float64()*(high-low) }
	named := map[string]int{}
	for n := uint64(0); n < poses; {
		q := arm.Servos{between(-1.9, 1.9), between(-1.74, -0.2), between(0.2, 1.69), between(0.6, 1.65), between(-2.7, 2.7), between(-0.17, 1.74)}
		way := arm.Segment{From: home, To: q, T: time.Second}
		free, met := time.Duration(0), way.T
		if !(tuckedM(way.To, n) <= nearM) {
			continue
		}
		for met-free > time.Millisecond {
			if half := (free + met) / 2; tuckedM(way.At(half), n) <= nearM {
				met = half
			} else {
				free = half
			}
		}
		n++
		way.To = way.At(met)
		b, blocked := chain.Sweep(arm.Trajectory{{Name: "move", Segment: way}}, nil)
		if !blocked {
			t.Errorf("the way to %.4f passes, where the hand is %.2f mm from the shoulder", way.To, units.MmFromMetres(tuckedM(way.To, n)))
		}
		named[b.Part+" "+b.Other]++
	}
	t.Log(named)
	if named["hand shoulder"] < poses/20 || named["camera mount shoulder"] < poses/4 {
		t.Errorf("the poses show little: %v", named)
	}
}
