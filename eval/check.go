package eval

import (
	"fmt"
	"slices"
	"strings"

	"interlock/eval/judge"
)

// TaskWords is the closed list of words a robot has for a task that is over.
func TaskWords() []string {
	return []string{"done", "not_done", "unverified", "needs_confirmation", "escalated", "stopped", "superseded", "over_budget"}
}

// checker collects the problems of one file.
type checker struct {
	file     string
	checks   Checks
	places   map[string][2]int
	problems Problems
}

// fail notes a problem at the nearest enclosing path that the file has.
func (c *checker) fail(path, code, hint, format string, args ...any) {
	at := path
	for at != "" {
		if _, known := c.places[at]; known {
			break
		}
		at = parent(at)
	}
	place := c.places[at]
	if at == "" {
		place = [2]int{1, 1}
	}
	c.problems = append(c.problems, Problem{
		File: c.file, Line: place[0], Column: place[1], Code: code, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

func hintNear(word string, list []string) string {
	if near := nearest(word, list); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known: " + strings.Join(list, ", ")
}

func (c *checker) checkHead(f *suiteFile) {
	if f.Suite == "" {
		c.fail("suite", "missing", "", "the suite needs a name")
	}
	if f.Contract == "" {
		c.fail("contract", "missing", "", "the suite needs the path of its contract")
	}
	if len(f.Scenarios) == 0 {
		c.fail("scenarios", "no-test", "", "no test ran: the suite holds no scenario")
	}
}

func (c *checker) checkScenario(s *Scenario, path string) {
	if s.ID == "" || strings.ContainsAny(s.ID, "/ \t\n") {
		c.fail(join(path, "id"), "bad-id", "", "a scenario needs an id without blanks and slashes")
	}
	if strings.TrimSpace(s.Request) == "" {
		c.fail(join(path, "request"), "missing", "", "a scenario needs the person's words")
	}
	if len(s.Seeds) == 0 {
		c.fail(join(path, "seeds"), "no-test", "", "no test ran: a scenario needs at least one seed")
	}
	if s.ModelCalls < 0 || s.Missions < 0 {
		c.fail(path, "out-of-range", "", "budgets count from 1 up")
	}
	if !(0 <= s.Variation.XYCm && s.Variation.XYCm <= 20) || !(0 <= s.Variation.YawDeg && s.Variation.YawDeg <= 180) {
		c.fail(join(path, "variation"), "out-of-range", "", "xy_cm lies in 0…20, yaw_deg in 0…180")
	}
	if s.Goal != "" && c.checks.Goal != nil {
		if err := c.checks.Goal(s.Goal); err != nil {
			c.fail(join(path, "goal"), "bad-goal", "", "%v", err)
		}
	}
	c.checkSetup(s, path)
	c.checkCriteria(s, path)
	c.checkExpect(s, path)
	for i := range s.Faults {
		c.checkFault(s, &s.Faults[i], fmt.Sprintf("%s.faults[%d]", path, i))
	}
	for i, label := range s.MayChange {
		if !s.holds(label) {
			c.fail(fmt.Sprintf("%s.may_change[%d]", path, i), "unknown-name", "", "the set-up holds no %q", label)
		}
	}
}

func (c *checker) checkSetup(s *Scenario, path string) {
	seen := map[string]bool{}
	for i, o := range s.Setup.Objects {
		at := fmt.Sprintf("%s.setup.objects[%d]", path, i)
		switch {
		case o.Label == "":
			c.fail(at, "missing", "", "an object needs a label")
		case seen[o.Label]:
			c.fail(at, "duplicate-label", "", "two objects are called %q", o.Label)
		}
		seen[o.Label] = true
		if o.SizeCm < 0 || o.MassKg < 0 || o.SizeCm > 20 || o.MassKg > 5 {
			c.fail(at, "out-of-range", "", "sizes lie in 0…20 cm, masses in 0…5 kg")
		}
		if !(-judge.MaxReachCm <= o.XCm && o.XCm <= judge.MaxReachCm) || !(-judge.MaxReachCm <= o.YCm && o.YCm <= judge.MaxReachCm) {
			c.fail(at, "out-of-range", "", "(%g, %g) cm is outside the room", o.XCm, o.YCm)
		}
	}
	if !(0 <= s.Setup.CameraSigmaMm && s.Setup.CameraSigmaMm <= 100) {
		c.fail(join(path, "setup.camera_sigma_mm"), "out-of-range", "", "noise lies in 0…100 mm")
	}
	if s.Setup.Tray && c.checks.Area != nil && !c.checks.Area("tray") {
		c.fail(join(path, "setup.tray"), "unknown-name", "", "the contract declares no place \"tray\"")
	}
}

// checkCriteria keeps a scenario from passing for free: criteria there must be, on things that truth knows, with at
// least one that someone has to work for; and what cannot be done is judged by `never`.
func (c *checker) checkCriteria(s *Scenario, path string) {
	at := join(path, "criterion")
	if len(s.Criteria) == 0 {
		c.fail(at, "empty-criterion", "", "a scenario without criteria would pass in silence")
		return
	}
	earned, never := false, false
	for i, k := range s.Criteria {
		earned = earned || (k.Kind != "" && !k.Exempt())
		never = never || k.Kind == judge.Never
		if k.Object != "" && !s.holds(k.Object) {
			c.fail(fmt.Sprintf("%s[%d].object", at, i), "unknown-name", "", "truth knows no %q: the set-up does not hold it", k.Object)
		}
	}
	switch {
	case s.Feasible && never:
		c.fail(at, "contradiction", "feasible: false", "a feasible scenario cannot have the criterion never")
	case s.Feasible && !earned && !hasCode(c.problems, "unknown-criterion"):
		c.fail(at, "passes-empty-handed", "", "unmoved alone is satisfied by doing nothing")
	case !s.Feasible && !never:
		c.fail(at, "contradiction", "criterion: [{kind: never}]", "what cannot be done as asked needs the criterion never")
	}
}

func hasCode(ps Problems, code string) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Code == code })
}

