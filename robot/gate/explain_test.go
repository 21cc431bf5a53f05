package gate_test

import (
	"reflect"
	"testing"
	"time"

	"interlock/robot/gate"
	"interlock/world"
)

// An explanation comes to what Judge comes to, names the one stage that refused, and reaches none after it.
//
// Verifies: Y05
func TestExplainAgreesWithJudge(t *testing.T) {
	halted := gate.Standing{Stopped: true}
	for _, c := range []struct {
		name       string
		verb, args string
		w          *world.Snapshot
		st         gate.Standing
		stage      int // that refuses; 0: none
	}{
		{"text", "fly", `{"a":1,"a":2}`, snapshot(), standing(), 1},
		{"unknown", "fly", `{}`, snapshot(), standing(), 2},
		{"stopped", "move_to", `{"x_cm":20,"y_cm":0,"z_cm":10}`, snapshot(), halted, 3},
		{"shape", "move_to", `{"x_cm":70,"y_cm":50,"z_cm":"low"}`, snapshot(), standing(), 4},
		{"compared", "move_to", `{"x_cm":20,"y_cm":0,"z_cm":1}`, snapshot(), standing(), 5},
		{"stale", "move_to", `{"x_cm":20,"y_cm":0,"z_cm":10}`, snapshot(without("torque_on")), standing(), 5},
		{"kinematics", "move_to", `{"x_cm":60,"y_cm":40,"z_cm":50}`, snapshot(), standing(), 6},
		{"licence", "pick", `{"name":"blue cube"}`, snapshot(), standing(), 7},
		{"approval", "pick", `{"name":"red cube"}`, snapshot(valued("door", textValue("open"))), standing(), 8},
		{"cleared", "move_to", good["move_to"], snapshot(), standing(), 0},
		{"no snapshot", "pick", `{"name":"red cube"}`, nil, standing(), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _ := bench(t)
			_, l := g.Judge(call(c.verb, c.args), c.w, c.st, licence{"red cube"})
			e := g.Explain(call(c.verb, c.args), c.w, c.st, licence{"red cube"})
			if !reflect.DeepEqual(l, e.Refusals) {
				t.Errorf("explained %v, judged %v", e.Refusals, l)
			}
			for _, s := range e.Stages {
				want := gate.Passed
				switch {
				case c.stage != 0 && s.Number > c.stage:
					want = gate.NotReached
				case s.Number == c.stage:
					want = gate.Refused
				}
				if s.State != want || s.State == gate.Refused && !reflect.DeepEqual(s.Refusals, l) {
					t.Errorf("stage %d %s: %s %v, want %s %v", s.Number, s.Name, s.State, s.Refusals, want, l)
				}
			}
			if len(e.Stages) != 8 || (e.Takes > 0) != (c.stage == 0 || c.stage > 6) {
				t.Errorf("%d stages, takes %v", len(e.Stages), e.Takes)
			}
		})
	}
}

// A rule is told with both sides of its comparisons, and with the age of every reading it rests on.
//
// Verifies: Y06
func TestExplainTellsRules(t *testing.T) {
	g, _ := bench(t)
	e := g.Explain(call("move_to", `{"x_cm":20,"y_cm":0,"z_cm":1}`), snapshot(aged("torque_on", 90*time.Millisecond)), standing(), nil)
	rules := map[string]gate.Rule{}
	for _, r := range e.Stages[4].Rules {
		rules[r.ID] = r
	}
	low := rules["above_table"]
	if low.Truth != world.False || len(low.Comparisons) != 1 || low.Comparisons[0].Got != "1" || low.Comparisons[0].Limit != "2.25" || low.Comparisons[0].Unit != "cm" {
		t.Errorf("above_table: %+v", low)
	}
	powered := rules["powered"]
	if powered.Truth != world.True || len(powered.Facts) != 1 || powered.Facts[0].Age != 90*time.Millisecond || powered.Facts[0].Witness != "bus" || !powered.Facts[0].Fresh {
		t.Errorf("powered: %+v", powered)
	}
	e = g.Explain(call("place", good["place"]), snapshot(), standing(), nil)
	if len(e.Bound) != 1 || e.Bound[0].Name != "moved" || e.Bound[0].Value.Text != "red cube" {
		t.Errorf("bound %+v", e.Bound)
	}
	if f := e.Stages[4].Facts; len(f) != 1 || f[0].Name != "objects" || f[0].Age != 50*time.Millisecond {
		t.Errorf("objects: %+v", f)
	}
}

// Where the contract hides bounds, an explanation names none.
//
// Verifies: Y07
func TestExplainHidesBounds(t *testing.T) {
	g, _ := bench(t, "disclose_bounds: true", "disclose_bounds: false")
	e := g.Explain(call("move_to", good["move_to"]), snapshot(), standing(), nil)
	for _, s := range e.Stages {
		for _, r := range s.Rules {
			if r.That != "" {
				t.Errorf("%s is %q", r.ID, r.That)
			}
			for _, c := range r.Comparisons {
				if c.Limit != "" || c.Text != "" {
					t.Errorf("%s: %+v", r.ID, c)
				}
			}
		}
	}
	if len(e.Stages[4].Rules) == 0 {
		t.Error("no rules at all")
	}
}
