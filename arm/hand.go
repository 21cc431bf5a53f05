package arm

import (
	"math"

	"interlock/units"
)

// handTarget is a wanted hand: a tool point (given in the gripper body) at a position, the pitch below the horizontal,
// and the heading of the jaw axis, which a half turn leaves the same.
type handTarget struct {
	point    units.Vec3
	tool     units.Vec3
	pitchRad float64
	jawRad   float64
}

// hand is a solution for a handTarget and what it leaves.
type hand struct {
	joints   Joints
	missM    float64
	pitchErr float64 // radians
	jawErr   float64 // radians
}

// Weights that make angles comparable with metres: a radian of pitch counts as 10 cm, one of heading as 3 cm.
const (
	pitchWeightM   = 0.1
	jawWeightM     = 0.03
	handIterations = 60
	handSolvedM2   = 1e-12 // weighted squared error that ends the search: a micrometre
	handStillPart  = 1e-2  // an improvement by a smaller part is none: such a hand stays out of reach
)

// handResidual is the weighted error of a configuration; the first three entries are the position's, in metres.
type handResidual [JointCount]float64

func (r *handResidual) cost() (sum float64) {
	for _, v := range r {
		sum += v * v
	}
	return sum
}

func (t *handTarget) residual(q *Joints, f *frames) handResidual {
	e := t.point.Sub(f.point)
	heading := math.Atan2(f.rot[3], f.rot[0])
	return handResidual{e[0], e[1], e[2],
		pitchWeightM * (t.pitchRad - q.PitchRad()),
		jawWeightM * math.Remainder(t.jawRad-heading, math.Pi)}
}

// reachHand minimises the weighted error from the seed: Levenberg–Marquardt with the limits as an active set.
func (c *Chain) reachHand(t *handTarget, seed Joints) hand {
	q := c.clamp(seed)
	var f frames
	c.forward(&q, t.tool, &f)
	r := t.residual(&q, &f)
	cost, damping := r.cost(), lmFirstDamping
	for i := 0; i < handIterations && cost > handSolvedM2 && damping < lmMostDamping; i++ {
		step, ok := c.handStep(&q, &f, &r, damping)
		next := q
		for j := range next {
			next[j] += step[j]
		}
		next = c.clamp(next)
		var g frames
		c.forward(&next, t.tool, &g)
		r2 := t.residual(&next, &g)
		if cost2 := r2.cost(); ok && cost2 < cost {
			settled := cost-cost2 < handSolvedM2 || cost-cost2 < handStillPart*cost && damping <= lmFirstDamping
			q, f, r, cost = next, g, r2, cost2
			damping = math.Max(damping*lmShrink, lmLeastDamping)
			if settled {
				break
			}
			continue
		}
		damping *= lmGrow
	}
	return hand{joints: q, missM: units.Vec3{r[0], r[1], r[2]}.Norm(),
		pitchErr: math.Abs(r[3]) / pitchWeightM, jawErr: math.Abs(r[4]) / jawWeightM}
}

// handSeed returns the closed form for the target with the elbow up, brought within the limits, and by how much the
// wrist is out of reach. The jaws close along the same line with the hand turned half round. Heading and roll depend
// on each other, since the tool is beside the roll axis; each round brings them together by the ratio of that offset
// to the distance.
func (c *Chain) handSeed(t *handTarget, half bool) (seed Joints, gapM float64) {
	const rounds = 4
	p := &c.plane
	sinP, cosP := math.Sincos(t.pitchRad)
	jawRad := t.jawRad
	if half {
		jawRad += math.Pi
	}
	_, normal0, lateral0 := c.rolled(units.Vec3{1, 0, 0}, 0)
	zero := math.Atan2(lateral0, normal0)
	heading, radial := p.heading(t.point[0], t.point[1], 0, false)
	var at tool
	var roll float64
	for range rounds {
		sin, cos := math.Sincos(jawRad - heading)
		roll = wrapped(math.Atan2(sin*sinP, cos) - zero)
		at = c.toolAt(t.tool, roll)
		heading, radial = p.heading(t.point[0], t.point[1], at.side, false)
	}
	x := radial - p.lift[0] - at.along*cosP - at.normal*sinP
	z := t.point[2] - p.lift[1] + at.along*sinP - at.normal*cosP
	f, _ := p.folds(x, z, t.pitchRad)
	d := math.Hypot(x, z)
	return c.clamp(Joints{panRad(heading), f.lift, f.elbow, f.wrist, roll}), math.Max(d-p.far, p.near-d)
}

// panTowards returns the pan that turns the arm's plane to the target; it may lie outside the limits.
func (c *Chain) panTowards(target units.Vec3) float64 {
	return -math.Atan2(target[1]-c.plane.pan[1], target[0]-c.plane.pan[0])
}

// handStep returns (JᵀJ + μ)⁻¹Jᵀr over the joints that no limit holds.
func (c *Chain) handStep(q *Joints, f *frames, r *handResidual, mu float64) (Joints, bool) {
	var columns [JointCount]handResidual
	var b Joints
	for i := range JointCount {
		columns[i] = handColumn(f, i)
		for m := range r {
			b[i] += columns[i][m] * r[m]
		}
		if q[i] <= c.limits[i].MinRad && b[i] < 0 || q[i] >= c.limits[i].MaxRad && b[i] > 0 {
			columns[i], b[i] = handResidual{}, 0
		}
	}
	var a [JointCount][JointCount]float64
	for i := range JointCount {
		for k := range i + 1 {
			for m := range r {
				a[i][k] += columns[i][m] * columns[k][m]
			}
		}
		a[i][i] += mu
	}
	return solve5(&a, b)
}

// handColumn returns how the weighted quantities move per radian of joint i.
func handColumn(f *frames, i int) handResidual {
	v := f.velocity(i)
	turn := f.axes[i].Cross(f.rot.Column(0)) // of the jaw axis
	x, y := f.rot[0], f.rot[3]
	flat := math.Max(x*x+y*y, 1e-9) // the heading of an upright jaw axis is anything
	col := handResidual{v[0], v[1], v[2], 0, jawWeightM * (x*turn[1] - y*turn[0]) / flat}
	if i == Lift || i == Elbow || i == WristFlex {
		col[3] = pitchWeightM
	}
	return col
}
