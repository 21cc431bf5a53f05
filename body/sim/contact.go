package sim

import "math"

// noBlock is the velocity block of what never moves.
const noBlock = -1

// contact couples two velocity blocks over one normal and two tangential rows.
type contact struct {
	key     uint32 // point and partner, for the warm start
	a, b    int    // velocity blocks; b is noBlock for table, boxes and the shoulder
	body    int    // robot body of a, meaningless for a cube
	mu      float64
	stiff   float64 // dt·k of the spring, 1/s
	impulse vec     // normal, tangential 1, tangential 2; N·s
	drift   vec     // tangential drift since the contact stuck, base frame, metres
	axes    [3]vec  // the normal from b to a, and two tangents
	rows    [3]row

	slide                       float64 // 1/(A+R) of both tangential rows while it slides: of the heavier one
	weightN, weightT, weightInv float64 // the cone projection's metric: the inverses of the steps
}

// row is one scalar constraint. Its Jacobians are scaled by the square root of the inverse masses during a solve.
type row struct {
	a, b   block
	target float64 // wanted velocity
	soft   float64 // regularisation R
	inv    float64 // 1/(A+R)
}

// memo is what the next step needs of a contact.
type memo struct {
	key            uint32
	impulse, drift vec
}

// Contact keys: the point's number (robot points, then cube corners) and its partner in the lowest 8 bits: a cube's
// number, or one of these.
const (
	partnerBits     = 8
	tablePartner    = 0xff
	shoulderPartner = 0xf0
	boxPartner      = 0x80
	cubePoints      = numPoints
)

func (c *contact) partner() uint32 { return c.key & (1<<partnerBits - 1) }
func (c *contact) point() uint32   { return c.key >> partnerBits }
func (m *memo) point() uint32      { return m.key >> partnerBits }

// MuJoCo's soft contact: default solimp (0.9 0.95 0.001 0.5 2), solref damping ratio 1 and a time constant per pair,
// and the friction rows ten times as stiff as the normal one (impratio 10).
const (
	impedanceMin, impedanceMax = 0.9, 0.95
	impedanceWidthM            = 0.001
	stiffTime, softTime        = 0.01, 0.02 // s: gripper and cube on cube; links, table, boxes
	frictionRatio              = 10
	friction                   = 1.0
)

// impedance is d(depth) of solimp: a smooth step from its minimum to its maximum over the width.
func impedance(depthM float64) float64 {
	const span = impedanceMax - impedanceMin
	x := min(depthM/impedanceWidthM, 1)
	if x < 0.5 {
		return impedanceMin + 2*span*x*x
	}
	return impedanceMax - 2*span*(1-x)*(1-x)
}

// touch is what the contact search found.
type touch struct {
	key    uint32
	body   int // robot body, if ofCube is noBlock
	ofCube int // block of the cube whose corner it is, or noBlock
	onCube int // block of the cube it meets, or noBlock
	at     vec // base frame
	normal vec // towards the robot body or ofCube
	dist   float64
	time   float64 // stiffTime or softTime
	mu     float64
}

// addContact turns a touch into three rows, on the velocities before this step's forces.
func (w *World) addContact(t *touch) {
	if w.numContacts == maxContacts {
		w.overflow++
		return
	}
	c := &w.contacts[w.numContacts]
	w.numContacts++
	c.key, c.a, c.b, c.body, c.mu = t.key, robotBlock, t.onCube, t.body, t.mu
	c.impulse, c.drift = vec{}, vec{}
	c.axes = tangents(t.normal)
	d := impedance(-t.dist)
	keep := 1 - dt*2/(impedanceMax*t.time)
	c.stiff = dt * d / (impedanceMax * impedanceMax * t.time * t.time)
	if t.ofCube != noBlock {
		c.a = t.ofCube
		w.cubeRows(c, t.at, t.ofCube, 1)
	} else {
		w.robotRows(c, t.at)
	}
	if c.b != noBlock {
		w.cubeRows(c, t.at, c.b, -1)
	}
	for i := range c.rows {
		r := &c.rows[i]
		v := dot(&r.a, &w.speed[c.a])
		if c.b != noBlock {
			v += dot(&r.b, &w.speed[c.b])
		}
		r.target, r.soft = v*keep, (1-d)/d
	}
	c.rows[0].target -= c.stiff * t.dist
	c.rows[1].soft /= frictionRatio
	c.rows[2].soft /= frictionRatio
}

// tangents completes a normal to three perpendicular axes.
func tangents(n vec) [3]vec {
	t := n.cross(vec{1, 0, 0})
	if math.Abs(n.x) > 0.7 {
		t = n.cross(vec{0, 1, 0})
	}
	t = t.mul(1 / t.norm())
	return [3]vec{n, t, n.cross(t)}
}

// robotRows writes how the joints move the point of a robot body along the three axes.
func (w *World) robotRows(c *contact, at vec) {
	first := 0
	if p := c.partner(); p >= shoulderPartner && p != tablePartner {
		first = 1 // the shoulder turns along with the pan joint
	}
	for j := range NumJoints {
		if j < first || j > c.body {
			c.rows[0].a[j], c.rows[1].a[j], c.rows[2].a[j] = 0, 0, 0
			continue
		}
		v := w.links[j].axis.cross(at.sub(w.links[j].origin))
		c.rows[0].a[j], c.rows[1].a[j], c.rows[2].a[j] = c.axes[0].dot(v), c.axes[1].dot(v), c.axes[2].dot(v)
	}
}

// cubeRows writes how a cube moves its point at along the three axes; sign is −1 for the far side of the contact.
func (w *World) cubeRows(c *contact, at vec, of int, sign float64) {
	lever := at.sub(w.cubes[of-1].at)
	for i := range c.rows {
		x := c.axes[i].mul(sign)
		m := lever.cross(x)
		r := block{x.x, x.y, x.z, m.x, m.y, m.z}
		if sign > 0 {
			c.rows[i].a = r
		} else {
			c.rows[i].b = r
		}
	}
}

func dot(a, b *block) float64 {
	return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3] + a[4]*b[4] + a[5]*b[5]
}
