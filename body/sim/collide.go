package sim

import "math"

const (
	cubeEdge    = 0.002  // a cube's corners against boxes and cubes are spheres of this radius, inside by as much
	diagonal    = 1.7321 // √3, from half an edge to a corner
	shoulderFar = 0.075  // m: no shoulder solid reaches further than this from the shoulder's origin
)

// findContacts lists the touching points in the order of their keys, and remembers the step before for the warm start.
func (w *World) findContacts() {
	for i := range w.contacts[:w.numContacts] {
		c := &w.contacts[i]
		w.memory[i] = memo{c.key, c.impulse, c.drift}
	}
	w.numMemory, w.numContacts = w.numContacts, 0
	for i := range w.cubes[:w.numCubes] {
		w.cubes[i].touched = false
	}
	for g := range robot.groups {
		w.findGroup(&robot.groups[g])
	}
	for i := range w.cubes[:w.numCubes] {
		if w.cubes[i].asleep() && !w.anyAwake() {
			continue
		}
		w.findCube(i)
	}
}

func (w *World) anyAwake() bool {
	for i := range w.cubes[:w.numCubes] {
		if !w.cubes[i].asleep() {
			return true
		}
	}
	return false
}

// findGroup finds what a run of robot points touches.
func (w *World) findGroup(g *group) {
	l := &w.links[g.body]
	centre := l.origin.add(l.turn.apply(g.centre))
	var near [MaxCubes]bool
	shoulderNear := g.tucks && centre.sub(w.links[shoulder].origin).norm() < g.radius+shoulderFar
	busy := centre.z < g.radius || shoulderNear
	if g.grips {
		for i := range w.cubes[:w.numCubes] {
			c := &w.cubes[i]
			reach := g.radius + diagonal*c.half
			near[i] = centre.sub(c.at).norm2() < reach*reach
			busy = busy || near[i]
		}
	}
	if !busy {
		return
	}
	for i := g.from; i < g.to; i++ {
		w.findPoint(g, i, shoulderNear, &near)
	}
}

// findPoint finds what one robot point touches.
func (w *World) findPoint(g *group, point int, shoulderNear bool, near *[MaxCubes]bool) {
	l, s := &w.links[g.body], &robot.points[point]
	p, key := l.origin.add(l.turn.apply(s.at)), uint32(point)<<partnerBits
	t := touch{body: g.body, ofCube: noBlock, onCube: noBlock, time: stiffTime, mu: friction}
	if shoulderNear {
		w.findShoulder(t, key, p, s.radius)
	}
	if p.z < s.radius {
		on := t
		on.key, on.dist, on.normal = key|tablePartner, p.z-s.radius, vec{0, 0, 1}
		on.at = vec{p.x, p.y, on.dist / 2}
		if !g.grips {
			on.time = softTime
		}
		w.addContact(&on)
	}
	for i := range w.cubes[:w.numCubes] {
		if !near[i] {
			continue
		}
		c := &w.cubes[i]
		n, dist, ok := sphereOnBox(c.turn.applyT(p.sub(c.at)), vec{c.half, c.half, c.half}, s.radius)
		if !ok {
			continue
		}
		c.touched, c.calm = true, 0
		on := t
		on.key, on.onCube, on.dist, on.normal, on.mu = key|uint32(i), 1+i, dist, c.turn.apply(n), w.jawMu
		on.at = p.plus(on.normal, -(s.radius + dist/2))
		w.addContact(&on)
	}
}

// findShoulder finds where a gripper point touches the shoulder.
func (w *World) findShoulder(t touch, key uint32, p vec, radius float64) {
	l := &w.links[shoulder]
	inShoulder := l.turn.applyT(p.sub(l.origin))
	for i := range shoulderSolids {
		box := &shoulderSolids[i]
		n, dist, ok := sphereOnBox(box.turn.applyT(inShoulder.sub(box.at)), box.half, radius)
		if !ok {
			continue
		}
		t.key, t.dist, t.normal = key|(shoulderPartner+uint32(i)), dist, l.turn.apply(box.turn.apply(n))
		t.at = p.plus(t.normal, -(radius + dist/2))
		w.addContact(&t)
	}
}

