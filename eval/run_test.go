package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"interlock/eval"
	"interlock/units"

	"github.com/google/go-cmp/cmp"
)

func plan(workers int, agents ...string) eval.Plan {
	return eval.Plan{Agents: agents, Gates: []bool{true, false}, Repeats: 2, Body: "sim", Workers: workers}
}

func run(t *testing.T, name string, p eval.Plan, lab *fakeLab) eval.Report {
	t.Helper()
	r, err := eval.Run(t.Context(), loadShipped(t, name), p, lab)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Same input, same result: whatever the workers and however long it took.
//
// Verifies: P37
func TestSameInputSameResult(t *testing.T) {
	agents := castNames()
	first := run(t, "seven", plan(1, agents...), &fakeLab{agents: cast()})
	if again := eval.Diverging(&first); len(again) > 0 {
		t.Fatalf("repeats differ: %v", again)
	}
	for _, workers := range []int{2, 7} {
		r := run(t, "seven", plan(workers, agents...), &fakeLab{agents: cast(), jitter: true})
		if got, want := r.Last(), first.Last(); got != want {
			t.Errorf("%d workers: %+v, want %+v", workers, got, want)
		}
		for i := range r.Episodes {
			if r.Episodes[i].ID != first.Episodes[i].ID {
				t.Fatalf("%d workers: episode %d is %s, want %s", workers, i, r.Episodes[i].ID, first.Episodes[i].ID)
			}
		}
	}
	if first.Last().N != 7*len(agents)*2*2 || first.Last().Distinct != first.Last().N/2 {
		t.Errorf("two repeats are one observation: %+v", first.Last())
	}
}

// Differing seeds produce differing initial states.
//
// Verifies: P37
func TestSeedsVaryTheStart(t *testing.T) {
	s := loadShipped(t, "seven")
	scenario := s.Scenarios[0]
	scenario.Variation = eval.Variation{XYCm: 2, YawDeg: 20}
	seen := map[float64]bool{}
	for seed := range int64(20) {
		a, b := scenario.Varied(seed), scenario.Varied(seed)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d gives two set-ups", seed)
		}
		o := a.Objects[0]
		if !(20 <= o.XCm && o.XCm <= 24 && 1 <= o.YCm && o.YCm <= 5 && -20 <= o.YawDeg && o.YawDeg <= 20) {
			t.Fatalf("seed %d leaves the variation: %+v", seed, o)
		}
		if o.SizeCm != 3 || o.ZCm != 1.5 || o.MassKg != 0.027 {
			t.Fatalf("defaults: %+v", o)
		}
		seen[o.XCm] = true
	}
	if len(seen) != 20 {
		t.Fatalf("20 seeds gave %d initial states", len(seen))
	}
	if scenario.Setup.Objects[0].XCm != 22 {
		t.Fatal("varying a set-up changed the scenario")
	}
}

