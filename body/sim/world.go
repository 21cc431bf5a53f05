package sim

// Limits of a World; it never grows.
const (
	MaxCubes    = 8
	MaxBoxes    = 8
	maxContacts = 64
)

// The velocity blocks: the six joints, then six numbers for each cube.
const (
	robotBlock = 0
	numBlocks  = 1 + MaxCubes
)

// block is the velocity of the arm (rad/s, one per joint) or of a cube (m/s, then rad/s, base frame).
type block [6]float64

// World is the whole physical state, without pointers: assignment clones it, and a clone goes on to the same bits.
// It is not safe for concurrent use.
type World struct {
	angle  [NumJoints]float64 // rad
	goal   [NumJoints]float64 // what the servos are told, rad
	effort [NumJoints]float64 // servo torque of the last step, N·m

	effortMax [NumJoints]float64 // saturation of each servo, N·m (fault: weak grip)
	misread   [NumJoints]float64 // error of the servo's own reading, rad (fault: tracking error)
	jawMu     float64            // friction of the jaws (fault: slip)

	cubes    [MaxCubes]cube
	numCubes int
	boxes    [MaxBoxes]fixedBox
	numBoxes int

	speed [numBlocks]block
	links [NumJoints]link

	contacts    [maxContacts]contact
	numContacts int
	memory      [maxContacts]memo
	numMemory   int
	roots       [numBlocks]block // square roots of the inverse masses, this step

	overflow   int // contacts that found no room
	steps      int64
	tableN     float64 // normal forces robot-table of the last step, N
	peakTableN float64
}

// newWorld returns a world at rest with the goal at the present angles.
func newWorld(angles [NumJoints]float64) World {
	w := World{angle: angles, goal: angles, jawMu: 1}
	for j := range w.effortMax {
		w.effortMax[j] = maxEffortNm
	}
	w.forward()
	return w
}

// Step runs the world for one step of 2 ms. It allocates nothing.
func (w *World) Step() {
	w.findContacts()
	w.driveJoints()
	w.pullCubes()
	w.solve()
	w.moveJoints()
	for i := range w.cubes[:w.numCubes] {
		w.cubes[i].move(&w.speed[1+i])
	}
	w.forward()
	w.account()
	w.steps++
}

// driveJoints applies servo torque, gravity and joint friction for one step.
func (w *World) driveJoints() {
	for j := range w.angle {
		v := &w.speed[robotBlock][j]
		m := joints[j].inertia
		w.effort[j] = clamp(servoGain*(w.goal[j]-w.angle[j]-w.misread[j])-servoDamping**v, -w.effortMax[j], w.effortMax[j])
		*v += dt / m * (w.effort[j] - viscous**v + w.gravityTorque(j))
		most := dt * dryFriction / m
		*v -= clamp(*v, -most, most)
	}
}

// moveJoints integrates the joints up to their stops.
func (w *World) moveJoints() {
	for j := range w.angle {
		q := w.angle[j] + dt*w.speed[robotBlock][j]
		w.angle[j] = clamp(q, joints[j].minRad, joints[j].maxRad)
		if w.angle[j] != q {
			w.speed[robotBlock][j] = 0
		}
	}
}

// account sums the normal forces of the step.
func (w *World) account() {
	w.tableN = 0
	for i := range w.cubes[:w.numCubes] {
		w.cubes[i].robotN, w.cubes[i].jaws = 0, 0
	}
	for i := range w.contacts[:w.numContacts] {
		c := &w.contacts[i]
		n := c.impulse.x / dt
		if c.a != robotBlock || n <= 0 {
			continue
		}
		switch {
		case c.partner() == tablePartner:
			w.tableN += n
		case c.b != noBlock:
			k := &w.cubes[c.b-1]
			k.robotN += n
			k.jaws |= jawBit(c.body)
		}
	}
	w.peakTableN = max(w.peakTableN, w.tableN)
}

// Jaw bits of cube.jaws.
const (
	fixedJawBit  = 1
	movingJawBit = 2
)

func jawBit(body int) uint8 {
	if body == jaw {
		return movingJawBit
	}
	return fixedJawBit
}

// finite reports whether the state still is numbers; one NaN spreads to everything within a step.
func (w *World) finite() bool {
	sum := 0.0
	for j := range w.angle {
		sum += w.angle[j] + w.speed[robotBlock][j]
	}
	for i := range w.cubes[:w.numCubes] {
		c := &w.cubes[i]
		sum += c.at.x + c.at.y + c.at.z + c.turnQ[0]
	}
	return sum-sum == 0
}
