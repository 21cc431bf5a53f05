package arm

import (
	"cmp"
	"math"
	"slices"

	"interlock/units"
)

// reachedM is a miss that ends a search, metres.
const reachedM = 1e-6

// Best returns the joints whose tip comes closest to the target. Where the arm reaches it, the roll is that of Home if
// it can be, the hand is in front of the base rather than over its back, and its pitch is the one that moves the arm
// least from Home. Where the arm does not, the miss is the least there is within the limits of the joints. The miss it
// reports is that of the joints it returns.
//
// It works in two parts: the closed form over a fan of pitches (almost every target ends there), and a descent with
// second derivatives from the most promising configurations of that fan.
func Best(c *Chain, target units.Vec3) Solution {
	if !usable(target) {
		return Solution{Joints: Home(), MissM: math.Inf(1)}
	}
	for _, roll := range rolls() {
		if s, ok := AtRoll(c, target, roll); ok {
			return s
		}
	}
	return c.closest(target)
}

const rollCount = 4

// AtRoll returns joints whose tip is on the target with the roll given, in front of the base or else over its back, as
// near to Home as there are; false where no pitch of a fan reaches it.
func AtRoll(c *Chain, target units.Vec3, rollRad float64) (Solution, bool) {
	if !usable(target) || !c.limits[WristRoll].Holds(rollRad) {
		return Solution{}, false
	}
	for _, back := range [2]bool{false, true} {
		if s, ok := c.fanned(target, rollRad, back); ok {
			return s, true
		}
	}
	return Solution{}, false
}

// rolls are the rolls that Best tries in this order.
func rolls() [rollCount]float64 { return [rollCount]float64{math.Pi / 2, -math.Pi / 2, 0, 2.7} }

// Near returns the position solution reached from the seed alone: the one that moves the arm least when the seed is
// the present configuration.
func Near(c *Chain, target units.Vec3, seed Joints) Solution {
	if !units.Finite(seed[:]...) {
		return Solution{Joints: Home(), MissM: math.Inf(1)}
	}
	if !usable(target) {
		return Solution{Joints: c.clamp(seed), MissM: math.Inf(1)}
	}
	return c.descend(c.clamp(seed), target, lmIterations)
}

// fanCount is how many pitches the closed form tries, evenly over the whole turn.
const fanCount = 36

// ray is one pitch of the fan.
type ray struct{ rad, sin, cos float64 }

func newFan() (fan [fanCount]ray) {
	for i := range fan {
		rad := 2 * math.Pi * (float64(i) - fanCount/2) / fanCount
		fan[i].rad = rad
		fan[i].sin, fan[i].cos = math.Sincos(rad)
	}
	return fan
}

// stance is a target as the arm's plane sees it at one roll, in front or over the back.
type stance struct {
	pan, roll float64
	tool      tool
	x, z      float64 // of the target from the lift axis, in the plane
}

func (c *Chain) stance(target units.Vec3, roll float64, back bool) stance {
	t := c.toolAt(c.tip, roll)
	heading, radial := c.plane.heading(target[0], target[1], t.side, back)
	return stance{panRad(heading), roll, t, radial - c.plane.lift[0], target[2] - c.plane.lift[1]}
}

// wrist returns where the wrist axis must be for the pitch, from the lift axis.
func (s *stance) wrist(sin, cos float64) (x, z float64) {
	return s.x - s.tool.along*cos - s.tool.normal*sin, s.z + s.tool.along*sin - s.tool.normal*cos
}

// joints returns the configuration of a fold.
func (s *stance) joints(f fold) Joints { return Joints{s.pan, f.lift, f.elbow, f.wrist, s.roll} }

// strain is how far a fold is from Home; infinite where it is outside the limits.
func (c *Chain) strain(f fold) float64 {
	if !c.limits[Lift].Holds(f.lift) || !c.limits[Elbow].Holds(f.elbow) || !c.limits[WristFlex].Holds(f.wrist) {
		return math.Inf(1)
	}
	a, b, d := f.lift-c.home[Lift], f.elbow-c.home[Elbow], f.wrist-c.home[WristFlex]
	return a*a + b*b + d*d
}

// least returns the fold at the pitch that is less far from Home, and how far.
func (c *Chain) least(s *stance, r ray) (fold, float64) {
	x, z := s.wrist(r.sin, r.cos)
	if d2 := x*x + z*z; d2 > c.plane.far*c.plane.far || d2 < c.plane.near*c.plane.near {
		return fold{}, math.Inf(1)
	}
	up, down := c.plane.folds(x, z, r.rad)
	a, b := c.strain(up), c.strain(down)
	if b < a {
		return down, b
	}
	return up, a
}

