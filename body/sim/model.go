package sim

import "time"

// NumJoints is the number of actuated joints: pan, lift, elbow, wrist_flex, wrist_roll, jaw.
const NumJoints = 6

// Step is the fixed step of the simulation.
const Step = 2 * time.Millisecond

const dt = 0.002 // Step in seconds

// Actuators and joints of the MuJoCo Menagerie model of the SO-101 (so101.xml).
const (
	servoGain    = 998.22 // N·m/rad
	servoDamping = 2.731  // N·m·s/rad
	maxEffortNm  = 2.94   // 30 kg·cm
	viscous      = 0.60   // N·m·s/rad
	dryFriction  = 0.052  // N·m
	gravity      = 9.81   // m/s²
	servoSpeed   = 4.71   // rad/s, no-load speed of an STS3215 at 12 V: told in Describe, not simulated
)

// The bodies, numbered by the joint that moves them; the base is the world.
const (
	shoulder = iota
	upperArm
	lowerArm
	wrist
	gripper
	jaw
)

// joint is one line of the model: its frame in its parent's, its stops, and the body it moves. All axes are local z.
type joint struct {
	name           string
	at             vec // metres, parent frame
	turn           mat // at angle zero
	minRad, maxRad float64
	inertia        float64 // kg·m², seen by the joint: armature 0.028 plus the links, constant
	massKg         float64
	com            vec // metres, body frame
}

// joints is the Menagerie chain. The gripper carries the camera mount's 12 g. The inertias were chosen so that lags
// and impacts match MuJoCo's coupled ones.
var joints = [NumJoints]joint{
	{"pan", vec{0.0388353, 0, 0.0624}, quatMat(0, 0, -1, 0), -1.91986, 1.91986, 0.044, 0.100006, vec{-0.03076, 0, -0.02527}},
	{"lift", vec{-0.0303992, -0.0182778, -0.0542}, quatMat(1, -1, -1, -1), -1.7453293, 1.7453293, 0.044, 0.103, vec{-0.08985, -0.00838, 0.01841}},
	{"elbow", vec{-0.11257, -0.028, 0}, quatMat(1, 0, 0, 1), -1.69, 1.69, 0.0345, 0.104, vec{-0.09807, 0.00324, 0.01828}},
	{"wrist_flex", vec{-0.1349, 0.0052, 0}, quatMat(1, 0, 0, -1), -1.658063, 1.658063, 0.0294, 0.079, vec{-0.0001, -0.03861, 0.02812}},
	{"wrist_roll", vec{0, -0.0611, 0.0181}, quatMat(0.0172091, -0.0172091, 0.706897, 0.706897), -2.7438473, 2.7438473, 0.0282, 0.099, vec{0.0002, 0.00506, -0.02577}},
	{"jaw", vec{0.0202, 0.0188, -0.0234}, quatMat(1, 1, 0, 0), -0.174533, 1.7453292, 0.02803, 0.012, vec{-0.0016, -0.03002, 0.01928}},
}

// tipInGripper is Menagerie's site "gripperframe" (tip M), metres.
var tipInGripper = vec{0.012, -0.000218, -0.098127}

// sphere is a contact point of a body: centre in the body frame and radius, metres.
type sphere struct {
	at     vec
	radius float64
}

// solid is a box of a body, in the body frame, metres.
type solid struct {
	body int
	at   vec
	turn mat
	half vec
}

// The pads: contact points of the two jaws, from the spheres, the capsule and the thin boxes of the Menagerie gripper.
var (
	fixedJawPads = [...]sphere{
		{vec{-0.0081, 0, -0.101}, tipRadius}, {vec{-0.0081, 0.0035, -0.0975}, tipRadius}, {vec{-0.0081, -0.0035, -0.0975}, tipRadius},
		{vec{-0.009, 0.002, -0.103}, 0.0011}, {vec{-0.009, -0.002, -0.103}, 0.0011},
		{vec{-0.009, -0.003, -0.1012}, padRadius}, {vec{-0.009, 0.003, -0.1012}, padRadius},
		{vec{-0.009, -0.003, -0.0952}, padRadius}, {vec{-0.009, 0.003, -0.0952}, padRadius},
		{vec{-0.0108, -0.004, -0.0955}, padRadius}, {vec{-0.0108, 0.004, -0.0955}, padRadius},
		{vec{-0.0108, -0.004, -0.0855}, padRadius}, {vec{-0.0108, 0.004, -0.0855}, padRadius},
		{vec{-0.0125, -0.008, -0.0657}, padRadius}, {vec{-0.0125, 0.008, -0.0657}, padRadius},
		{vec{-0.0143, -0.009, -0.046}, padRadius}, {vec{-0.0143, 0.009, -0.046}, padRadius},
	}
	movingJawPads = [...]sphere{
		{vec{-0.012, -0.078, 0.0192}, tipRadius}, {vec{-0.012, -0.0745, 0.0225}, tipRadius}, {vec{-0.012, -0.0745, 0.0155}, tipRadius},
		{vec{-0.0113, -0.079, 0.01575}, padRadius}, {vec{-0.0113, -0.079, 0.02175}, padRadius},
		{vec{-0.0113, -0.073, 0.01575}, padRadius}, {vec{-0.0113, -0.073, 0.02175}, padRadius},
		{vec{-0.0093, -0.072, 0.01475}, padRadius}, {vec{-0.0093, -0.072, 0.02275}, padRadius},
		{vec{-0.0093, -0.062, 0.01475}, padRadius}, {vec{-0.0093, -0.062, 0.02275}, padRadius},
	}
)

