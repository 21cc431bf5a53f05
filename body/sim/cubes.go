package sim

import (
	"math"

	"interlock/units"
)

// cube is one free cube.
type cube struct {
	at       vec // centre, base frame, metres
	turnQ    units.Quat
	turn     mat
	half     float64 // half an edge, metres
	massKg   float64
	push     vec // external force, N (fault: knocked)
	calm     int // steps without motion; from calmSteps on it sleeps
	touched  bool
	robotN   float64 // normal forces robot-cube of the last step, N
	jaws     uint8   // which jaws pressed it in the last step
	lastMove float64 // speed of its centre in the last step, m/s
}

const (
	calmSteps = 50    // steps of standstill after which a cube sleeps: scenery to others until touched
	calmSpeed = 0.005 // m/s; also half an edge times the angular speed
)

// fixedBox is fixed, axis-aligned scenery that only cubes meet.
type fixedBox struct{ centre, half vec }

func (c *cube) asleep() bool { return c.calm >= calmSteps }

// addCube adds a cube at rest and returns its index; the caller checked that there is room.
func (w *World) addCube(edgeM, massKg float64, at vec, yawRad float64) int {
	i := w.numCubes
	w.numCubes++
	w.cubes[i] = cube{half: edgeM / 2, massKg: massKg}
	w.teleport(i, at, units.YawQuat(yawRad))
	return i
}

// teleport puts cube i somewhere else, at rest, and wakes all cubes.
func (w *World) teleport(i int, at vec, turn units.Quat) {
	c := &w.cubes[i]
	c.at, c.turnQ, c.turn = at, turn, quatMat(turn[0], turn[1], turn[2], turn[3])
	c.lastMove = 0
	w.speed[1+i] = block{}
	for k := range w.cubes {
		w.cubes[k].calm = 0
	}
}

// inertia is the cube's moment about any axis through its centre, kg·m².
func (c *cube) inertia() float64 { return c.massKg * 4 * c.half * c.half / 6 }

// pullCubes applies gravity and pushes to the cubes that are awake.
func (w *World) pullCubes() {
	for i := range w.cubes[:w.numCubes] {
		c, v := &w.cubes[i], &w.speed[1+i]
		if c.push != (vec{}) {
			c.calm = 0
			v[0] += c.push.x / c.massKg * dt
			v[1] += c.push.y / c.massKg * dt
			v[2] += c.push.z / c.massKg * dt
		}
		if !c.asleep() {
			v[2] -= gravity * dt
		}
	}
}

// move integrates the pose and puts a cube to sleep that has stood still long enough.
func (c *cube) move(v *block) {
	if c.asleep() {
		return
	}
	linear, angular := vec{v[0], v[1], v[2]}, vec{v[3], v[4], v[5]}
	c.at = c.at.plus(linear, dt)
	c.turnQ = turned(c.turnQ, angular.mul(dt/2))
	c.turn = quatMat(c.turnQ[0], c.turnQ[1], c.turnQ[2], c.turnQ[3])
	c.lastMove = linear.norm()
	still := linear.norm2() < calmSpeed*calmSpeed && angular.norm2()*c.half*c.half < calmSpeed*calmSpeed
	if c.touched || !still {
		c.calm = 0
		return
	}
	if c.calm++; c.asleep() {
		*v, c.lastMove = block{}, 0
	}
}

// turned is q after a small rotation whose half vector is h (base frame), normalised.
func turned(q units.Quat, h vec) units.Quat {
	r := units.Quat{
		q[0] - (h.x*q[1] + h.y*q[2] + h.z*q[3]),
		q[1] + (h.x*q[0] + h.y*q[3] - h.z*q[2]),
		q[2] + (h.y*q[0] + h.z*q[1] - h.x*q[3]),
		q[3] + (h.z*q[0] + h.x*q[2] - h.y*q[1]),
	}
	n := 1 / math.Sqrt(r[0]*r[0]+r[1]*r[1]+r[2]*r[2]+r[3]*r[3])
	return units.Quat{r[0] * n, r[1] * n, r[2] * n, r[3] * n}
}

// bottom is the height of the cube's lowest corner, metres.
func (c *cube) bottom() float64 {
	return c.at.z - c.half*(math.Abs(c.turn.x.z)+math.Abs(c.turn.y.z)+math.Abs(c.turn.z.z))
}
