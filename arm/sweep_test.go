package arm_test

import (
	"math"
	"testing"
	"time"

	"interlock/arm"
	"interlock/units"
)

// moveTo is one phase from one configuration to another.
func moveTo(c *arm.Chain, from, to arm.Servos) arm.Trajectory {
	s, _ := c.MinJerk(from, to, arm.LeastMove, speeds(4.18, 1))
	return arm.Trajectory{{Name: "move", Segment: s}}
}

// tablePoints are places over the table at r = 15 to 35 cm, ±60° and 2 to 20 cm high.
func tablePoints() (points []units.Vec3) {
	for r := 0.15; r <= 0.3501; r += 0.04 {
		for azDeg := -60.0; azDeg <= 60; azDeg += 30 {
			for z := 0.02; z <= 0.2001; z += 0.06 {
				sin, cos := math.Sincos(units.RadFromDeg(azDeg))
				points = append(points, units.Vec3{r * cos, r * sin, z})
			}
		}
	}
	return points
}

// free returns whether the path is free at some roll of the hand.
func free(c *arm.Chain, from arm.Servos, to units.Vec3) bool {
	for _, roll := range []float64{math.Pi / 2, -math.Pi / 2, 0} {
		if s, ok := arm.AtRoll(c, to, roll); ok {
			if _, blocked := c.Sweep(moveTo(c, from, s.Joints.With(1)), nil); !blocked {
				return true
			}
		}
	}
	return false
}

// Verifies: K25
func TestSweepLetsHomeGraspsAndTableMovesPass(t *testing.T) {
	c := arm.SO101()
	home := arm.Home().With(1)
	if b, blocked := c.Sweep(moveTo(c, arm.Joints{0, -0.5, 0.5, 0.5, 0}.With(1), home), nil); blocked {
		t.Errorf("to home: %+v", b)
	}
	n := 0
	grid(0.15, func(box arm.Box, _ float64) {
		g, ok := arm.PlanGrasp(c, box, 0)
		if !ok {
			return
		}
		n++
		path := moveTo(c, home, g.Above.With(g.JawOpenRad))
		for _, q := range []arm.Servos{g.At.With(g.JawOpenRad), g.At.With(arm.JawClosedRad), g.Lift.With(arm.JawClosedRad), home} {
			end, _ := path.End()
			path = append(path, moveTo(c, end, q)...)
		}
		if b, blocked := c.Sweep(path, nil); blocked {
			t.Errorf("grasp of %+v: %+v", box, b)
		}
	})
	if n != 385 {
		t.Errorf("%d grasps", n)
	}
	for _, p := range tablePoints() {
		if !free(c, home, p) {
			t.Errorf("no free move to %v", p)
		}
	}
}

// Verifies: K26
func TestSweepRefusesTableSelfAndKeepOut(t *testing.T) {
	c := arm.SO101()
	home := arm.Home().With(1)
	wall := arm.KeepOut{Name: "wall", MinM: units.Vec3{0.15, 0.1, 0}, MaxM: units.Vec3{0.4, 0.15, 0.5}}
	aside := arm.Best(c, cm(15, 22, 15)).Joints.With(1)
	through := arm.Joints{-0.6, -0.2, 0.6, 1.0, math.Pi / 2}.With(1)
	for _, row := range []struct {
		name     string
		from, to arm.Servos
		outs     []arm.KeepOut
		rule     string
		others   []string
	}{
		{"into the table", home, arm.DLS(c, cm(22, 3, -3), arm.PublishedDLS()).Joints.With(1), nil, arm.MeetsTable, []string{"table"}},
		{"through the table and out again", arm.Servos{0, -0.3, 1.1, -1.5, 1.5, 0}, arm.Servos{0, 0.3, 0.3, 1.6, 1.5, 0}, nil, arm.MeetsTable, []string{"table"}},
		{"the published solver's last iterate", home, arm.DLS(c, cm(70, 0, 10), arm.PublishedDLS()).Joints.With(1), nil, arm.MeetsTable, []string{"table"}},
		{"hand into the shoulder", home, arm.Joints{0, -1.74, 1.4, 1.658, -math.Pi / 2}.With(0), nil, arm.MeetsSelf, []string{"shoulder", "base", "upper arm"}},
		{"folded onto the base", arm.Servos{0, -0.5, -0.3, 0, 1.5, 0}, arm.Servos{0, -0.5, 1.6, -1.6, 1.5, 0}, nil, arm.MeetsSelf, []string{"shoulder", "base", "upper arm"}},
		{"through a wall", through, aside, []arm.KeepOut{wall}, arm.MeetsKeepOut, []string{"wall"}},
	} {
		path := moveTo(c, row.from, row.to)
		b, blocked := c.Sweep(path, row.outs)
		if !blocked || b.Rule != row.rule || !contains(row.others, b.Other) || b.Part == "" || !(b.ClearM < b.LeastM) {
			t.Errorf("%s: %+v, %v", row.name, b, blocked)
			continue
		}
		q, _, _ := path.At(b.T)
		for i := range q {
			if !(math.Abs(q[i]-b.At[i]) <= 1e-4) {
				t.Errorf("%s: says %v after %v, where the path is at %v", row.name, b.At, b.T, q)
				break
			}
		}
	}
	if b, blocked := c.Sweep(moveTo(c, through, aside), nil); blocked {
		t.Errorf("without the wall: %+v", b)
	}
	if _, blocked := c.Sweep(nil, []arm.KeepOut{wall}); blocked {
		t.Error("an empty path is blocked")
	}
}