// findCube finds what the corners of cube i touch: table, boxes, other cubes. Corners of a sleeping cube only meet
// cubes that are awake.
func (w *World) findCube(i int) {
	c := &w.cubes[i]
	asleep := c.asleep()
	clear := diagonal * c.half // no corner is further from the centre
	for k := range 8 {
		key := uint32(cubePoints+8*i+k) << partnerBits
		out := c.turn.apply(corner(k, vec{c.half, c.half, c.half}))
		t := touch{ofCube: 1 + i, onCube: noBlock, time: softTime, mu: friction}
		if p := c.at.add(out); c.at.z < clear && p.z < 0 && !asleep {
			t.key, t.dist, t.normal, t.at = key|tablePartner, p.z, vec{0, 0, 1}, vec{p.x, p.y, p.z / 2}
			w.addContact(&t)
		}
		p := c.at.plus(out, 1-cubeEdge/c.half)
		if !asleep {
			w.findBoxes(t, key, p)
		}
		if w.numCubes > 1 {
			w.findCubes(t, i, asleep, key, p)
		}
	}
}

// findBoxes finds which scenery a cube's corner sphere at p touches.
func (w *World) findBoxes(t touch, key uint32, p vec) {
	for b := range w.boxes[:w.numBoxes] {
		n, dist, ok := cornerOnFace(p.sub(w.boxes[b].centre), w.boxes[b].half)
		if !ok {
			continue
		}
		t.key, t.dist, t.normal = key|(boxPartner+uint32(b)), dist, n
		t.at = p.plus(n, -(cubeEdge + dist/2))
		w.addContact(&t)
	}
}

// findCubes finds which other cubes a corner sphere of cube i at p touches. A moving cube wakes a sleeping one.
func (w *World) findCubes(t touch, i int, asleep bool, key uint32, p vec) {
	c := &w.cubes[i]
	for j := range w.cubes[:w.numCubes] {
		o := &w.cubes[j]
		reach := diagonal*o.half + cubeEdge
		if j == i || asleep && o.asleep() || p.sub(o.at).norm2() > reach*reach {
			continue
		}
		n, dist, ok := cornerOnFace(o.turn.applyT(p.sub(o.at)), vec{o.half, o.half, o.half})
		if !ok {
			continue
		}
		if c.calm == 0 && o.asleep() || o.calm == 0 && asleep {
			c.calm, o.calm = 0, 0
		}
		t.key, t.onCube, t.dist, t.normal, t.time = key|uint32(j), 1+j, dist, o.turn.apply(n), stiffTime
		t.at = p.plus(t.normal, -(cubeEdge + dist/2))
		w.addContact(&t)
	}
}

// sphereOnBox tests a sphere at p, in the frame of a box of half sizes h: the normal towards the sphere and the
// distance, negative when they overlap. A centre inside the box leaves through the nearest face.
func sphereOnBox(p, h vec, radius float64) (n vec, dist float64, ok bool) {
	out := vec{math.Abs(p.x) - h.x, math.Abs(p.y) - h.y, math.Abs(p.z) - h.z}
	if out.x >= radius || out.y >= radius || out.z >= radius {
		return vec{}, 0, false
	}
	if out.x <= 0 && out.y <= 0 && out.z <= 0 {
		n, dist = nearestFace(p, out)
		return n, dist - radius, true
	}
	d := vec{math.Copysign(max(out.x, 0), p.x), math.Copysign(max(out.y, 0), p.y), math.Copysign(max(out.z, 0), p.z)}
	l := d.norm()
	return d.mul(1 / l), l - radius, l < radius
}

// cornerOnFace tests a cube's corner sphere at p against the faces of a box: only over a face, never over an edge,
// where a sideways normal would wedge stacked cubes apart.
func cornerOnFace(p, h vec) (n vec, dist float64, ok bool) {
	out := vec{math.Abs(p.x) - h.x, math.Abs(p.y) - h.y, math.Abs(p.z) - h.z}
	over := 0
	for _, e := range [3]float64{out.x, out.y, out.z} {
		if e >= cubeEdge {
			return vec{}, 0, false
		}
		if e > 0 {
			over++
		}
	}
	if over > 1 {
		return vec{}, 0, false
	}
	n, dist = nearestFace(p, out)
	return n, dist - cubeEdge, true
}

// nearestFace is the outward normal of the face that p lies nearest to, and how far p is outside of it.
func nearestFace(p, out vec) (n vec, dist float64) {
	switch {
	case out.x >= out.y && out.x >= out.z:
		return vec{math.Copysign(1, p.x), 0, 0}, out.x
	case out.y >= out.z:
		return vec{0, math.Copysign(1, p.y), 0}, out.y
	default:
		return vec{0, 0, math.Copysign(1, p.z)}, out.z
	}
}
