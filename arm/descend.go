package arm

import (
	"math"

	"interlock/units"
)

// Settings of the descents. They trade speed only: tests hold the results.
const (
	lmFirstDamping = 1e-4
	lmLeastDamping = 1e-12
	lmMostDamping  = 1e6
	lmShrink       = 0.2
	lmGrow         = 8
	lmIterations   = 60
	stillM         = 1e-9 // an improvement below this is none, metres
)

// descend minimises the distance from the seed in at most the given number of steps, by Levenberg–Marquardt with the
// limits as an active set. It never ends farther off. Of the configurations that reach the target it finds one near
// the seed.
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
		next := c.clamp(added(s.Joints, step))
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

// settle does the same with second derivatives. A target out of reach is approached in a few steps where descend,
// which takes the arm for straight, needs hundreds.
func (c *Chain) settle(seed Joints, target units.Vec3, most int) Solution {
	s := Solution{Joints: seed}
	var f frames
	c.forward(&s.Joints, c.tip, &f)
	e := target.Sub(f.point)
	s.MissM = e.Norm()
	damping := lmFirstDamping
	for s.Iterations < most && s.MissM > reachedM && damping < lmMostDamping {
		s.Iterations++
		step, ok := c.curvedStep(&s.Joints, &f, e, damping)
		if !ok {
			damping *= lmGrow
			continue
		}
		next := c.clamp(added(s.Joints, step))
		var g frames
		c.forward(&next, c.tip, &g)
		e2 := target.Sub(g.point)
		gain := s.MissM - e2.Norm()
		if !(gain > 0) {
			if largest(step) < stillRad {
				break
			}
			damping *= lmGrow
			continue
		}
		s.Joints, s.MissM, e, f = next, e2.Norm(), e2, g
		if gain < stillM && damping <= lmFirstDamping {
			break
		}
		damping = math.Max(damping*lmShrink, lmLeastDamping)
	}
	return s
}

// stillRad is a step too small to matter, radians.
const stillRad = 1e-7

func added(q, step Joints) Joints {
	for i := range q {
		q[i] += step[i]
	}
	return q
}

func largest(step Joints) (rad float64) {
	for _, v := range step {
		rad = math.Max(rad, math.Abs(v))
	}
	return rad
}

// freeze marks the joints that stand at a limit and would be pushed beyond it: the active set.
func (c *Chain) freeze(q *Joints, f *frames, e units.Vec3, frozen *[JointCount]bool) {
	for i := range q {
		frozen[i] = c.pushed(q, i, f.velocity(i).Dot(e))
	}
}

// pushed reports whether joint i stands at a limit and the push would bring it beyond.
func (c *Chain) pushed(q *Joints, i int, push float64) bool {
	return q[i] <= c.limits[i].MinRad && push < 0 || q[i] >= c.limits[i].MaxRad && push > 0
}

// curvedStep returns Newton's step on half the squared distance with the damping added; false where the distance is
// not convex under it. The second derivative of the tip by joints i ≤ k is axis i × velocity k.
func (c *Chain) curvedStep(q *Joints, f *frames, e units.Vec3, damping float64) (Joints, bool) {
	var v [JointCount]units.Vec3
	var b Joints
	var frozen [JointCount]bool
	for i := range v {
		v[i] = f.velocity(i)
		b[i] = v[i].Dot(e)
		frozen[i] = c.pushed(q, i, b[i])
	}
	var a [JointCount][JointCount]float64
	for k := range v {
		if frozen[k] {
			a[k][k], b[k] = 1, 0
			continue
		}
		// e · (axis i × velocity k) = axis i · (velocity k × e)
		across := v[k].Cross(e)
		for i := range k + 1 {
			if !frozen[i] {
				a[k][i] = v[i].Dot(v[k]) - f.axes[i].Dot(across)
			}
		}
		a[k][k] += damping
	}
	return solve5(&a, b)
}
