package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"interlock/units"
)

// kinetic is the kinetic energy of arm and cubes, J.
func (w *World) kinetic() float64 {
	sum := 0.0
	for j := range joints {
		v := w.speed[robotBlock][j]
		sum += joints[j].inertia * v * v / 2
	}
	for i := range w.cubes[:w.numCubes] {
		c, v := &w.cubes[i], &w.speed[1+i]
		linear, angular := vec{v[0], v[1], v[2]}, vec{v[3], v[4], v[5]}
		sum += (c.massKg*linear.norm2() + c.inertia()*angular.norm2()) / 2
	}
	return sum
}

// watched is a world whose every step is watched.
type watched struct {
	World
	twin         World
	work, least  float64 // what the contacts added so far, J, and the least that this ever was
	returned     float64 // the most that they gave back after taking, J
	fastest      float64 // of any joint, rad/s
	peakShoulder float64 // N
	peakTable    float64 // N
	worstCost    float64 // of a step's impulses against none, J
}

func (w *watched) step() {
	w.twin = w.World
	w.twin.findContacts()
	w.twin.driveJoints()
	w.twin.pullCubes()
	before := w.twin.kinetic()
	w.twin.solve()
	added := w.twin.kinetic() - before
	cost := added
	for i := range w.twin.contacts[:w.twin.numContacts] {
		c := &w.twin.contacts[i]
		for k, p := range [3]float64{c.impulse.x, c.impulse.y, c.impulse.z} {
			cost += p * (c.rows[k].soft*p/2 - c.rows[k].target)
		}
	}
	w.worstCost = math.Max(w.worstCost, cost)
	w.work += added
	w.least = math.Min(w.least, w.work)
	w.returned = math.Max(w.returned, w.work-w.least)
	w.Step()
	for _, v := range w.speed[robotBlock] {
		w.fastest = math.Max(w.fastest, math.Abs(v))
	}
	w.peakTable = math.Max(w.peakTable, w.tableN)
	shoulder := 0.0
	for i := range w.contacts[:w.numContacts] {
		if p := w.contacts[i].partner(); p >= shoulderPartner && p != tablePartner {
			shoulder += w.contacts[i].impulse.x / dt
		}
	}
	w.peakShoulder = math.Max(w.peakShoulder, shoulder)
}

func (w *watched) glide(to [NumJoints]float64, seconds float64) {
	from, n := w.goal, int(math.Round(seconds/dt))
	for k := 1; k <= n; k++ {
		s := float64(k) / float64(n)
		s *= s * s * (10 + s*(6*s-15))
		for j := range to {
			w.goal[j] = from[j] + (to[j]-from[j])*s
		}
		w.step()
	}
}

// anyPose is a pose anywhere in the joints' ranges, stretched out towards a point beyond reach, or near the table and
// the cubes, above and below.
func anyPose(r *rand.Rand) (q [NumJoints]float64) {
	between := func(low, high float64) float64 { return low + r.Float64()*(high-low) }
	switch r.IntN(4) {
	case 0:
		for j := range q {
			q[j] = between(joints[j].minRad, joints[j].maxRad)
		}
	case 1:
		q = ik(HomeRad(), units.Vec3{between(0.3, 0.7), between(-0.3, 0.3), between(-0.1, 0.1)}, free)
	default:
		q = ik(HomeRad(), units.Vec3{between(0.15, 0.35), between(-0.2, 0.2), between(-0.05, 0.1)}, free)
	}
	q[jaw] = between(joints[jaw].minRad, joints[jaw].maxRad)
	return q
}

// sequence sends the arm through five poses, by minimum jerk in 0.5 s or more or by jumps of the command, and lets the
// command rest for 2 s.
func sequence(seed uint64) (w *watched, smooth bool) {
	r := rand.New(rand.NewPCG(seed, 25))
	w, smooth = &watched{World: newWorld(HomeRad())}, seed%2 == 0
	for k := range r.IntN(4) {
		cubeAt(&w.World, 0.15+0.3*r.Float64(), -0.2+0.12*float64(k)+0.05*r.Float64(), r.Float64())
	}
	for range 5 {
		q := anyPose(r)
		if smooth {
			w.glide(q, 0.5+r.Float64())
			continue
		}
		w.goal = q
		w.glide(q, 0.3+0.4*r.Float64())
	}
	w.glide(w.goal, 2)
	return w, smooth
}

// Bounds of any command within the joints' ranges. A servo's torque against its damping ends at 5 rad/s, gravity adds
// 2 at most. The arm holds some 1 J at such speeds, of which springs may give back a part.
const (
	mostSpeed    = 10.0 // rad/s
	mostReturned = 0.4  // J
	mostCost     = 1e-9 // J
	mostJumpN    = 1500
	mostMoveN    = 600
	mostInsideN  = 1500 // camera mount against shoulder
)

// hardRow is a sequence that presses the camera mount against the shoulder along a line on which the arm hardly moves.
const hardRow = 491

