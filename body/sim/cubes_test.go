package sim

import (
	"math"
	"testing"

	"interlock/units"
)

// Verifies: B08
func TestGrip(t *testing.T) {
	w := oneCube()
	pickUp(&w, 0.22, 0.03)
	perJaw := w.cubes[0].robotN / 2
	switch {
	case !(w.cubes[0].bottom() >= 0.04) || w.cubes[0].jaws != fixedJawBit|movingJawBit:
		t.Fatalf("not lifted: bottom %v m, jaws %b", w.cubes[0].bottom(), w.cubes[0].jaws)
	case !(perJaw >= 30 && perJaw <= 45):
		t.Errorf("grip of %v N per jaw", perJaw)
	case !(w.angle[jaw] >= 0.15 && w.angle[jaw] <= 0.175):
		t.Errorf("held at a jaw angle of %v", w.angle[jaw])
	case !(w.effort[jaw] <= -0.99*maxEffortNm):
		t.Errorf("held with an effort of %v N·m", w.effort[jaw])
	case w.peakTableN != 0:
		t.Errorf("the pick pressed the table with %v N", w.peakTableN)
	}
	held := w.cubes[0].at
	rest(&w, 10)
	if creep := w.cubes[0].at.sub(held).norm(); !(creep <= 0.002) {
		t.Errorf("a held cube crept %v m in 10 s", creep)
	}
}

// Verifies: B08
func TestClosedOnNothing(t *testing.T) {
	w := newWorld(HomeRad())
	pickUp(&w, 0.22, 0.03)
	if !(math.Abs(w.angle[jaw]-shutRad) <= 0.005) || !(math.Abs(w.effort[jaw]) <= 0.1) {
		t.Errorf("closed on nothing: jaw %v rad, effort %v N·m", w.angle[jaw], w.effort[jaw])
	}
}

// Verifies: B09
func TestBystanderStaysExactly(t *testing.T) {
	w := oneCube()
	cubeAt(&w, 0.15, -0.15, 0.3)
	rest(&w, 0.5) // it settles and sleeps
	before, turn := w.cubes[1].at, w.cubes[1].turnQ
	if !w.cubes[1].asleep() {
		t.Fatal("the bystander does not come to rest")
	}
	pickUp(&w, 0.22, 0.03)
	if w.cubes[1].at != before || w.cubes[1].turnQ != turn {
		t.Errorf("the bystander moved from %v to %v", before, w.cubes[1].at)
	}
	if w.cubes[0].bottom() < 0.04 {
		t.Error("the pick failed, so the test shows nothing")
	}
}

// Verifies: B10
func TestSlip(t *testing.T) {
	w := oneCube()
	pickUp(&w, 0.22, 0.03)
	holds, slips := w, w
	holds.jawMu, slips.jawMu = 0.05, 0.003
	rest(&holds, 1)
	rest(&slips, 1)
	if holds.cubes[0].bottom() < 0.04 {
		t.Errorf("friction 0.05 drops the cube to %v m", holds.cubes[0].bottom())
	}
	if !(slips.cubes[0].bottom() < 0.005) {
		t.Errorf("friction 0.003 keeps the cube at %v m", slips.cubes[0].bottom())
	}
}

func TestPushTearsOut(t *testing.T) {
	w := oneCube()
	pickUp(&w, 0.22, 0.03)
	for _, c := range []struct {
		newtons float64
		held    bool
	}{{10, true}, {100, false}} {
		v := w
		v.cubes[0].push = vec{0, 0, -c.newtons}
		rest(&v, 0.2)
		v.cubes[0].push = vec{}
		rest(&v, 0.5)
		if held := v.cubes[0].bottom() > 0.04; held != c.held {
			t.Errorf("%v N down: held %v", c.newtons, held)
		}
	}
}

func TestStackStands(t *testing.T) {
	for n := 2; n <= 4; n++ {
		w := newWorld(HomeRad())
		for i := range n {
			z := 0.015 + float64(i)*0.032
			w.addCube(DefaultEdgeM, DefaultMassKg, vec{0.25, 0.1, z}, 0.1*float64(i))
		}
		rest(&w, 3)
		for i := range n {
			c := &w.cubes[i]
			if !c.asleep() || !(math.Abs(c.at.z-(0.0147+0.03*float64(i))) <= 0.003) {
				t.Errorf("stack of %d: cube %d asleep %v at height %v", n, i, c.asleep(), c.at.z)
			}
		}
	}
}

func TestOverhangFalls(t *testing.T) {
	for _, c := range []struct {
		overhang float64
		stands   bool
	}{{0.008, true}, {0.016, false}} {
		w := newWorld(HomeRad())
		cubeAt(&w, 0.25, 0.1, 0)
		w.addCube(DefaultEdgeM, DefaultMassKg, vec{0.25 + c.overhang, 0.1, 0.0455}, 0)
		rest(&w, 3)
		if stands := w.cubes[1].at.z > 0.04; stands != c.stands {
			t.Errorf("overhang %v m: stands %v", c.overhang, stands)
		}
	}
}

func TestThrownCubesRest(t *testing.T) {
	for i := range 6 {
		w := newWorld(HomeRad())
		w.addCube(DefaultEdgeM, DefaultMassKg, vec{0.25, 0.15, 0.20}, 0)
		w.teleport(0, vec{0.25, 0.15, 0.20}, units.Quat{1, 0.3 * float64(i), 0.2, 0.1 * float64(i)})
		w.speed[1] = block{0.2, 0, 0, 3, 1, -2}
		rest(&w, 4)
		if c := &w.cubes[0]; !c.asleep() || !(c.bottom() >= -0.001 && c.bottom() <= 0.002) {
			t.Errorf("throw %d: asleep %v, bottom %v", i, c.asleep(), c.bottom())
		}
	}
}

// Verifies: B11
func TestPlacedInTheTray(t *testing.T) {
	for _, p := range [][2]float64{{0.15, -0.15}, {0.17, -0.13}, {0.13, -0.16}} {
		cfg := DefaultConfig()
		cfg.Tray = true
		cfg.Objects = []Object{{Label: "red cube", Position: units.Vec3{0.22, 0.03, 0.015}}}
		w := cfg.world()
		pickUp(&w, 0.22, 0.03)
		putDown(&w, p[0], p[1])
		c := &w.cubes[0]
		low, top := TrayRegion()
		inside := c.at.x > low[0]+c.half && c.at.x < top[0]-c.half && c.at.y > low[1]+c.half && c.at.y < top[1]-c.half
		if !inside || !c.asleep() || !(c.bottom() < 0.001) {
			t.Errorf("placed at %v: at %v, asleep %v, bottom %v", p, c.at, c.asleep(), c.bottom())
		}
		if c.jaws != 0 {
			t.Errorf("placed at %v: still touched by jaws %b", p, c.jaws)
		}
	}
}

func TestTrayWallsStopACube(t *testing.T) {
	slide := func(tray bool) float64 {
		cfg := DefaultConfig()
		cfg.Tray = tray
		cfg.Objects = []Object{{Label: "red cube", Position: units.Vec3{0.18, -0.15, 0.015}}}
		w := cfg.world()
		rest(&w, 0.3)
		w.cubes[0].calm = 0
		w.speed[1][0] = 0.5
		rest(&w, 1)
		return w.cubes[0].at.x
	}
	if x := slide(true); !(x < 0.187) {
		t.Errorf("the wall lets the cube slide to x %v", x)
	}
	if x := slide(false); !(x > 0.187) {
		t.Errorf("without a wall the cube stops at x %v, so the test shows nothing", x)
	}
}
