package arm

import (
	"math"

	"interlock/units"
)

// Pose is a wanted hand: the tip's position in the base frame, metres, and the rotation of the gripper body, as TipPose
// returns them. With five joints only some rotations can be had at a position.
type Pose struct {
	TipInBase     units.Vec3
	GripperInBase units.Mat3
}

// PoseSolution is what the pose solver found: the joints and what they leave.
type PoseSolution struct {
	Joints     Joints
	MissM      float64 // of the tip, metres; infinite where the pose is no usable one
	TurnRad    float64 // angle between the wanted rotation and that of the joints
	Iterations int
}

// Settings of the pose solver.
const (
	turnWeightM   = 0.1 // a radian of turn counts as 10 cm
	poseSolvedM2  = 1e-12
	poseSteps     = 60   // from each start
	rotationSlack = 1e-6 // how far the columns may be from unit length and right angles
	straightM     = 0.1  // far along the hand's axis, for its heading
)

// BestPose returns the joints whose hand comes closest to the pose, a radian of turn counting as much as 10 cm. The
// closed form gives every configuration there is (in front or over the back, elbow up or down); of those within the
// limits the one that moves the arm least from Home is taken. Where there is none, it is the best of a few descents.
func BestPose(c *Chain, want Pose) PoseSolution {
	if !usable(want.TipInBase) || !rotation(&want.GripperInBase) {
		return PoseSolution{Joints: Home(), MissM: math.Inf(1), TurnRad: math.Pi}
	}
	var leads [4]Joints
	n := c.postures(&want, &leads)
	if n > 0 {
		best := c.poseLeft(&want, leads[0])
		for i := 1; i < n && best.cost() > poseSolvedM2; i++ {
			if s := c.poseLeft(&want, leads[i]); s.cost() < best.cost() {
				best = s
			}
		}
		if best.cost() <= poseSolvedM2 {
			return best
		}
	}
	return c.closestPose(&want, leads[:])
}

// cost is the weighted squared error.
func (s *PoseSolution) cost() float64 {
	turn := turnWeightM * s.TurnRad
	return s.MissM*s.MissM + turn*turn
}

// rotation reports whether m is a rotation.
func rotation(m *units.Mat3) bool {
	x, y, z := m.Column(0), m.Column(1), m.Column(2)
	return math.Abs(x.Norm()-1) <= rotationSlack && math.Abs(y.Norm()-1) <= rotationSlack && x.Cross(y).Distance(z) <= rotationSlack
}

// turnBetween returns the angle between two rotations, exact for small ones too.
func turnBetween(a, b *units.Mat3) float64 {
	d := 0.0
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	return 2 * math.Asin(math.Min(1, math.Sqrt(d/8)))
}

// poseLeft returns what the joints leave of the pose.
func (c *Chain) poseLeft(want *Pose, q Joints) PoseSolution {
	tip, rot := c.TipPose(q)
	return PoseSolution{Joints: q, MissM: tip.Distance(want.TipInBase), TurnRad: turnBetween(&rot, &want.GripperInBase)}
}

// postures writes the configurations of the closed form, joints brought within their limits. Those that needed no
// bringing come first, of these the one nearest to Home; their number is returned.
func (c *Chain) postures(want *Pose, out *[4]Joints) (within int) {
	p, rot := &c.plane, &want.GripperInBase
	approach := rot.Column(2).Scale(-1)
	roll := want.TipInBase.Sub(rot.Apply(c.tip)) // origin of the roll joint
	wrist := roll.Sub(approach.Scale(p.along))
	// Every point of the roll axis lies in the plane, to its side: the farthest from the pan axis tells the heading best.
	seen := roll.Add(approach.Scale(straightM))
	if math.Hypot(wrist[0]-p.pan[0], wrist[1]-p.pan[1]) > math.Hypot(seen[0]-p.pan[0], seen[1]-p.pan[1]) {
		seen = wrist
	}
	var strains [4]float64
	for i := range out {
		heading, _ := p.heading(seen[0], seen[1], p.side, i >= 2)
		out[i] = c.posture(rot, wrist, approach, heading, i%2 == 1)
		q := c.clamp(out[i])
		strains[i] = math.Inf(1)
		if largest(added(q, negative(out[i]))) <= limitSlackRad {
			strains[i] = c.strain(fold{q[Lift], q[Elbow], q[WristFlex]})
		}
		out[i] = q
	}
	for i := range out { // insertion sort: four are few
		for k := i; k > 0 && strains[k] < strains[k-1]; k-- {
			strains[k], strains[k-1], out[k], out[k-1] = strains[k-1], strains[k], out[k-1], out[k]
		}
	}
	for within < len(strains) && !math.IsInf(strains[within], 1) {
		within++
	}
	return within
}