func contains(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// Verifies: K26
func TestSweepTimesLaterPhasesFromTheStart(t *testing.T) {
	c := arm.SO101()
	home := arm.Home().With(1)
	down := arm.DLS(c, cm(22, 3, -3), arm.PublishedDLS()).Joints.With(1)
	rest := arm.Phase{Name: "rest", Segment: arm.Segment{From: home, To: home, T: 2 * time.Second}}
	alone, _ := c.Sweep(moveTo(c, home, down), nil)
	later, blocked := c.Sweep(append(arm.Trajectory{rest}, moveTo(c, home, down)...), nil)
	if !blocked || later.T != alone.T+rest.T || later.At != alone.At {
		t.Errorf("alone %+v, after a rest %+v", alone, later)
	}
}

// Verifies: K27
func TestSweepLetsAnArmLeaveButGoNoNearer(t *testing.T) {
	c := arm.SO101()
	home := arm.Home().With(1)
	low := arm.DLS(c, cm(22, 3, 0.3), arm.PublishedDLS()).Joints.With(1)
	lower := arm.DLS(c, cm(22, 3, -0.5), arm.PublishedDLS()).Joints.With(1)
	if b, blocked := c.Sweep(moveTo(c, home, low), nil); !blocked || b.Rule != arm.MeetsTable {
		t.Fatalf("the low pose is legal: %+v", b)
	}
	if b, blocked := c.Sweep(moveTo(c, low, home), nil); blocked {
		t.Errorf("up and away: %+v", b)
	}
	if b, blocked := c.Sweep(moveTo(c, low, lower), nil); !blocked || b.Rule != arm.MeetsTable {
		t.Errorf("from low to lower: %+v, %v", b, blocked)
	}
	there := append(moveTo(c, low, home), moveTo(c, home, low)...)
	if b, blocked := c.Sweep(there, nil); !blocked || !(b.T > there[0].T) {
		t.Errorf("away and back: %+v, %v", b, blocked)
	}
}

// Verifies: K28
func TestTableHeightIsThatOfTheRealTips(t *testing.T) {
	c := arm.SO101()
	// A steep hand meets the table with the tip site near 0.65 cm: what a simulator of the same boxes finds.
	touches := 0.0
	for z := 0.02; z > 0; z -= 0.0001 {
		g := handAt(c, units.Vec3{0.22, 0.03, z}, units.RadFromDeg(75))
		lift := g
		lift[arm.Lift] -= 0.2
		if b, blocked := c.Sweep(moveTo(c, lift.With(0.6), g.With(0.6)), nil); blocked {
			if b.Rule != arm.MeetsTable {
				t.Fatalf("at %g: %+v", z, b)
			}
			touches = z
			break
		}
	}
	// The clearance of 1.5 mm is above the contact at 6.5 mm.
	if !(touches >= 0.0070 && touches <= 0.0090) {
		t.Errorf("a hand pitched 75° is refused from %.2f mm on", touches*1e3)
	}
}

// handAt returns joints with the tip at the point, pitched as asked and rolled 90°, found by bisection of the fold.
func handAt(c *arm.Chain, at units.Vec3, pitchRad float64) arm.Joints {
	q := arm.Home()
	for range 60 {
		// Newton by differences on the tip, the wrist keeping the pitch.
		miss := at.Sub(c.Tip(q))
		var j [3]units.Vec3
		for i := range 3 {
			m := q
			m[i] += 1e-6
			m[arm.WristFlex] = pitchRad - m[arm.Lift] - m[arm.Elbow]
			j[i] = c.Tip(m).Sub(c.Tip(q)).Scale(1e6)
		}
		det := j[0].Dot(j[1].Cross(j[2]))
		q[arm.Pan] += miss.Dot(j[1].Cross(j[2])) / det
		q[arm.Lift] += j[0].Dot(miss.Cross(j[2])) / det
		q[arm.Elbow] += j[0].Dot(j[1].Cross(miss)) / det
		q[arm.WristFlex] = pitchRad - q[arm.Lift] - q[arm.Elbow]
	}
	return q
}

// Verifies: K09
func TestSweepAllocatesNothing(t *testing.T) {
	c := arm.SO101()
	path := moveTo(c, arm.Home().With(1), arm.Best(c, cm(20, 10, 5)).Joints.With(1))
	outs := []arm.KeepOut{{Name: "a", MinM: units.Vec3{0.1, 0.1, 0}, MaxM: units.Vec3{0.2, 0.2, 0.2}}}
	tip, rot := c.TipPose(arm.Joints{0.3, 0.2, 0.4, 0.1, 1})
	for name, f := range map[string]func(){
		"sweep": func() { c.Sweep(path, outs) },
		"reach": func() { arm.Best(c, cm(20, 5, 15)) },
		"pose":  func() { arm.BestPose(c, arm.Pose{TipInBase: tip, GripperInBase: rot}) },
	} {
		if n := testing.AllocsPerRun(5, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
