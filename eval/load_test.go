package eval_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"interlock/eval"
)

const head = "suite: s\ncontract: c.yaml\nseeds: [0]\nscenarios:\n"

// entry is a sound scenario with one line replaced or added.
func entry(changes ...string) string {
	lines := []string{
		"id: a", "request: pick up the red cube", "feasible: true", "setup: {objects: [{label: red cube, x_cm: 22, y_cm: 3}]}",
		`goal: held("red cube")`, "criterion: [{kind: lifted, object: red cube}]", "expect: {tool: pick, args: {name: red cube}}",
	}
	for _, c := range changes {
		key, _, _ := strings.Cut(c, ":")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") })
		switch {
		case at >= 0 && strings.HasSuffix(c, ": DROP"):
			lines = slices.Delete(lines, at, at+1)
		case at >= 0:
			lines[at] = c
		default:
			lines = append(lines, c)
		}
	}
	return "  - " + strings.Join(lines, "\n    ") + "\n"
}

func load(src string) (eval.Suite, eval.Problems) {
	checks := eval.Checks{
		Goal: func(g string) error {
			if strings.Contains(g, "hold(") {
				return errors.New("undeclared: hold")
			}
			return nil
		},
		Tool: func(n string) bool { return n == "pick" || n == "move_to" },
		Fact: func(n string) bool { return n == "tip" || n == "objects" },
		Area: func(n string) bool { return n == "tray" },
	}
	s, err := eval.Load("s.yaml", []byte(src), checks)
	var problems eval.Problems
	errors.As(err, &problems)
	return s, problems
}

func TestSoundSuite(t *testing.T) {
	s, problems := load(head + entry())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	a := s.Scenarios[0]
	if a.ModelCalls != eval.DefaultModelCalls || a.Missions != eval.DefaultMissions || !slices.Equal(a.Seeds, []int64{0}) || len(s.Hash) != 64 {
		t.Errorf("defaults: %+v", a)
	}
}

