package arm_test

import (
	"math"
	"testing"

	"interlock/arm"
	"interlock/units"
)

// cube returns the 3 cm cube standing on the table.
func cube(xM, yM, yawRad float64) arm.Box {
	return arm.Box{Centre: units.Vec3{xM, yM, 0.015}, SizeM: units.Vec3{0.03, 0.03, 0.03}, YawRad: yawRad}
}

// grid calls f with cubes at r to 0.35 m, ±60° and yaw 0 to 80°.
func grid(fromM float64, f func(b arm.Box, r float64)) {
	for r := fromM; r <= 0.3501; r += 0.02 {
		for azDeg := -60.0; azDeg <= 60; azDeg += 20 {
			for yawDeg := 0.0; yawDeg <= 80; yawDeg += 20 {
				sin, cos := math.Sincos(units.RadFromDeg(azDeg))
				f(cube(r*cos, r*sin, units.RadFromDeg(yawDeg)), r)
			}
		}
	}
}

// Verifies: K05
func TestGraspKeepsItsRecipeOverTheGrid(t *testing.T) {
	c := arm.SO101()
	n := 0
	grid(0.15, func(b arm.Box, r float64) {
		n++
		g, ok := arm.PlanGrasp(c, b, 0)
		if !ok {
			t.Errorf("no grasp for %+v", b)
			return
		}
		above, at, lift := b.GraspPoints(0)
		worst := 0.0
		for q, p := range map[arm.Joints]units.Vec3{g.Above: above, g.At: at, g.Lift: lift} {
			if !within(c, q) {
				t.Errorf("%+v: %v is outside the limits", b, q)
			}
			worst = math.Max(worst, c.Tip(q).Distance(p))
		}
		if d := math.Abs(worst - g.MissM); !(d <= 1e-12) || !(worst <= 0.003) {
			t.Errorf("%+v: misses by %g m, says %g", b, worst, g.MissM)
		}
		checkHand(t, c, b, r, g)
	})
	if n != 385 {
		t.Fatalf("grid has %d cubes", n)
	}
}

// checkHand holds the hand at the box against the rules of the recipe.
func checkHand(t *testing.T, c *arm.Chain, b arm.Box, r float64, g arm.Grasp) {
	t.Helper()
	if d := math.Abs(g.At.PitchRad() - g.PitchRad); !(d <= units.RadFromDeg(1)) {
		t.Errorf("%+v: pitched %g, says %g", b, g.At.PitchRad(), g.PitchRad)
	}
	_, rot := c.TipPose(g.At)
	jaw := rot.Column(0)
	heading := math.Atan2(jaw[1], jaw[0])
	off := math.Abs(math.Remainder(heading-b.YawRad, math.Pi/2))
	steep := g.PitchRad >= units.RadFromDeg(84.9)
	if steep && !(off <= units.RadFromDeg(2)) {
		t.Errorf("%+v: jaws %g° off the faces with a steep hand", b, units.DegFromRad(off))
	}
	if !(off <= units.RadFromDeg(27)) {
		t.Errorf("%+v: jaws %g° off the faces: corner-on", b, units.DegFromRad(off))
	}
	// At the far edge only the other half turn may reach, by the tip's 12 mm beside the roll axis.
	if near := r < 0.175; near != (g.At[arm.WristRoll] < 0) && !steep && r < 0.34 {
		t.Errorf("%+v: roll %g at r = %g", b, g.At[arm.WristRoll], r)
	}
	if g.JawOpenRad != arm.JawGraspRad {
		t.Errorf("%+v: jaw opens to %g", b, g.JawOpenRad)
	}
}

// Verifies: K06
func TestGraspOutOfReachSaysHowFar(t *testing.T) {
	c := arm.SO101()
	for _, row := range []struct {
		box             arm.Box
		leastMm, mostMm float64
	}{
		{cube(0.50, 0, 0), 32.2, 32.5}, // 32.84 mm at 1.1 cm, a little less at 1.3 cm
		{cube(0.70, 0, 0), 225, 235},
		{cube(0.10, 0, 0), 5, 60},
	} {
		g, ok := arm.PlanGrasp(c, row.box, 0)
		if mm := g.MissM * 1000; ok || !(mm >= row.leastMm && mm <= row.mostMm) {
			t.Errorf("%+v: ok %v, misses by %.2f mm, want %g to %g", row.box, ok, mm, row.leastMm, row.mostMm)
		}
		if g.At != (arm.Joints{}) {
			t.Errorf("%+v: joints without a plan", row.box)
		}
	}
}

func TestGraspRefusesWhatTheJawsCannotTake(t *testing.T) {
	c := arm.SO101()
	wide := cube(0.22, 0.03, 0)
	wide.SizeM = units.Vec3{0.12, 0.12, 0.03}
	nan := cube(0.22, math.NaN(), 0)
	flat := cube(0.22, 0.03, 0)
	flat.SizeM[2] = 0
	for _, b := range []arm.Box{wide, nan, flat} {
		if _, ok := arm.PlanGrasp(c, b, 0); ok {
			t.Errorf("a grasp for %+v", b)
		}
	}
	if _, ok := arm.PlanGrasp(c, cube(0.22, 0.03, 0), math.NaN()); ok {
		t.Error("a grasp with an approach of NaN")
	}
	plank := cube(0.25, 0, 0)
	plank.SizeM = units.Vec3{0.12, 0.03, 0.03}
	g, ok := arm.PlanGrasp(c, plank, 0)
	if off := math.Abs(math.Remainder(g.JawYawRad-math.Pi/2, math.Pi)); !ok || !(off <= 0.01) {
		t.Errorf("a plank along x is taken across: ok %v, jaws at %g", ok, g.JawYawRad)
	}
}

