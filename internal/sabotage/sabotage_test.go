package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// least is how many sabotages each room that decides about motion is tried with.
var least = map[string]int{
	"robot/mission": 12, "robot/gate": 8, "robot/goal": 8, "robot/verify": 8, "contract/rule": 6, "internal/strictjson": 6, "body/guard": 6,
}

func whole(t *testing.T) (root string, list []sabotage) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if list, err = load(root); err != nil {
		t.Fatal(err)
	}
	return root, list
}

// TestTheListIsFresh: every sabotage still changes what it names, exactly once.
//
// Verifies: S01
func TestTheListIsFresh(t *testing.T) {
	root, list := whole(t)
	count, whys, numbers := map[string]int{}, map[string]string{}, map[string]string{}
	for _, s := range list {
		count[s.room]++
		if _, err := s.apply(root); err != nil {
			t.Error(err)
		}
		if other := whys[s.why]; other != "" {
			t.Errorf("%s and %s have one reason: %s", other, s, s.why)
		}
		number, _, _ := strings.Cut(s.name, "-")
		if other := numbers[s.room+number]; other != "" {
			t.Errorf("%s and %s have one number", other, s)
		}
		whys[s.why], numbers[s.room+number] = s.String(), s.String()
	}
	for room, n := range least {
		if count[room] < n {
			t.Errorf("%s is tried with %d sabotages, want %d", room, count[room], n)
		}
	}
}

// TestASampleIsCaught plays three sabotages of three rooms. Which ones depends on the sources and tests of the rooms
// and on nothing else: the sample moves on with every change, and what fails once fails again. The whole list is played
// by `make sabotage`.
//
// Verifies: S02
func TestASampleIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("each sabotage builds and runs the tests of a room")
	}
	root, list := whole(t)
	for _, s := range sample(t, root, list) {
		r, err := play(root, s)
		switch {
		case err != nil:
			t.Error(err)
		case r.by == "":
			t.Errorf("%s survives: no test of %s notices that %s", s, s.room, s.why)
		default:
			t.Logf("%s: caught by %s in %.1f s", s, r.by, r.took.Seconds())
		}
	}
}

// sample chooses one sabotage each of three rooms.
func sample(t *testing.T, root string, list []sabotage) (chosen []sabotage) {
	t.Helper()
	byRoom := map[string][]sabotage{}
	var rooms []string
	for _, s := range list {
		if byRoom[s.room] == nil {
			rooms = append(rooms, s.room)
		}
		byRoom[s.room] = append(byRoom[s.room], s)
	}
	h := fnv.New32a()
	for _, room := range rooms {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(room), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s holds no sources: %v", room, err)
		}
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			h.Write(src)
		}
	}
	seed := int(h.Sum32() >> 1)
	for i := range min(3, len(rooms)) {
		of := byRoom[rooms[(seed+i)%len(rooms)]]
		chosen = append(chosen, of[seed/len(rooms)%len(of)])
	}
	return chosen
}

