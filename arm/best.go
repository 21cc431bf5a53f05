package arm

import (
	"math"

	"interlock/units"
)

// Settings of the Levenberg–Marquardt solvers. They trade speed only: tests hold the results.
const (
	lmFirstDamping = 1e-4
	lmLeastDamping = 1e-12
	lmMostDamping  = 1e6
	lmShrink       = 0.2
	lmGrow         = 8
	lmIterations   = 60   // from each start
	polishSteps    = 400  // from the best of them: far targets converge slowly at full stretch
	reachedM       = 1e-6 // a miss this small ends the search, metres
	stillM         = 1e-9 // an improvement below this is none, metres
)

// Best returns the joints whose tip comes closest to the target, as far as Levenberg–Marquardt with an active set of
// limits and a fixed list of starts can find them. The miss it reports is that of the joints it returns.
func Best(c *Chain, target units.Vec3) Solution {
	best := Solution{Joints: Home(), MissM: math.Inf(1)}
	if !usable(target) {
		return best
	}
	steps := 0
	for i := range startCount {
		s := c.descend(c.start(i, target), target, lmIterations)
		steps += s.Iterations
		if s.MissM < best.MissM {
			best = s
		}
		if best.MissM <= reachedM {
			break
		}
	}
	if best.MissM > reachedM {
		best = c.descend(best.Joints, target, polishSteps)
		steps += best.Iterations
	}
	best.Iterations = steps
	return best
}

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

// startCount is how many starts Best tries: Home, Home turned to the target, and points spread over the joint ranges.
const startCount = 24

// start returns the i-th start.
func (c *Chain) start(i int, target units.Vec3) Joints {
	q := Home()
	if i == 0 {
		return q
	}
	q[Pan] = c.panTowards(target)
	if i == 1 {
		return c.clamp(q)
	}
	// Additive recurrence with the powers of the root of x⁵ = x + 1: evenly spread without a table.
	const root = 1.1673039782614187
	fraction := 1.0
	for j := Lift; j < JointCount; j++ {
		fraction /= root
		_, u := math.Modf(0.5 + float64(i)*fraction)
		q[j] = c.limits[j].MinRad + u*(c.limits[j].MaxRad-c.limits[j].MinRad)
	}
	if i%2 == 1 {
		q[Pan] += math.Pi // over the back
		if q[Pan] > math.Pi {
			q[Pan] -= 2 * math.Pi
		}
	}
	return c.clamp(q)
}

// panTowards returns the pan that turns the arm's plane to the target; it may lie outside the limits.
func (c *Chain) panTowards(target units.Vec3) float64 {
	return -math.Atan2(target[1]-c.links[Pan].offset[1], target[0]-c.links[Pan].offset[0])
}

// descend minimises the distance from the seed in at most the given number of steps. It never ends farther off.
func (c *Chain) descend(seed Joints, target units.Vec3, most int) Solution {
	s := Solution{Joints: seed}
	var f frames
	c.forward(&s.Joints, c.tip, &f)
	e := target.Sub(f.point)
	s.MissM = e.Norm()
	damping := lmFirstDamping
	var frozen [JointCount]bool
	for s.Iterations < most && s.MissM > reachedM && damping < lmMostDamping {
		s.Iterations++
		c.freeze(&s.Joints, &f, e, &frozen)
		step, ok := dampedStep(&f, e, damping, &frozen)
		if !ok {
			damping *= lmGrow
			continue
		}
		next := s.Joints
		for i := range next {
			next[i] += step[i]
		}
		next = c.clamp(next)
		var g frames
		c.forward(&next, c.tip, &g)
		e2 := target.Sub(g.point)
		gain := s.MissM - e2.Norm()
		if !(gain > 0) {
			damping *= lmGrow
			continue
		}
		s.Joints, s.MissM, e, f = next, e2.Norm(), e2, g
		damping = math.Max(damping*lmShrink, lmLeastDamping)
		if gain < stillM {
			break
		}
	}
	return s
}

// freeze marks the joints that stand at a limit and would be pushed beyond it: the active set.
func (c *Chain) freeze(q *Joints, f *frames, e units.Vec3, frozen *[JointCount]bool) {
	for i := range q {
		push := f.velocity(i).Dot(e)
		frozen[i] = q[i] <= c.limits[i].MinRad && push < 0 || q[i] >= c.limits[i].MaxRad && push > 0
	}
}
