package arm_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"interlock/arm"
	"interlock/units"
)

// Paths on which the simulated arm jammed with a corner of its camera mount on the shoulder, or dragged one along it: a sweep
// with capsules alone lets them pass.
//
// Verifies: S123
func TestSweepRefusesPathsThatJammed(t *testing.T) {
	c := arm.SO101()
	for i, row := range [][2]arm.Servos{
		{{-1.6774, -0.4082, 0.9554, 1.2218, 0, -0.17}, {0.7925, -0.3433, 0.8674, 1.0744, 1.5708, -0.17}},
		{{-0.8382, -1.0244, 0.7879, 1.6327, 2.3562, 1}, {-1.2353, -0.3710, 0.8365, 1.0893, 1.5708, 1}},
		{{0.9319, 0.8222, -1.2837, 1.3188, -1.1811, -0.17}, {0.2800, -0.4490, 1.0496, 1.3722, 0.7854, -0.17}},
		{{0.7147, -0.3010, 0.8003, 1.0172, 1.5708, -0.17}, {-0.3544, -0.4509, 1.0674, 1.3752, -0.7854, -0.17}},
		{{-0.0381, -1.3015, 0.8731, 1.6501, 2.7000, -0.17}, {-1.8085, -0.5412, 0.7349, 1.2209, 1.5708, -0.17}},
		{{-1.8124, -1.6077, 0.8471, 1.6333, 2.3562, 0.399}, arm.Home().With(0.399)},
		{{1.1035, -0.7748, 0.5042, 1.2543, 1.5708, -0.17}, {-0.4599, -0.4478, 1.0665, 1.3687, -0.7854, -0.17}},
	} {
		b, blocked := c.Sweep(moveTo(c, row[0], row[1]), nil)
		if !blocked || b.Rule != arm.MeetsSelf || b.Other != "shoulder" || b.Part != "camera mount" && b.Part != "hand" {
			t.Errorf("path %d: %+v, %v", i, b, blocked)
		}
	}
}

// What the sweep lets pass near the shoulder and near keep-outs is passed line by line there too: paths that end just
// before they would be refused.
//
// Verifies: S124
func TestLinesOfATuckedPathAreFree(t *testing.T) {
	c := arm.SO101()
	wall := arm.KeepOut{Name: "wall", MinM: units.Vec3{-0.3, 0.12, 0}, MaxM: units.Vec3{0.3, 0.2, 0.4}}
	post := arm.KeepOut{Name: "post", MinM: units.Vec3{0.12, -0.1, 0}, MaxM: units.Vec3{0.17, -0.05, 0.15}}
	for _, outs := range [][]arm.KeepOut{nil, {wall}, {post}} {
		near := map[string]int{}
		s, from := space(t, outs...), arm.Home().With(1)
		rng := rand.New(rand.NewPCG(124, 2026))
		between := func(low, high float64) float64 { return low + rng.Float64()*(high-low) }
		for n := 0; n < 400; {
			to := arm.Servos{between(-1.9, 1.9), between(-1.74, -0.2), between(0.2, 1.69), between(0.3, 1.65), between(-2.7, 2.7), between(-0.17, 1.74)}
			path := moveTo(c, from, to)
			b, blocked := c.Sweep(path, outs)
			if blocked {
				if path = shortened(c, path, outs); len(path) == 0 {
					from = arm.Home().With(1)
					continue
				}
				near[b.Other]++
			}
			n++
			if from = passes(t, s, path); blocked {
				from = arm.Home().With(1) // from near something little is free
			}
		}
		for _, k := range append(outs, arm.KeepOut{Name: "shoulder"}) {
			if near[k.Name] < 30 {
				t.Errorf("%d paths end near the %s: %v", near[k.Name], k.Name, near)
			}
		}
	}
}

// shortened returns the longest beginning of a blocked path that the sweep lets pass, to a millisecond.
func shortened(c *arm.Chain, path arm.Trajectory, outs []arm.KeepOut) (free arm.Trajectory) {
	low, high := time.Duration(0), path.Duration()
	for high-low > time.Millisecond {
		part := moveTo(c, path[0].From, path[0].At((low+high)/2))
		if _, blocked := c.Sweep(part, outs); blocked {
			high = (low + high) / 2
			continue
		}
		low, free = (low+high)/2, part
	}
	return free
}

// passes sends the path line by line, which must be free, and returns its end.
func passes(t *testing.T, s *arm.Space, path arm.Trajectory) arm.Servos {
	t.Helper()
	last, _, _ := path.At(0)
	for at := tick; ; at += tick {
		next, _, _ := path.At(at)
		if b, blocked := s.Line(last[:], next[:], tick); blocked {
			t.Fatalf("at %v of %v: %+v", at, path.Duration(), b)
		}
		if last = next; at >= path.Duration() {
			return last
		}
	}
}
