package gate_test

import (
	"testing"
	"time"

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
		w          *world.Snapshot
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
			cleared, l := g.Judge(call(c.verb, `{}`), c.w.Snapshot, armStanding(), c.lic)
			demand(t, cleared, l, c.want...)
			for _, r := range l {
				if r.Code == "NOT_LICENSED" && r.Got != `"blue cube"` && r.Got != `"green cube"` && r.Got != `"cup"` {
					t.Errorf("got %s", r.Got)
				}
			}
		})
	}
}