// Every way to pass for free, every unknown name and every wrong value has a code and a place, and does not load.
//
// Verifies: P39
func TestLoaderRefuses(t *testing.T) {
	fault := func(f string) string { return head + entry("faults: [{"+f+"}]", "expect_task: [not_done]") }
	for name, tc := range map[string]struct {
		src, code, path string
	}{
		"no suite":             {"a: 1\n", "unknown-key", "a"},
		"no scenario":          {"suite: s\ncontract: c\nscenarios: []\n", "no-test", "scenarios"},
		"no seeds":             {strings.Replace(head, "seeds: [0]\n", "", 1) + entry(), "no-test", "scenarios[0].seeds"},
		"no criterion":         {head + entry("criterion: DROP"), "empty-criterion", "scenarios[0].criterion"},
		"empty criterion":      {head + entry("criterion: []"), "empty-criterion", "scenarios[0].criterion"},
		"unmoved alone":        {head + entry("criterion: [{kind: unmoved, object: red cube}]"), "passes-empty-handed", "scenarios[0].criterion"},
		"never, feasible":      {head + entry("criterion: [{kind: never}]"), "contradiction", "scenarios[0].criterion"},
		"infeasible, no never": {head + entry("feasible: false"), "contradiction", "scenarios[0].criterion"},
		"feasible not said":    {head + entry("feasible: DROP", "criterion: [{kind: never}]"), "missing", "scenarios[0]"},
		"unknown criterion":    {head + entry("criterion: [{kind: picked}]"), "unknown-criterion", "scenarios[0].criterion[0].kind"},
		"truth knows no name":  {head + entry("criterion: [{kind: lifted, object: blue cube}]"), "unknown-name", "scenarios[0].criterion[0].object"},
		"unknown key":          {head + entry("goals: x"), "unknown-key", "scenarios[0].goals"},
		"unknown deep key":     {head + entry("variation: {xy: 1}"), "unknown-key", "scenarios[0].variation.xy"},
		"string for number":    {head + entry(`variation: {xy_cm: "1"}`), "wrong-type", "scenarios[0].variation.xy_cm"},
		"number for text":      {head + entry("request: 5"), "wrong-type", "scenarios[0].request"},
		"word for flag":        {head + entry("feasible: yes"), "wrong-type", "scenarios[0].feasible"},
		"not a number":         {head + entry("variation: {xy_cm: .nan}"), "not-finite", "scenarios[0].variation.xy_cm"},
		"infinite":             {head + entry("variation: {xy_cm: .inf}"), "not-finite", "scenarios[0].variation.xy_cm"},
		"octal":                {head + entry("seeds: [012]"), "not-decimal", "scenarios[0].seeds[0]"},
		"fraction of a seed":   {head + entry("seeds: [0.5]"), "wrong-type", "scenarios[0].seeds[0]"},
		"beyond 2^53":          {head + entry("seeds: [90071992547409930]"), "out-of-range", "scenarios[0].seeds[0]"},
		"alias":                {head + entry("words: DROP", "may_change: &x [red cube]"), "not-plain", "scenarios[0].may_change"},
		"key twice":            {head + entry() + "    id: b\n", "duplicate-key", ""},
		"id twice":             {head + entry() + entry(), "duplicate-id", "scenarios[1].id"},
		"seed twice":           {head + entry("seeds: [1, 2, 1]"), "duplicate-seed", "scenarios[0].seeds"},
		"label twice":          {head + entry("setup: {objects: [{label: red cube, x_cm: 22, y_cm: 3}, {label: red cube, x_cm: 1, y_cm: 3}]}"), "duplicate-label", "scenarios[0].setup.objects[1]"},
		"slash in id":          {head + entry("id: a/b"), "bad-id", "scenarios[0].id"},
		"no words":             {head + entry(`request: " "`), "missing", "scenarios[0].request"},
		"goal does not build":  {head + entry(`goal: hold("red cube")`), "bad-goal", "scenarios[0].goal"},
		"unknown tool":         {head + entry("expect: {tool: grab, args: {}}"), "unknown-name", "scenarios[0].expect.tool"},
		"unknown task word":    {head + entry("expect_task: [finished]"), "unknown-name", "scenarios[0].expect_task[0]"},
		"fault, no verdict":    {head + entry("faults: [{kind: stuck_gripper}]"), "missing", "scenarios[0].expect_task"},
		"unknown fault":        {fault("kind: gremlin"), "unknown-name", "scenarios[0].faults[0].kind"},
		"fault needs more":     {fault("kind: frozen_time"), "missing", "scenarios[0].faults[0]"},
		"fault takes less":     {fault("kind: stuck_gripper, rad: 1"), "unknown-key", "scenarios[0].faults[0].rad"},
		"fault of no fact":     {fault("kind: nan, fact: smell"), "unknown-name", "scenarios[0].faults[0].fact"},
		"fault of no object":   {fault("kind: object_moved, object: pear, to_cm: [1, 2, 3]"), "unknown-name", "scenarios[0].faults[0].object"},
		"bias of nothing":      {fault("kind: biased, fact: tip"), "missing", "scenarios[0].faults[0]"},
		"bias twice":           {fault("kind: biased, fact: tip, by: 1, by_cm: [1, 0, 0]"), "missing", "scenarios[0].faults[0]"},
		"two numbers for xyz":  {fault("kind: object_moved, object: red cube, to_cm: [1, 2]"), "wrong-type", "scenarios[0].faults[0].to_cm"},
		"near what":            {fault("kind: stuck_gripper, when: near"), "missing", "scenarios[0].faults[0]"},
		"unknown trigger":      {fault("kind: stuck_gripper, when: soon"), "unknown-name", "scenarios[0].faults[0].when"},
		"share of 2":           {fault("kind: dropped, fact: tip, share: 2"), "out-of-range", "scenarios[0].faults[0].share"},
		"may change what":      {head + entry("may_change: [pear]"), "unknown-name", "scenarios[0].may_change[0]"},
		"mapping for list":     {head + entry("criterion: {kind: never}"), "wrong-type", "scenarios[0].criterion"},
		"two documents":        {head + entry() + "---\na: 1\n", "not-one-document", ""},
		"no YAML":              {"suite: [\n", "syntax", ""},
		"empty file":           {"", "not-one-document", ""},
	} {
		_, problems := load(tc.src)
		found := slices.ContainsFunc(problems, func(p eval.Problem) bool {
			return p.Code == tc.code && p.Path == tc.path && p.Line > 0 && p.File == "s.yaml"
		})
		if !found {
			t.Errorf("%s: want %s at %q, got:\n%v", name, tc.code, tc.path, describe(problems))
		}
	}
}

