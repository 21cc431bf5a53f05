package arm

import (
	"math"
	"time"

	"interlock/units"
)

// What a path may meet.
const (
	MeetsTable   = "table"
	MeetsSelf    = "self"
	MeetsKeepOut = "keep_out"
)

// Least distances, metres. The table's lets every grasp of a 3 cm cube pass, whose tips come within 6 mm of it, and is
// more than the servos fall short of a path; the others are kept by capsules, which are rounder than the arm, and by the
// boxes whose corners stick out of them.
const (
	tableClearM   = 0.0015
	selfClearM    = 0.001
	keepOutClearM = 0.005
)

// Samples of one phase: at least leastSamples, and so many that no point strays further than strayM from the line
// between two of its samples; for the table, a plane, nothing can be missed between them by more.
const (
	leastSamples = 24
	mostSamples  = 400
	strayM       = 0.0005
)

// swingM is how far a point of the arm may be from each servo's axis, metres: the lengths of the links beyond it and
// 12 cm from the roll joint to the ends of jaws and camera mount.
func swingM() [ServoCount]float64 { return [ServoCount]float64{0.46, 0.43, 0.32, 0.18, 0.1, 0.085} }

// samplesOf returns how many samples the phase needs: a point on a circle bends off its chord by an eighth of its
// second derivative, which no combination of the servos makes larger than the product here.
func samplesOf(s *Segment) int {
	turn, swing := 0.0, 0.0
	for i, r := range swingM() {
		d := math.Abs(s.To[i] - s.From[i])
		turn += d
		swing += d * r
	}
	if turn == 0 {
		return 0
	}
	return max(leastSamples, min(mostSamples, int(math.Ceil(math.Sqrt(turn*swing/(8*strayM))))))
}

// Sweep follows the trajectory and reports the first configuration that comes too near to the table, to itself or to a
// keep-out; false where none does. A trajectory that starts too near may leave, never go nearer. Objects on the table
// are none of its business: a grasp touches one.
func (c *Chain) Sweep(tr Trajectory, keepOuts []KeepOut) (Blocked, bool) {
	if len(tr) == 0 {
		return Blocked{}, false
	}
	s := sweep{chain: c, keepOuts: keepOuts, allowed: leastM()}
	s.measure(&tr[0].From)
	for k, n := range s.nearest {
		s.allowed[k] = min(s.allowed[k], n.clearM)
	}
	begin := time.Duration(0)
	for i := range tr {
		phase := &tr[i].Segment
		n := samplesOf(phase)
		for k := 1; k <= n; k++ {
			done := float64(k) / float64(n)
			var q Servos
			for j := range q {
				q[j] = phase.From[j] + done*(phase.To[j]-phase.From[j])
			}
			s.measure(&q)
			if b, blocked := s.judge(); blocked {
				b.At, b.T = q, begin+phase.when(done)
				return b, true
			}
		}
		begin += phase.T
	}
	return Blocked{}, false
}

// when returns the time at which a part of the way is done.
func (s *Segment) when(done float64) time.Duration {
	low, high := 0.0, 1.0
	for range 30 {
		u := (low + high) / 2
		if u*u*u*(10+u*(-15+6*u)) < done {
			low = u
		} else {
			high = u
		}
	}
	return time.Duration(high * float64(s.T))
}

// Rules by index.
const (
	onTable = iota
	onSelf
	onKeepOut
	ruleCount
)

// near is the nearest approach of one rule: its distance beyond the capsules, and between what.
type near struct {
	clearM      float64
	part, other int
}

func leastM() [ruleCount]float64 { return [ruleCount]float64{tableClearM, selfClearM, keepOutClearM} }

// sweep is one run through a trajectory.
type sweep struct {
	chain    *Chain
	keepOuts []KeepOut
	bodies   [bodyCount]body
	middles  [capsuleCount]units.Vec3
	nearest  [ruleCount]near
	allowed  [ruleCount]float64 // least distance, or what there was where there was less
}

// easeM is what a distance may shrink by rounding while the arm leaves something it was too near to.
const easeM = 1e-6

// judge compares the nearest approaches with what is allowed, and takes back what was granted to a start too near.
func (s *sweep) judge() (Blocked, bool) {
	least := leastM()
	for k, n := range s.nearest {
		if !(n.clearM >= s.allowed[k]-easeM) {
			return s.blocked(k, n, least[k]), true
		}
		s.allowed[k] = max(s.allowed[k], min(n.clearM, least[k]))
	}
	return Blocked{}, false
}