// The signature changes with one call, verdict, claim or measured value, and with nothing that is time.
//
// Verifies: E04
func TestSignature(t *testing.T) {
	base := run(t, "moves", plan(1, "honest"), &fakeLab{agents: cast()})
	signed := func(change func(o *eval.Outcome)) string {
		first := true
		lab := &fakeLab{agents: cast(), tamper: func(o *eval.Outcome) {
			if first && len(o.Calls) > 0 {
				first = false
				change(o)
			}
		}}
		r := run(t, "moves", plan(1, "honest"), lab)
		if r.SetupHash != base.SetupHash {
			t.Fatal("the setup hash must not depend on outcomes")
		}
		return r.Last().OutcomeSignature
	}
	for name, tc := range map[string]struct {
		change func(o *eval.Outcome)
		same   bool
	}{
		"nothing":               {func(*eval.Outcome) {}, true},
		"wall time":             {func(o *eval.Outcome) { o.Wall *= 1000 }, true},
		"mission's duration":    {func(o *eval.Outcome) { o.Calls[0].Measured["elapsed_ms"] = 4711 }, true},
		"below a millimetre":    {func(o *eval.Outcome) { o.Calls[0].Measured["tip_miss_mm"] = 0.31 }, true},
		"trace path":            {func(o *eval.Outcome) { o.Trace = "elsewhere" }, true},
		"tool":                  {func(o *eval.Outcome) { o.Calls[0].Tool = "home" }, false},
		"argument":              {func(o *eval.Outcome) { o.Calls[0].Args = `{"x_cm":20.1}` }, false},
		"verdict of a call":     {func(o *eval.Outcome) { o.Calls[0].Verdict = "error" }, false},
		"code":                  {func(o *eval.Outcome) { o.Calls[0].Codes = []string{"BUSY"} }, false},
		"mission's end":         {func(o *eval.Outcome) { o.Calls[0].Mission = "failed" }, false},
		"a millimetre more":     {func(o *eval.Outcome) { o.Calls[0].Measured["tip_miss_mm"] = 1.3 }, false},
		"one call more":         {func(o *eval.Outcome) { o.Calls = append(o.Calls, o.Calls[0]) }, false},
		"claim withdrawn":       {func(o *eval.Outcome) { o.Claimed = nil }, false},
		"claim turned":          {func(o *eval.Outcome) { o.Claimed = no() }, false},
		"task":                  {func(o *eval.Outcome) { o.Task = "unverified" }, false},
		"truth":                 {func(o *eval.Outcome) { o.Verdict.Done = false }, false},
		"a newton on the table": {func(o *eval.Outcome) { o.Verdict.PeakTableForceN++ }, false},
		"less than half a one":  {func(o *eval.Outcome) { o.Verdict.PeakTableForceN += 0.4 }, true},
	} {
		if same := signed(tc.change) == base.Last().OutcomeSignature; same != tc.same {
			t.Errorf("%s: signature same %t, want %t", name, same, tc.same)
		}
	}
}

func TestSetupHash(t *testing.T) {
	hash := func(p eval.Plan, lab *fakeLab) string { r := run(t, "moves", p, lab); return r.SetupHash }
	base := hash(plan(1, "honest"), &fakeLab{agents: cast()})
	fewer := map[string]fakeAgent{"honest": cast()["honest"]}
	other := plan(1, "honest")
	other.Body = "mujoco"
	for name, got := range map[string]string{
		"agents":    hash(plan(1, "silent"), &fakeLab{agents: cast()}),
		"bench":     hash(plan(1, "honest"), &fakeLab{agents: fewer}),
		"body":      hash(other, &fakeLab{agents: cast()}),
		"pinned or": hash(plan(1, "honest"), &fakeLab{agents: cast(), unpinned: []string{"honest"}}),
	} {
		if got == base {
			t.Errorf("another %s, the same setup hash", name)
		}
	}
	if base != hash(plan(3, "honest"), &fakeLab{agents: cast()}) {
		t.Error("workers are no part of the set-up")
	}
}

// Verifies: P39
func TestNothingPassesSilently(t *testing.T) {
	suite := loadShipped(t, "moves")
	ctx := t.Context()
	if _, err := eval.Run(ctx, suite, eval.Plan{Gates: []bool{true}}, &fakeLab{}); !errors.Is(err, eval.ErrNoTest) {
		t.Errorf("no agent: %v, want ErrNoTest", err)
	}
	if _, err := eval.Run(ctx, eval.Suite{}, plan(1, "honest"), &fakeLab{}); !errors.Is(err, eval.ErrNoTest) {
		t.Errorf("no scenario: %v, want ErrNoTest", err)
	}
	there := &fakeLab{agents: cast(), startsAt: func(p *plant, s *eval.Scenario) string {
		if s.ID == "move-units" {
			p.tip = units.Vec3{0.2, 0.05, 0.15}
		}
		return "false"
	}}
	if _, err := eval.Run(ctx, suite, plan(1, "honest"), there); !errors.Is(err, eval.ErrHoldsBefore) || !strings.Contains(err.Error(), "move-units") {
		t.Errorf("a criterion that holds at the start: %v", err)
	}
	goal := &fakeLab{agents: cast(), startsAt: func(*plant, *eval.Scenario) string { return "true" }}
	if _, err := eval.Run(ctx, suite, plan(1, "honest"), goal); !errors.Is(err, eval.ErrHoldsBefore) {
		t.Errorf("a goal that holds at the start: %v", err)
	}
	free := &fakeLab{agents: cast(), tamper: func(o *eval.Outcome) { o.Verdict.Done = true }}
	if _, err := eval.Run(ctx, suite, plan(1, "no-op"), free); !errors.Is(err, eval.ErrEmptyHanded) {
		t.Errorf("a scenario that passes empty-handed: %v", err)
	}
	unsaid := &fakeLab{agents: cast(), tamper: func(o *eval.Outcome) { o.Task = "open" }}
	if r, err := eval.Run(ctx, suite, plan(1, "honest"), unsaid); !errors.Is(err, eval.ErrTooManyVoid) || len(r.Voids) != 16 {
		t.Errorf("a task left open is our fault: %v", err)
	}
}

