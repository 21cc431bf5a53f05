package arm

import (
	"math"

	"interlock/units"
)

// Bodies of the arm in the order of the joints that move them; the base stands still.
const (
	inShoulder = iota
	inUpperArm
	inLowerArm
	inWrist
	inGripper
	inJaw
	inBase
	bodyCount
)

// capsule is a thick line of one body, in the body's frame, metres.
type capsule struct {
	name   string
	body   int
	a, b   units.Vec3
	radius float64
	middle units.Vec3
	bound  float64 // radius of a ball around the middle that holds it
	whole  float64 // the same, with the blocks of this part
}

// Index of each capsule of the arm.
const (
	theBase = iota
	theShoulder
	theUpperArm
	theLowerArm
	theWrist
	theHand
	theFixedJaw
	theMovingJaw
	theCamera
	capsuleCount
)

// newCapsules returns the arm as thick lines, for distances between its parts and to keep-outs. Lines and radii round off
// the collision boxes of the published model (MuJoCo Menagerie, robotstudio_so101/so101.xml): corners stick out of them, of
// the shoulder by 25 mm and of the rest by up to 19 mm. Where a corner matters the boxes are compared besides: with the table,
// with keep-outs, and those of the hand with the shoulder (tuck). No collision shape of the base is published: its line
// encloses the foot of the pan servo.
func newCapsules() (all [capsuleCount]capsule) {
	all = [capsuleCount]capsule{
		theBase:      {name: "base", body: inBase, a: units.Vec3{-0.005, 0, 0.03}, b: units.Vec3{0.035, 0, 0.03}, radius: 0.04},
		theShoulder:  {name: "shoulder", body: inShoulder, a: units.Vec3{-0.03, 0, -0.045}, b: units.Vec3{-0.025, 0, 0}, radius: 0.025},
		theUpperArm:  {name: "upper arm", body: inUpperArm, a: units.Vec3{-0.02, -0.005, 0.0182}, b: units.Vec3{-0.1126, -0.028, 0.0182}, radius: 0.022},
		theLowerArm:  {name: "lower arm", body: inLowerArm, a: units.Vec3{0, 0, 0.0182}, b: units.Vec3{-0.1349, 0.004, 0.0182}, radius: 0.022},
		theWrist:     {name: "wrist", body: inWrist, a: units.Vec3{0, -0.012, 0.0191}, b: units.Vec3{0, -0.048, 0.022}, radius: 0.026},
		theHand:      {name: "hand", body: inGripper, a: units.Vec3{-0.0175, 0, -0.022}, b: units.Vec3{0.0125, 0, -0.022}, radius: 0.02},
		theFixedJaw:  {name: "fixed jaw", body: inGripper, a: units.Vec3{-0.02, 0, -0.045}, b: units.Vec3{-0.009, 0, -0.0975}, radius: 0.007},
		theMovingJaw: {name: "moving jaw", body: inJaw, a: units.Vec3{0, -0.013, 0.019}, b: units.Vec3{-0.011, -0.072, 0.019}, radius: 0.009},
		theCamera:    {name: "camera mount", body: inGripper, a: units.Vec3{-0.002, 0.03, -0.031}, b: units.Vec3{-0.002, 0.066, -0.044}, radius: 0.014},
	}
	for i := range all {
		k := &all[i]
		k.middle = k.a.Add(k.b).Scale(0.5)
		k.bound = k.a.Distance(k.b)/2 + k.radius
	}
	return all
}

// pair is two capsules that can meet.
type pair struct {
	a, b   int
	radiiM float64 // both radii
	nearM2 float64 // squared distance of their middles from which on they cannot be too near
}

const pairCount = 16

// newPairs returns the capsules that can meet: not those of neighbouring bodies, which the joints' limits keep apart.
func newPairs(k *[capsuleCount]capsule) (all [pairCount]pair) {
	meet := [pairCount][2]int{
		{theLowerArm, theBase}, {theWrist, theBase}, {theHand, theBase}, {theFixedJaw, theBase}, {theMovingJaw, theBase}, {theCamera, theBase},
		{theWrist, theShoulder}, {theHand, theShoulder}, {theFixedJaw, theShoulder}, {theMovingJaw, theShoulder}, {theCamera, theShoulder},
		{theWrist, theUpperArm}, {theHand, theUpperArm}, {theFixedJaw, theUpperArm}, {theMovingJaw, theUpperArm}, {theCamera, theUpperArm},
	}
	for i, m := range meet {
		a, b := &k[m[0]], &k[m[1]]
		near := a.bound + b.bound + selfClearM
		all[i] = pair{m[0], m[1], a.radius + b.radius, near * near}
	}
	return all
}

// corner is a ball of one body that may be the first to meet the table, in the body's frame, metres.
type corner struct {
	at     units.Vec3
	radius float64
}