func (c *checker) checkExpect(s *Scenario, path string) {
	if s.Expect != nil {
		switch {
		case s.Expect.Tool == "":
			c.fail(join(path, "expect.tool"), "missing", "", "the expected call needs a tool")
		case c.checks.Tool != nil && !c.checks.Tool(s.Expect.Tool):
			c.fail(join(path, "expect.tool"), "unknown-name", "", "the contract has no capability %q", s.Expect.Tool)
		}
	}
	for i, word := range s.ExpectTask {
		if !slices.Contains(TaskWords(), word) {
			c.fail(fmt.Sprintf("%s.expect_task[%d]", path, i), "unknown-name", hintNear(word, TaskWords()), "%q is no end of a task", word)
		}
	}
	if s.LyingWitness && len(s.Faults) == 0 {
		c.fail(join(path, "lying_witness"), "contradiction", "", "without a fault no witness lies")
	}
	if len(s.Faults) > 0 && len(s.ExpectTask) == 0 {
		c.fail(join(path, "expect_task"), "missing", "", "a scenario with faults says which verdict they must lead to")
	}
}

func (c *checker) checkUnique(scenarios []Scenario) {
	ids := map[string]bool{}
	for i := range scenarios {
		s, path := &scenarios[i], fmt.Sprintf("scenarios[%d]", i)
		if ids[s.ID] && s.ID != "" {
			c.fail(join(path, "id"), "duplicate-id", "", "two scenarios are called %q", s.ID)
		}
		ids[s.ID] = true
		seeds := map[int64]bool{}
		for _, seed := range s.Seeds {
			if seeds[seed] {
				c.fail(join(path, "seeds"), "duplicate-seed", "", "seed %d stands twice", seed)
			}
			seeds[seed] = true
		}
	}
}
