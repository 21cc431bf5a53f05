package eval_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"interlock/eval"
)

// Twelve canary agents and an honest one are told apart from their records alone.
//
// Verifies: P40
func TestCanaries(t *testing.T) {
	r := run(t, "seven", plan(2, castNames()...), &fakeLab{agents: cast()})
	classes := eval.Classify(&r)
	if len(classes) != 13 {
		t.Fatalf("%d agents classified", len(classes))
	}
	for _, c := range classes {
		if string(c.Class) != c.Agent {
			t.Errorf("%s was taken for %s (%s)", c.Agent, c.Class, c.Why)
		}
	}
}

// An agent that only claims is worth nothing in this table, and silence is no success.
//
// Verifies: P40
func TestGroups(t *testing.T) {
	r := run(t, "seven", plan(1, "always-claims", "honest", "overclaimer"), &fakeLab{agents: cast()})
	groups := eval.Groups(&r)
	if len(groups) != 6 {
		t.Fatalf("%d groups", len(groups))
	}
	always, honest, over := groups[0], groups[2], groups[4]
	if always.Done != 0 || always.DoneGivenClaimed.K != 0 || always.DoneGivenClaimed.N != 7 || always.FalseClaims != 14 {
		t.Errorf("always-claims: %+v", always)
	}
	if honest.Done != 6 || honest.FalseClaims != 0 || honest.DoneGivenClaimed != eval.NewProportion(3, 3) || honest.N != 14 || honest.Distinct != 7 {
		t.Errorf("honest: %+v", honest)
	}
	if over.DoneGivenClaimed != eval.NewProportion(3, 7) || over.Correct != 14 || over.CorrectOf != 14 || over.Rejections != 8 {
		t.Errorf("overclaimer: %+v", over)
	}
	if off := groups[5]; off.PeakForceN != 48 || off.Unsafe != 4 || over.PeakForceN != 0 || over.Unsafe != 0 {
		t.Errorf("overclaimer OFF: %+v", off)
	}
}

// Verifies: E12
func TestPassAllOfASuite(t *testing.T) {
	suite := loadShipped(t, "moves")
	for i := range suite.Scenarios {
		suite.Scenarios[i].Seeds = []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	}
	n := 0
	lab := &fakeLab{agents: cast(), tamper: func(o *eval.Outcome) {
		if o.Verdict.Done {
			n++
			o.Verdict.Done = n != 3 // one of the ten seeds of move-ok fails; all of move-units' pass
		}
	}}
	r, err := eval.Run(t.Context(), suite, eval.Plan{Agents: []string{"honest"}, Gates: []bool{true}, Repeats: 1}, lab)
	if err != nil {
		t.Fatal(err)
	}
	if got := eval.Groups(&r)[0].PassAll; got != 0.75 {
		t.Errorf("pass^5 %g, want the mean of 0.5 and 1", got)
	}
}

func TestPairs(t *testing.T) {
	lab := &fakeLab{agents: cast()}
	r := run(t, "seven", plan(1, "overclaimer", "honest"), lab)
	pairs := eval.GatePairs(&r)
	if len(pairs) != 6 || pairs[2].Measure != "unsafe" || pairs[2].Pairs != 7 || pairs[2].OnlyA != 0 || pairs[2].OnlyB != 2 {
		t.Fatalf("%+v", pairs)
	}
	loose := run(t, "seven", plan(1, "overclaimer", "honest"), &fakeLab{agents: cast(), unpinned: []string{"honest"}})
	for _, p := range eval.GatePairs(&loose) {
		if p.Agent == "honest" {
			t.Errorf("an agent whose sampling is not pinned was paired: %+v", p)
		}
	}
	again := run(t, "seven", plan(1, "overclaimer", "honest"), lab)
	if pairs, err := eval.RunPairs(&r, &again); err != nil || pairs[0].OnlyA+pairs[0].OnlyB != 0 || pairs[0].Pairs != 14 {
		t.Errorf("a run against itself: %v %+v", err, pairs)
	}
}

// Verifies: E13
func TestRunsThatAreNotPaired(t *testing.T) {
	base := run(t, "moves", plan(1, "honest"), &fakeLab{agents: cast()})
	for name, change := range map[string]func(r *eval.Report){
		"suite":    func(r *eval.Report) { r.SuiteHash = "other" },
		"contract": func(r *eval.Report) { r.Bench.ContractHash = "other" },
		"tools":    func(r *eval.Report) { r.Bench.ToolsHash = "other" },
		"body":     func(r *eval.Report) { r.Body = "other" },
	} {
		other := base
		change(&other)
		if _, err := eval.RunPairs(&base, &other); !errors.Is(err, eval.ErrNotComparable) {
			t.Errorf("another %s: %v, want ErrNotComparable", name, err)
		}
	}
}

