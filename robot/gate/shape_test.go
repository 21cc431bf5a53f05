package gate_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"interlock/reject"
	"interlock/robot/gate"
)

// wrong are JSON values by what each is: the code it earns where a number, a flag, a text or an object's label is due;
// empty where it is one.
var wrong = []struct{ json, number, flag, text, label string }{
	{`null`, "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`true`, "WRONG_TYPE", "", "WRONG_TYPE", "WRONG_TYPE"},
	{`false`, "WRONG_TYPE", "", "WRONG_TYPE", "WRONG_TYPE"},
	{`"true"`, "WRONG_TYPE", "WRONG_TYPE", "", "NO_SUCH_OBJECT"},
	{`"12"`, "WRONG_TYPE", "WRONG_TYPE", "", "NO_SUCH_OBJECT"},
	{`"1e1"`, "WRONG_TYPE", "WRONG_TYPE", "", "NO_SUCH_OBJECT"},
	{`"NaN"`, "WRONG_TYPE", "WRONG_TYPE", "", "NO_SUCH_OBJECT"},
	{`""`, "WRONG_TYPE", "WRONG_TYPE", "", "NO_SUCH_OBJECT"},
	{`12`, "", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`1.2e1`, "", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`0`, "", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`1e309`, "NOT_FINITE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`-1e400`, "NOT_FINITE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`5e-324`, "NOT_FINITE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`1e-400`, "NOT_FINITE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`9007199254740993`, "NOT_FINITE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`[]`, "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`[12]`, "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`{}`, "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
	{`{"value":12}`, "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE", "WRONG_TYPE"},
}

// Every kind of JSON value for every kind of argument, one at a time.
//
// Verifies: P31
func TestEveryTypeForEveryArgument(t *testing.T) {
	for _, w := range wrong {
		for _, slot := range []struct{ verb, args, field, code string }{
			{"move_to", `{"x_cm":%s,"y_cm":5,"z_cm":15}`, "x_cm", w.number},
			{"move_to", `{"x_cm":20,"y_cm":%s,"z_cm":15}`, "y_cm", w.number},
			{"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15,"dry":%s}`, "dry", w.flag},
			{"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15,"note":%s}`, "note", w.text},
			{"pick", `{"name":%s}`, "name", w.label},
			{"find_object", `{"name":%s}`, "name", w.label},
		} {
			t.Run(slot.verb+" "+slot.field+" "+w.json, func(t *testing.T) {
				g, p := bench(t)
				c, l := g.Judge(call(slot.verb, fmt.Sprintf(slot.args, w.json)), snapshot(), standing(), nil)
				if slot.code == "" {
					demand(t, c, l)
					return
				}
				demand(t, c, l, fault{reject.Code(slot.code), "", slot.field})
				if p.asked() != 0 {
					t.Error("the planner was asked")
				}
				if len(l) == 1 && l[0].Got == "" {
					t.Errorf("the refusal does not say what it got: %+v", l[0])
				}
			})
		}
	}
}

// All faults of the shape come at once, and none of a later stage beside them.
//
// Verifies: P18
func TestAllFaultsOfTheShapeAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		verb, args string
		want       []fault
	}{
		"nothing given": {"move_to", `{}`, []fault{{"MISSING_ARGUMENT", "", "x_cm"}, {"MISSING_ARGUMENT", "", "y_cm"}, {"MISSING_ARGUMENT", "", "z_cm"}}},
		"one of each": {"move_to", `{"x":20,"x_cm":true,"y_cm":1e999,"speed_mps":2,"style":"wild","dry":"yes"}`, []fault{
			{"UNKNOWN_ARGUMENT", "", "x"}, {"WRONG_TYPE", "", "x_cm"}, {"NOT_FINITE", "", "y_cm"}, {"MISSING_ARGUMENT", "", "z_cm"},
			{"OUT_OF_RANGE", "", "speed_mps"}, {"NOT_IN_ENUM", "", "style"}, {"WRONG_TYPE", "", "dry"}}},
		"wrapped":       {"move_to", `{"position":{"x_cm":20,"y_cm":5,"z_cm":15}}`, []fault{{"UNKNOWN_ARGUMENT", "", "position"}, {"MISSING_ARGUMENT", "", "x_cm"}, {"MISSING_ARGUMENT", "", "y_cm"}, {"MISSING_ARGUMENT", "", "z_cm"}}},
		"other case":    {"move_to", `{"X_cm":20,"x_cm":20,"y_cm":5,"z_cm":15}`, []fault{{"UNKNOWN_ARGUMENT", "", "X_cm"}}},
		"bound by hand": {"place", `{"target":"tray","moved":"red cube"}`, []fault{{"UNKNOWN_ARGUMENT", "", "moved"}}},
		"no such place": {"place", `{"target":"bin"}`, []fault{{"NOT_IN_ENUM", "", "target"}}},
		"place missing": {"place", `{}`, []fault{{"MISSING_ARGUMENT", "", "target"}}},
		"takes none":    {"home", `{"speed_mps":1}`, []fault{{"UNKNOWN_ARGUMENT", "", "speed_mps"}}},
		"and a floor":   {"move_to", `{"x_cm":20,"y_cm":5,"z_cm":-5,"up":1}`, []fault{{"UNKNOWN_ARGUMENT", "", "up"}}},
		"strange name":  {"home", `{"a\u202eb":1}`, []fault{{"UNKNOWN_ARGUMENT", "", `"a\u202eb"`}}},
		"line break":    {"home", `{"a\nb":1}`, []fault{{"UNKNOWN_ARGUMENT", "", `"a\u000ab"`}}},
		"beyond 16 bit": {"home", `{"😀":1}`, []fault{{"UNKNOWN_ARGUMENT", "", `"\ud83d\ude00"`}}},
		"quotes":        {"home", `{"a\"\\b\u0000":1}`, []fault{{"UNKNOWN_ARGUMENT", "", `"a\"\\b\u0000"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			g, p := bench(t)
			cleared, l := g.Judge(call(c.verb, c.args), snapshot(), standing(), nil)
			demand(t, cleared, l, c.want...)
			if p.asked() != 0 {
				t.Error("the planner was asked")
			}
		})
	}
}

// What comes back of a long text is short, and of many names a few.
//
// Verifies: P31
func TestRefusalsStayShort(t *testing.T) {
	g, _ := bench(t)
	var many []string
	for i := range 900 {
		many = append(many, fmt.Sprintf(`"%s%d":%d`, strings.Repeat("n", 40), i, i))
	}
	long := `"` + strings.Repeat("é", 20000) + `"`
	for name, c := range map[string][2]string{
		"names": {"home", "{" + strings.Join(many, ",") + "}"}, "name": {"home", "{" + long + ":1}"}, "value": {"move_to", `{"x_cm":` + long + `,"y_cm":5,"z_cm":15}`},
		"label": {"pick", `{"name":` + long + `}`}, "place": {"place", `{"target":` + long + `}`}, "verb": {strings.Repeat("m", 50000), `{}`},
		"list": {"pick", `{"name":[` + strings.Repeat("1,", 900) + `1]}`}, "number": {"bow", `{"depth_cm":1` + strings.Repeat("0", 50000) + `}`},
	} {
		_, l := g.Judge(call(c[0], c[1]), snapshot(), standing(), nil)
		size := 0
		for _, r := range l {
			size += len(r.Says) + len(r.Field) + len(r.Got) + len(r.Rule)
		}
		if len(l) == 0 || len(l) > 17 || size > 8000 {
			t.Errorf("%s: %d refusals of %d bytes", name, len(l), size)
		}
	}
}

// Each bound exactly, one ulp inside and one outside.
//
// Verifies: J02
func TestBoundsAreExact(t *testing.T) {
	const all = `{"x_cm":%s,"y_cm":%s,"z_cm":%s,"speed_mps":%s}`
	for _, c := range []struct {
		slot  int
		bound float64
		upper bool
		want  fault
	}{
		{0, -60, false, fault{"OUT_OF_RANGE", "", "x_cm"}}, {0, 60.5, true, fault{"OUT_OF_RANGE", "", "x_cm"}},
		{0, -20, false, fault{"CONDITION", "in_front", "x_cm"}}, {1, 44.5, true, fault{"CONDITION", "in_front", "x_cm"}},
		{2, 2.25, false, fault{"CONDITION", "above_table", "z_cm"}}, {2, 31.5, true, fault{"NEEDS_APPROVAL", "low", "z_cm"}},
		{3, 0.01, false, fault{"OUT_OF_RANGE", "", "speed_mps"}}, {3, 0.75, true, fault{"OUT_OF_RANGE", "", "speed_mps"}},
	} {
		outward := math.Inf(-1)
		if c.upper {
			outward = math.Inf(1)
		}
		for _, v := range []float64{math.Nextafter(c.bound, -outward), c.bound, math.Nextafter(c.bound, outward)} {
			values := []any{"12", "5", "15", "0.5"}
			values[c.slot] = fmt.Sprintf("%.17g", v)
			args := fmt.Sprintf(all, values...)
			g, _ := bench(t)
			cleared, l := g.Judge(call("move_to", args), snapshot(), standing(), nil)
			outside := v < c.bound && !c.upper || v > c.bound && c.upper
			found := false
			for _, f := range faults(l) {
				found = found || f.Code == c.want.Code && f.Rule == c.want.Rule && (f.Field == c.want.Field || c.want.Rule == "in_front")
			}
			if found != outside || outside && cleared.OK() {
				t.Errorf("%s: %v, outside %v", args, faults(l), outside)
			}
		}
	}
}

// -0 is 0, and numbers come out in one form, whatever was written.
//
// Verifies: J03
func TestArgumentsAreCanonical(t *testing.T) {
	g, _ := bench(t)
	for args, want := range map[string]string{
		`{"x_cm":20,"y_cm":5,"z_cm":15}`:                                              `{"x_cm":20,"y_cm":5,"z_cm":15}`,
		" {\n\"z_cm\" : 1.5e1 , \"y_cm\":-0.0,\"x_cm\":20.000000000000000000000001} ": `{"x_cm":20,"y_cm":0,"z_cm":15}`,
		`{"note":"\u0061\u00e9","dry":true,"x_cm":0.1e2,"y_cm":-0,"z_cm":15}`:         `{"dry":true,"note":"aé","x_cm":10,"y_cm":0,"z_cm":15}`,
	} {
		c, l := g.Judge(call("move_to", args), snapshot(), standing(), nil)
		demand(t, c, l)
		if string(c.ArgsJSON()) != want {
			t.Errorf("%s became %s", args, c.ArgsJSON())
		}
		if y, _ := c.Args().Get("y_cm"); math.Signbit(y.Number) {
			t.Error("a zero kept its sign")
		}
	}
}

// An alias comes out as the label it stands for, so that one act has one form; a bound name, which nobody passes, stays
// out of it.
//
// Verifies: J03
func TestAliasesAreResolved(t *testing.T) {
	g, p := bench(t)
	for _, c := range []struct{ verb, args, canonical, arg, label string }{
		{"pick", `{"name":"blue block"}`, `{"name":"blue cube"}`, "name", "blue cube"},
		{"dock", `{"upper":"red block","lower":"blue cube"}`, `{"lower":"blue cube","upper":"red cube"}`, "upper", "red cube"},
		{"find_object", `{"name":"red\u0020block"}`, `{"name":"red cube"}`, "name", "red cube"},
		{"place", `{"target":"tray"}`, `{"target":"tray"}`, "moved", "red cube"},
		{"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15,"note":"red block"}`, `{"note":"red block","x_cm":20,"y_cm":5,"z_cm":15}`, "note", "red block"},
	} {
		p.last = &gate.PlanRequest{}
		cleared, l := g.Judge(call(c.verb, c.args), snapshot(), standing(), nil)
		demand(t, cleared, l)
		v, _ := cleared.Args().Get(c.arg)
		if string(cleared.ArgsJSON()) != c.canonical || v.Text != c.label {
			t.Errorf("%s %s: %s, %s is %q", c.verb, c.args, cleared.ArgsJSON(), c.arg, v.Text)
		}
		if planned, _ := p.last.Args.Get(c.arg); c.verb != "find_object" && planned.Text != c.label {
			t.Errorf("planned for %q", planned.Text)
		}
	}
}
