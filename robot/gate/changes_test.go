package gate_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"interlock/reject"
	"interlock/robot/gate"
	"interlock/units"
	"interlock/world"
)

// A licence holds by effect: what a verb changes without naming it needs one as well.
//
// Verifies: J18
func TestWhatIsChangedWithoutBeingNamedNeedsALicence(t *testing.T) {
	red, blue := cubeAt("red cube", 0.22, 0.03, 0.02), cubeAt("blue cube", 0.22, 0.03, 0.02)
	high, low := units.Vec3{0.22, 0.03, 0.20}, units.Vec3{0.22, 0.03, 0.02}
	const closing, opening = "close_gripper", "open_gripper"
	notLicensed := func(rule string) []fault { return []fault{{"NOT_LICENSED", rule, "changes"}} }
	stale := func(rule, fact string) []fault { return []fault{{"STALE_FACT", rule, fact}} }
	for _, c := range []struct {
		name, verb string
		lic        gate.Licence
		w          hand
		want       []fault
	}{
		{"close on the other cube", closing, licence{"red cube"}, handAt(low, blue), notLicensed("between_jaws")},
		{"close on the right cube", closing, licence{"red cube"}, handAt(low, red), nil},
		{"close on a cube by its alias", closing, licence{"red cube"}, handAt(low, cubeAt("red block", 0.22, 0.03, 0.02)), nil},
		{"close far above it", closing, licence{"red cube"}, handAt(high, blue), nil},
		{"close where the far jaw meets it", closing, licence{"red cube"}, handAt(low, cubeAt("blue cube", 0.22, 0.10, 0.015)), notLicensed("between_jaws")},
		{"close beside it", closing, licence{"red cube"}, handAt(low, cubeAt("blue cube", 0.22, 0.15, 0.015)), nil},
		{"close on what the vocabulary lacks", closing, licence{"red cube"}, handAt(low, cubeAt("cup", 0.22, 0.03, 0.02)), notLicensed("between_jaws")},
		{"close on two", closing, licence{"red cube"}, handAt(low, red, blue, cubeAt("green cube", 0.22, 0.05, 0.015)),
			append(notLicensed("between_jaws"), notLicensed("between_jaws")...)},
		{"close on one label seen twice", closing, licence{"red cube"}, handAt(high, blue, cubeAt("blue cube", 0.3, 0.1, 0.015)), notLicensed("between_jaws")},
		{"close within the error of the bound", closing, licence{"red cube"}, handAt(low, cubeAt("blue cube", 0.22, 0.1215, 0.02)), notLicensed("between_jaws")},
		{"within the error, and allowed", closing, licence{"red cube", "blue cube"}, handAt(low, cubeAt("blue cube", 0.22, 0.1215, 0.02)), nil},
		{"close without a task", closing, nil, handAt(low, blue), nil},
		{"no reading of the jaws", closing, licence{"red cube"}, handAt(low, cubeAt("blue cube", 0.22, 0.10, 0.015)).without("jaw_gap_mm"), stale("between_jaws", "jaw_gap_mm")},
		{"no reading of the jaws, and right at the tip", closing, licence{"red cube"}, handAt(low, blue).without("jaw_gap_mm"), notLicensed("between_jaws")},
		{"no reading of the tip", closing, licence{"red cube"}, handAt(low, blue, cubeAt("cup", 0, 0, 0)).without("tip"), stale("between_jaws", "tip")},
		{"no reading of the tip, and all allowed", closing, licence{"red cube", "blue cube"}, handAt(low, blue).without("tip"), nil},
		{"nothing seen, and not all allowed", closing, licence{"red cube"}, handAt(low).without("objects"), stale("between_jaws", "objects")},
		{"nothing seen, and all allowed", closing, licence{"", "red cube", "blue cube", "green cube"}, handAt(low).without("objects"), nil},
		{"nothing seen, and one forbidden", closing, licence{"", "red cube", "blue cube"}, handAt(low).without("objects"), stale("between_jaws", "objects")},
		{"an empty table", closing, licence{"red cube"}, handAt(low), nil},
		{"drop the other cube", opening, licence{"red cube"}, gripping(high, cubeAt("blue cube", 0.22, 0.03, 0.20)), notLicensed("held")},
		{"drop the right cube", opening, licence{"red cube"}, gripping(high, cubeAt("red cube", 0.22, 0.03, 0.20)), nil},
		{"open beside the other cube", opening, licence{"red cube"}, handAt(low, cubeAt("blue cube", 0.22, 0.08, 0.015)), notLicensed("beside_jaws")},
		{"open above the other cube", opening, licence{"red cube"}, handAt(units.Vec3{0.22, 0.03, 0.09}, cubeAt("blue cube", 0.22, 0.08, 0.015)), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _ := tabletop(t)
			cleared, l := g.Judge(call(c.verb, `{}`), c.w.snapshot(), armStanding(), c.lic)
			demand(t, cleared, l, c.want...)
			allowed := armStanding() // by a person, who is asked about objects and never about readings
			allowed.Approvals = &desk{yes: true}
			cleared, asked := g.Judge(call(c.verb, `{}`), c.w.snapshot(), allowed, c.lic)
			if want := slices.DeleteFunc(slices.Clone(c.want), func(f fault) bool { return f.Code == reject.NotLicensed }); len(want) > 0 || len(asked) > 0 {
				demand(t, cleared, asked, c.want...)
			}
			for _, r := range l {
				if r.Code == "NOT_LICENSED" && r.Got != `"blue cube"` && r.Got != `"green cube"` && r.Got != `"cup"` {
					t.Errorf("got %s", r.Got)
				}
			}
		})
	}
}