// limitSlackRad is what rounding may put a joint beyond its limit.
const limitSlackRad = 1e-9

func negative(q Joints) Joints {
	for i := range q {
		q[i] = -q[i]
	}
	return q
}

// posture returns the configuration for the rotation, the place of the wrist axis and the heading of the plane.
func (c *Chain) posture(rot *units.Mat3, wrist, approach units.Vec3, heading float64, down bool) Joints {
	p := &c.plane
	sin, cos := math.Sincos(heading)
	outwards := approach[0]*cos + approach[1]*sin
	pitch := math.Atan2(-approach[2], outwards)
	// The roll axis is off the wrist axis by a fixed normal, which is nothing for this arm but costs nothing.
	sinP, cosP := math.Sincos(pitch)
	x := p.project(wrist[0], wrist[1], heading) - p.lift[0] - p.normal*sinP
	z := wrist[2] - p.lift[1] - p.normal*cosP
	f, other := p.folds(x, z, pitch)
	if down {
		f = other
	}
	jaw := rot.Column(0)
	lateral := jaw[1]*cos - jaw[0]*sin
	normal := sinP*(jaw[0]*cos+jaw[1]*sin) + cosP*jaw[2]
	_, normal0, lateral0 := c.rolled(units.Vec3{1, 0, 0}, 0)
	return Joints{panRad(heading), f.lift, f.elbow, f.wrist, wrapped(math.Atan2(lateral, normal) - math.Atan2(lateral0, normal0))}
}

// closestPose descends from the configurations of the closed form and from Home turned to the pose.
func (c *Chain) closestPose(want *Pose, leads []Joints) PoseSolution {
	home := c.home
	home[Pan] = c.panTowards(want.TipInBase)
	best := c.descendPose(want, c.clamp(home), poseSteps)
	for _, q := range leads {
		if best.cost() <= poseSolvedM2 {
			break
		}
		s := c.descendPose(want, q, poseSteps)
		s.Iterations += best.Iterations
		if s.cost() < best.cost() {
			best = s
		}
	}
	return best
}

// descendPose minimises the weighted error from the seed: Levenberg–Marquardt with the limits as an active set.
func (c *Chain) descendPose(want *Pose, seed Joints, most int) PoseSolution {
	s := c.poseLeft(want, seed)
	damping := lmFirstDamping
	for s.Iterations < most && s.cost() > poseSolvedM2 && damping < lmMostDamping {
		s.Iterations++
		step, ok := c.poseStep(want, &s.Joints, damping)
		next := c.poseLeft(want, c.clamp(added(s.Joints, step)))
		next.Iterations = s.Iterations
		if !ok || !(next.cost() < s.cost()) {
			damping *= lmGrow
			continue
		}
		settled := s.cost()-next.cost() < poseSolvedM2
		s = next
		damping = math.Max(damping*lmShrink, lmLeastDamping)
		if settled {
			break
		}
	}
	return s
}

// poseStep returns (JᵀJ + μ)⁻¹Jᵀr over the joints that no limit holds. A joint turns every column of the rotation
// about its axis, so that the columns' part of JᵀJ is twice the dot product of the axes.
func (c *Chain) poseStep(want *Pose, q *Joints, damping float64) (Joints, bool) {
	const weight = turnWeightM * turnWeightM / 2
	var f frames
	c.forward(q, c.tip, &f)
	e := want.TipInBase.Sub(f.point)
	var turn units.Vec3
	for k := range 3 {
		turn = turn.Add(f.rot.Column(k).Cross(want.GripperInBase.Column(k)))
	}
	var v [JointCount]units.Vec3
	var b Joints
	var a [JointCount][JointCount]float64
	var frozen [JointCount]bool
	for i := range v {
		v[i] = f.velocity(i)
		b[i] = v[i].Dot(e) + weight*f.axes[i].Dot(turn)
		if frozen[i] = c.pushed(q, i, b[i]); frozen[i] {
			a[i][i], b[i] = 1, 0
			continue
		}
		for k := range i + 1 {
			if !frozen[k] {
				a[i][k] = v[i].Dot(v[k]) + 2*weight*f.axes[i].Dot(f.axes[k])
			}
		}
		a[i][i] += damping
	}
	return solve5(&a, b)
}
