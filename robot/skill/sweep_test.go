package skill

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/units"
)

func xyz(x, y, z float64) contract.Args {
	return contract.Args{number("x_cm", x), number("y_cm", y), number("z_cm", z)}
}

// Verifies: K29
func TestPlanRefusesAPathThatIsBlocked(t *testing.T) {
	p := planner(t, Best)
	plan, r := ask(p, "move_to", seeing(), nil, xyz(22, 3, -3)...)
	if plan != nil || r == nil || r.Code != reject.PathBlocked || r.Rule != arm.MeetsTable || r.Field != "path" || r.Retry != reject.AsChanged {
		t.Fatalf("into the table: %v, %+v", plan, r)
	}
	var got arm.Obstruction
	if err := json.Unmarshal([]byte(r.Got), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.JointsRad) != arm.ServoCount || !(got.AfterS > 0) || !(got.ClearMM < 1.5) || got.Other != "table" || r.Limit != "1.5" || r.Unit != "mm" {
		t.Errorf("got %s, limit %s %s", r.Got, r.Limit, r.Unit)
	}
	// The start is legal: so is every verb that does not go there.
	for _, verb := range []string{"home", "open_gripper", "close_gripper"} {
		if _, r := ask(p, verb, seeing(), nil); r != nil {
			t.Errorf("%s: %+v", verb, r)
		}
	}
	// A hand that stands too low may leave.
	low := arm.DLS(arm.SO101(), units.Vec3{0.22, 0.03, 0.003}, arm.PublishedDLS()).Joints.With(0)
	if _, r := ask(p, "home", seeing(), low[:]); r != nil {
		t.Errorf("home from the table: %+v", r)
	}
}

// Verifies: K29
func TestEverySkillIsSweptButTheLabs(t *testing.T) {
	c := loaded(t)
	block := arm.KeepOut{Name: "post", MinM: units.Vec3{0.17, 0.0, 0.0}, MaxM: units.Vec3{0.27, 0.06, 0.12}}
	blocked, err := NewPlanner(c, Best, block)
	if err != nil {
		t.Fatal(err)
	}
	seen := seeing(seenCube("red cube", 0.22, 0.03, 0.015, 0))
	away := arm.Best(arm.SO101(), units.Vec3{0.1, -0.2, 0.15}).Joints.With(0.6)
	for _, row := range []struct {
		verb string
		args contract.Args
	}{
		{"pick", contract.Args{text("name", "red cube")}}, {"home", nil}, {"move_to", xyz(22, 3, 5)},
	} {
		if plan, r := ask(blocked, row.verb, seen, away[:], row.args...); plan != nil || r == nil || r.Code != reject.PathBlocked || r.Rule != arm.MeetsKeepOut {
			t.Errorf("%s past a keep-out: %v, %+v", row.verb, plan, r)
		}
		if _, r := ask(planner(t, Best), row.verb, seen, away[:], row.args...); r != nil {
			t.Errorf("%s without it: %+v", row.verb, r)
		}
	}
	lab, err := NewPlanner(c, DLSLast, block)
	if err != nil {
		t.Fatal(err)
	}
	if _, r := ask(lab, "move_to", seen, away[:], xyz(22, 3, -3)...); r != nil {
		t.Errorf("the lab refuses: %+v", r)
	}
	for _, k := range []arm.KeepOut{{Name: "flat"}, {Name: "nan", MinM: units.Vec3{math.NaN()}, MaxM: units.Vec3{1, 1, 1}}} {
		if _, err := NewPlanner(c, Best, k); err == nil {
			t.Errorf("%s was taken", k.Name)
		}
	}
}

// Verifies: K29
func TestTheWayBackIsSweptToo(t *testing.T) {
	c := loaded(t)
	block := arm.KeepOut{Name: "post", MinM: units.Vec3{0.17, -0.03, 0.0}, MaxM: units.Vec3{0.27, 0.06, 0.12}}
	p, err := NewPlanner(c, Best, block)
	if err != nil {
		t.Fatal(err)
	}
	left := arm.Best(arm.SO101(), units.Vec3{0.1, 0.2, 0.1}).Joints.With(1)
	right := arm.Best(arm.SO101(), units.Vec3{0.1, -0.2, 0.05}).Joints.With(1)
	plan, r := ask(p, "move_to", seeing(), left[:], xyz(12, 20, 15)...)
	if r != nil {
		t.Fatal(r)
	}
	player := &Player{plan: plan}
	if _, err := player.Back(left[:]); err != nil {
		t.Errorf("back along the way: %v", err)
	}
	if _, err := player.Back(right[:]); !errors.Is(err, ErrNoWayBack) {
		t.Errorf("back through the post: %v", err)
	}
}

// Verifies: K25
func TestTableMovesFromHomeAreLegal(t *testing.T) {
	p := planner(t, Best)
	n := 0
	for r := 0.15; r <= 0.4001; r += 0.05 {
		for azDeg := -80.0; azDeg <= 80; azDeg += 20 {
			for z := 2.0; z <= 26; z += 4 {
				sin, cos := math.Sincos(units.RadFromDeg(azDeg))
				target := units.Vec3{r * cos, r * sin, z / 100}
				if p.fresh().MissM(target) > 0.001 {
					continue
				}
				n++
				plan, refusal := ask(p, "move_to", seeing(), nil, xyz(target[0]*100, target[1]*100, z)...)
				if refusal != nil {
					t.Errorf("%v: %+v", target, refusal)
					continue
				}
				end, _ := plan.path.End()
				if d := arm.SO101().Tip(end.Joints()).Distance(target); !(d <= 1e-5) {
					t.Errorf("%v: ends %g m off", target, d)
				}
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d moves", n)
	}
}

func BenchmarkPlanMove(b *testing.B) {
	p := planner(b, Best)
	args := xyz(20, 5, 15)
	w := seeing()
	b.ReportAllocs()
	for b.Loop() {
		if _, r := ask(p, "move_to", w, nil, args...); r != nil {
			b.Fatal(r)
		}
	}
}