// fanned returns the least strained configuration of the fan that puts the tip on the target; false if there is none.
func (c *Chain) fanned(target units.Vec3, roll float64, back bool) (Solution, bool) {
	s := c.stance(target, roll, back)
	if !c.limits[Pan].Holds(s.pan) {
		return Solution{}, false
	}
	var strains [fanCount]float64
	at, least := 0, math.Inf(1)
	var best fold
	for i := range c.fan {
		f, strain := c.least(&s, c.fan[i])
		if strains[i] = strain; strain < least {
			at, least, best = i, strain, f
		}
	}
	if math.IsInf(least, 1) {
		return Solution{}, false
	}
	if f, strain := c.between(&s, at, &strains); strain < least {
		best = f
	}
	q := s.joints(best)
	miss := c.Tip(q).Distance(target)
	return Solution{Joints: q, MissM: miss}, miss <= reachedM
}

// between looks for a better pitch between the best of the fan and its neighbours: the bottom of the parabola through
// the three.
func (c *Chain) between(s *stance, at int, strains *[fanCount]float64) (fold, float64) {
	before, here, after := strains[(at+fanCount-1)%fanCount], strains[at], strains[(at+1)%fanCount]
	bend := before - 2*here + after
	if !(bend > 0) || math.IsInf(bend, 1) {
		return fold{}, math.Inf(1)
	}
	r := ray{rad: c.fan[at].rad + (before-after)/(2*bend)*(2*math.Pi/fanCount)}
	r.sin, r.cos = math.Sincos(r.rad)
	return c.least(s, r)
}

// lead is a configuration from which a descent may find the target, and how far its tip is.
type lead struct {
	joints Joints
	missM  float64
}

// Leads found and followed.
const (
	leadsARoll  = 2 * 2 // in front and over the back, elbow up and down
	leadsTried  = 9
	settleSteps = 40
)

// closest descends from the most promising configurations of the fan: the best one of every roll, then the best of
// all the others. A far target has a nearest point for several rolls, and which is the nearest of them shows only at
// the end.
func (c *Chain) closest(target units.Vec3) Solution {
	var leads [rollCount * leadsARoll]lead
	for i, roll := range rolls() {
		of := leads[i*leadsARoll : (i+1)*leadsARoll]
		c.leads(target, roll, false, of[:2])
		c.leads(target, roll, true, of[2:])
		slices.SortFunc(of, nearer)
		leads[i], of[0] = of[0], leads[i]
	}
	slices.SortFunc(leads[:rollCount], nearer)
	slices.SortFunc(leads[rollCount:], nearer)
	best := Solution{Joints: c.home, MissM: math.Inf(1)}
	steps := 0
	for i := range leads[:leadsTried] {
		s := c.settle(leads[i].joints, target, settleSteps)
		steps += s.Iterations
		if s.MissM < best.MissM {
			best = s
		}
		if best.MissM <= reachedM {
			break
		}
	}
	best.Iterations = steps
	return best
}

func nearer(a, b lead) int { return cmp.Compare(a.missM, b.missM) }

// leads writes for elbow up and down the configuration of the fan that comes nearest once its joints are brought
// within their limits.
func (c *Chain) leads(target units.Vec3, roll float64, back bool, out []lead) {
	s := c.stance(target, roll, back)
	if pan := c.limits[Pan].clamp(s.pan); pan != s.pan {
		s.pan = pan
		s.x = c.plane.project(target[0], target[1], -pan) - c.plane.lift[0]
	}
	best := [2]lead{{missM: math.Inf(1)}, {missM: math.Inf(1)}}
	for _, r := range c.fan {
		x, z := s.wrist(r.sin, r.cos)
		up, down := c.plane.folds(x, z, r.rad)
		for i, f := range [2]fold{up, down} {
			miss := math.Sqrt(x*x+z*z) - c.plane.far // of a straight arm, if it may be straight
			if g := c.within(f); g != f || miss < 0 {
				f, miss = g, c.planeMiss(&s, g)
			}
			if miss < best[i].missM {
				best[i] = lead{s.joints(f), miss}
			}
		}
	}
	for i := range best {
		best[i].missM = c.Tip(best[i].joints).Distance(target)
	}
	copy(out, best[:])
}

// within returns the fold with its joints inside their limits.
func (c *Chain) within(f fold) fold {
	return fold{c.limits[Lift].clamp(f.lift), c.limits[Elbow].clamp(f.elbow), c.limits[WristFlex].clamp(f.wrist)}
}

// planeMiss returns how far the tip of the fold is from the target within the plane.
func (c *Chain) planeMiss(s *stance, f fold) float64 {
	p := &c.plane
	slope := p.bars[0].slope + f.lift
	sin1, cos1 := math.Sincos(slope)
	sin2, cos2 := math.Sincos(p.bars[1].slope + f.lift + f.elbow)
	sin3, cos3 := math.Sincos(f.lift + f.elbow + f.wrist)
	x, z := s.wrist(sin3, cos3)
	x -= p.bars[0].length*cos1 + p.bars[1].length*cos2
	z += p.bars[0].length*sin1 + p.bars[1].length*sin2
	return math.Sqrt(x*x + z*z)
}
