package sim

import "interlock/units"

// link is where a body is: the joint's origin and axis in the base frame, the body's rotation and centre of mass.
type link struct {
	origin, axis, com vec
	turn              mat
}

// forward places every link for the present joint angles.
func (w *World) forward() {
	turn, at := quatMat(1, 0, 0, 0), vec{}
	for i := range joints {
		at = at.add(turn.apply(joints[i].at))
		fixed := turn.times(&joints[i].turn)
		turn = fixed.turnedZ(w.angle[i])
		l := &w.links[i]
		l.origin, l.axis, l.turn = at, fixed.z, turn
		l.com = at.add(turn.apply(joints[i].com))
	}
}

// tip is tip M in the base frame.
func (w *World) tip() vec {
	l := &w.links[gripper]
	return l.origin.add(l.turn.apply(tipInGripper))
}

// gravityTorque is the torque of gravity about joint j, N·m.
func (w *World) gravityTorque(j int) float64 {
	sum, l := 0.0, &w.links[j]
	for k := j; k < NumJoints; k++ {
		lever := w.links[k].com.sub(l.origin)
		sum -= joints[k].massKg * (l.axis.x*lever.y - l.axis.y*lever.x)
	}
	return gravity * sum
}

// TipInBase returns tip M in the base frame, metres, for six joint angles in radians (the jaw does not move it).
// It is the simulator's own kinematics, from the table in model.go.
func TipInBase(anglesRad [NumJoints]float64) units.Vec3 {
	turn, at := quatMat(1, 0, 0, 0), vec{}
	for i := range joints[:jaw] {
		at = at.add(turn.apply(joints[i].at))
		turn = turn.times(&joints[i].turn)
		turn = turn.turnedZ(anglesRad[i])
	}
	return at.add(turn.apply(tipInGripper)).vec3()
}