func TestGraspOpensWiderForAWideBox(t *testing.T) {
	c := arm.SO101()
	b := cube(0.25, 0, 0)
	b.SizeM = units.Vec3{0.05, 0.05, 0.03}
	g, ok := arm.PlanGrasp(c, b, 0)
	if !ok || !(arm.JawGapM(g.JawOpenRad) >= 0.07) || !(g.JawOpenRad > arm.JawGraspRad) {
		t.Errorf("5 cm cube: ok %v, jaw %g rad, gap %g m", ok, g.JawOpenRad, arm.JawGapM(g.JawOpenRad))
	}
}

// Verifies: K07
func TestPublishedGraspCheck(t *testing.T) {
	c := arm.SO101()
	for _, row := range []struct {
		box    arm.Box
		missMm float64
	}{
		{cube(0.22, 0.03, 0), 0.24},
		{cube(0.50, 0, 0), 37.23},
	} {
		worst := 0.0
		for _, p := range row.box.PublishedGraspPoints() {
			worst = math.Max(worst, arm.DLS(c, p, arm.PublishedDLS()).MissM)
		}
		if got := math.Round(worst*1e5) / 100; got != row.missMm {
			t.Errorf("%v: largest miss %.2f mm, published %.2f", row.box.Centre, got, row.missMm)
		}
	}
}

func TestApproachShiftsOnlyTheHeightAbove(t *testing.T) {
	b := cube(0.22, 0.03, 0)
	above, at, lift := b.GraspPoints(0)
	above2, at2, lift2 := b.GraspPoints(-0.02)
	if at != at2 || lift != lift2 || !(math.Abs(above[2]-above2[2]-0.02) <= 1e-12) {
		t.Errorf("approach −2 cm: %v %v %v, then %v %v %v", above, at, lift, above2, at2, lift2)
	}
	want := [3]float64{0.08, 0.013, 0.12}
	for i, z := range [3]float64{above[2], at[2], lift[2]} {
		if !(math.Abs(z-want[i]) <= 1e-12) {
			t.Errorf("height %d = %g, want %g", i, z, want[i])
		}
	}
}

func TestBoxOfFindsTheUprightAxis(t *testing.T) {
	tipped := units.Quat{math.Sqrt2 / 2, math.Sqrt2 / 2, 0, 0} // z to −y, y up
	size := units.Vec3{0.01, 0.02, 0.03}
	b := arm.BoxOf(units.Pose{Position: units.Vec3{0.2, 0, 0.012}, Orientation: tipped}, size)
	if b.SizeM[2] != 0.02 || b.BottomM() != 0 {
		t.Errorf("tipped box: %+v, bottom %g", b, b.BottomM())
	}
	stacked := arm.BoxOf(units.Pose{Position: units.Vec3{0.2, 0, 0.045}, Orientation: units.YawQuat(0.3)}, units.Vec3{0.03, 0.03, 0.03})
	if d := math.Remainder(stacked.YawRad-0.3, math.Pi/2); !(math.Abs(d) <= 1e-12) || !(math.Abs(stacked.BottomM()-0.03) <= 1e-12) {
		t.Errorf("stacked cube: %+v, bottom %g", stacked, stacked.BottomM())
	}
}

// Verifies: K08
func TestPlacePutsTheBoxOverThePoint(t *testing.T) {
	c := arm.SO101()
	size := units.Vec3{0.03, 0.03, 0.03}
	grid(0.15, func(b arm.Box, _ float64) {
		onto := units.Vec3{b.Centre[0], b.Centre[1], 0}
		p, ok := arm.PlanPlace(c, onto, size)
		if !ok {
			t.Errorf("no placement at %v", onto)
			return
		}
		// Where the box's centre is in the hand: against the fixed jaw, 2 mm above the tip.
		tip, rot := c.TipPose(p.At)
		centre := tip.Add(rot.Apply(units.Vec3{-0.00735 + 0.015 - 0.012, 0, 0.002}))
		if d := centre.Distance(units.Vec3{onto[0], onto[1], 0.019}); !(d <= 0.001) {
			t.Errorf("at %v the box is %g m off", onto, d)
		}
		for _, q := range []arm.Joints{p.Above, p.Retreat} {
			if z := c.Tip(q)[2]; !(z >= 0.075) || !within(c, q) {
				t.Errorf("at %v the hand passes at z = %g m, %v", onto, z, q)
			}
		}
		if gap := arm.JawGapM(p.JawOpenRad); !(gap >= 0.045 && gap <= 0.05) {
			t.Errorf("the jaws open to %g m", gap)
		}
	})
	if p, ok := arm.PlanPlace(c, units.Vec3{0.6, 0, 0}, size); ok || !math.IsInf(p.MissM, 1) {
		t.Errorf("a placement out of reach: %+v", p)
	}
}

func TestJawGapMatchesTheMeasuredTable(t *testing.T) {
	for _, row := range [][2]float64{{-0.1745, 2.63}, {0.2, 30.56}, {0.6, 61.195}, {1, 89.55}, {1.7453, 131.86}} {
		if got := arm.JawGapM(row[0]) * 1000; !(math.Abs(got-row[1]) <= 0.01) {
			t.Errorf("gap at %g rad = %.3f mm, want %.3f", row[0], got, row[1])
		}
	}
}