// TestStaleAndMalformedPatches: what does not say what it changes, or does not find it once, is an error.
//
// Verifies: S01
func TestStaleAndMalformedPatches(t *testing.T) {
	root := tiny(t)
	good := "adds wrongly\n--- sum/sum.go\n func Sum(a, b int) int {\n-\treturn a + b\n+\treturn a - b\n }\n"
	cases := map[string]struct{ name, patch, want string }{
		"good":             {"sum/01-a.patch", good, ""},
		"no reason":        {"sum/01-a.patch", "\n" + strings.SplitN(good, "\n", 2)[1], "needs a reason"},
		"no change":        {"sum/01-a.patch", "nothing\n", "at least one change"},
		"no file":          {"sum/01-a.patch", "x\n-\treturn a + b\n", "before its"},
		"changes nothing":  {"sum/01-a.patch", "x\n--- sum/sum.go\n \treturn a + b\n", "changes nothing"},
		"another room":     {"other/01-a.patch", good, "no source of its room"},
		"a test":           {"sum/01-a.patch", strings.Replace(good, "sum.go", "sum_test.go", 1), "no source of its room"},
		"not a diff":       {"sum/01-a.patch", good + "return\n", "neither"},
		"not a patch":      {"sum/notes.md", good, "only"},
		"gone":             {"sum/01-a.patch", strings.Replace(good, "a + b", "b + a", 1), "is stale: the lines it changes stand 0 times"},
		"twice":            {"sum/01-a.patch", "x\n--- sum/sum.go\n-}\n+} //\n", "is stale: the lines it changes stand 2 times"},
		"part of a line":   {"sum/01-a.patch", "x\n--- sum/sum.go\n-return a + b\n+return 0\n", "is stale: the lines it changes stand 0 times"},
		"no such file":     {"sum/01-a.patch", strings.Replace(good, "sum.go", "gone.go", 1), "gone.go"},
		"two of one file":  {"sum/01-a.patch", good + "@@\n-func Zero() int { return 0 }\n+func Zero() int { return 1 }\n", ""},
		"the second stale": {"sum/01-a.patch", good + "@@\n-func One() int { return 0 }\n+func One() int { return 1 }\n", "is stale"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := parse(c.name, c.patch)
			if err == nil {
				_, err = s.apply(root)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestPlayTellsApart: caught, survived and not built are three answers, and the tree stays as it was.
//
// Verifies: S03
func TestPlayTellsApart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds three test binaries")
	}
	root := tiny(t)
	line := func(now string) sabotage {
		s := sabotage{room: "sum", name: "01-x", why: "x"}
		s.edits = []edit{{"sum/sum.go", "\treturn a + b\n", "\treturn " + now + "\n"}}
		return s
	}
	if r, err := play(root, line("a - b")); err != nil || r.by != "TestSum/two_and_two" {
		t.Errorf("a wrong sum: caught by %q, %v", r.by, err)
	}
	if r, err := play(root, line("b + a")); err != nil || r.by != "" {
		t.Errorf("the same sum: caught by %q, %v", r.by, err)
	}
	if r, err := play(root, line("a +")); err == nil || r.by != "" {
		t.Errorf("no sum: caught by %q, %v", r.by, err)
	}
	entries, err := filepath.Glob(filepath.Join(root, "sum", "*"))
	src, readErr := os.ReadFile(filepath.Join(root, "sum", "sum.go"))
	if err != nil || readErr != nil || len(entries) != 2 || string(src) != tinySum {
		t.Errorf("the tree changed: %v %v %v\n%s", entries, err, readErr, src)
	}
}

const tinySum = "package sum\n\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\nfunc Zero() int { return 0 }\n\nfunc none() {\n}\n"

// tiny is a module of one room.
func tiny(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module tiny\n\ngo 1.26\n",
		"sum/sum.go": tinySum,
		"sum/sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tt.Run(\"two and two\", func(t *testing.T) {\n" +
			"\t\tif Sum(2, 2) != 4 {\n\t\t\tt.Error(\"wrong\")\n\t\t}\n\t})\n}\n",
	} {
		to := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestFirstFailure reads the go command's report.
func TestFirstFailure(t *testing.T) {
	cases := map[string]string{
		"ok  \tinterlock/x\t0.1s\n": "",
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b_c (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n": "TestA/b_c",
		"--- FAIL: TestAb (0.00s)\n--- FAIL: TestAbc (0.00s)\n":                                     "TestAb",
		"# x\nx.go:1: undefined\nFAIL\tx [build failed]\n":                                          "",
	}
	for out, want := range cases {
		if got := firstFailure(out); got != want {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}

// TestNamesSayTheirPlace: the list is read by people.
func TestNamesSayTheirPlace(t *testing.T) {
	_, list := whole(t)
	if !slices.IsSortedFunc(list, func(a, b sabotage) int { return strings.Compare(a.String(), b.String()) }) {
		t.Error("the list is not in order")
	}
	for _, s := range list {
		if least[s.room] == 0 {
			t.Errorf("%s: no room named %s is tried", s, s.room)
		}
		var n int
		if _, err := fmt.Sscanf(s.name, "%02d-", &n); err != nil || path.Base(s.name) != s.name || n < 1 {
			t.Errorf("%s: want NN-name", s)
		}
	}
}
