package contract_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/contract"
)

// tiny is a small right contract; tests break it in one place each.
const tiny = `robot: so101
frame: base
kinematics: {model: so101, solver: dls}
facts:
  tip: {type: point, frame: base, witness: encoders, max_age_ms: 250}
  gap_mm: {type: number, witness: gripper, max_age_ms: 250}
  door: {type: text, witness: gripper, max_age_ms: 250}
  open: {type: flag, witness: gripper, max_age_ms: 250}
  eye: {type: point, frame: camera, witness: camera, max_age_ms: 250}
  objects: {type: poses, frame: base, witness: camera, max_age_ms: 500}
vocabulary:
  objects:
    red cube: {kind: cube, size_cm: 3, aliases: [red block]}
  places:
    tray: {region_cm: [[10, -20], [20, -10]]}
predicates:
  at: {version: 1, args: {goal: point}, that: "distance_mm(tip, goal) <= 10.0"}
capabilities:
  move_to:
    description: Move the tip.
    target:
      x_cm: {type: number}
      y_cm: {type: number}
      z_cm: {type: number}
    params:
      speed_mps: {type: number, max: 1.0, optional: true}
    requires:
      - {id: above, that: "args.z_cm >= 2.0", says: "z = {z_cm} cm is too low"}
    ensures:
      - {id: there, that: "at(point_cm(args.x_cm, args.y_cm, args.z_cm))"}
    holds: [arm]
    timeout_s: 10
    limits: {tip_speed_mps: 1.0, joint_speed_dps: 240}
  look:
    description: Look for an object.
    target: {name: {type: object}}
    read_only: true
`

// broken replaces old by new in tiny; old must be there.
func broken(t testing.TB, old, new string) string {
	t.Helper()
	if !strings.Contains(tiny, old) {
		t.Fatalf("the small contract has no %q", old)
	}
	return strings.Replace(tiny, old, new, 1)
}

func problems(t testing.TB, src string) contract.Problems {
	t.Helper()
	_, err := contract.Load("f.yaml", []byte(src))
	var ps contract.Problems
	if err != nil && !errors.As(err, &ps) {
		t.Fatalf("the error is no Problems: %v", err)
	}
	return ps
}