const (
	tipRadius   = 0.00075
	padRadius   = 0.001
	cornerInset = 0.001 // a link's corner points are spheres of this radius, inside by as much
)

// solids are the link boxes of the mesh-free model; their corners are contact points.
var solids = [...]solid{
	{jaw, vec{0, -0.013, 0.019}, quatMat(1, 0, 0, 0), vec{0.01, 0.01, 0.015}},
	{gripper, vec{-0.0025, 0, -0.022}, quatMat(1, 0, 0, 0), vec{0.0325, 0.015, 0.015}},
	{gripper, vec{-0.024, 0, -0.04}, quatMat(1, 0, 0, 0), vec{0.01, 0.015, 0.005}},
	{gripper, vec{-0.0025, 0.03, -0.03}, quatMat(1, 0, 0, 0), vec{0.015, 0.015, 0.003}},                                   // camera mount
	{gripper, vec{-0.001, 0.06, -0.04}, quatMat(0.962425197628238, -0.27154693695611287, 0, 0), vec{0.021, 0.021, 0.003}}, // camera mount, its plate tilted by −0.55 rad
	{wrist, vec{0, -0.0424, 0.0256}, quatMat(1, 1, 1, -1), vec{0.029, 0.015, 0.018}},
	{wrist, vec{0, -0.02, 0.0191}, quatMat(1, -1, -1, -1), vec{0.027, 0.01, 0.03}},
	{lowerArm, vec{-0.05, 0, 0.0182}, quatMat(0, 1, 0, 0), vec{0.07, 0.01, 0.03}},
	{lowerArm, vec{-0.125, 0.005, 0.018}, quatMat(0, -1, 0, 0), vec{0.023, 0.013, 0.018}},
	{upperArm, vec{-0.12, -0.014, 0.0182}, quatMat(0, 1, 0, 0), vec{0.01, 0.02, 0.015}},
}

// shoulderSolids are met by the gripper's solids only (in practice by its camera mount).
var shoulderSolids = [...]solid{
	{shoulder, vec{-0.030399, 0.000422, -0.0387}, quatMat(1, 1, 1, -1), vec{0.023, 0.015, 0.01}},
	{shoulder, vec{-0.025, 0, 0}, quatMat(1, 1, -1, 1), vec{0.038, 0.025, 0.02}},
}

// group is a run of contact points of one body with a sphere around them.
type group struct {
	body     int
	from, to int  // points[from:to]
	grips    bool // gripper or jaw: stiff, and meets cubes
	tucks    bool // a solid of the gripper: meets the shoulder
	centre   vec  // body frame
	radius   float64
}

const (
	numPoints = len(fixedJawPads) + len(movingJawPads) + 8*len(solids)
	numGroups = 2 + len(solids)
)

// shape is every contact point of the robot in the order of contact keys, and their groups.
type shape struct {
	points [numPoints]sphere
	groups [numGroups]group
}

// robot is derived from the tables above and never written again.
var robot = newShape()

func newShape() (s shape) {
	n := copy(s.points[:], fixedJawPads[:])
	s.groups[0] = group{body: gripper, from: 0, to: n, grips: true}
	n += copy(s.points[n:], movingJawPads[:])
	s.groups[1] = group{body: jaw, from: s.groups[0].to, to: n, grips: true}
	for i, box := range solids {
		inner := vec{box.half.x - cornerInset, box.half.y - cornerInset, box.half.z - cornerInset}
		for k := range 8 {
			s.points[n+k] = sphere{box.at.add(box.turn.apply(corner(k, inner))), cornerInset}
		}
		s.groups[2+i] = group{body: box.body, from: n, to: n + 8, grips: box.body >= gripper, tucks: box.body == gripper}
		n += 8
	}
	for i := range s.groups {
		s.groups[i].enclose(s.points[:])
	}
	return s
}

// enclose sets the sphere around the group's points.
func (g *group) enclose(points []sphere) {
	for _, p := range points[g.from:g.to] {
		g.centre = g.centre.plus(p.at, 1/float64(g.to-g.from))
	}
	for _, p := range points[g.from:g.to] {
		g.radius = max(g.radius, p.at.sub(g.centre).norm()+p.radius)
	}
}
