package goal

import (
	"reflect"
	"slices"
	"testing"

	"interlock/reject"
	"interlock/world"

	"pgregory.net/rapid"
)

func open(t testing.TB, goal string) Task {
	t.Helper()
	task, l := OpenTask(bench(t, false), 1, request(goal))
	if len(l) > 0 {
		t.Fatal(l)
	}
	return task
}

// measured is a goal's truth as if a watch had found it.
func measured(truth world.Truth) Measurement {
	m := Measurement{Truth: truth}
	if truth != world.Unknown {
		m.Evidence = []world.Evidence{{Condition: "goal", Fact: "objects"}}
	}
	return m
}

// TestWords: what a task ends as, by who ends it and what was measured then. The claim never decides.
//
// Verifies: G01
func TestWords(t *testing.T) {
	success, failure := Claim{Reported: true, Success: true}, Claim{Reported: true}
	ends := map[string]func(Task, Measurement) Task{
		"mission ended":   func(k Task, m Measurement) Task { return k.MissionStarted().MissionEnded(m) },
		"success claimed": func(k Task, m Measurement) Task { return k.Claimed(success, m) },
		"failure claimed": func(k Task, m Measurement) Task { return k.Claimed(failure, m) },
		"silence":         func(k Task, m Measurement) Task { return k.Silent(m) },
		"budget spent":    func(k Task, m Measurement) Task { return k.BudgetSpent(m) },
		"stopped":         func(k Task, _ Measurement) Task { return k.Stop() },
		"superseded":      func(k Task, _ Measurement) Task { return k.Supersede() },
		"person asked":    func(k Task, _ Measurement) Task { return k.AskPerson() },
		"escalated":       func(k Task, _ Measurement) Task { return k.Escalate() },
	}
	const none = "no goal"
	want := map[string]map[string]State{ // end → truth of the goal → word
		"mission ended":   {"true": Done, "false": Open, "unknown": Open, none: Open},
		"success claimed": {"true": Done, "false": NotDone, "unknown": Unverified, none: Unverified},
		"failure claimed": {"true": Done, "false": NotDone, "unknown": Unverified, none: Unverified},
		"silence":         {"true": Done, "false": NotDone, "unknown": Unverified, none: Unverified},
		"budget spent":    {"true": Done, "false": OverBudget, "unknown": OverBudget, none: OverBudget},
		"stopped":         {"true": Stopped, "false": Stopped, "unknown": Stopped, none: Stopped},
		"superseded":      {"true": Superseded, "false": Superseded, "unknown": Superseded, none: Superseded},
		"person asked":    {"true": NeedsConfirmation, "false": NeedsConfirmation, "unknown": NeedsConfirmation, none: NeedsConfirmation},
		"escalated":       {"true": Escalated, "false": Escalated, "unknown": Escalated, none: Escalated},
	}
	for name, end := range ends {
		for truth, word := range want[name] {
			m, goal := measured(world.True), redLifted
			switch truth {
			case "false":
				m = measured(world.False)
			case "unknown":
				m = measured(world.Unknown)
			case none:
				goal = ""
			}
			if got := end(open(t, goal), m); got.State != word {
				t.Errorf("%s, %s: %s, want %s", name, truth, got.State, word)
			}
		}
	}
}

// TestLookedUpIsNotDone: the goal pose was looked up, no motion was requested, success was claimed.
//
// Verifies: G01
func TestLookedUpIsNotDone(t *testing.T) {
	task := open(t, redLifted)
	m := measure(task.Goal, func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 20, 0, 0))} })
	task = task.Claimed(Claim{Reported: true, Success: true, Message: "found it"}, m)
	if task.State != NotDone || task.Missions != 0 || !task.FalseClaim() {
		t.Errorf("%s after %d missions, false claim %v", task.State, task.Missions, task.FalseClaim())
	}
}

// TestTrueWithoutEvidence: an answer nobody measured decides nothing.
//
// Verifies: P13
func TestTrueWithoutEvidence(t *testing.T) {
	m := Measurement{Truth: world.True}
	if got := open(t, redLifted).MissionEnded(m); got.State != Open {
		t.Errorf("after a mission: %s", got.State)
	}
	if got := open(t, redLifted).Claimed(Claim{Reported: true, Success: true}, m); got.State != Unverified {
		t.Errorf("at the claim: %s", got.State)
	}
}

