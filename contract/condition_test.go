package contract_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"interlock/contract"
	"interlock/units"
	"interlock/world"
)

func small(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := contract.Load("f.yaml", []byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func goal(t testing.TB, c *contract.Contract, that string) *contract.Condition {
	t.Helper()
	g, err := c.Goal(that)
	if err != nil {
		t.Fatalf("%s: %v", that, err)
	}
	return g
}

// room is a snapshot for the small contract: gap 20 mm, the tip at (20, 5, 15) cm, the door shut and not open.
func room(change ...func(map[string]*world.Fact)) *world.Snapshot {
	facts := map[string]*world.Fact{
		"tip":    {Name: "tip", Witness: "encoders", Value: world.Value{Kind: world.KindPoint, Point: units.Vec3{0.20, 0.05, 0.15}}},
		"gap_mm": {Name: "gap_mm", Witness: "gripper", Value: world.Value{Kind: world.KindNumber, Number: 20}},
		"door":   {Name: "door", Witness: "gripper", Value: world.Value{Kind: world.KindText, Text: "shut"}},
		"open":   {Name: "open", Witness: "gripper", Value: world.Value{Kind: world.KindFlag}},
		"objects": {Name: "objects", Witness: "camera", Value: world.Value{Kind: world.KindPoses, Objects: []world.Object{
			cube("red cube", 0.15, -0.15, 0.015)}}},
	}
	for _, f := range facts {
		f.At = 900 * ms
	}
	for _, c := range change {
		c(facts)
	}
	var list []world.Fact
	for _, f := range facts {
		list = append(list, *f)
	}
	return world.NewSnapshot(1000*ms, list)
}

func without(names ...string) func(map[string]*world.Fact) {
	return func(m map[string]*world.Fact) {
		for _, n := range names {
			delete(m, n)
		}
	}
}

func sigma(name string, x float64) func(map[string]*world.Fact) {
	return func(m map[string]*world.Fact) { m[name].Sigma = x }
}

// The truth tables of Kleene's logic, through CEL: U is a fact nobody measured.
//
// Verifies: C06
func TestLogicIsKleenes(t *testing.T) {
	c := small(t)
	words := map[world.Truth]string{world.True: "gap_mm >= 1.0", world.False: "gap_mm <= 1.0", world.Unknown: "open"}
	w := room(without("open"))
	all := []world.Truth{world.True, world.False, world.Unknown}
	check := func(that string, want world.Truth) {
		t.Helper()
		o := goal(t, c, that).Eval(contract.Inputs{World: w})
		if o.Truth != want || o.Err != nil {
			t.Errorf("%s is %v (%v), want %v", that, o.Truth, o.Err, want)
		}
	}
	for _, a := range all {
		check("!("+words[a]+")", a.Not())
		for _, b := range all {
			check(fmt.Sprintf("(%s) && (%s)", words[a], words[b]), a.And(b))
			check(fmt.Sprintf("(%s) || (%s)", words[a], words[b]), a.Or(b))
			for _, x := range all {
				want := map[world.Truth]world.Truth{world.True: b, world.False: x, world.Unknown: world.Unknown}[a]
				check(fmt.Sprintf("(%s) ? (%s) : (%s)", words[a], words[b], words[x]), want)
			}
		}
	}
}

// Verifies: C06
func TestUnknownTravels(t *testing.T) {
	c := small(t)
	for _, test := range []struct {
		that    string
		change  func(map[string]*world.Fact)
		want    world.Truth
		missing []string
	}{
		{"distance_mm(tip, centre(objects, \"red cube\")) <= 500.0", nil, world.True, nil},
		{"distance_mm(tip, centre(objects, \"red block\")) <= 500.0", nil, world.True, nil},
		{"distance_mm(tip, centre(objects, \"green cube\")) <= 500.0", nil, world.Unknown, nil},
		{"distance_mm(tip, centre(objects, \"red cube\")) <= 500.0", without("objects"), world.Unknown, []string{"objects"}},
		{"distance_mm(tip, centre(objects, \"red cube\")) <= 500.0", without("tip", "objects"), world.Unknown, []string{"objects", "tip"}},
		{"gap_mm >= 1.0 || distance_mm(tip, tip) <= 1.0", without("tip"), world.True, []string{"tip"}},
		{"gap_mm * 2.0 + 1.0 >= 41.0", nil, world.True, nil},
		{"gap_mm >= 1.0", func(m map[string]*world.Fact) { m["gap_mm"].At = 700 * ms }, world.Unknown, []string{"gap_mm"}},
		{"gap_mm >= 1.0", func(m map[string]*world.Fact) { m["gap_mm"].At = 750 * ms }, world.True, nil},
		{"gap_mm >= 1.0", func(m map[string]*world.Fact) { m["gap_mm"].Value.Number = math.NaN() }, world.Unknown, []string{"gap_mm"}},
		{"gap_mm >= 1.0", func(m map[string]*world.Fact) { m["gap_mm"].Witness = "somebody" }, world.Unknown, []string{"gap_mm"}},
		{"gap_mm >= 1.0", func(m map[string]*world.Fact) { m["gap_mm"].Value.Kind = world.KindText }, world.Unknown, []string{"gap_mm"}},
		{"door == \"shut\"", nil, world.True, nil},
		{"door in [\"shut\", \"ajar\"] && door.startsWith(\"sh\")", nil, world.True, nil},
		{"door != \"shut\"", without("door"), world.Unknown, []string{"door"}},
		{"seen(objects, \"red cube\")", nil, world.True, nil},
		{"seen(objects, \"green cube\")", nil, world.False, nil},
		{"seen(objects, \"green cube\")", without("objects"), world.Unknown, []string{"objects"}},
		{"in_region(objects, \"red cube\", \"tray\")", nil, world.True, nil},
		{"in_region(objects, \"green cube\", \"tray\")", nil, world.Unknown, nil},
		{"bottom_cm(objects, \"red cube\") <= 0.5", nil, world.True, nil},
		{"bottom_cm(objects, \"red cube\") <= 0.5", func(m map[string]*world.Fact) {
			m["objects"].Value.Objects = append(m["objects"].Value.Objects, cube("red block", 0, 0, 0))
		}, world.Unknown, nil},
		{"x_cm(tip) >= 19.9 && y_cm(tip) <= 5.1 && z_cm(tip) == 15.0", nil, world.True, nil},
		{"gap_mm == 20", nil, world.True, nil},
		{"20.0 == gap_mm && 21 != gap_mm", nil, world.True, nil},
		{"gap_mm - 1.0 == 19.0 && -gap_mm < 0 && gap_mm / 2 == 10", nil, world.True, nil},
	} {
		var w *world.Snapshot
		if test.change == nil {
			w = room()
		} else {
			w = room(test.change)
		}
		o := goal(t, c, test.that).Eval(contract.Inputs{World: w})
		if o.Truth != test.want || o.Err != nil || !slices.Equal(o.Missing, test.missing) {
			t.Errorf("%s: %v, missing %v, error %v; want %v, missing %v", test.that, o.Truth, o.Missing, o.Err, test.want, test.missing)
		}
	}
}

// Verifies: C07
func TestAnEvaluationErrorIsUnknownAndSaid(t *testing.T) {
	c := small(t)
	huge := contract.Inputs{World: room(func(m map[string]*world.Fact) { m["gap_mm"].Value.Number = 1e308 })}
	o := goal(t, c, "gap_mm * 1000.0 >= 1.0").Eval(huge)
	if o.Truth != world.Unknown || o.Err == nil {
		t.Errorf("overflow: %v, %v", o.Truth, o.Err)
	}
	if o := goal(t, c, "gap_mm * 1000.0 >= 1.0 && gap_mm <= 1.0").Eval(huge); o.Truth != world.False {
		t.Errorf("false decides beside an error: %v", o.Truth)
	}
}

// A noisy value passes only inside by 2σ, fails only outside by 2σ.
//
// Verifies: C08
func TestTwoSigma(t *testing.T) {
	c := small(t)
	for _, test := range []struct {
		that   string
		change func(map[string]*world.Fact)
		want   world.Truth
	}{
		{"gap_mm <= 22.0", sigma("gap_mm", 1), world.True},
		{"gap_mm <= 21.9", sigma("gap_mm", 1), world.Unknown},
		{"gap_mm <= 20.0", sigma("gap_mm", 1), world.Unknown},
		{"gap_mm <= 18.1", sigma("gap_mm", 1), world.Unknown},
		{"gap_mm < 18.0", sigma("gap_mm", 1), world.False},
		{"22.0 >= gap_mm", sigma("gap_mm", 1), world.True},
		{"21.0 >= gap_mm", sigma("gap_mm", 1), world.Unknown},
		{"gap_mm > 18.0", sigma("gap_mm", 1), world.True},
		{"gap_mm == 20.0", sigma("gap_mm", 1), world.Unknown},
		{"20.0 == gap_mm", sigma("gap_mm", 1), world.Unknown},
		{"23.0 == gap_mm", sigma("gap_mm", 1), world.False},
		{"23.0 != gap_mm", sigma("gap_mm", 1), world.True},
		{"gap_mm + 0.0 <= 21.0", sigma("gap_mm", 1), world.Unknown},
		{"gap_mm * 2.0 <= 43.0", sigma("gap_mm", 1), world.Unknown},
		{"gap_mm / 2.0 <= 11.0", sigma("gap_mm", 1), world.True},
		{"-gap_mm <= -19.0", sigma("gap_mm", 1), world.Unknown},
		{"gap_mm <= 20.0", nil, world.True},
		{"distance_mm(tip, point_cm(20.0, 5.0, 14.5)) <= 10.0", sigma("tip", 2), world.True},
		{"distance_mm(tip, point_cm(20.0, 5.0, 14.5)) <= 10.0", sigma("tip", 3), world.Unknown},
		{"distance_mm(tip, centre(objects, \"red cube\")) <= 247.0", sigma("objects", 2), world.Unknown},
		{"bottom_cm(objects, \"red cube\") <= 0.4", sigma("objects", 2), world.True},
		{"bottom_cm(objects, \"red cube\") <= 0.3", sigma("objects", 2), world.Unknown},
		{"in_region(objects, \"red cube\", \"tray\")", sigma("objects", 20), world.True},
		{"in_region(objects, \"red cube\", \"tray\")", sigma("objects", 30), world.Unknown},
		{"x_cm(tip) <= 20.3", sigma("tip", 2), world.Unknown},
	} {
		w := room()
		if test.change != nil {
			w = room(test.change)
		}
		if o := goal(t, c, test.that).Eval(contract.Inputs{World: w}); o.Truth != test.want {
			t.Errorf("%s: %v, want %v", test.that, o.Truth, test.want)
		}
	}
}

// The standard error a contract declares counts when the reading brings a smaller one.
//
// Verifies: C08
func TestDeclaredSigmaCounts(t *testing.T) {
	c, err := contract.Load("f.yaml", []byte(broken(t, "gap_mm: {type: number,", "gap_mm: {type: number, sigma: 1,")))
	if err != nil {
		t.Fatal(err)
	}
	if o := goal(t, c, "gap_mm <= 21.0").Eval(contract.Inputs{World: room()}); o.Truth != world.Unknown {
		t.Errorf("got %v", o.Truth)
	}
}

// For any two numbers and errors the three answers exclude each other, and exact numbers always have one.
//
// Verifies: C08
func TestTwoSigmaProperty(t *testing.T) {
	c := small(t)
	le, gt := goal(t, c, "gap_mm <= 20.0"), goal(t, c, "gap_mm > 20.0")
	rapid.Check(t, func(t *rapid.T) {
		x, s := rapid.Float64Range(-100, 100).Draw(t, "x"), rapid.Float64Range(0, 50).Draw(t, "sigma")
		w := room(func(m map[string]*world.Fact) { m["gap_mm"].Value.Number, m["gap_mm"].Sigma = x, s })
		a, b := le.Eval(contract.Inputs{World: w}).Truth, gt.Eval(contract.Inputs{World: w}).Truth
		switch inside, outside := x+2*s <= 20, x-2*s >= 20; {
		case a.Not() != b:
			t.Fatalf("x %v σ %v: <= is %v, > is %v", x, s, a, b)
		case s > 1e-6 && math.Abs(math.Abs(x-20)-2*s) > 1e-9 && (a == world.True) != inside:
			t.Fatalf("x %v σ %v: <= is %v", x, s, a)
		case s > 1e-6 && math.Abs(math.Abs(x-20)-2*s) > 1e-9 && (a == world.False) != outside:
			t.Fatalf("x %v σ %v: <= is %v", x, s, a)
		}
	})
}

// unitCases are goals and the problem each has; "" for none.
var unitCases = []struct{ that, code string }{
	{"gap_mm <= 10.0", ""},
	{"10 >= gap_mm", ""},
	{"gap_mm + 2.0 <= 10.0 - gap_mm", ""},
	{"gap_mm * 2.0 <= 10.0", ""},
	{"-(2.0 * gap_mm) / 3.0 <= 10.0", ""},
	{"distance_mm(tip, tip) <= gap_mm", ""},
	{"z_cm(tip) <= reach_cm", ""},
	{"wide(10.0) && wide(gap_mm)", ""},
	{"(open ? gap_mm : 3.0) <= gap_mm", ""},
	{"gap_mm <= reach_cm", "unit-mismatch"},
	{"gap_mm == reach_cm", "unit-mismatch"},
	{"gap_mm + reach_cm <= 10.0", "unit-mismatch"},
	{"gap_mm - reach_cm <= 10.0", "unit-mismatch"},
	{"jaw_frac <= jaw_rad", "unit-mismatch"},
	{"jaw_frac - jaw_rad <= 0.1", "unit-mismatch"},
	{"gap_mm * gap_mm <= 10.0", "unit-mismatch"},
	{"gap_mm / reach_cm <= 10.0", "unit-mismatch"},
	{"1.0 / gap_mm <= 10.0", "unit-mismatch"},
	{"distance_mm(tip, tip) <= reach_cm", "unit-mismatch"},
	{"z_cm(tip) <= gap_mm", "unit-mismatch"},
	{"distance_mm(tip, point_cm(gap_mm, 1.0, 2.0)) <= 1.0", "unit-mismatch"},
	{"wide(reach_cm)", "unit-mismatch"},
	{"(open ? gap_mm : reach_cm) <= 1.0", "unit-mismatch"},
	{"gap_mm / 0.0 <= 1.0", "not-finite"},
	{"gap_mm <= 99999999999999999", "not-finite"},
	{"gap_mm <= door", "wrong-type"},
	{"gap_mm", "wrong-type"},
	{"tip == tip", "wrong-type"},
	{"open && gap_mm", "wrong-type"},
	{"!gap_mm", "wrong-type"},
	{"door <= \"a\"", "wrong-type"},
	{"at(gap_mm)", "wrong-type"},
	{"at(tip, tip)", "wrong-type"},
	{"centre(tip, \"red cube\") == tip", "wrong-type"},
	{"seen(objects, door)", "wrong-type"},
	{"distance_mm(tip, eye) <= 10.0", "frame-mismatch"},
	{"at(eye)", "frame-mismatch"},
	{"distance_mm(eye, eye) <= 10.0", ""},
	{"distance_mm(tp, tip) <= 10.0", "unknown-name"},
	{"att(tip)", "unknown-name"},
	{"args.x_cm <= 1.0 && open", "unknown-name"},
	{"in_region(objects, \"red cube\", \"try\")", "unknown-name"},
	{"seen(objects, \"purple cube\")", ""},
	{"[1, 2].exists(i, i > 1) && open", "unknown-name"},
	{"{\"a\": 1}.a == 1 && open", "bad-expression"},
	{"tip.x == 1.0", "bad-expression"},
	{"has(args.x_cm) && open", "unknown-name"},
	{"open && size(door) == 1", "unknown-name"},
	{"b\"x\" == b\"x\" && open", "bad-expression"},
	{"true", "no-measurement"},
	{"1.0 <= 2.0", "no-measurement"},
	{"reach_mm(tip) <= 1.0", "predicted"},
	{"", "bad-expression"},
	{"open &&", "bad-expression"},
}

// Names carry units, and the lint keeps them apart.
//
// Verifies: C09
func TestUnitsMustAgree(t *testing.T) {
	src := broken(t, "  gap_mm: {type: number, witness: gripper, max_age_ms: 250}\n",
		"  gap_mm: {type: number, witness: gripper, max_age_ms: 250}\n  reach_cm: {type: number, witness: gripper, max_age_ms: 250}\n"+
			"  jaw_frac: {type: number, witness: gripper, max_age_ms: 250}\n  jaw_rad: {type: number, witness: gripper, max_age_ms: 250}\n")
	src = strings.Replace(src, "predicates:\n", "predicates:\n  wide: {version: 1, args: {w_mm: number}, that: \"gap_mm >= w_mm\"}\n", 1)
	c, err := contract.Load("f.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range unitCases {
		_, err := c.Goal(test.that)
		var ps contract.Problems
		switch {
		case test.code == "" && err != nil:
			t.Errorf("%s: %v", test.that, err)
		case test.code != "" && (!errors.As(err, &ps) || ps[0].Code != test.code):
			t.Errorf("%s: want %s, got %v", test.that, test.code, err)
		}
	}
}

// A published field failure: a jaw in fractions compared with a jaw in radians. The file does not load and the line is
// named.
//
// Verifies: C09
func TestJawFractionsAreNotRadians(t *testing.T) {
	src := broken(t, "  gap_mm: {type: number", "  jaw_frac: {type: number, witness: gripper, max_age_ms: 250}\n  jaw_rad: {type: number, witness: gripper, max_age_ms: 250}\n  gap_mm: {type: number")
	src = strings.Replace(src, "distance_mm(tip, goal) <= 10.0", "jaw_frac >= jaw_rad && distance_mm(tip, goal) <= 10.0", 1)
	ps := problems(t, src)
	if len(ps) != 1 || ps[0].Code != "unit-mismatch" || ps[0].Line != 19 {
		t.Errorf("got %v", ps)
	}
}

// Verifies: C10
func TestClosedVocabularyRefusesStrangers(t *testing.T) {
	c, err := contract.Load("f.yaml", []byte(broken(t, "  places:\n", "  closed: true\n  places:\n")))
	if err != nil {
		t.Fatal(err)
	}
	var ps contract.Problems
	if _, err := c.Goal("seen(objects, \"purple cube\")"); !errors.As(err, &ps) || ps[0].Code != "unknown-name" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Goal("seen(objects, \"red block\")"); err != nil {
		t.Error(err)
	}
}

// Verifies: C10
func TestGoalNamesItsObjects(t *testing.T) {
	c := load(t)
	for that, want := range map[string][]string{
		`held("red cube")`: {"red cube"},
		`held("red block") && placed("blue cube", "tray")`:           {"red cube", "blue cube"},
		`placed("yellow cube", "tray") || seen(objects, "red cube")`: {"yellow cube", "red cube"},
		`at(centre(objects, "green cube"))`:                          {"green cube"},
		`at(point_cm(20, 5, 15))`:                                    nil,
	} {
		if got := goal(t, c, that).Objects(); !slices.Equal(got, want) {
			t.Errorf("%s names %v, want %v", that, got, want)
		}
	}
}

// Verifies: C19
func TestConditionsAreSafeForConcurrentUse(t *testing.T) {
	c := load(t)
	held := c.Capability("pick").Ensures[0]
	in := contract.Inputs{Args: contract.Args{text("name", "red cube")}, World: snapshot(lower)}
	want := held.Eval(in)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 50 {
				if o := held.Eval(in); o.Truth != want.Truth || o.Cause != want.Cause {
					t.Errorf("got %+v, want %+v", o, want)
				}
			}
		})
	}
	wait.Wait()
}
