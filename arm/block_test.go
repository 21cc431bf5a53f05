package arm

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"interlock/units"
)

// project brings a point to the nearest one of a block whose body is given.
func (b *block) project(in *body, p units.Vec3) units.Vec3 {
	q := b.rot.ApplyT(in.rot.ApplyT(p.Sub(in.at)).Sub(b.at))
	for i, h := range b.half {
		q[i] = max(-h, min(h, q[i]))
	}
	q = b.at.Add(b.rot.Apply(q))
	return in.point(&q)
}

// projectedM is the distance of block and box as two points find it that go to and fro between them, in the direction in which
// they went and from the middle of both, for so many steps or until it is no more than enough, metres.
func projectedM(b *block, k *KeepOut, in *body, steps int, enough float64) float64 {
	p := in.point(&b.at)
	q := p.Sub(k.outside(p))
	least, lastP, lastQ, pace := p.Distance(q), p, q, 1.0
	for range steps {
		if least <= enough {
			break
		}
		next := (1 + math.Sqrt(1+4*pace*pace)) / 2
		on := (pace - 1) / next
		middle := p.Add(p.Sub(lastP).Scale(on)).Add(q).Add(q.Sub(lastQ).Scale(on)).Scale(0.5)
		lastP, lastQ = p, q
		p, q = b.project(in, middle), middle.Sub(k.outside(middle))
		if d := p.Distance(q); d > lastP.Distance(lastQ) {
			pace = 1
		} else {
			pace, least = next, min(least, d)
		}
	}
	return least
}

// touching is which part of its way from the origin a body has gone where its block begins to be apart from a box there.
func touching(b *block, k *KeepOut, in body) float64 {
	low, high, whole := 0.0, 1.0, in.at
	for range 20 {
		if in.at = whole.Scale((low + high) / 2); b.from(k, &in, 0.001) > 0 {
			high = (low + high) / 2
		} else {
			low = (low + high) / 2
		}
	}
	return high
}

// anyBody is a body near the origin, half the time turned so that an axis stays nearly or quite what it was: then edges are
// parallel, or almost.
func anyBody(r *rand.Rand, farM float64) (in body) {
	in.rot = units.Quat{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}.Mat()
	if r.IntN(2) == 0 {
		about, tilt := units.Quat{1}, [...]float64{0, 1e-6, 1e-3, 0.03, 0.06, 0.1}[r.IntN(6)]
		about[1+r.IntN(3)] = r.NormFloat64()
		in.rot = about.Mat().Mul(units.Quat{1, tilt * r.NormFloat64(), tilt * r.NormFloat64(), tilt * r.NormFloat64()}.Mat())
	}
	for i := range in.at {
		in.at[i] = farM * (2*r.Float64() - 1)
	}
	return in
}

// The boxes of the shoulder are the published ones, which are told by middle, quaternion and half edges.
//
// Verifies: S120
func TestTheShoulderIsThePublishedOne(t *testing.T) {
	published := [2]block{
		{at: units.Vec3{-0.025, 0, 0}, rot: units.Quat{1, 1, -1, 1}.Mat(), half: units.Vec3{0.038, 0.025, 0.02}},
		{at: units.Vec3{-0.030399, 0.000422, -0.0387}, rot: units.Quat{1, 1, 1, -1}.Mat(), half: units.Vec3{0.023, 0.015, 0.01}},
	}
	for i, k := range shoulderBoxes() {
		for _, p := range published[i].corners() {
			nearest := math.Inf(1)
			for j := range 8 {
				nearest = min(nearest, k.corner(j).Distance(p))
			}
			if !(nearest <= 1e-9) {
				t.Errorf("box %d: no corner at %v", i, p)
			}
		}
	}
}

// What the sweep takes for the distance of two boxes is that: against points that go to and fro between them, for every block
// of the arm and the boxes of the shoulder, apart, touching and one in the other, also with parallel edges.
//
// Verifies: S121
func TestBoxesAreAsFarApartAsTheirNearestPoints(t *testing.T) {
	const enough, within = 0.005, 2e-5
	r := rand.New(rand.NewPCG(121, 2026))
	boxes, blocks, counts := shoulderBoxes(), newBlocks(), map[string]int{}
	for counts["apart"] < 800 {
		b, k, in := &blocks[r.IntN(blockCount)], &boxes[r.IntN(len(boxes))], anyBody(r, 0.3)
		in.at = in.at.Scale(touching(b, k, in) + 0.03*r.NormFloat64())
		got := b.from(k, &in, enough)
		steps, least := 6000, 0.0
		if got <= 0 {
			least = within
		} else if got >= enough {
			steps = 500
		}
		d := projectedM(b, k, &in, steps, least)
		switch {
		case got <= 0:
			counts["overlap"]++
			if !(d <= within) {
				t.Fatalf("%.3f mm deep, but %.3f mm apart", -got*1e3, d*1e3)
			}
		case got < enough:
			counts["apart"]++
			if !(math.Abs(got-d) <= within) {
				t.Fatalf("%.4f mm apart, not %.4f", got*1e3, d*1e3)
			}
		default:
			counts["enough"]++
			if !(d >= got-within) {
				t.Fatalf("%.3f mm apart, not %.3f", d*1e3, got*1e3)
			}
		}
	}
	if counts["overlap"] < 400 || counts["enough"] < 400 {
		t.Errorf("%v", counts)
	}
}