func (s *sweep) blocked(rule int, n near, leastM float64) Blocked {
	b := Blocked{ClearM: n.clearM, LeastM: leastM}
	switch rule {
	case onTable:
		b.Rule, b.Part, b.Other = MeetsTable, s.chain.lowName(n.part), MeetsTable
	case onSelf:
		b.Rule, b.Part, b.Other = MeetsSelf, s.chain.capsules[n.part].name, s.chain.capsules[n.other].name
	default:
		b.Rule, b.Part, b.Other = MeetsKeepOut, s.chain.capsules[n.part].name, s.keepOuts[n.other].Name
	}
	return b
}

// measure works out the nearest approaches of the configuration, as far as they are too near: a ball around each part
// shows first whether it can be.
func (s *sweep) measure(q *Servos) {
	c := s.chain
	c.pose(q, &s.bodies)
	s.nearest[onTable] = c.overTable(&s.bodies)
	for i := range c.capsules {
		k := &c.capsules[i]
		s.middles[i] = s.bodies[k.body].point(&k.middle)
	}
	s.nearest[onSelf] = near{clearM: math.Inf(1)}
	for i := range c.pairs {
		p := &c.pairs[i]
		if d := s.middles[p.a].Sub(s.middles[p.b]); d.Dot(d) < p.nearM2 {
			l, m := s.line(p.a), s.line(p.b)
			s.keep(onSelf, p.a, p.b, math.Sqrt(between2(&l, &m))-p.radiiM)
		}
	}
	s.tucked()
	s.nearest[onKeepOut] = near{clearM: math.Inf(1)}
	for i := range s.keepOuts {
		s.outsideOf(i)
	}
}

// outsideOf works out how near the arm is to one keep-out: its capsules, and its boxes, whose corners stick out of them.
func (s *sweep) outsideOf(i int) {
	out := &s.keepOuts[i]
	for j := theUpperArm; j < capsuleCount; j++ { // base and shoulder stand where they stand
		k := &s.chain.capsules[j]
		near := k.whole + keepOutClearM
		if d := out.outside(s.middles[j]); d.Dot(d) < near*near {
			l := s.line(j)
			s.keep(onKeepOut, j, i, out.distance(&l)-k.radius)
			s.blocksOutsideOf(i, j)
		}
	}
}

// blocksOutsideOf does so for the boxes of one part of the arm.
func (s *sweep) blocksOutsideOf(i, part int) {
	for j := range s.chain.blocks {
		if b := &s.chain.blocks[j]; b.part == part {
			s.keep(onKeepOut, part, i, b.from(&s.keepOuts[i], &s.bodies[b.body], keepOutClearM))
		}
	}
}

// line returns where the line of a capsule is.
func (s *sweep) line(i int) segment {
	k := &s.chain.capsules[i]
	in := &s.bodies[k.body]
	return segment{in.point(&k.a), in.point(&k.b)}
}

// keep notes an approach if it is nearer than the one so far.
func (s *sweep) keep(rule, part, other int, clearM float64) {
	if clearM < s.nearest[rule].clearM {
		s.nearest[rule] = near{clearM, part, other}
	}
}

// tipReachM is how far the tips of either jaw are from the origin of its body at most, metres.
const tipReachM = 0.11

// overTable returns the height of the lowest point over the table, and which it is: a block, or beyond them the fixed
// jaw and the moving one. Where nothing can be too near it is infinite.
func (c *Chain) overTable(bodies *[bodyCount]body) near {
	n := near{clearM: math.Inf(1)}
	for i := range c.blocks {
		b := &c.blocks[i]
		in := &bodies[b.body]
		if b.middle(in)-b.bound >= tableClearM {
			continue
		}
		if z := b.height(in); z < n.clearM {
			n = near{clearM: z, part: i}
		}
	}
	if in := &bodies[inGripper]; in.at[2]-tipReachM < tableClearM {
		for i := range c.fixedTips {
			if z := c.fixedTips[i].height(in); z < n.clearM {
				n = near{clearM: z, part: len(c.blocks)}
			}
		}
	}
	if in := &bodies[inJaw]; in.at[2]-tipReachM < tableClearM {
		for i := range c.movingTips {
			if z := c.movingTips[i].height(in); z < n.clearM {
				n = near{clearM: z, part: len(c.blocks) + 1}
			}
		}
	}
	return n
}

// lowName names what overTable found.
func (c *Chain) lowName(part int) string {
	switch {
	case part < len(c.blocks):
		return c.capsules[c.blocks[part].part].name
	case part == len(c.blocks):
		return c.capsules[theFixedJaw].name
	}
	return c.capsules[theMovingJaw].name
}
