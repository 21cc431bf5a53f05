package arm

import (
	"math"

	"interlock/units"
)

// Count of the actuated joints.
const (
	JointCount = 5              // joints that move the hand
	ServoCount = JointCount + 1 // the same and the jaw
)

// Index of each joint in Joints and Servos.
const (
	Pan = iota
	Lift
	Elbow
	WristFlex
	WristRoll
	Jaw // in Servos only
)

// Joints are the angles that move the hand, in radians: pan, lift, elbow, wrist flex, wrist roll.
// Positive pan turns the arm to the right (towards −y); positive lift, elbow and wrist flex pitch the hand down.
type Joints [JointCount]float64

// Servos are the angles of all six servos, in radians: the joints and then the jaw.
type Servos [ServoCount]float64

// With returns the servo angles of the joints with the jaw at jawRad.
func (q Joints) With(jawRad float64) Servos {
	return Servos{q[Pan], q[Lift], q[Elbow], q[WristFlex], q[WristRoll], jawRad}
}

// Joints returns the servo angles without the jaw.
func (s Servos) Joints() Joints { return Joints(s[:JointCount]) }

// ServosOf returns the angles in v, which must hold exactly six finite numbers.
func ServosOf(v []float64) (Servos, bool) {
	if len(v) != ServoCount || !units.Finite(v...) {
		return Servos{}, false
	}
	return Servos(v), true
}

// Home is the pose between motions: the hand 9 cm above the table, 21 cm ahead, pitched 70° down with the roll at 90°.
// It is the seed with which the published damped least squares reproduces its published misses.
func Home() Joints {
	return Joints{0, units.RadFromDeg(-40), units.RadFromDeg(35), units.RadFromDeg(75), units.RadFromDeg(90)}
}

// Range is a closed interval of one joint, in radians.
type Range struct{ MinRad, MaxRad float64 }

// Holds reports whether the angle lies within the range; NaN does not.
func (r Range) Holds(rad float64) bool { return rad >= r.MinRad && rad <= r.MaxRad }

func (r Range) clamp(rad float64) float64 { return max(r.MinRad, min(r.MaxRad, rad)) }

// Limits are the ranges of all six servos, in the order of Servos.
type Limits [ServoCount]Range

// Hold reports whether every angle lies within its range.
func (l *Limits) Hold(s Servos) bool {
	for i, r := range l {
		if !r.Holds(s[i]) {
			return false
		}
	}
	return true
}

// link is one joint's frame in its parent's, with the joint at zero: the joint turns about z of this frame.
type link struct {
	offset units.Vec3
	rot    units.Mat3
}

// Chain is one serial arm of five revolute joints with its tool point.
type Chain struct {
	links  [JointCount]link
	tip    units.Vec3 // of the tip in the gripper body
	limits Limits
	home   Joints
	plane  plane
	fan    [fanCount]ray
	jaw    link // moves with the sixth servo
	solid
	stretched units.Mat3 // the gripper in the base frame with every joint at zero
}

// SO101 returns the chain of the SO-101: offsets, rotations, limits and the site gripperframe of MuJoCo Menagerie's
// robotstudio_so101/so101.xml (Apache-2.0). The quaternions there are not of unit length.
func SO101() *Chain {
	c := &Chain{
		links: [JointCount]link{
			Pan:       {units.Vec3{0.0388353, 0, 0.0624}, units.Quat{0, 0, -1, 0}.Mat()},
			Lift:      {units.Vec3{-0.0303992, -0.0182778, -0.0542}, units.Quat{1, -1, -1, -1}.Mat()},
			Elbow:     {units.Vec3{-0.11257, -0.028, 0}, units.Quat{1, 0, 0, 1}.Mat()},
			WristFlex: {units.Vec3{-0.1349, 0.0052, 0}, units.Quat{1, 0, 0, -1}.Mat()},
			WristRoll: {units.Vec3{0, -0.0611, 0.0181}, units.Quat{0.0172091, -0.0172091, 0.706897, 0.706897}.Mat()},
		},
		tip: units.Vec3{0.012, -0.000218, -0.098127},
		limits: Limits{
			Pan:       {-1.91986, 1.91986},
			Lift:      {-1.7453293, 1.7453293},
			Elbow:     {-1.69, 1.69},
			WristFlex: {-1.658063, 1.658063},
			WristRoll: {-2.7438473, 2.7438473},
			Jaw:       {-0.174533, 1.7453292},
		},
	}
	var f frames
	c.forward(&Joints{}, c.tip, &f)
	c.stretched = f.rot
	c.plane = newPlane(c)
	c.home, c.fan = Home(), newFan()
	c.jaw = link{units.Vec3{0.0202, 0.0188, -0.0234}, units.Quat{1, 1, 0, 0}.Mat()}
	c.solid = newSolid()
	return c
}

// Limits returns the ranges of the servos.
func (c *Chain) Limits() Limits { return c.limits }

// Tip returns the position of the tip in the base frame, metres.
func (c *Chain) Tip(q Joints) units.Vec3 {
	var f frames
	c.forward(&q, c.tip, &f)
	return f.point
}

// TipPose returns the position of the tip (metres) and the rotation of the gripper body, both in the base frame.
func (c *Chain) TipPose(q Joints) (tipInBase units.Vec3, gripperInBase units.Mat3) {
	var f frames
	c.forward(&q, c.tip, &f)
	return f.point, f.rot
}

// Jacobian returns how the tip's position changes with each joint, row by row in x, y, z: metres per radian.
func (c *Chain) Jacobian(q Joints) [3][JointCount]float64 {
	var f frames
	c.forward(&q, c.tip, &f)
	var m [3][JointCount]float64
	for i := range JointCount {
		v := f.velocity(i)
		m[0][i], m[1][i], m[2][i] = v[0], v[1], v[2]
	}
	return m
}

// PitchRad returns by how much the hand is pitched below the horizontal: π/2 points straight down.
func (q Joints) PitchRad() float64 { return q[Lift] + q[Elbow] + q[WristFlex] }

// frames is one configuration worked out: the tool point, the gripper's rotation, and each joint's axis.
type frames struct {
	point   units.Vec3
	rot     units.Mat3
	origins [JointCount]units.Vec3
	axes    [JointCount]units.Vec3
}

// velocity returns how the tool point moves per radian of joint i.
func (f *frames) velocity(i int) units.Vec3 { return f.axes[i].Cross(f.point.Sub(f.origins[i])) }

// forward works out the configuration q for a tool point given in the gripper body.
func (c *Chain) forward(q *Joints, tool units.Vec3, f *frames) {
	r, p := units.Identity(), units.Vec3{}
	for i := range c.links {
		p = p.Add(r.Apply(c.links[i].offset))
		r = r.Mul(c.links[i].rot)
		f.origins[i], f.axes[i] = p, r.Column(2)
		sin, cos := math.Sincos(q[i])
		for row := 0; row < 9; row += 3 {
			x, y := r[row], r[row+1]
			r[row], r[row+1] = cos*x+sin*y, cos*y-sin*x
		}
	}
	f.point, f.rot = p.Add(r.Apply(tool)), r
}

// clamp returns q with every joint inside its limits.
func (c *Chain) clamp(q Joints) Joints {
	for i := range q {
		q[i] = c.limits[i].clamp(q[i])
	}
	return q
}