// That distance changes by no more than the points of the block move, deep inside as well: a driver that looks at other
// configurations of a path than its gate did finds the same but for what lies between them.
//
// Verifies: S121
func TestTheDistanceOfBoxesIsSmooth(t *testing.T) {
	const enough = 0.005
	r := rand.New(rand.NewPCG(122, 2026))
	boxes, blocks := shoulderBoxes(), newBlocks()
	for n := 0; n < 40000; {
		b, k, in := &blocks[r.IntN(blockCount)], &boxes[r.IntN(len(boxes))], anyBody(r, 0.12)
		before := b.from(k, &in, enough)
		if before >= enough {
			continue
		}
		n++
		small := math.Pow(10, -3-5*r.Float64())
		next := in
		next.rot = in.rot.Mul(units.Quat{1, small * r.NormFloat64(), small * r.NormFloat64(), small * r.NormFloat64()}.Mat())
		for i := range next.at {
			next.at[i] += small * 0.1 * r.NormFloat64()
		}
		moved := 0.0
		for _, p := range b.corners() {
			moved = max(moved, in.point(&p).Distance(next.point(&p)))
		}
		// Of what is enough it may say less than there is.
		if after := b.from(k, &next, enough); !(math.Abs(min(after, enough)-before) <= moved+1e-7) {
			t.Fatalf("%.6f mm, and %.6f mm after its corners moved by %.6f mm", before*1e3, after*1e3, moved*1e3)
		}
	}
}

// A keep-out holds every box of the arm, corners too: wherever a point on the surface of one is in it, the sweep finds no
// distance.
//
// Verifies: S122
func TestKeepOutsHoldEveryCornerOfTheArm(t *testing.T) {
	c := SO101()
	r := rand.New(rand.NewPCG(123, 2026))
	beyond := [capsuleCount]int{}
	for range 20000 {
		var q Servos
		for i, l := range c.limits {
			q[i] = l.MinRad + r.Float64()*(l.MaxRad-l.MinRad)
		}
		s := sweep{chain: c}
		c.pose(&q, &s.bodies)
		b := &c.blocks[r.IntN(blockCount)]
		p := b.corners()[r.IntN(8)]
		if o := b.corners()[r.IntN(8)]; r.IntN(2) == 0 {
			p = p.Add(o.Sub(p).Scale(r.Float64())) // an edge, a diagonal of a face, or within
		}
		p = s.bodies[b.body].point(&p)
		const half = 0.0005
		s.keepOuts = []KeepOut{{MinM: p.Sub(units.Vec3{half, half, half}), MaxM: p.Add(units.Vec3{half, half, half})}}
		s.measure(&q)
		n := s.nearest[onKeepOut]
		if !(n.clearM <= 1e-9-half) {
			t.Fatalf("a point of the %s is in a keep-out and the sweep finds %.2f mm to it", c.capsules[b.part].name, n.clearM*1e3)
		}
		k := &c.capsules[b.part]
		line := s.line(b.part)
		if s.keepOuts[0].distance(&line) > k.radius+keepOutClearM {
			beyond[b.part]++
		}
	}
	for _, part := range [...]int{theUpperArm, theLowerArm, theWrist, theHand, theMovingJaw, theCamera} {
		if beyond[part] == 0 {
			t.Errorf("no point of the %s stuck out of its capsule, so the test shows nothing of it", c.capsules[part].name)
		}
	}
}

// Judging a line or a path that ends a fraction of a millimetre from too near, where the exact distance of boxes is worked
// out, allocates nothing.
//
// Verifies: S125
func TestBesideAnotherBoxNothingIsAllocated(t *testing.T) {
	c := SO101()
	rng := rand.New(rand.NewPCG(125, 2026))
	out := KeepOut{Name: "post", MinM: units.Vec3{0.12, -0.1, 0}, MaxM: units.Vec3{0.17, -0.05, 0.15}}
	outs := []KeepOut{out}
	s, _ := c.Space(out)
	from := Home().With(1)
	beside := map[string]int{}
	for beside["shoulder"] < 3 || beside["post"] < 3 {
		to := Servos{4*rng.Float64() - 2, -1.7 * rng.Float64(), 1.6 * rng.Float64(), 1.6 * rng.Float64(), 5*rng.Float64() - 2.5, rng.Float64()}
		path := Trajectory{{Segment: Segment{From: from, To: to, T: time.Second}}}
		b, blocked := c.Sweep(path, outs)
		if !blocked || !(b.ClearM > 0) {
			continue
		}
		beside[b.Other]++
		if n := testing.AllocsPerRun(5, func() { c.Sweep(path, outs); s.Line(from[:], b.At[:], time.Second) }); n != 0 {
			t.Fatalf("beside the %s: %v allocations", b.Other, n)
		}
	}
}
