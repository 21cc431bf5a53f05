package sim

import (
	"math"
	"sync"
	"testing"

	"interlock/units"
)

// Check values of the chain, tip M, in centimetres; rows 1 and 2 agree with MuJoCo to the digits printed.
func TestTipInBaseMatchesCheckValues(t *testing.T) {
	deg := units.RadFromDeg
	cases := []struct {
		q   [5]float64
		tip units.Vec3
	}{
		{[5]float64{}, units.Vec3{39.13615, -0.09795, 24.63452}},
		{[5]float64{0.3, -0.5, 0.7, 0.4, -1}, units.Vec3{29.26001, -8.96860, 12.19863}},
		{[5]float64{0, -1.7453293, 1.69, 1.2, 0}, units.Vec3{16.46387, -0.09795, -0.27589}},
		{[5]float64{0, 1.2, -1, 0.8, 0}, units.Vec3{41.36517, -0.09795, -1.79253}},
		{[5]float64{1.91986, 1.7453293, 1.69, 1.658063, 2.7438473}, units.Vec3{1.80911, -7.21977, 24.73775}},
		{[5]float64{-1.91986, -1.7453293, -1.69, -1.658063, -2.7438473}, units.Vec3{9.88490, -15.29664, -7.14379}},
		{[5]float64{0, deg(-40), deg(35), deg(75), deg(90)}, units.Vec3{20.74708, 1.17974, 8.84189}},
	}
	for _, c := range cases {
		var q [NumJoints]float64
		copy(q[:], c.q[:])
		if got := TipInBase(q).Scale(100); !(got.Distance(c.tip) <= 1e-4) {
			t.Errorf("tip at %v is %v cm, not %v", c.q, got, c.tip)
		}
		if w := newWorld(q); w.tip().vec3() != TipInBase(q) {
			t.Errorf("the world's tip at %v differs from TipInBase", c.q)
		}
	}
}

// Verifies: B03
func TestPressingTheTable(t *testing.T) {
	goal := ik(HomeRad(), units.Vec3{0.20, 0, -0.05}, free)
	for _, seconds := range []float64{0.5, 1, 3} {
		w := newWorld(HomeRad())
		glide(&w, goal, seconds)
		rest(&w, 1)
		if !(w.tableN >= 40 && w.tableN <= 48) {
			t.Errorf("after %v s the static push is %v N", seconds, w.tableN)
		}
		if seconds < 1 && !(w.peakTableN > 1.2*w.tableN) {
			t.Errorf("the impact's peak %v N is not remembered", w.peakTableN)
		}
	}
}

// Verifies: B04
func TestNoForceAboveTwoCentimetres(t *testing.T) {
	for _, z := range []float64{0.02, 0.03, 0.05} {
		for _, x := range []float64{0.15, 0.20, 0.25, 0.30} {
			w := newWorld(HomeRad())
			glide(&w, ik(HomeRad(), units.Vec3{x, 0, z}, free), 1)
			rest(&w, 0.3)
			if w.peakTableN != 0 {
				t.Errorf("moving to x %v z %v pressed the table with %v N", x, z, w.peakTableN)
			}
		}
	}
}

// Verifies: B05
func TestTracking(t *testing.T) {
	for _, p := range []units.Vec3{{0.20, 0.05, 0.15}, {0.30, 0, 0.05}, {0.15, -0.15, 0.10}} {
		w := newWorld(HomeRad())
		goal := ik(HomeRad(), p, free)
		glide(&w, goal, 1)
		rest(&w, 0.3)
		if miss := w.tip().vec3().Distance(TipInBase(goal)); !(miss <= 0.0003) {
			t.Errorf("the move to %v ends %v mm away from its command", p, units.MmFromMetres(miss))
		}
		if w.numContacts != 0 {
			t.Errorf("the move to %v ends with %d contacts", p, w.numContacts)
		}
	}
}

// hash folds everything that makes the future.
func (w *World) hash() uint64 {
	h := uint64(14695981039346656037)
	add := func(vs ...float64) {
		for _, v := range vs {
			h = (h ^ math.Float64bits(v)) * 1099511628211
		}
	}
	add(w.angle[:]...)
	for b := range w.speed {
		add(w.speed[b][:]...)
	}
	for i := range w.cubes[:w.numCubes] {
		c := &w.cubes[i]
		add(c.at.x, c.at.y, c.at.z)
		add(c.turnQ[:]...)
	}
	return h
}

// Verifies: B06
func TestSameBitsOnEveryGoroutine(t *testing.T) {
	start := oneCube()
	var hashes [4]uint64
	var wg sync.WaitGroup
	for i := range hashes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := start
			pickUp(&w, 0.22, 0.03)
			hashes[i] = w.hash()
		}()
	}
	wg.Wait()
	for i, h := range hashes {
		if h != hashes[0] {
			t.Errorf("run %d ends in other bits", i)
		}
	}
	other := newWorld(HomeRad())
	cubeAt(&other, 0.2201, 0.03, 0)
	pickUp(&other, 0.22, 0.03)
	if other.hash() == hashes[0] {
		t.Error("another start ends in the same bits: the hash sees nothing")
	}
}

// Verifies: B06
func TestCloneInMidContactEndsEqual(t *testing.T) {
	w := oneCube()
	grasp := withJaw(ik(HomeRad(), units.Vec3{0.22, 0.03, 0.013}, down), openRad)
	glide(&w, grasp, 1)
	glide(&w, withJaw(grasp, shutRad), 0.2)
	if w.numContacts == 0 {
		t.Fatal("no contact to clone in")
	}
	twin := w
	before := w.hash()
	rest(&twin, 0.5)
	if w.hash() != before {
		t.Fatal("the twin's steps changed the original")
	}
	rest(&w, 0.5)
	if w.hash() != twin.hash() {
		t.Error("the twin ended elsewhere")
	}
}

// Verifies: B07
func TestStepsAllocateNothing(t *testing.T) {
	w := oneCube()
	goal := withJaw(ik(HomeRad(), units.Vec3{0.22, 0.03, 0.013}, down), shutRad)
	if n := testing.AllocsPerRun(1, func() { glide(&w, goal, 1) }); n != 0 {
		t.Errorf("500 steps allocate %v times", n)
	}
}

func TestContactsOverflowIsCounted(t *testing.T) {
	w := newWorld(HomeRad())
	for i := range MaxCubes { // all in one place
		w.addCube(DefaultEdgeM, DefaultMassKg, vec{0.3, 0.1, 0.014 + 0.001*float64(i)}, 0)
	}
	w.Step()
	if w.overflow == 0 || w.numContacts != maxContacts {
		t.Errorf("%d contacts, %d beyond the room", w.numContacts, w.overflow)
	}
	if !w.finite() {
		t.Error("not finite")
	}
}

func TestDivergenceIsSeen(t *testing.T) {
	w := oneCube()
	if !w.finite() {
		t.Fatal("a fresh world is not finite")
	}
	w.goal[2] = math.NaN()
	w.Step()
	if w.finite() {
		t.Error("a NaN in a goal went unseen")
	}
	w = oneCube()
	w.cubes[0].at.x = math.Inf(1)
	if w.finite() {
		t.Error("an infinite cube went unseen")
	}
}