// wrongFiles break the small contract in one place each. A column of 0 is not compared.
var wrongFiles = []struct {
	name, old, new string
	code           string
	line, column   int
	hint           string
}{
	{"unknown key", "max_age_ms: 250}\n  gap_mm", "max_age: 250}\n  gap_mm", "unknown-key", 5, 54, "max_age_ms"},
	{"unknown top key", "predicates:", "predicate:", "unknown-key", 16, 1, "predicates"},
	{"duplicate key", "frame: base\nkin", "frame: base\nframe: base\nkin", "duplicate-key", 3, 1, ""},
	{"duplicate deep", "{type: number, max: 1.0,", "{type: number, max: 2.0, max: 1.0,", "duplicate-key", 26, 43, ""},
	{"anchor", "robot: so101", "robot: &r so101", "anchor", 1, 8, ""},
	{"alias", "frame: base\nkin", "frame: *r\nkin", "anchor", 2, 8, ""},
	{"merge key", "frame: base\nkin", "<<: {a: b}\nframe: base\nkin", "anchor", 2, 1, ""},
	{"tag", "robot: so101", "robot: !!str so101", "malformed", 1, 8, ""},
	{"syntax", "robot: so101", "robot: [", "malformed", 1, 8, ""},
	{"two documents", "robot: so101", "robot: so101\n---", "malformed", 3, 0, ""},
	{"yes is no flag", "read_only: true", "read_only: yes", "ambiguous", 37, 16, "true or false"},
	{"octal", "max_age_ms: 250}\n  gap", "max_age_ms: 0250}\n  gap", "ambiguous", 5, 66, ""},
	{"new octal", "max_age_ms: 250}\n  gap", "max_age_ms: 0o250}\n  gap", "ambiguous", 5, 66, ""},
	{"underscore", "timeout_s: 10", "timeout_s: 1_0", "ambiguous", 32, 16, ""},
	{"NaN", "max: 1.0,", "max: .nan,", "not-finite", 26, 38, ""},
	{"infinite", "max: 1.0,", "max: 1e999,", "not-finite", 26, 38, ""},
	{"number as text", "timeout_s: 10", `timeout_s: "10"`, "wrong-type", 32, 16, ""},
	{"text as number", "robot: so101", "robot: 101", "wrong-type", 1, 8, "quotes"},
	{"flag as number", "timeout_s: 10", "timeout_s: true", "wrong-type", 32, 16, ""},
	{"null", "robot: so101", "robot:", "wrong-type", 1, 1, ""},
	{"list for map", "kinematics: {model: so101, solver: dls}", "kinematics: [1]", "wrong-type", 3, 13, ""},
	{"missing key", "    description: Move the tip.\n", "", "missing-key", 20, 5, ""},
	{"bad robot name", "robot: so101", "robot: SO 101", "bad-name", 1, 8, ""},
	{"unknown solver", "solver: dls", "solver: dlx", "not-in-list", 3, 36, "dls"},
	{"unknown fact type", "gap_mm: {type: number", "gap_mm: {type: numbr", "not-in-list", 6, 18, "number"},
	{"fact without age", "witness: gripper, max_age_ms: 250}\n  door", "witness: gripper}\n  door", "missing-key", 6, 12, ""},
	{"age zero", "max_age_ms: 250}\n  gap", "max_age_ms: 0}\n  gap", "out-of-range", 5, 66, ""},
	{"point without frame", "{type: point, frame: base,", "{type: point,", "missing-key", 5, 9, ""},
	{"frame of a number", "gap_mm: {type: number,", "gap_mm: {type: number, frame: base,", "unknown-key", 6, 33, ""},
	{"sigma of a point", "tip: {type: point,", "tip: {type: point, sigma: 2,", "unknown-key", 5, 29, "sigma_mm"},
	{"fact without unit", "  gap_mm: {type: number", "  gap: {type: number", "no-unit", 6, 3, "_cm"},
	{"argument without unit", "      x_cm: {type", "      x: {type", "no-unit", 22, 7, ""},
	{"unknown mode", "door: {type: text,", "door: {type: text, modes: [simm],", "not-in-list", 7, 30, "sim"},
	{"min above max", "{type: number, max: 1.0,", "{type: number, min: 2, max: 1.0,", "min-above-max", 26, 38, ""},
	{"region upside down", "[[10, -20], [20, -10]]", "[[10, -10], [20, -20]]", "min-above-max", 15, 23, ""},
	{"place as large as the room", "[[10, -20], [20, -10]]", "[[-101, -20], [100, -10]]", "out-of-range", 15, 23, ""},
	{"ensures of anything", "      - {id: there, that: \"at(point_cm(args.x_cm, args.y_cm, args.z_cm))\"}", "      - {id: there, that: \"true || open\"}", "always-true", 30, 27, ""},
	{"ensures of anything, by a predicate", "distance_mm(tip, goal) <= 10.0", "distance_mm(tip, goal) <= 10.0 || 2.0 > 1.0", "always-true", 30, 27, ""},
	{"ensures of anything, by a denial", "      - {id: there, that: \"at(point_cm(args.x_cm, args.y_cm, args.z_cm))\"}", "      - {id: there, that: \"!(open && false)\"}", "always-true", 30, 27, ""},
	{"invariant of anything", "    holds: [arm]", "    invariants: [{id: i, that: \"gap_mm <= 5.0 || true\"}]\n    holds: [arm]", "always-true", 31, 32, ""},
	{"empty ensures", "    ensures:\n      - {id: there, that: \"at(point_cm(args.x_cm, args.y_cm, args.z_cm))\"}\n", "    ensures: []\n", "empty-ensures", 20, 5, ""},
	{"ensures of nothing measured", `that: "at(point_cm(args.x_cm, args.y_cm, args.z_cm))"`, `that: "args.x_cm >= 1.0"`, "no-measurement", 30, 27, ""},
	{"ensures of a computed reach", `that: "at(point_cm(args.x_cm, args.y_cm, args.z_cm))"`, `that: "reach_mm(tip) <= 5.0"`, "predicted", 30, 27, ""},
	{"tolerance as wide as the workspace", "distance_mm(tip, goal) <= 10.0", "distance_mm(tip, goal) <= 500.0", "tolerance-too-wide", 30, 27, ""},
	{"tolerance written backwards", "distance_mm(tip, goal) <= 10.0", "5000.0 > distance_mm(tip, goal)", "tolerance-too-wide", 30, 27, ""},
	{"reserved name", "  look:", "  report_result:", "reserved-name", 34, 3, ""},
	{"stop is reserved", "  look:", "  stop:", "reserved-name", 34, 3, ""},
	{"name contains name", "  look:", "  move_to_home:", "name-contains-name", 34, 3, ""},
	{"names differ by case", "  door: {type: text", "  TIP: {type: text", "case-collision", 7, 3, ""},
	{"a predicate named like a fact", "  at: {version", "  tip: {version", "duplicate-name", 17, 3, ""},
	{"a fact named like a function", "  door: {type: text", "  centre: {type: text", "reserved-name", 7, 3, ""},
	{"alias taken", "aliases: [red block]", "aliases: [Red Cube]", "case-collision", 13, 50, ""},
	{"argument twice", "      speed_mps: {type: number, max: 1.0", "      x_cm: {type: number, max: 1.0", "duplicate-name", 26, 7, ""},
	{"changes of nothing", "    holds: [arm]", "    changes: [args.name]\n    holds: [arm]", "unknown-name", 31, 15, ""},
	{"changes of a number", "    holds: [arm]", "    changes: [args.x_cm]\n    holds: [arm]", "unknown-name", 31, 15, ""},
	{"binds of nothing", "    holds: [arm]", "    binds: {moved: held}\n    holds: [arm]", "unknown-name", 31, 20, ""},
	{"binds of a predicate of a point", "    holds: [arm]", "    binds: {moved: at}\n    holds: [arm]", "wrong-type", 31, 20, ""},
	{"unknown skill", "    holds: [arm]", "    skill: move\n    holds: [arm]", "unknown-skill", 31, 12, ""},
	{"no skill of the verb's name", "  move_to:\n", "  shift_to:\n", "unknown-skill", 20, 5, ""},
	{"holds nothing", "    holds: [arm]\n", "", "missing-key", 20, 5, ""},
	{"no limits", "    limits: {tip_speed_mps: 1.0, joint_speed_dps: 240}\n", "", "missing-key", 20, 5, ""},
	{"limit not positive", "tip_speed_mps: 1.0", "tip_speed_mps: 0", "out-of-range", 33, 29, ""},
	{"a parameter that loosens a limit", "max: 1.0, optional", "max: 1.1, optional", "loosens-limit", 20, 5, ""},
	{"read-only with a motion", "read_only: true", "read_only: true\n    holds: [arm]", "read-only", 38, 12, ""},
	{"unknown code", `that: "args.z_cm >= 2.0",`, `that: "args.z_cm >= 2.0", code: UNREACHABEL,`, "not-in-list", 28, 53, ""},
	{"within of a precondition", `that: "args.z_cm >= 2.0",`, `that: "args.z_cm >= 2.0", within_ms: 5,`, "unknown-key", 28, 47, ""},
	{"holds longer than within", `args.z_cm))"}`, `args.z_cm))", within_ms: 100, hold_ms: 200}`, "min-above-max", 30, 10, ""},
	{"placeholder of nothing", "z = {z_cm} cm", "z = {z} cm", "unknown-name", 28, 53, "z_cm"},
	{"enum of a number", "{type: number, max: 1.0,", "{type: number, enum: [a], max: 1.0,", "unknown-key", 26, 39, ""},
	{"condition syntax", "args.z_cm >= 2.0", "args.z_cm >= ", "bad-expression", 28, 41, ""},
	{"a condition on an optional argument", "args.z_cm >= 2.0", "args.speed_mps >= 0.1", "optional-argument", 28, 28, ""},
	{"an unknown object in a file", "distance_mm(tip, goal) <= 10.0", "seen(objects, 'red cub') && distance_mm(tip, goal) <= 10.0", "unknown-name", 17, 62, "red cube"},
	{"unknown policy", "    holds: [arm]", "    on_cancel: holt\n    holds: [arm]", "not-in-list", 31, 16, "hold"},
	{"unknown audience", "    holds: [arm]", "    audience: models\n    holds: [arm]", "not-in-list", 31, 15, "model"},
	{"two conditions of one id", "    ensures:\n", "      - {id: above, that: \"args.x_cm >= 2.0\"}\n    ensures:\n", "duplicate-name", 29, 10, ""},
	{"a distance that is never negative", "distance_mm(tip, goal) <= 10.0", "distance_mm(tip, goal) <= -1.0", "never-true", 30, 27, ""},
	{"recursion", "distance_mm(tip, goal) <= 10.0", "at(goal)", "recursion", 17, 3, ""},
	{"condition for a mode the verb lacks", "    holds: [arm]", "    modes: [sim]\n    invariants: [{id: i, that: \"gap_mm <= 5.0\", modes: [hardware]}]\n    holds: [arm]", "never-true", 32, 19, ""},
}

