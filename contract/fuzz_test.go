package contract_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"interlock/contract"
	"interlock/world"
)

// Load never panics, and what it refuses it refuses with positions and codes.
//
// Verifies: C04
func FuzzLoad(f *testing.F) {
	robot, err := os.ReadFile(robotFile)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		tiny, string(robot), "", "a: [", "{", "[[[[", "? [a]: b", "- - - -", "\xff", "a: 1\na: 2\n", "---\n---\n", "%YAML 1.1\n---\nrobot: x\n",
		"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: &e [*d, *d]\n",
		"<<: *x\n", "robot: |\n  so101\n", "robot: >-\n  so101\n", "robot: !!binary aGk=\n", "facts: {a: {}}\n", "capabilities:\n  a:\n    requires: [1, {that: 2}]\n",
		strings.Replace(tiny, "args.z_cm >= 2.0", "args.z_cm >= 2.0 ? true : at(tip)", 1),
		strings.Replace(tiny, "    holds: [arm]", "    changes: [a, args.b, 1]\n    binds: {moved: [1]}\n    holds: [1]", 1),
		strings.Replace(tiny, "[[10, -20], [20, -10]]", "[[10, -20], 3]", 1),
		strings.Replace(tiny, "aliases: [red block]", "aliases: {a: b}", 1),
		strings.Replace(tiny, "{goal: point}", "{goal: [point]}", 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := contract.Load("f.yaml", src)
		var ps contract.Problems
		switch {
		case err == nil && len(c.Hash()) != 64:
			t.Fatal("no hash")
		case err == nil:
			c.Manifest(c.Align(contract.Offer{Mode: "sim"}))
		case !errors.As(err, &ps) || len(ps) == 0:
			t.Fatalf("no problems: %v", err)
		default:
			for _, p := range ps {
				if p.Line < 1 || p.Column < 1 || p.Code == "" || p.Message == "" {
					t.Fatalf("a problem without place or code: %+v", p)
				}
			}
		}
	})
}

// Goal never panics; a goal that compiles evaluates to one of three values, and unknown whenever nothing is measured and
// no reading could decide.
//
// Verifies: C04
func FuzzGoal(f *testing.F) {
	for _, seed := range []string{
		`held("red cube")`, `at(point_cm(20, 5, 15))`, `placed("red cube", "tray") && jaws_open()`, `jaw_gap_mm == 20 || !(jaw_load_pct <= 1.0)`,
		`true ? jaws_open() : jaws_closed()`, `args.x_cm >= 2`, `((((((1`, `"a" in ["a"] && jaws_open()`, `seen(objects, "x")`, `distance_mm(tip, tip) * -2.0 <= 1e300`,
	} {
		f.Add(seed)
	}
	c := load(f)
	full := snapshot()
	f.Fuzz(func(t *testing.T, that string) {
		g, err := c.Goal(that)
		if err != nil {
			return
		}
		for _, in := range []contract.Inputs{{World: full}, {}} {
			o := g.Eval(in)
			quick, _ := g.Truth(in)
			if quick != o.Truth || o.Err != nil && o.Truth != world.Unknown {
				t.Fatalf("%s: %+v, quick %v", that, o, quick)
			}
			if words := g.Words(in, o); o.Truth != world.True && words == "" {
				t.Fatalf("%s: no words", that)
			}
		}
		if len(g.FactNames) == 0 {
			t.Fatalf("%s reads no fact", that)
		}
	})
}