// TestUnseen: what is not seen is unknown, unless the vocabulary says that it then does not exist.
//
// Verifies: G01
func TestUnseen(t *testing.T) {
	red := func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 20, 0, 0))} }
	blind := func(int) []world.Fact { return nil }
	late := func(int) []world.Fact { return []world.Fact{seen(990, cube("red cube", 20, 0, 0))} }
	for name, c := range map[string]struct {
		closed bool
		goal   string
		camera func(int) []world.Fact
		want   State
	}{
		"open, outside the vocabulary":    {false, `lifted("green cube")`, red, Unverified},
		"open, in the vocabulary":         {false, `lifted("blue cube")`, red, Unverified},
		"closed, not seen":                {true, `lifted("blue cube")`, red, NotDone},
		"closed, one of two not seen":     {true, `lifted("blue cube") || lifted("red cube")`, red, NotDone},
		"closed, no camera":               {true, `lifted("blue cube")`, blind, Unverified},
		"closed, only from before":        {true, `lifted("blue cube")`, late, Unverified},
		"closed, seen and on the table":   {true, `lifted("red cube")`, red, NotDone},
		"closed, seen and nothing fresh":  {true, `lifted("red cube")`, late, Unverified},
		"closed, goal without any object": {true, `jaw_gap_mm >= 15.0`, red, Unverified},
	} {
		task, l := OpenTask(bench(t, c.closed), 1, request(c.goal))
		if len(l) > 0 {
			t.Fatalf("%s: %v", name, l)
		}
		if got := task.Silent(measure(task.Goal, c.camera)); got.State != c.want {
			t.Errorf("%s: %s, want %s", name, got.State, c.want)
		}
	}
	if _, l := OpenTask(bench(t, true), 1, request(`lifted("green cube")`)); !l.Has(reject.Malformed) {
		t.Errorf("closed, outside the vocabulary: %v", l)
	}
}

// TestOpenRefuses: all faults at once, and nothing opened.
func TestOpenRefuses(t *testing.T) {
	r := request("nonsense")
	r.Provenance, r.MaxMissions = "model", 0
	task, l := OpenTask(bench(t, false), 1, r)
	fields := map[string]reject.Code{}
	for _, x := range l {
		fields[x.Field] = x.Code
	}
	want := map[string]reject.Code{"goal": reject.Malformed, "provenance": reject.NotInEnum, "max_missions": reject.OutOfRange}
	if !reflect.DeepEqual(fields, want) || !reflect.DeepEqual(task, Task{}) {
		t.Errorf("%v, task %+v", fields, task)
	}
}

// TestLicenceOfTask: the goal's objects and the list, less what is forbidden; without either nothing is limited.
//
// Verifies: G02
func TestLicenceOfTask(t *testing.T) {
	cases := map[string]struct {
		goal               string
		mayChange, forbid  []string
		fixed              bool
		allowed, forbidden []string
	}{
		"goal":                   {redLifted, nil, nil, true, []string{"red cube"}, []string{"blue cube", "cup"}},
		"goal and list":          {redLifted, []string{"blue cube"}, nil, true, []string{"red cube", "blue cube"}, []string{"cup"}},
		"list by alias":          {"", []string{"red block"}, nil, true, []string{"red cube"}, []string{"blue cube"}},
		"nothing":                {"", nil, nil, false, []string{"red cube", "blue cube", "cup"}, nil},
		"only a prohibition":     {"", nil, []string{"red block"}, false, []string{"blue cube"}, []string{"red cube"}},
		"a goal that is barred":  {redLifted, nil, []string{"red cube"}, true, nil, []string{"red cube", "blue cube"}},
		"a goal about free room": {"distance_mm(tip, point_cm(20.0, 5.0, 15.0)) <= 10.0", nil, nil, true, nil, []string{"red cube"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := request(c.goal)
			r.MayChange, r.Forbidden = c.mayChange, c.forbid
			task, l := OpenTask(bench(t, false), 1, r)
			if len(l) > 0 || task.Licence.Fixed != c.fixed {
				t.Fatalf("%v %+v", l, task.Licence)
			}
			for _, o := range c.allowed {
				if !task.Licence.Allows(o) {
					t.Errorf("%s is not allowed", o)
				}
			}
			for _, o := range c.forbidden {
				if task.Licence.Allows(o) {
					t.Errorf("%s is allowed", o)
				}
			}
		})
	}
}