// Verifies: C01
// Verifies: C02
func TestRefusesWrongFiles(t *testing.T) {
	for _, test := range wrongFiles {
		t.Run(test.name, func(t *testing.T) {
			ps := problems(t, broken(t, test.old, test.new))
			for _, p := range ps {
				if p.Code == test.code && p.Line == test.line && (test.column == 0 || p.Column == test.column) && strings.Contains(p.Hint, test.hint) {
					return
				}
			}
			t.Errorf("want %s at %d:%d (hint %q), got:\n%v", test.code, test.line, test.column, test.hint, ps)
		})
	}
}

// withNear is the small contract with a predicate of one object, `near`, in line 18, and a move_to that changes what is
// near.
func withNear(t testing.TB) string {
	src := broken(t, "capabilities:", "  near: {version: 1, args: {name: object}, that: \"distance_mm(tip, centre(objects, name)) <= 40.0\"}\ncapabilities:")
	return strings.Replace(src, "    holds: [arm]", "    changes: [near]\n    holds: [arm]", 1)
}

// What `changes` names must be an object argument or a predicate of one object, and a verb that takes an object changes
// one.
//
// Verifies: C20
// Verifies: J18
func TestRefusesWrongChanges(t *testing.T) {
	const is, number = "    changes: [near]\n", "      z_cm: {type: number}\n"
	for _, test := range []struct {
		name    string
		changes []string // what stands in the file, and what instead
		code    string
		line    int
		column  int
		hint    string
	}{
		{"an object and no changes", []string{is, "", number, number + "      name: {type: object}\n"}, "no-changes", 21, 5, "changes: [args.name]"},
		{"an object and empty changes", []string{is, "    changes: []\n", number, number + "      name: {type: object}\n"}, "no-changes", 33, 14, "changes: [args.name]"},
		{"an object and only a predicate", []string{number, number + "      name: {type: object}\n"}, "no-changes", 33, 14, "changes: [args.name]"},
		{"a bound object and no changes", []string{is, "    binds: {moved: near}\n"}, "no-changes", 21, 5, "changes: [args.moved]"},
		{"no such predicate", []string{"[near]", "[neer]"}, "unknown-name", 32, 15, "near"},
		{"a predicate of a place", []string{"[near]", "[at]"}, "wrong-type", 32, 15, ""},
		{"a name of two things", []string{"[near]", "[args.near, near]", number, number + "      near: {type: object}\n"}, "ambiguous", 33, 26, "args.near"},
		{"twice", []string{"[near]", "[near, near]"}, "duplicate-name", 32, 21, ""},
		{"a number", []string{"[near]", "[2]"}, "wrong-type", 32, 15, ""},
		{"a call", []string{"[near]", "[near(x)]"}, "wrong-type", 32, 15, ""},
		{"a predicate that measures nothing", []string{"distance_mm(tip, centre(objects, name)) <= 40.0", "name == 'red cube'"}, "no-measurement", 32, 15, ""},
		{"a predicate that is computed", []string{"distance_mm(tip, centre(objects, name)) <= 40.0", "grasp_reach_mm(objects, name) <= 5.0"}, "predicted", 32, 15, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := withNear(t)
			for i := 0; i < len(test.changes); i += 2 {
				if !strings.Contains(src, test.changes[i]) {
					t.Fatalf("no %q", test.changes[i])
				}
				src = strings.Replace(src, test.changes[i], test.changes[i+1], 1)
			}
			ps := problems(t, src)
			for _, p := range ps {
				if p.Code == test.code && p.Line == test.line && p.Column == test.column && strings.Contains(p.Hint, test.hint) {
					return
				}
			}
			t.Errorf("want %s at %d:%d (hint %q), got:\n%v", test.code, test.line, test.column, test.hint, ps)
		})
	}
}