func describe(ps eval.Problems) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "  %s %q: %s\n", p.Code, p.Path, p)
	}
	return b.String()
}

// All problems come at once, in the file's order, with line, column and a suggestion.
//
// Verifies: E09
func TestAllProblemsAtOnce(t *testing.T) {
	src := head + entry("goals: x", "seeds: [1, 1]", "criterion: [{kind: lifted, object: blue cube, min_bottom_cm: -1}]")
	_, problems := load(src)
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Code))
	}
	want := []string{"10:40 unknown-name", "10:66 out-of-range", "12:5 unknown-key", "13:12 duplicate-seed"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q\nwant %q\n%v", got, want, problems)
	}
	if hint := problems[2].Hint; hint != `did you mean "goal"?` {
		t.Errorf("hint %q", hint)
	}
}

// A criterion that asks more than goal and words do is named, and the scenario still loads.
//
// Verifies: E10
func TestSurplus(t *testing.T) {
	points := "suite: s\ncontract: c.yaml\nseeds: [0]\npoints_cm: {home: [24, 0, 19]}\nscenarios:\n"
	home := "{kind: tip_at, x_cm: 24, y_cm: 0, z_cm: 19}"
	tray := "{kind: in_region, object: red cube, region_cm: [[10, -20], [20, -10]]}"
	for name, tc := range map[string]struct {
		src  string
		want int
	}{
		"asked by the goal":       {entry(), 0},
		"return pose, unasked":    {entry("criterion: [{kind: lifted, object: red cube}, " + home + "]"), 1},
		"return pose, asked":      {entry("criterion: [{kind: lifted, object: red cube}, "+home+"]", "request: pick up the red cube, then go home"), 0},
		"point by goal":           {entry("goal: at(point_cm(24.0, 0.0, 19.0))", "criterion: ["+home+"]", "request: move there"), 0},
		"point by words":          {entry("goal: DROP", "criterion: ["+home+"]", "request: move to (24, 0, 19) cm"), 0},
		"point in metres":         {entry("goal: DROP", "criterion: ["+home+"]", "request: move to (0.24, 0, 0.19) m"), 0},
		"another point":           {entry("goal: at(point_cm(20.0, 0.0, 19.0))", "criterion: ["+home+"]", "request: move to (20, 0, 19) cm"), 1},
		"tray by words":           {entry("criterion: ["+tray+"]", "goal: DROP", "request: put the red cube in the tray"), 0},
		"tray by goal":            {entry("criterion: ["+tray+"]", `goal: in_region(objects, "red cube", "tray")`, "request: tidy up"), 0},
		"tray, only a pick asked": {entry("criterion: [" + tray + "]"), 1},
		"bystander is asked":      {entry("criterion: [{kind: lifted, object: red cube}, {kind: unmoved, object: red cube}]"), 0},
		"other quotes":            {entry(`goal: held('red cube')`, "request: get it"), 0},
	} {
		s, problems := load(points + tc.src)
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		if got := s.Scenarios[0].Surplus; len(got) != tc.want {
			t.Errorf("%s: surplus %q, want %d", name, got, tc.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(head + entry())
	f.Add(head + entry("faults: [{kind: nan, fact: tip}]", "expect_task: [unverified]"))
	f.Add("suite: [\n")
	f.Fuzz(func(t *testing.T, src string) {
		s, err := eval.Load("f.yaml", []byte(src), eval.Checks{})
		if err != nil {
			return
		}
		for i := range s.Scenarios {
			if len(s.Scenarios[i].Criteria) == 0 || len(s.Scenarios[i].Seeds) == 0 {
				t.Fatalf("scenario %d can pass in silence", i)
			}
		}
		if len(s.Scenarios) == 0 {
			t.Fatal("an empty suite loaded")
		}
	})
}