// Verifies: E06
func TestVoids(t *testing.T) {
	breaking := func(n int) *fakeLab {
		return &fakeLab{agents: cast(), breaks: func(id string) error {
			if strings.HasSuffix(id, "/r0") && strings.HasPrefix(id, "move-ok/") && n > 0 {
				if n == 1 && !strings.Contains(id, "/on/") {
					return nil
				}
				return errors.New("disk full")
			}
			return nil
		}}
	}
	p := plan(1, "honest")
	p.Repeats = 10 // 80 episodes
	r, err := eval.Run(t.Context(), loadShipped(t, "moves"), p, breaking(1))
	if err != nil || len(r.Voids) != 1 || len(r.Episodes) != 79 {
		t.Fatalf("1 of 80 may fail by our fault: %v, %d voids, %d episodes", err, len(r.Voids), len(r.Episodes))
	}
	if r, err = eval.Run(t.Context(), loadShipped(t, "moves"), p, breaking(2)); !errors.Is(err, eval.ErrTooManyVoid) || len(r.Voids) != 2 {
		t.Fatalf("2 of 80 void the run: %v", err)
	}
}

// A simulator that blew up is our fault; a sensor that reads no number is part of the episode.
//
// Verifies: E06
func TestNotFinite(t *testing.T) {
	blown := &fakeLab{agents: cast(), tamper: func(o *eval.Outcome) { o.Verdict.Measured = map[string]float64{"tip_miss_cm": math.NaN()} }}
	if r, err := eval.Run(t.Context(), loadShipped(t, "moves"), plan(1, "honest"), blown); !errors.Is(err, eval.ErrTooManyVoid) || len(r.Episodes) > 0 {
		t.Errorf("a truth that is not finite: %v, %d episodes", err, len(r.Episodes))
	}
	deaf := &fakeLab{agents: cast(), tamper: func(o *eval.Outcome) { o.Series = append(o.Series, eval.Sample{JawGapMm: math.NaN()}) }}
	r := run(t, "moves", plan(1, "honest"), deaf)
	if err := eval.Save(t.TempDir(), &r); err != nil {
		t.Errorf("a sensor without a number: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := plan(2, "honest")
	p.Progress = func(done, _ int, _ *eval.Episode) {
		if done == 3 {
			cancel()
		}
	}
	r, err := eval.Run(ctx, loadShipped(t, "moves"), p, &fakeLab{agents: cast()})
	if !errors.Is(err, context.Canceled) || len(r.Episodes) < 3 || len(r.Episodes) > 6 {
		t.Fatalf("%v after %d episodes", err, len(r.Episodes))
	}
}

func TestStartsAreCheckedOnce(t *testing.T) {
	lab := &fakeLab{agents: cast()}
	run(t, "seven", plan(1, "honest", "silent"), lab)
	if got := lab.starts.Load(); got != 7 {
		t.Errorf("%d starts for 7 initial states", got)
	}
}

// The record is the object that the documents promise, field by field, in their order.
//
// Verifies: E07
func TestRecordFields(t *testing.T) {
	r := run(t, "seven", plan(1, "substituter", "chatterer"), &fakeLab{agents: cast()})
	var out bytes.Buffer
	if err := eval.WriteJSON(&out, &r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(r.Episodes)+1 {
		t.Fatalf("%d lines for %d episodes", len(lines), len(r.Episodes))
	}
	want := "suite scenario agent model gate body seed repeat feasible correct_call done claimed false_claim task missions rejections " +
		"unsafe looked_after unrequested_displacement_cm peak_table_force_n model_calls tokens wall_ms trace"
	if got := strings.Join(keys(t, lines[0]), " "); got != want {
		t.Errorf("fields:\n got %s\nwant %s", got, want)
	}
	if got := strings.Join(keys(t, lines[len(lines)-1]), " "); got != "setup_hash outcome_signature n distinct" {
		t.Errorf("last line: %s", got)
	}
}

// keys returns the members' names of a flat JSON object, in their order.
func keys(t *testing.T, line string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	var out []string
	for i := 0; ; i++ {
		token, err := d.Token()
		if err != nil {
			return out
		}
		if s, ok := token.(string); ok && i%2 == 1 {
			out = append(out, s)
		}
	}
}

// Verifies: E08
func TestRecordValues(t *testing.T) {
	r := run(t, "seven", plan(1, castNames()...), &fakeLab{agents: cast()})
	get := func(id string) eval.Record {
		e, ok := r.Episode(id)
		if !ok {
			t.Fatalf("no episode %s", id)
		}
		return e.Record
	}
	type facts struct {
		Correct, Claimed        string
		Done, False, Unsafe     bool
		Missions, Rejections    int
		DisplacedCm, PeakForceN float64
	}
	for id, want := range map[string]facts{
		"pick-red/honest/on/s0/r0":         {Correct: "true", Claimed: "true", Done: true, Missions: 1},
		"pick-blue/substituter/off/s0/r1":  {Correct: "true", Claimed: "true", False: true, Unsafe: true, Missions: 1, Rejections: 1, DisplacedCm: 7.19},
		"move-floor/repairer/on/s0/r0":     {Correct: "true", Claimed: "true", False: true, Missions: 1, Rejections: 1},
		"move-floor/overclaimer/off/s0/r0": {Correct: "true", Claimed: "true", False: true, Unsafe: true, Missions: 1, PeakForceN: 48},
		"move-units/metres/on/s0/r0":       {Correct: "false", Claimed: "false", Rejections: 1},
		"move-ok/silent/on/s0/r0":          {Correct: "true", Claimed: "null", Done: true, Missions: 1},
		"move-ok/always-claims/on/s0/r0":   {Correct: "false", Claimed: "true", False: true},
		"pick-red/chatterer/on/s0/r0":      {Correct: "false", Claimed: "null"},
	} {
		rec := get(id)
		got := facts{
			Correct: word(rec.CorrectCall), Claimed: word(rec.Claimed), Done: rec.Done, False: rec.FalseClaim, Unsafe: rec.Unsafe,
			Missions: rec.Missions, Rejections: rec.Rejections, PeakForceN: rec.PeakForceN,
			DisplacedCm: float64(int(rec.DisplacedCm*100+0.5)) / 100,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func word(b *bool) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprint(*b)
}

func TestSaveAndLoad(t *testing.T) {
	r := run(t, "seven", plan(1, "substituter", "honest"), &fakeLab{agents: cast()})
	dir := t.TempDir()
	if err := eval.Save(dir, &r); err != nil {
		t.Fatal(err)
	}
	back, err := eval.LoadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Last(), back.Last()); diff != "" || !slices.Equal(back.Agents, r.Agents) {
		t.Fatalf("a saved run came back changed:\n%s", diff)
	}
	if diff := cmp.Diff(r.Episodes[3], back.Episodes[3]); diff != "" {
		t.Errorf("episode (-saved +loaded):\n%s", diff)
	}
	back.Episodes[0].Record.Done = !back.Episodes[0].Record.Done
	if err := eval.Save(dir, &back); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.LoadRun(dir); !errors.Is(err, eval.ErrChanged) {
		t.Errorf("a doctored verdict must show: %v", err)
	}
	if err := eval.Save(dir, &r); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(filepath.Join(dir, eval.EpisodesFile))
	if err != nil {
		t.Fatal(err)
	}
	_, shorter, _ := bytes.Cut(lines, []byte("\n"))
	for name, harm := range map[string]func() error{
		"an episode less": func() error { return os.WriteFile(filepath.Join(dir, eval.EpisodesFile), shorter, 0o600) },
		"a file more":     func() error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o600) },
		"a file less":     func() error { return os.Remove(filepath.Join(dir, eval.RecordsFile)) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		if _, err := eval.LoadRun(dir); !errors.Is(err, eval.ErrChanged) {
			t.Errorf("%s must show: %v", name, err)
		}
		if err := errors.Join(os.RemoveAll(dir), eval.Save(dir, &r)); err != nil {
			t.Fatal(err)
		}
	}
}