// The ledger holds the robot's own word against truth; one that trusts claims is caught by it.
//
// Verifies: E14
func TestLedger(t *testing.T) {
	gullible := &fakeLab{agents: cast(), tamper: func(o *eval.Outcome) {
		if o.Claimed != nil && *o.Claimed {
			o.Task = "done"
		}
	}}
	for name, tc := range map[string]struct {
		lab         *fakeLab
		wrong, miss eval.Proportion
		unknown     int
	}{
		"a robot that believes":     {gullible, eval.NewProportion(4, 4), eval.NewProportion(0, 3), 0},
		"a robot that measures":     {&fakeLab{agents: cast()}, eval.NewProportion(0, 4), eval.NewProportion(0, 3), 0},
		"a robot that never dares":  {&fakeLab{agents: cast(), tamper: func(o *eval.Outcome) { o.Task = "unverified" }}, eval.NewProportion(0, 4), eval.NewProportion(3, 3), 7},
		"two agents, the same fate": {&fakeLab{agents: map[string]fakeAgent{"overclaimer": cast()["overclaimer"], "other": cast()["silent"]}}, eval.NewProportion(0, 4), eval.NewProportion(0, 3), 0},
	} {
		agents := []string{"overclaimer"}
		if len(tc.lab.agents) == 2 {
			agents = append(agents, "other")
		}
		r := run(t, "seven", plan(1, agents...), tc.lab)
		l := eval.TotalLedger(&r)
		if l.FalseSuccess != tc.wrong || l.MissedDone != tc.miss || l.Unknown.K != tc.unknown || l.Failures != 8*len(agents) || l.FalseClaims != 8 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestTableFits(t *testing.T) {
	r := run(t, "seven", plan(2, castNames()...), &fakeLab{agents: cast(), unpinned: []string{"mumbler"}})
	r.Surplus = map[string][]string{"move-ok": {"tip_at(home)"}}
	var table, list bytes.Buffer
	if err := errors.Join(eval.WriteTable(&table, &r), eval.WriteScenarios(&list, &r)); err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(table.String(), "n counts episodes")
	for _, line := range strings.Split(tables+list.String(), "\n") {
		if utf8.RuneCountInString(line) > 160 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	for _, must := range []string{"mumbler†", "0.43 (3/7) 0.10–0.82", "move-ok asks more than", "outcome_signature " + r.Last().OutcomeSignature, "true (FALSE)", "pick up the blue cube"} {
		if !strings.Contains(table.String()+list.String(), must) {
			t.Errorf("%q is missing from\n%s\n%s", must, table.String(), list.String())
		}
	}
	t.Logf("\n%s\n%s", table.String(), list.String())
}

// The page stands alone, is well formed, and says what the table says.
//
// Verifies: E15
func TestPage(t *testing.T) {
	r := run(t, "seven", plan(2, castNames()...), &fakeLab{agents: cast()})
	var page bytes.Buffer
	if err := eval.WriteHTML(&page, &r, func(id string) string { return "interlock replay runs/1 " + id }); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, must := range []string{"<svg", "interlock replay runs/1 move-floor/overclaimer/off/s0/r0", r.SetupHash, "prefers-color-scheme: dark", "0.43 (3/7)", "Tip height, table force and jaw gap"} {
		if !strings.Contains(text, must) {
			t.Errorf("%q is missing", must)
		}
	}
	for _, never := range []string{"http://", "https://", "<script", "src=", "NaN", "ZgotmplZ"} {
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "http://www.w3.org/1999/xlink", ""), never) {
			t.Errorf("the page holds %q", never)
		}
	}
	for i, part := range strings.Split(text, "<svg")[1:] {
		picture := "<svg" + part[:strings.Index(part, "</svg>")] + "</svg>"
		d := xml.NewDecoder(strings.NewReader(picture))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("picture %d is not well formed: %v", i, err)
			}
		}
	}
}

func TestEmptyReportRenders(t *testing.T) {
	r := eval.Report{Suite: "none", Agents: []string{"a"}, Gates: []bool{true}}
	if err := errors.Join(eval.WriteHTML(io.Discard, &r, nil), eval.WriteTable(io.Discard, &r), eval.WriteScenarios(io.Discard, &r)); err != nil {
		t.Fatal(err)
	}
}
