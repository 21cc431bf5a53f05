package verify

import (
	"strings"
	"testing"

	"interlock/world"
)

// TestFailureRecord: what a planner gets names the promise, what was expected and measured, by whom, and what is left.
//
// Verifies: V01
func TestFailureRecord(t *testing.T) {
	m := moveTo(t)
	m.DriverError, m.Attempt, m.BudgetLeft = "overload", 2, 1
	got, _ := run(t, m, func(now int) []world.Fact { return []world.Fact{tip(23, now-20)} })
	f := got.Failure
	if f == nil {
		t.Fatalf("%+v", got)
	}
	checks := map[string][2]any{
		"tool":         {f.Tool, "move_to"},
		"args":         {f.Args, `{"x_cm":20,"y_cm":5,"z_cm":15}`},
		"violated":     {f.ViolatedPostcondition, "tip_at_target"},
		"unit":         {f.Unit, "mm"},
		"tolerance":    {f.Tolerance, "10"},
		"source":       {f.Source, "encoders"},
		"age":          {f.AgeMS, int64(20)},
		"phase":        {f.Phase, "settle"},
		"elapsed":      {f.ElapsedMS, int64(2500)},
		"attempt":      {f.Attempt, 2},
		"kind":         {f.Kind, world.KindUnknown},
		"driver error": {f.DriverError, "overload"},
		"budget left":  {f.BudgetLeft, 1},
		"timestamp":    {f.TimestampMS, int64(3500)},
	}
	for name, c := range checks {
		if c[0] != c[1] {
			t.Errorf("%s is %v, want %v", name, c[0], c[1])
		}
	}
	if !strings.HasPrefix(f.ObservedValue, "30") && !strings.HasPrefix(f.ObservedValue, "29.99") {
		t.Errorf("observed %q, want the 30 mm that are left", f.ObservedValue)
	}
	if f.Expected == "" || f.ReplanReason == "" || f.WorldAfter["tip"] == "" {
		t.Errorf("%+v", f)
	}
}

// TestFailureOfTheLastFalse: true again when the time was up is a failure of what was false then.
func TestFailureOfTheLastFalse(t *testing.T) {
	got, _ := run(t, moveTo(t), arrives(3520))
	if got.State != Failed || !strings.HasPrefix(got.Failure.ObservedValue, "70") && !strings.HasPrefix(got.Failure.ObservedValue, "69.99") {
		t.Errorf("%+v", got.Failure)
	}
}

// TestFailureBetweenTwoLooks: nobody looked just when the time was up, and later it is true. The failure is of what was
// last measured false, number and words.
func TestFailureBetweenTwoLooks(t *testing.T) {
	m := moveTo(t)
	m.StartedAt, m.EndedAt = at(1000), at(2000)
	w, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	w.Observe(world.NewSnapshot(at(3490), []world.Fact{tip(23, 3490)}))
	got := w.Observe(world.NewSnapshot(at(3510), []world.Fact{tip(20, 3510)}))
	f := got.Failure
	if got.State != Failed || f == nil {
		t.Fatalf("%+v", got)
	}
	if f.Tolerance != "10" || f.Source != "encoders" || !strings.HasPrefix(f.ObservedValue, "30") && !strings.HasPrefix(f.ObservedValue, "29.99") {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(f.ReplanReason, f.ObservedValue) {
		t.Errorf("the reason %q does not tell %s", f.ReplanReason, f.ObservedValue)
	}
}

// TestKind: only what was measured says whether trying again can help.
//
// Verifies: V01
func TestKind(t *testing.T) {
	off := func(now int) []world.Fact { return []world.Fact{tip(23, now)} }
	first, _ := run(t, moveTo(t), off)
	other := *first.Failure
	other.Args = `{"x_cm":1}`
	cases := map[string]struct {
		before *world.FailureRecord
		s      sensors
		want   world.FailureKind
	}{
		"first try":                     {nil, off, world.KindUnknown},
		"same call, same value":         {first.Failure, off, world.Permanent},
		"another call before":           {&other, off, world.KindUnknown},
		"was there and slipped":         {nil, slips, world.Transient},
		"same call, another value":      {first.Failure, func(now int) []world.Fact { return []world.Fact{tip(22, now)} }, world.KindUnknown},
		"slipped after the same before": {first.Failure, slips, world.Transient},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := moveTo(t)
			m.Before = c.before
			got, _ := run(t, m, c.s)
			if got.Failure == nil || got.Failure.Kind != c.want {
				t.Errorf("%+v, want %s", got.Failure, c.want)
			}
		})
	}
}