// Verifies: J18
func TestChangesByPredicateAreTold(t *testing.T) {
	loaded := func(src string) *contract.Contract {
		c, err := contract.Load("f.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := loaded(withNear(t))
	k := c.Capability("move_to")
	if len(k.ChangesWhere) != 1 || k.ChangesWhere[0].Predicate != "near" || len(k.Changes) != 0 {
		t.Errorf("%+v", k)
	}
	m := c.Manifest(contract.Alignment{Mode: "sim"})
	if len(m.GetCapabilities()[0].GetChanges()) != 0 || !strings.Contains(m.GetCannot(), "move_to is refused while near may be true of an object") {
		t.Errorf("%v", m)
	}
	if loaded(strings.Replace(withNear(t), "    changes: [near]\n", "", 1)).Hash() == c.Hash() {
		t.Error("the hash does not hold what is changed")
	}
}

// A goal that nothing can make false certifies nothing.
//
// Verifies: C20
func TestRefusesGoalsThatAreAlwaysTrue(t *testing.T) {
	c, err := contract.Load("f.yaml", []byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	for goal, code := range map[string]string{
		"open || true": "always-true", "!(gap_mm <= 1.0 && false)": "always-true", "at(tip) || 1.0 < 2.0": "always-true",
		"2.0 > 1.0 ? true : open": "always-true", "true": "no-measurement", "open": "", "gap_mm >= -1.0": "",
	} {
		_, err := c.Goal(goal)
		var ps contract.Problems
		if errors.As(err, &ps); (code == "") != (err == nil) || code != "" && (len(ps) != 1 || ps[0].Code != code) {
			t.Errorf("%s: %v, want %q", goal, err, code)
		}
	}
}

// Verifies: C01
func TestSmallContractLoads(t *testing.T) {
	if ps := problems(t, tiny); ps != nil {
		t.Fatal(ps)
	}
}

// Verifies: C03
func TestReportsAllProblemsAtOnce(t *testing.T) {
	src := strings.NewReplacer("robot: so101", "robot: SO 101", "solver: dls", "solver: dlx", "gap_mm: {type: number", "gap_mm: {type: numbr",
		"args.z_cm >= 2.0", "args.q_cm >= 2.0").Replace(tiny)
	ps := problems(t, src)
	want := []string{"bad-name", "not-in-list", "not-in-list", "unknown-name"}
	if len(ps) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%v", len(ps), len(want), ps)
	}
	for i, p := range ps {
		if p.Code != want[i] || p.Line == 0 || p.Column == 0 || p.File != "f.yaml" {
			t.Errorf("problem %d: %v, want %s", i, p, want[i])
		}
	}
}

// Verifies: C04
func TestRefusesWhatCouldExhaustIt(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, []byte(tiny+strings.Repeat("# padding\n", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := contract.LoadFile(big)
	var ps contract.Problems
	if !errors.As(err, &ps) || ps[0].Code != "too-large" {
		t.Errorf("a 10 MiB file: %v", err)
	}
	for name, src := range map[string]string{
		"brackets":    strings.Repeat("[", 100_000),
		"flow maps":   strings.Repeat("{a: ", 10_000),
		"entries":     strings.Repeat("- ", 100_000) + "x",
		"question":    strings.Repeat("? ", 1000) + "x",
		"indentation": indented(1000),
		"bomb":        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\n",
		"not UTF-8":   "robot: \xff",
		"BOM":         "\xef\xbb\xbf" + tiny,
		"NUL":         "robot: a\x00b",
		"lone CR":     strings.Repeat("a: |\r x\r", 90_000),
		"block texts": strings.Repeat("a: |\n x\n", 100_000),
		"many keys":   strings.Repeat("abc: 1\n", 140_000),
		"empty":       "",
		"only text":   "hello",
		"wide":        "a: [" + strings.Repeat("1,", 100_000) + "1]\n",
		"goal":        broken(t, "args.z_cm >= 2.0", strings.Repeat("(", 2000)+"1.0"+strings.Repeat(")", 2000)+" >= 2.0"),
		"long goal":   broken(t, "args.z_cm >= 2.0", "args.z_cm >= 2.0"+strings.Repeat(" && args.z_cm >= 2.0", 1000)),
	} {
		if ps := problems(t, src); len(ps) == 0 {
			t.Errorf("%s: loads", name)
		}
	}
}

// A predicate may use others, so that one condition could double at every step.
//
// Verifies: C04
func TestRefusesPredicatesThatGrowWithoutEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString("  pa: {version: 1, that: \"gap_mm >= 1.0\"}\n")
	for _, n := range "abcdefghijklmnopqrst" {
		b.WriteString("  p" + string(n+1) + "x: {version: 1, that: \"p" + string(n) + "x() && p" + string(n) + "x()\"}\n")
	}
	src := broken(t, "predicates:\n", "predicates:\n"+strings.Replace(b.String(), "pa:", "pax:", 1))
	src = strings.Replace(src, `that: "args.z_cm >= 2.0"`, `that: "ptx()"`, 1)
	ps := problems(t, src)
	for _, p := range ps {
		if p.Code == "too-large" {
			return
		}
	}
	t.Errorf("got %v", ps)
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// Positions inside conditions are exact in quoted text and in block text.
//
// Verifies: C02
func TestPlacesProblemsInsideConditions(t *testing.T) {
	block := broken(t, `      - {id: above, that: "args.z_cm >= 2.0", says: "z = {z_cm} cm is too low"}`,
		"      - id: above\n        that: |\n          args.z_cm >= 2.0\n            && args.nope_cm >= 1.0\n")
	for name, test := range map[string]struct {
		src          string
		line, column int
	}{
		"quoted":   {broken(t, "args.z_cm >= 2.0", "args.z_cm >= 2.0 && args.nope_cm >= 1.0"), 28, 48},
		"escaped":  {broken(t, "args.z_cm >= 2.0", `args.z_cm >= 2.0\u0020&& args.nope_cm >= 1.0`), 28, 27},
		"block":    {block, 31, 16},
		"function": {broken(t, "at(point_cm(args.x_cm, args.y_cm, args.z_cm))", "at(point_mm(args.x_cm, args.y_cm, args.z_cm))"), 30, 31},
	} {
		ps := problems(t, test.src)
		if len(ps) != 1 || ps[0].Code != "unknown-name" || ps[0].Line != test.line || ps[0].Column != test.column {
			t.Errorf("%s: want one unknown-name at %d:%d, got %v", name, test.line, test.column, ps)
		}
	}
}

// Verifies: C05
func TestHashIsOfTheMeaning(t *testing.T) {
	hash := func(src string) string {
		c, err := contract.Load("f.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash()
	}
	first := hash(tiny)
	for name, src := range map[string]string{
		"comment":      "# hello\n" + tiny,
		"key order":    broken(t, "robot: so101\nframe: base\n", "frame: base\nrobot: so101\n"),
		"layout":       broken(t, "kinematics: {model: so101, solver: dls}", "kinematics:\n  model: so101\n  solver: dls"),
		"quotes":       broken(t, "robot: so101", `robot: "so101"`),
		"number forms": broken(t, "timeout_s: 10", "timeout_s: 10.0"),
	} {
		if hash(src) != first {
			t.Errorf("%s changes the hash", name)
		}
	}
	for name, src := range map[string]string{
		"threshold": broken(t, "<= 10.0", "<= 11.0"),
		"witness":   broken(t, "witness: encoders", "witness: camera"),
		"timeout":   broken(t, "timeout_s: 10", "timeout_s: 11"),
		"order":     broken(t, "[[10, -20], [20, -10]]", "[[11, -20], [20, -10]]"),
		"text":      broken(t, "Move the tip.", "Move the tip!"),
	} {
		if hash(src) == first {
			t.Errorf("%s does not change the hash", name)
		}
	}
}