// TestFrozen: every part of what is frozen is in the hash, and nothing else is.
//
// Verifies: G03
func TestFrozen(t *testing.T) {
	c := bench(t, false)
	base := open(t, redLifted)
	changes := map[string]func(*Request){
		"words":      func(r *Request) { r.Words += "!" },
		"provenance": func(r *Request) { r.Provenance = Relayed },
		"client":     func(r *Request) { r.Client = "x" },
		"goal":       func(r *Request) { r.Goal = `lifted("blue cube")` },
		"no goal":    func(r *Request) { r.Goal = "" },
		"licence":    func(r *Request) { r.MayChange = []string{"blue cube"} },
		"forbidden":  func(r *Request) { r.Forbidden = []string{"blue cube"} },
		"budget":     func(r *Request) { r.MaxMissions++ },
	}
	seen := map[string]string{base.Hash: "base"}
	for name, change := range changes {
		r := request(redLifted)
		change(&r)
		task, l := OpenTask(c, 1, r)
		if len(l) > 0 {
			t.Fatal(l)
		}
		if other, taken := seen[task.Hash]; taken {
			t.Errorf("%s hashes like %s", name, other)
		}
		seen[task.Hash] = name
	}
	r := request(redLifted)
	r.MayChange = []string{"red block"}
	if same, _ := OpenTask(c, 7, r); same.Hash != base.Hash {
		t.Error("the number, or an alias of what the goal names, changes the hash")
	}
}

// TestTaskTighten: stricter is possible, a goal after the fact is not.
//
// Verifies: G03
func TestTaskTighten(t *testing.T) {
	task := open(t, redLifted)
	stricter, l := task.Tighten(`lifted("blue cube")`)
	if len(l) > 0 || stricter.Hash != task.Hash || stricter.Licence.Allows("blue cube") || stricter.Goal.Text() == task.Goal.Text() {
		t.Errorf("%v %+v", l, stricter.Licence)
	}
	refused := map[string]Task{"task_open": task.Stop(), "goal_fixed": open(t, "")}
	for rule, k := range refused {
		same, l := k.Tighten(redLifted)
		if len(l) != 1 || l[0].Code != reject.NotPermitted || l[0].Rule != rule || same.Goal != k.Goal {
			t.Errorf("%s: %v", rule, l)
		}
	}
	if same, l := task.Tighten("nonsense"); len(l) == 0 || same.Goal != task.Goal {
		t.Error("nonsense changed the goal")
	}
}

// TestBudget counts missions and says when there are none left.
func TestBudget(t *testing.T) {
	task := open(t, redLifted)
	for left := 3; left > 0; left-- {
		if r := task.MayStart(); r != nil || task.BudgetLeft() != left {
			t.Fatalf("%d left: %v", task.BudgetLeft(), r)
		}
		task = task.MissionStarted().Rejected()
	}
	if r := task.MayStart(); r == nil || r.Code != reject.Budget || r.Rule != "max_missions" {
		t.Errorf("%v", r)
	}
	task = task.BudgetSpent(measured(world.False))
	if r := task.MayStart(); r == nil || r.Code != reject.NotPermitted || r.Rule != "task_open" {
		t.Errorf("%v", r)
	}
	if task.Missions != 3 || task.Rejections != 3 || task.MissionStarted().Missions != 3 || task.Rejected().Rejections != 3 {
		t.Errorf("%d missions, %d rejections", task.Missions, task.Rejections)
	}
}

