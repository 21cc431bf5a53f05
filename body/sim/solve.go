package sim

import "math"

const (
	maxSweeps      = 30
	endAbsolute    = 1e-6 // N·s
	endRelative    = 3e-3 // of the normal impulse: an absolute end alone lets resting stacks jitter
	stickingMargin = 0.99

	// leastInverseMass is the least inverse mass that softness is measured by, 1/kg. A row along which the arm can
	// hardly move would else be as hard as it is heavy, and be moved at any price in joint speed.
	leastInverseMass = 0.1

	// mostCurvature bounds the eigenvalues of a contact's three rows, measured in the steps of relax. Below 2 no
	// relaxation raises the cost; at 2 and above one may.
	mostCurvature = 1.9
)

// solve finds the contact impulses by projected Gauss-Seidel, warm-started from the step before, and applies them.
// The velocities are scaled by the square root of the masses meanwhile, so that one Jacobian serves both directions.
//
// The impulses sought minimise cost, and neither the start nor any relaxation raises it above that of no impulses at
// all. So contacts take energy away, but for what their springs push out, also where the sweeps end early.
func (w *World) solve() {
	if w.numContacts == 0 {
		return
	}
	w.scaleIn()
	untouched := w.speed
	w.prepare()
	if w.cost(&untouched) > 0 { // what was right a step ago would now do harm
		w.forget(&untouched)
	}
	for range maxSweeps {
		change := 0.0
		for i := range w.contacts[:w.numContacts] {
			change = max(change, w.relax(&w.contacts[i]))
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
		c.shortenSteps()
		c.slide = min(c.rows[1].inv, c.rows[2].inv)
		c.weightN, c.weightT = 1/c.rows[0].inv, 1/c.slide
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
	sum := dot(&r.a, &r.a)
	if c.b != noBlock {
		root = &w.roots[c.b]
		for j := range r.b {
			r.b[j] *= root[j]
		}
		sum += dot(&r.b, &r.b)
	}
	r.soft *= max(sum, leastInverseMass)
	r.inv = 1 / (sum + r.soft)
}

// shortenSteps keeps the relaxation of three rows at once from overshooting: where a push along one row moves the
// point as much along another (an arm stretched out over the table), steps of 1/(A+R) each add up to too much.
func (c *contact) shortenSteps() {
	n, t1, t2 := math.Sqrt(c.rows[0].inv), math.Sqrt(c.rows[1].inv), math.Sqrt(c.rows[2].inv)
	a, b, d := c.coupling(0, 1)*n*t1, c.coupling(0, 2)*n*t2, c.coupling(1, 2)*t1*t2
	most := 1 + max(a+b, max(a+d, b+d)) // Gershgorin
	if most <= mostCurvature {
		return
	}
	for k := range c.rows {
		c.rows[k].inv *= mostCurvature / most
	}
}

// coupling is how strongly an impulse along row i moves row k.
func (c *contact) coupling(i, k int) float64 {
	v := dot(&c.rows[i].a, &c.rows[k].a)
	if c.b != noBlock {
		v += dot(&c.rows[i].b, &c.rows[k].b)
	}
	return math.Abs(v)
}

// cost is the cost of the present impulses over that of none, J: the kinetic energy they add, and half their
// softness, less their work at the wanted velocities. Speeds are scaled; untouched are those without impulses.
func (w *World) cost(untouched *[numBlocks]block) float64 {
	sum := 0.0
	for b := range 1 + w.numCubes {
		sum += (dot(&w.speed[b], &w.speed[b]) - dot(&untouched[b], &untouched[b])) / 2
	}
	for i := range w.contacts[:w.numContacts] {
		c := &w.contacts[i]
		for k, p := range [3]float64{c.impulse.x, c.impulse.y, c.impulse.z} {
			sum += p * (c.rows[k].soft*p/2 - c.rows[k].target)
		}
	}
	return sum
}

// forget takes all impulses back.
func (w *World) forget(untouched *[numBlocks]block) {
	w.speed = *untouched
	for i := range w.contacts[:w.numContacts] {
		w.contacts[i].impulse = vec{}
	}
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

// relax moves the contact's impulse towards the optimum of its three rows under the friction cone (MuJoCo's convex
// friction: a sliding contact lifts a little). It returns the change beyond the relative end test, N·s.
func (w *World) relax(c *contact) float64 {
	old := c.impulse
	miss := vec{
		c.rows[0].target - w.rowSpeed(c, 0) - c.rows[0].soft*old.x,
		c.rows[1].target - w.rowSpeed(c, 1) - c.rows[1].soft*old.y,
		c.rows[2].target - w.rowSpeed(c, 2) - c.rows[2].soft*old.z,
	}
	p := vec{old.x + miss.x*c.rows[0].inv, old.y + miss.y*c.rows[1].inv, old.z + miss.z*c.rows[2].inv}
	if p.x <= 0 || p.y*p.y+p.z*p.z > c.mu*c.mu*p.x*p.x {
		p = c.project(vec{p.x, old.y + miss.y*c.slide, old.z + miss.z*c.slide})
	}
	if p == old {
		return 0
	}
	w.applyImpulse(c, p)
	most := max(math.Abs(p.x-old.x), max(math.Abs(p.y-old.y), math.Abs(p.z-old.z)))
	return most - endRelative*p.x
}

// project returns the impulse in the friction cone that is nearest to p. The metric must be that of the steps which led
// to p, and hence one for both tangential rows: in any other, the sweeps settle on impulses that are no optimum, and
// which may throw the arm off the table.
func (c *contact) project(p vec) vec {
	t := math.Sqrt(p.y*p.y + p.z*p.z)
	if t <= c.mu*p.x {
		return p
	}
	n := (c.weightN*p.x + c.weightT*c.mu*t) * c.weightInv
	if n <= 0 {
		return vec{}
	}
	s := c.mu * n / t
	return vec{n, p.y * s, p.z * s}
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
