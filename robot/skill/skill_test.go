package skill

import (
	"math"
	"slices"
	"testing"
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/units"
	"interlock/world"
)

func loaded(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := contract.LoadFile("testdata/arm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func planner(t testing.TB, solver Solver) *Planner {
	t.Helper()
	p, err := NewPlanner(loaded(t), solver)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func seenCube(label string, xM, yM, zM, yawRad float64) world.Object {
	return world.Object{
		Label: label,
		Pose:  units.Pose{Position: units.Vec3{xM, yM, zM}, Orientation: units.YawQuat(yawRad)},
		SizeM: units.Vec3{0.03, 0.03, 0.03},
	}
}

// seeing returns a snapshot in which the camera saw the objects 100 ms ago.
func seeing(objects ...world.Object) *world.Snapshot {
	now := units.Instant(time.Second)
	return world.NewSnapshot(now, []world.Fact{{Name: "objects", Witness: "camera", At: now.Add(-100 * time.Millisecond),
		Value: world.Value{Kind: world.KindPoses, Objects: objects}}})
}

func homeRad() []float64 {
	s := arm.Home().With(arm.JawOpenRad)
	return s[:]
}

func text(name, v string) contract.ArgValue {
	return contract.ArgValue{Name: name, Value: world.Value{Kind: world.KindText, Text: v}}
}

func number(name string, v float64) contract.ArgValue {
	return contract.ArgValue{Name: name, Value: world.Value{Kind: world.KindNumber, Number: v}}
}

// ask plans the capability from home, or from startRad where given.
func ask(p *Planner, name string, w *world.Snapshot, startRad []float64, args ...contract.ArgValue) (*Plan, *reject.Rejection) {
	if startRad == nil {
		startRad = homeRad()
	}
	plan, r := p.Plan(gate.PlanRequest{Capability: p.contract.Capability(name), Args: args, World: w, StartRad: startRad}, p.Fresh())
	if r != nil {
		return nil, r
	}
	return plan.(*Plan), nil
}

// checkPath holds a plan against its limits, sampled, and against its own continuity.
func checkPath(t *testing.T, p *Plan, limits arm.SpeedLimits) {
	t.Helper()
	const dt = 5 * time.Millisecond
	c := arm.SO101()
	ranges := c.Limits()
	last, _, _ := p.path.At(0)
	for at := dt; at <= p.Duration()+dt; at += dt {
		q, phase, _ := p.path.At(at)
		if !ranges.Hold(q) {
			t.Fatalf("%s at %v: outside the joint ranges: %v", phase, at, q)
		}
		for i := range q {
			if v := math.Abs(q[i]-last[i]) / dt.Seconds(); !(v <= limits.JointRadS*1.001) {
				t.Fatalf("%s at %v: servo %d at %g rad/s", phase, at, i, v)
			}
		}
		if v := c.Tip(q.Joints()).Distance(c.Tip(last.Joints())) / dt.Seconds(); !(v <= limits.TipMPS*1.005) {
			t.Fatalf("%s at %v: tip at %g m/s", phase, at, v)
		}
		last = q
	}
}

func phases(p *Plan) (names []string) {
	for _, ph := range p.path {
		names = append(names, ph.Name)
	}
	return names
}

var wholeSpeed = arm.SpeedLimits{JointRadS: units.RadFromDeg(240), TipMPS: 1}

// Verifies: K11
func TestMoveToEndsExactlyAtItsSolution(t *testing.T) {
	p := planner(t, Best)
	plan, r := ask(p, "move_to", seeing(), nil, number("x_cm", 20), number("y_cm", 5), number("z_cm", 15))
	if r != nil {
		t.Fatal(r)
	}
	checkPath(t, plan, wholeSpeed)
	end, _ := plan.path.End()
	if d := arm.SO101().Tip(end.Joints()).Distance(units.Vec3{0.2, 0.05, 0.15}); !(d <= 1e-5) || end[arm.Jaw] != arm.JawOpenRad {
		t.Errorf("ends %g m off with the jaw at %g", d, end[arm.Jaw])
	}
	start := homeRad()
	start[arm.Jaw] = arm.JawClosedRad
	start[arm.Pan] = 1
	back, r := ask(p, "home", seeing(), start)
	if r != nil {
		t.Fatal(r)
	}
	if end, _ := back.path.End(); end != arm.Home().With(arm.JawClosedRad) {
		t.Errorf("home ends at %v", end)
	}
	checkPath(t, back, wholeSpeed)
}

// Verifies: K12
func TestThePlannerNeverJudgesTheMiss(t *testing.T) {
	for _, solver := range []Solver{Best, DLSLast} {
		plan, r := ask(planner(t, solver), "move_to", seeing(), nil, number("x_cm", 70), number("y_cm", 0), number("z_cm", 10))
		if r != nil {
			t.Errorf("%s: %v", solver, r)
			continue
		}
		checkPath(t, plan, wholeSpeed)
	}
	// The published solver's last iterate is 6 cm below the table: that is refused, for the path and not for the miss.
	plan, r := ask(planner(t, DLS), "move_to", seeing(), nil, number("x_cm", 70), number("y_cm", 0), number("z_cm", 10))
	if plan != nil || r == nil || r.Code != reject.PathBlocked || r.Rule != arm.MeetsTable {
		t.Errorf("dls: %v, %+v", plan, r)
	}
	plan, r = ask(planner(t, DLSLast), "move_to", seeing(), nil, number("x_cm", 70), number("y_cm", 0), number("z_cm", 10))
	if r != nil {
		t.Fatal(r)
	}
	end, _ := plan.path.End()
	if z := arm.SO101().Tip(end.Joints())[2]; !(math.Abs(z+0.062) <= 0.001) {
		t.Errorf("the last iterate for (70,0,10) ends at z = %g m, published −0.062", z)
	}
}

// Verifies: K13
func TestKinematicsSolveOnceForJudgementAndPlan(t *testing.T) {
	for _, row := range []struct {
		solver           Solver
		judged, withPlan int // searches after the conditions, and after the plan
	}{{Best, 1, 1}, {DLS, 1, 1}} {
		p := planner(t, row.solver)
		k := p.fresh()
		target := units.Vec3{units.MetresFromCm(20), units.MetresFromCm(5), units.MetresFromCm(15)}
		first := k.MissM(target)
		if k.MissM(target) != first || k.solved != row.judged {
			t.Errorf("%s: %d searches for one question", row.solver, k.solved)
		}
		args := contract.Args{number("x_cm", 20), number("y_cm", 5), number("z_cm", 15)}
		if _, r := p.Plan(gate.PlanRequest{Capability: p.contract.Capability("move_to"), Args: args, World: seeing(), StartRad: homeRad()}, k); r != nil {
			t.Fatal(r)
		}
		if k.solved != row.withPlan {
			t.Errorf("%s: %d searches with the plan", row.solver, k.solved)
		}
	}
	p := planner(t, Best)
	k := p.fresh()
	o := seenCube("red cube", 0.22, 0.03, 0.015, 0)
	k.GraspMissM(o)
	if _, r := p.Plan(gate.PlanRequest{Capability: p.contract.Capability("pick"), Args: contract.Args{text("name", "red cube")}, World: seeing(o), StartRad: homeRad()}, k); r != nil {
		t.Fatal(r)
	}
	if k.solved != 1 {
		t.Errorf("grasp: %d searches", k.solved)
	}
}

func TestForeignKinematicsAreNotTrusted(t *testing.T) {
	p := planner(t, Best)
	poisoned := planner(t, Best).fresh()
	poisoned.points = append(poisoned.points, solvedPoint{units.Vec3{0.2, 0.05, 0.15}, arm.Solution{Joints: arm.Joints{1, 1, 1, 1, 1}}})
	for _, k := range []contract.Kinematics{nil, poisoned} {
		args := contract.Args{number("x_cm", 20), number("y_cm", 5), number("z_cm", 15)}
		plan, r := p.Plan(gate.PlanRequest{Capability: p.contract.Capability("move_to"), Args: args, World: seeing(), StartRad: homeRad()}, k)
		if r != nil {
			t.Fatal(r)
		}
		end, _ := plan.(*Plan).path.End()
		if d := arm.SO101().Tip(end.Joints()).Distance(units.Vec3{0.2, 0.05, 0.15}); !(d <= 1e-5) {
			t.Errorf("kinematics of another planner were used: %g m off", d)
		}
	}
}

// Verifies: K14
func TestGraspReachOfEachSolver(t *testing.T) {
	near, far := seenCube("red cube", 0.22, 0.03, 0.015, 0), seenCube("red cube", 0.5, 0, 0.015, 0)
	for _, row := range []struct {
		solver         Solver
		nearMm, farMm  float64
		withinMm       float64
		farIsRejection bool
	}{{DLS, 0.24, 37.23, 0.005, true}, {DLSLast, 0.24, 37.23, 0.005, false}, {Best, 1.24, 32.37, 0.01, true}} {
		p := planner(t, row.solver)
		k := p.fresh()
		if mm := k.GraspMissM(near) * 1000; !(math.Abs(mm-row.nearMm) <= row.withinMm) {
			t.Errorf("%s at (22,3): %.3f mm, want %.2f", row.solver, mm, row.nearMm)
		}
		if mm := k.GraspMissM(far) * 1000; !(math.Abs(mm-row.farMm) <= row.withinMm) {
			t.Errorf("%s at (50,0): %.3f mm, want %.2f", row.solver, mm, row.farMm)
		}
		plan, r := ask(p, "pick", seeing(far), nil, text("name", "red cube"))
		if row.farIsRejection != (r != nil) || r != nil && (r.Code != reject.Unreachable || r.Field != "name") {
			t.Errorf("%s: plan %v, %v", row.solver, plan, r)
		}
	}
}

// Verifies: K11
func TestPickPlanKeepsPhasesAndLimits(t *testing.T) {
	p := planner(t, Best)
	c := arm.SO101()
	for _, at := range [][3]float64{{0.22, 0.03, 0}, {0.15, 0, 0.5}, {0.1, 0.2, 1}, {0.3, -0.15, 0.2}, {0.33, 0.05, 0.7}, {0.12, -0.3, 1.2}} {
		plan, r := ask(p, "pick", seeing(seenCube("red cube", at[0], at[1], 0.015, at[2])), nil, text("name", "red cube"))
		if r != nil {
			t.Errorf("%v: %v", at, r)
			continue
		}
		if got := phases(plan); !slices.Equal(got, []string{"above", "down", "close", "hold", "lift"}) {
			t.Errorf("%v: phases %v", at, got)
		}
		checkPath(t, plan, wholeSpeed)
		for i, z := range []float64{0.08, 0.013, 0.013, 0.013, 0.12} {
			q := plan.path[i].To
			if d := c.Tip(q.Joints()).Distance(units.Vec3{at[0], at[1], z}); !(d <= 0.003) {
				t.Errorf("%v: %s ends %g m off", at, plan.path[i].Name, d)
			}
		}
		if plan.path[1].To[arm.Jaw] != arm.JawGraspRad || plan.path[2].To[arm.Jaw] != arm.JawClosedRad {
			t.Errorf("%v: jaw %v, then %v", at, plan.path[1].To[arm.Jaw], plan.path[2].To[arm.Jaw])
		}
	}
}

func TestPickApproachAndLowStart(t *testing.T) {
	p := planner(t, Best)
	w := seeing(seenCube("red cube", 0.22, 0.03, 0.015, 0))
	plan, r := ask(p, "pick", w, nil, text("name", "red cube"), number("approach_dz_cm", 1.5))
	if r != nil {
		t.Fatal(r)
	}
	if z := arm.SO101().Tip(plan.path[0].To.Joints())[2]; !(math.Abs(z-0.095) <= 0.003) {
		t.Errorf("above with +1.5 cm is at %g m", z)
	}
	low := arm.Best(arm.SO101(), units.Vec3{0.2, -0.1, 0.02}).Joints.With(0)
	plan, r = ask(p, "pick", w, low[:], text("name", "red cube"))
	if r != nil {
		t.Fatal(r)
	}
	end := arm.SO101().Tip(plan.path[0].To.Joints())
	if d := end.Distance(units.Vec3{0.2, -0.1, 0.08}); plan.path[0].Name != "raise" || !(d <= 1e-4) || plan.path[0].To[arm.Jaw] != 0 {
		t.Errorf("a low hand first goes to %v in %q", end, plan.path[0].Name)
	}
}

// Verifies: K15
func TestPlanRefusals(t *testing.T) {
	cubeAt := seenCube("red cube", 0.22, 0.03, 0.015, 0)
	stale := seeing(cubeAt)
	stale.Now = stale.Now.Add(time.Second)
	nan := homeRad()
	nan[2] = math.NaN()
	xyz := []contract.ArgValue{number("x_cm", 20), number("y_cm", 5), number("z_cm", 15)}
	for _, row := range []struct {
		name, verb string
		w          *world.Snapshot
		start      []float64
		args       []contract.ArgValue
		code       reject.Code
		field      string
	}{
		{"absent object", "pick", seeing(cubeAt), nil, []contract.ArgValue{text("name", "blue cube")}, reject.NoSuchObject, "name"},
		{"nothing in sight", "pick", seeing(), nil, []contract.ArgValue{text("name", "red cube")}, reject.NoSuchObject, "name"},
		{"stale camera", "pick", stale, nil, []contract.ArgValue{text("name", "red cube")}, reject.StaleFact, "objects"},
		{"no name", "pick", seeing(cubeAt), nil, nil, reject.MissingArgument, "name"},
		{"missing coordinate", "move_to", seeing(), nil, xyz[:2], reject.MissingArgument, "z_cm"},
		{"no usable target", "move_to", seeing(), nil, []contract.ArgValue{xyz[0], xyz[1], number("z_cm", 1e300)}, reject.Unreachable, "x_cm"},
		{"unknown joints", "home", seeing(), nan, nil, reject.StaleFact, "joints"},
		{"no speed", "move_to", seeing(), nil, append(slices.Clone(xyz), number("speed_mps", 0)), reject.OutOfRange, "speed_mps"},
		{"backwards", "move_to", seeing(), nil, append(slices.Clone(xyz), number("speed_mps", -1)), reject.OutOfRange, "speed_mps"},
		{"hours", "move_to", seeing(), nil, append(slices.Clone(xyz), number("speed_mps", 1e-9)), reject.Unreachable, "limits"},
		{"nothing held", "place", seeing(cubeAt), nil, []contract.ArgValue{text("target", "tray")}, reject.NoSuchObject, "held"},
		{"held out of sight", "place", seeing(), nil, []contract.ArgValue{text("target", "tray"), text("moved", "red cube")}, reject.NoSuchObject, "moved"},
		{"no place", "place", seeing(cubeAt), nil, []contract.ArgValue{text("target", "shelf"), text("moved", "red cube")}, reject.NotInEnum, "target"},
		{"far place", "place", seeing(cubeAt), nil, []contract.ArgValue{text("target", "far"), text("moved", "red cube")}, reject.Unreachable, "target"},
		{"foreign skill", "show", seeing(), nil, nil, reject.NotPermitted, "skill"},
	} {
		plan, r := ask(planner(t, Best), row.verb, row.w, row.start, row.args...)
		if r == nil || plan != nil || r.Code != row.code || r.Field != row.field {
			t.Errorf("%s: %v, %+v, want %s in %s", row.name, plan, r, row.code, row.field)
		}
	}
}

// Verifies: K11
func TestSpeedArgumentTightensOnly(t *testing.T) {
	p := planner(t, Best)
	xyz := []contract.ArgValue{number("x_cm", 15), number("y_cm", -15), number("z_cm", 10)}
	slow, _ := ask(p, "move_to", seeing(), nil, append(slices.Clone(xyz), number("speed_mps", 0.05))...)
	wide, _ := ask(p, "move_to", seeing(), nil, append(slices.Clone(xyz), number("speed_mps", 50))...)
	if slow == nil || wide == nil {
		t.Fatal("no plan")
	}
	checkPath(t, slow, arm.SpeedLimits{JointRadS: wholeSpeed.JointRadS, TipMPS: 0.05})
	if wide.Limits() != wholeSpeed {
		t.Errorf("a fast call widened the limits to %+v", wide.Limits())
	}
}

func TestGripperVerbsMoveTheJawAlone(t *testing.T) {
	p := planner(t, Best)
	for verb, rad := range map[string]float64{"open_gripper": arm.JawOpenRad, "close_gripper": arm.JawClosedRad} {
		start := homeRad()
		start[arm.Jaw] = 0.3
		plan, r := ask(p, verb, seeing(), start)
		if r != nil {
			t.Fatal(r)
		}
		checkPath(t, plan, wholeSpeed)
		if end, _ := plan.path.End(); end != arm.Home().With(rad) {
			t.Errorf("%s ends at %v", verb, end)
		}
	}
}

// Verifies: K16
func TestPlacePlanKeepsPhasesLimitsAndRoom(t *testing.T) {
	p := planner(t, Best)
	start := arm.Home().With(arm.JawClosedRad)
	inHand := seenCube("red cube", 0.207, 0.012, 0.09, 0)
	other := seenCube("blue cube", 0.125, -0.175, 0.015, 0)
	args := []contract.ArgValue{text("target", "tray"), text("moved", "red cube")}
	plan, r := ask(p, "place", seeing(inHand, other), start[:], args...)
	if r != nil {
		t.Fatal(r)
	}
	if got := phases(plan); !slices.Equal(got, []string{"above", "down", "release", "settle", "retreat"}) {
		t.Errorf("phases %v", got)
	}
	checkPath(t, plan, wholeSpeed)
	at := arm.SO101().Tip(plan.path[1].To.Joints())
	if at[0] < 0.15 || at[1] < -0.15 {
		t.Errorf("the box goes to %v, beside the one that stands there", at)
	}
	if plan.path[1].To[arm.Jaw] != arm.JawClosedRad {
		t.Error("the jaw opens on the way")
	}
	full := []world.Object{inHand}
	for _, xy := range [][2]float64{{0.125, -0.175}, {0.175, -0.175}, {0.125, -0.125}, {0.175, -0.125}} {
		full = append(full, seenCube("blue cube", xy[0], xy[1], 0.015, 0))
	}
	if _, r := ask(p, "place", seeing(full...), start[:], args...); r == nil || r.Code != reject.Unreachable || r.Field != "target" {
		t.Errorf("a full tray: %+v", r)
	}
}

func TestNewPlannerRefusesUnknownSolverAndModel(t *testing.T) {
	c := loaded(t)
	if _, err := NewPlanner(c, "magic"); err == nil {
		t.Error("an unknown solver was accepted")
	}
	other := *c
	other.Model = "panda"
	if _, err := NewPlanner(&other, Best); err == nil {
		t.Error("an unknown model was accepted")
	}
	for _, s := range planner(t, Best).Skills() {
		if !slices.Contains(contract.KnownSkills, s) {
			t.Errorf("skill %s is unknown to contracts", s)
		}
	}
}