// Verifies: B25
func TestContactsAddNoEnergy(t *testing.T) {
	const seeds = 240
	sliding := 0
	for i := range uint64(seeds) {
		seed := i
		if i == 0 {
			seed = hardRow
		}
		w, smooth := sequence(seed)
		mostN := float64(mostJumpN)
		if smooth {
			mostN = mostMoveN
		}
		if !w.finite() {
			t.Fatalf("seed %d: not finite", seed)
		}
		if !(w.worstCost <= mostCost) || !(w.returned <= mostReturned) {
			t.Errorf("seed %d: contacts cost %v J more than none and gave %v J back", seed, w.worstCost, w.returned)
		}
		if !(w.fastest <= mostSpeed) || !(w.peakTable <= mostN) || !(w.peakShoulder <= mostInsideN) {
			t.Errorf("seed %d: %v rad/s, %v N on the table, %v N on the shoulder", seed, w.fastest, w.peakTable, w.peakShoulder)
		}
		if w.settles() {
			continue
		}
		if sliding++; !w.pulls() {
			t.Errorf("seed %d: the arm moves with no servo saturated 2 s after the last command", seed)
		}
	}
	if sliding > seeds/20 {
		t.Errorf("%d of %d sequences end with a moving arm", sliding, seeds)
	}
}

// settles reports whether the joints stay where they are for 0.2 s, within 2 mrad.
func (w *watched) settles() bool {
	was := w.angle
	for range 100 {
		w.step()
		for j, q := range w.angle {
			if !(math.Abs(q-was[j]) <= 0.002) {
				return false
			}
		}
	}
	return true
}

// pulls reports whether a servo gives all it can: the arm drags itself over the table to a goal it has not reached.
func (w *watched) pulls() bool {
	for j, e := range w.effort {
		if math.Abs(e) == w.effortMax[j] {
			return true
		}
	}
	return false
}

// A pick with the last iterates towards a cube half a metre away: the arm stretches out, and the camera mount's corner
// meets the table where a push up hardly differs from a push back.
//
// Verifies: B25
func TestStretchedOutOnTheTable(t *testing.T) {
	above := [NumJoints]float64{0.002961, 1.350770, -1.253800, 0.130928, 0.190869, 0.6}
	low := [NumJoints]float64{0.002426, 1.719352, -1.377700, -0.207838, 0.171249, 0.6}
	lift := [NumJoints]float64{0.003042, 1.291898, -1.273014, 0.078360, 0.193884, shutRad}
	w := &watched{World: newWorld(HomeRad())}
	cubeAt(&w.World, 0.50, 0, 0)
	w.glide(above, 1.04)
	w.glide(low, 0.8)
	if z := w.tip().z; !(z < 0.05) {
		t.Errorf("the tip ends %v m above the table", z)
	}
	if w.peakTable == 0 {
		t.Error("the table is not touched, so the test shows nothing")
	}
	w.glide(withJaw(low, shutRad), 0.36)
	w.glide(lift, 0.52)
	w.glide(lift, 0.5)
	if !(w.peakTable <= 100) || !(w.fastest <= 5) || !(w.returned <= 0.02) {
		t.Errorf("%v N on the table, %v rad/s, %v J given back", w.peakTable, w.fastest, w.returned)
	}
	if !w.settles() {
		t.Error("the arm does not come to rest")
	}
}

// Verifies: B25
func TestStaleImpulsesDoNoHarm(t *testing.T) {
	tried := 0
	for seed := range uint64(40) {
		w, _ := sequence(seed)
		if w.numContacts == 0 {
			continue
		}
		tried++
		for i := range w.contacts[:w.numContacts] {
			w.contacts[i].impulse = w.contacts[i].impulse.mul(1e4)
		}
		still := w.peakTable
		for range 20 {
			w.step()
		}
		if !(w.worstCost <= mostCost) || !(w.peakTable <= math.Max(still, 100)) {
			t.Errorf("seed %d: contacts cost %v J more than none, %v N on the table", seed, w.worstCost, w.peakTable)
		}
	}
	if tried < 5 {
		t.Errorf("only %d sequences end in contact", tried)
	}
}

// Sweeps settle on the optimum, sliding or not: what a contact misses of its target lies in the dual of its friction
// cone, and is no work.
//
// Verifies: B25
func TestSweepsSettleOnTheOptimum(t *testing.T) {
	tried := 0
	for seed := range uint64(80) {
		w, _ := sequence(seed)
		w.goal = HomeRad()
		w.goal[0] = w.angle[0] + 1
		for range 5 {
			w.Step()
			w.twin = w.World
			w.twin.settleContacts()
			for i := range w.twin.contacts[:w.twin.numContacts] {
				tried++
				if work, out := w.twin.miss(&w.twin.contacts[i]); !(work <= 1e-6) || !(out <= 1e-4) {
					t.Errorf("seed %d contact %d: %v J left, %v m/s out of the cone", seed, i, work, out)
				}
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d contacts", tried)
	}
}

// settleContacts is a solve with many sweeps, left in scaled speeds.
func (w *World) settleContacts() {
	w.findContacts()
	w.driveJoints()
	w.pullCubes()
	w.scaleIn()
	w.prepare()
	for range 20000 {
		for i := range w.contacts[:w.numContacts] {
			w.relax(&w.contacts[i])
		}
	}
}

// miss returns the work left at a contact, J, and how far the miss lies out of the dual cone, m/s.
func (w *World) miss(c *contact) (work, out float64) {
	var g vec
	for k, v := range [3]*float64{&g.x, &g.y, &g.z} {
		*v = w.rowSpeed(c, k) - c.rows[k].target + c.rows[k].soft*[3]float64{c.impulse.x, c.impulse.y, c.impulse.z}[k]
	}
	return math.Abs(g.dot(c.impulse)), math.Max(0, c.mu*math.Hypot(g.y, g.z)-g.x)
}