// Real tips for the table, where a capsule's millimetres would forbid every grasp: the collision primitives of the
// jaws' tips in so101.xml (spheres, the capsule, and the corners of the thin boxes as points).
func fixedTips() [9]corner {
	return [9]corner{
		{units.Vec3{-0.0081, 0, -0.101}, 0.00075}, {units.Vec3{-0.0081, 0.0035, -0.0975}, 0.00075}, {units.Vec3{-0.0081, -0.0035, -0.0975}, 0.00075},
		{units.Vec3{-0.009, 0.002, -0.103}, 0.0011}, {units.Vec3{-0.009, -0.002, -0.103}, 0.0011},
		{units.Vec3{-0.010, 0.004, -0.1022}, 0}, {units.Vec3{-0.010, -0.004, -0.1022}, 0},
		{units.Vec3{-0.0135, 0.009, -0.0807}, 0}, {units.Vec3{-0.0135, -0.009, -0.0807}, 0},
	}
}

func movingTips() [7]corner {
	return [7]corner{
		{units.Vec3{-0.012, -0.078, 0.0192}, 0.00075}, {units.Vec3{-0.012, -0.0745, 0.0225}, 0.00075}, {units.Vec3{-0.012, -0.0745, 0.0155}, 0.00075},
		{units.Vec3{-0.0123, -0.080, 0.02275}, 0}, {units.Vec3{-0.0123, -0.080, 0.01475}, 0},
		{units.Vec3{-0.0103, -0.073, 0.02375}, 0}, {units.Vec3{-0.0103, -0.073, 0.01375}, 0},
	}
}

// solid is everything that has a size.
type solid struct {
	capsules   [capsuleCount]capsule
	pairs      [pairCount]pair
	blocks     [blockCount]block
	tuck       tuck
	fixedTips  [9]corner
	movingTips [7]corner
}

func newSolid() solid {
	k, blocks := newCapsules(), newBlocks()
	for i := range k {
		k[i].whole = k[i].bound
	}
	for i := range blocks {
		part := &k[blocks[i].part]
		part.whole = max(part.whole, reach(blocks[i:i+1], part.middle))
	}
	return solid{capsules: k, pairs: newPairs(&k), blocks: blocks, tuck: newTuck(&blocks), fixedTips: fixedTips(), movingTips: movingTips()}
}

// body is where one body is: its origin and rotation in the base frame.
type body struct {
	at  units.Vec3
	rot units.Mat3
}

// point returns where a point of the body is in the base frame.
func (b *body) point(p *units.Vec3) units.Vec3 {
	r := &b.rot
	return units.Vec3{
		b.at[0] + r[0]*p[0] + r[1]*p[1] + r[2]*p[2],
		b.at[1] + r[3]*p[0] + r[4]*p[1] + r[5]*p[2],
		b.at[2] + r[6]*p[0] + r[7]*p[1] + r[8]*p[2],
	}
}

// sees returns where another body is in this one's frame.
func (b *body) sees(o *body) (in body) {
	in.at = b.rot.ApplyT(o.at.Sub(b.at))
	for row := range 3 {
		for j := range 3 {
			in.rot[3*row+j] = b.rot[row]*o.rot[j] + b.rot[3+row]*o.rot[3+j] + b.rot[6+row]*o.rot[6+j]
		}
	}
	return in
}

// pose places every body.
func (c *Chain) pose(q *Servos, bodies *[bodyCount]body) {
	bodies[inBase].rot = units.Identity()
	in := &bodies[inBase]
	for i := range q {
		l := &c.jaw
		if i < JointCount {
			l = &c.links[i]
		}
		out := &bodies[i]
		out.at = in.point(&l.offset)
		sin, cos := math.Sincos(q[i])
		for row := 0; row < 9; row += 3 {
			a, b, d := in.rot[row], in.rot[row+1], in.rot[row+2]
			x := a*l.rot[0] + b*l.rot[3] + d*l.rot[6]
			y := a*l.rot[1] + b*l.rot[4] + d*l.rot[7]
			out.rot[row], out.rot[row+1] = cos*x+sin*y, cos*y-sin*x
			out.rot[row+2] = a*l.rot[2] + b*l.rot[5] + d*l.rot[8]
		}
		in = out
	}
}

// height returns the height of the lowest point of the ball.
func (k *corner) height(in *body) float64 {
	return in.at[2] + in.rot[6]*k.at[0] + in.rot[7]*k.at[1] + in.rot[8]*k.at[2] - k.radius
}

// segment is a line between two points.
type segment struct{ a, b units.Vec3 }

// between2 returns the squared distance of two lines: Ericson, Real-Time Collision Detection, 5.1.9.
func between2(p, q *segment) float64 {
	d1, d2, r := p.b.Sub(p.a), q.b.Sub(q.a), p.a.Sub(q.a)
	a, e, f := d1.Dot(d1), d2.Dot(d2), d2.Dot(r)
	c, b := d1.Dot(r), d1.Dot(d2)
	s, denominator := 0.0, a*e-b*b
	if denominator > 1e-12*a*e {
		s = max(0, min(1, (b*f-c*e)/denominator))
	}
	t := (b*s + f) / e
	if t < 0 {
		t, s = 0, max(0, min(1, -c/a))
	} else if t > 1 {
		t, s = 1, max(0, min(1, (b-c)/a))
	}
	d := r.Add(d1.Scale(s)).Sub(d2.Scale(t))
	return d.Dot(d)
}