// TestClosedIsClosed: random happenings never change the last word, the frozen part, or the first claim.
//
// Verifies: P21
func TestClosedIsClosed(t *testing.T) {
	fresh := []Task{open(t, redLifted), open(t, "")}
	rapid.Check(t, func(t *rapid.T) {
		task := rapid.SampledFrom(fresh).Draw(t, "task")
		hash := task.Hash
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			before := task
			m := measured(rapid.SampledFrom([]world.Truth{world.Unknown, world.False, world.True}).Draw(t, "truth"))
			task = happen(task, rapid.IntRange(0, 10).Draw(t, "what"), m)
			switch {
			case before.Closed() && (task.State != before.State || !reflect.DeepEqual(task.Measured, before.Measured)):
				t.Fatalf("%s became %s", before.State, task.State)
			case before.Claim.Reported && task.Claim != before.Claim:
				t.Fatalf("the claim %+v became %+v", before.Claim, task.Claim)
			case task.State == Done && (task.Goal == nil || task.Measured.Truth != world.True):
				t.Fatalf("done without a measured goal")
			case task.Hash != hash:
				t.Fatalf("the hash changed")
			}
		}
	})
}

// happen does one of the things that can happen to a task.
func happen(k Task, what int, m Measurement) Task {
	switch what {
	case 0, 1:
		return k.MissionStarted().MissionEnded(m)
	case 2:
		return k.Claimed(Claim{Reported: true, Success: true}, m)
	case 3:
		return k.Claimed(Claim{Reported: true}, m)
	case 4:
		return k.Silent(m)
	case 5:
		return k.BudgetSpent(m)
	case 6:
		return k.Stop()
	case 7:
		return k.Supersede()
	case 8:
		return k.Rejected().AskPerson()
	case 9:
		tighter, _ := k.Tighten(`lifted("blue cube")`)
		return tighter
	}
	return k.Moved([]SideEffect{{Object: "cup", DisplacementM: 0.02}}, nil)
}

// TestMovedKeepsTheLargest, also after the last word, and never writes into an older task.
//
// Verifies: G04
func TestMovedKeepsTheLargest(t *testing.T) {
	first := open(t, redLifted).Moved([]SideEffect{{Object: "cup", DisplacementM: 0.03}}, []string{"pen"})
	second := first.Stop().Moved([]SideEffect{{Object: "cup", DisplacementM: 0.02}, {Object: "blue cube", DisplacementM: 0.05}}, []string{"pen", "lid"})
	third := second.Moved([]SideEffect{{Object: "cup", DisplacementM: 0.04}}, nil)
	if len(first.SideEffects) != 1 || first.SideEffects[0].DisplacementM != 0.03 || second.SideEffects[0].DisplacementM != 0.03 {
		t.Errorf("an older task changed: %+v %+v", first.SideEffects, second.SideEffects)
	}
	if len(third.SideEffects) != 2 || third.SideEffects[0].DisplacementM != 0.04 || !slices.Equal(third.Unclear, []string{"pen", "lid"}) {
		t.Errorf("%+v, unclear %v", third.SideEffects, third.Unclear)
	}
}

// TestFalseClaim: success claimed, measured otherwise. What could not be measured is no false claim.
func TestFalseClaim(t *testing.T) {
	claimed := Claim{Reported: true, Success: true}
	cases := map[string]struct {
		task Task
		want bool
	}{
		"claimed, false":         {open(t, redLifted).Claimed(claimed, measured(world.False)), true},
		"claimed, true":          {open(t, redLifted).Claimed(claimed, measured(world.True)), false},
		"claimed, unknown":       {open(t, redLifted).Claimed(claimed, measured(world.Unknown)), false},
		"claimed, no goal":       {open(t, "").Claimed(claimed, measured(world.Unknown)), false},
		"failure claimed":        {open(t, redLifted).Claimed(Claim{Reported: true}, measured(world.False)), false},
		"silent":                 {open(t, redLifted).Silent(measured(world.False)), false},
		"claimed after done":     {open(t, redLifted).MissionEnded(measured(world.True)).Claimed(claimed, measured(world.False)), false},
		"claimed after the end":  {open(t, redLifted).BudgetSpent(measured(world.False)).Claimed(claimed, measured(world.True)), true},
		"claimed after unknown":  {open(t, redLifted).BudgetSpent(measured(world.Unknown)).Claimed(claimed, measured(world.True)), false},
		"claimed after the stop": {open(t, redLifted).Stop().Claimed(claimed, measured(world.True)), false},
	}
	for name, c := range cases {
		if got := c.task.FalseClaim(); got != c.want {
			t.Errorf("%s: %v at %s", name, got, c.task.State)
		}
	}
}
