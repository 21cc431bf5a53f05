package sim

import "math"

const (
	maxSweeps      = 30
	endAbsolute    = 1e-6 // N·s
	endRelative    = 3e-3 // of the normal impulse: an absolute end alone lets resting stacks jitter
	stickingMargin = 0.99

	leastInverseMass = 1e-12 // 1/kg: a row along which nothing can move stays finite
)

// solve finds the contact impulses by projected Gauss-Seidel, warm-started from the step before, and applies them.
// The velocities are scaled by the square root of the masses meanwhile, so that one Jacobian serves both directions.
func (w *World) solve() {
	if w.numContacts == 0 {
		return
	}
	w.scaleIn()
	w.prepare()
	for range maxSweeps {
		change := 0.0
		for i := range w.contacts[:w.numContacts] {
			change = math.Max(change, w.relax(&w.contacts[i]))
		}
		if change < endAbsolute {
			break
		}
	}
	w.rememberDrift()
	w.scaleOut()
}

// jointRoots are 1/√inertia of the joints.
var jointRoots = newJointRoots()

func newJointRoots() (b block) {
	for j := range joints {
		b[j] = 1 / math.Sqrt(joints[j].inertia)
	}
	return b
}

// scaleIn sets the roots of the inverse masses (a sleeping cube has none) and scales the velocities.
func (w *World) scaleIn() {
	w.roots[robotBlock] = jointRoots
	for i := range w.cubes[:w.numCubes] {
		c, r := &w.cubes[i], &w.roots[1+i]
		*r = block{}
		if !c.asleep() {
			m, t := 1/math.Sqrt(c.massKg), 1/math.Sqrt(c.inertia())
			*r = block{m, m, m, t, t, t}
		}
	}
	for b := range 1 + w.numCubes {
		for k, r := range w.roots[b] {
			if r > 0 {
				w.speed[b][k] /= r
			}
		}
	}
}

func (w *World) scaleOut() {
	for b := range 1 + w.numCubes {
		for k, r := range w.roots[b] {
			if r > 0 {
				w.speed[b][k] *= r
			}
		}
	}
}

// prepare scales the rows, completes softness and metric, and applies the remembered impulses.
func (w *World) prepare() {
	m := 0
	for i := range w.contacts[:w.numContacts] {
		c := &w.contacts[i]
		for k := range c.rows {
			w.prepareRow(c, &c.rows[k])
		}
		c.weightN, c.weightT = 1/c.rows[0].inv, 0.5/c.rows[1].inv+0.5/c.rows[2].inv
		c.weightInv = 1 / (c.weightN + c.mu*c.mu*c.weightT)
		for m < w.numMemory && w.memory[m].point() < c.point() { // both lists are in the order of points
			m++
		}
		for k := m; k < w.numMemory && w.memory[k].point() == c.point(); k++ {
			if w.memory[k].key == c.key {
				w.warmStart(c, &w.memory[k])
			}
		}
	}
}

func (w *World) prepareRow(c *contact, r *row) {
	root := &w.roots[c.a]
	for j := range r.a {
		r.a[j] *= root[j]
	}
	sum := leastInverseMass + dot(&r.a, &r.a)
	if c.b != noBlock {
		root = &w.roots[c.b]
		for j := range r.b {
			r.b[j] *= root[j]
		}
		sum += dot(&r.b, &r.b)
	}
	r.soft *= sum
	r.inv = 1 / (sum + r.soft)
}

func (w *World) warmStart(c *contact, m *memo) {
	c.drift = m.drift
	c.rows[1].target -= c.stiff * c.drift.dot(c.axes[1])
	c.rows[2].target -= c.stiff * c.drift.dot(c.axes[2])
	w.applyImpulse(c, m.impulse)
}

// rowSpeed is the contact's velocity along row k, in scaled velocities.
func (w *World) rowSpeed(c *contact, k int) float64 {
	v := dot(&c.rows[k].a, &w.speed[c.a])
	if c.b != noBlock {
		v += dot(&c.rows[k].b, &w.speed[c.b])
	}
	return v
}

// applyImpulse changes the contact's impulse to p and the velocities with it.
func (w *World) applyImpulse(c *contact, p vec) {
	d := p.sub(c.impulse)
	c.impulse = p
	r0, r1, r2 := &c.rows[0], &c.rows[1], &c.rows[2]
	u := &w.speed[c.a]
	for j := range u {
		u[j] += r0.a[j]*d.x + r1.a[j]*d.y + r2.a[j]*d.z
	}
	if c.b == noBlock {
		return
	}
	u = &w.speed[c.b]
	for j := range u {
		u[j] += r0.b[j]*d.x + r1.b[j]*d.y + r2.b[j]*d.z
	}
}

// relax moves the contact's impulse to the optimum of its three rows, projected onto the friction cone in the rows'
// metric (as MuJoCo's convex friction: a sliding contact lifts a little). It returns the change beyond the relative
// end test, N·s.
func (w *World) relax(c *contact) float64 {
	old := c.impulse
	p := vec{
		old.x + (c.rows[0].target-w.rowSpeed(c, 0)-c.rows[0].soft*old.x)*c.rows[0].inv,
		old.y + (c.rows[1].target-w.rowSpeed(c, 1)-c.rows[1].soft*old.y)*c.rows[1].inv,
		old.z + (c.rows[2].target-w.rowSpeed(c, 2)-c.rows[2].soft*old.z)*c.rows[2].inv,
	}
	t := math.Sqrt(p.y*p.y + p.z*p.z)
	if p.x <= 0 || t > c.mu*p.x {
		n := (c.weightN*p.x + c.weightT*c.mu*t) * c.weightInv
		if n > 0 {
			s := c.mu * n / t
			p = vec{n, p.y * s, p.z * s}
		} else {
			p = vec{}
		}
	}
	if p == old {
		return 0
	}
	w.applyImpulse(c, p)
	most := math.Max(math.Abs(p.x-old.x), math.Max(math.Abs(p.y-old.y), math.Abs(p.z-old.z)))
	return most - endRelative*p.x
}

// rememberDrift lets sticking contacts remember how far they drifted, so that the next step pulls them back; without
// it a held cube creeps out of the jaws within a minute. A sliding contact forgets.
func (w *World) rememberDrift() {
	for i := range w.contacts[:w.numContacts] {
		c := &w.contacts[i]
		limit := stickingMargin * c.mu * c.impulse.x
		if c.impulse.y*c.impulse.y+c.impulse.z*c.impulse.z >= limit*limit {
			c.drift = vec{}
			continue
		}
		c.drift = c.drift.plus(c.axes[0], -c.drift.dot(c.axes[0]))
		c.drift = c.drift.plus(c.axes[1], dt*w.rowSpeed(c, 1)).plus(c.axes[2], dt*w.rowSpeed(c, 2))
	}
}
