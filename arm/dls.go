package arm

import (
	"math"

	"interlock/units"
)

// Solution is what a position solver found: the joints, how far their tip is from the target, and the steps it took.
type Solution struct {
	Joints     Joints
	MissM      float64 // metres; infinite where the target is no usable position
	Iterations int
}

// DLSOptions are the settings of the damped least squares.
type DLSOptions struct {
	Damping    float64 // λ, metres
	Iterations int     // most steps taken
	StopM      float64 // stops once the miss is at most this, metres
	Seed       Joints
}

// PublishedDLS returns the settings with which DLS reproduces the published misses: 0.06, 0.17, 0.24, 326.07 and
// 37.23 mm at (20,5,15), (20,0,2), (22,3,1.1), (70,0,10) and (50,0,1.1) cm.
func PublishedDLS() DLSOptions {
	return DLSOptions{Damping: 0.03, Iterations: 300, StopM: 0.0005, Seed: Home()}
}

// farthestTargetM bounds what a solver takes as a position. Beyond it squares lose the arm in rounding.
const farthestTargetM = 1e6

// usable reports whether the target is a finite position that is not absurdly far.
func usable(target units.Vec3) bool { return target.Norm() <= farthestTargetM }

// DLS is the published damped least squares on the tip's position: full steps dq = Jᵀ(JJᵀ + λ²)⁻¹e, each clamped to
// the limits, and the last iterate returned whatever its miss. At full stretch it ends in a two-cycle far from the
// best answer; it is kept for like-for-like comparisons. Use Best to know what the arm can reach.
func DLS(c *Chain, target units.Vec3, o DLSOptions) Solution {
	if !units.Finite(o.Seed[:]...) {
		return Solution{Joints: Home(), MissM: math.Inf(1)}
	}
	s := Solution{Joints: c.clamp(o.Seed), MissM: math.Inf(1)}
	if !usable(target) {
		return s
	}
	var f frames
	for {
		c.forward(&s.Joints, c.tip, &f)
		e := target.Sub(f.point)
		s.MissM = e.Norm()
		if s.MissM <= o.StopM || s.Iterations >= o.Iterations {
			return s
		}
		step, _ := dampedStep(&f, e, o.Damping*o.Damping, nil)
		for i := range step {
			s.Joints[i] += step[i]
		}
		s.Joints = c.clamp(s.Joints)
		s.Iterations++
	}
}

// dampedStep returns Jᵀ(JJᵀ + μ)⁻¹e over the joints that are not frozen; false if the system is singular.
func dampedStep(f *frames, e units.Vec3, mu float64, frozen *[JointCount]bool) (Joints, bool) {
	var columns [JointCount]units.Vec3
	a := [3][3]float64{{mu, 0, 0}, {0, mu, 0}, {0, 0, mu}}
	for i := range JointCount {
		if frozen != nil && frozen[i] {
			continue
		}
		v := f.velocity(i)
		columns[i] = v
		for r := range 3 {
			for k := range r + 1 {
				a[r][k] += v[r] * v[k]
			}
		}
	}
	x, ok := solve3(&a, e)
	var step Joints
	for i := range JointCount {
		step[i] = columns[i].Dot(x)
	}
	return step, ok
}