// hand is a moment of the shipped robot.
type hand []world.Fact

// handAt is the open hand with its tip at a point over a table with objects, seen to 1 mm.
func handAt(tip units.Vec3, objects ...world.Object) hand { return handWith(tip, 90, 0, objects...) }

// gripping is the hand pressing on something 3 cm wide.
func gripping(tip units.Vec3, objects ...world.Object) hand { return handWith(tip, 30, 40, objects...) }

func handWith(tip units.Vec3, gapMM, loadPct float64, objects ...world.Object) hand {
	at := now.Add(-40 * time.Millisecond)
	return hand{
		{Name: "tip", Witness: "encoders", At: at, Value: world.Value{Kind: world.KindPoint, Point: tip}},
		{Name: "jaw_gap_mm", Witness: "gripper_encoder", At: at, Value: number(gapMM)},
		{Name: "jaw_load_pct", Witness: "gripper_current", At: at, Value: number(loadPct)},
		{Name: "table_force_n", Witness: "contact_sensor", At: at, Value: number(0)},
		{Name: "objects", Witness: "camera", At: at, Value: poses(objects...), Sigma: 1},
	}
}

// without is the moment with one reading too old.
func (h hand) without(name string) hand {
	out := slices.Clone(h)
	for i := range out {
		if out[i].Name == name {
			out[i].At = now.Add(-time.Second)
		}
	}
	return out
}

func (h hand) snapshot() *world.Snapshot { return world.NewSnapshot(now, h) }

// The explanation tells what the verb would change, and comes to what Judge comes to.
//
// Verifies: J18
// Verifies: Y05
func TestExplainTellsWhatWouldBeChanged(t *testing.T) {
	g, _ := tabletop(t)
	w := handAt(units.Vec3{0.22, 0.03, 0.02}, cubeAt("blue cube", 0.22, 0.03, 0.02), cubeAt("red cube", 0.3, 0.2, 0.015)).snapshot()
	c := call("close_gripper", `{}`)
	_, l := g.Judge(c, w, armStanding(), licence{"red cube"})
	e := g.Explain(c, w, armStanding(), licence{"red cube"})
	rules := e.Stages[6].Rules
	if !reflect.DeepEqual(e.Refusals, l) || e.Stages[6].State != gate.Refused || len(rules) != 1 || rules[0].ID != "between_jaws" || rules[0].That != `between_jaws("blue cube")` || rules[0].Truth != world.True {
		t.Errorf("%+v", e)
	}
}
