package verify

import (
	"math"
	"slices"
	"testing"

	"interlock/contract"
	"interlock/world"
)

// TestInvariants: measured false violates, unknown is counted, true is silent; each by its own rule.
//
// Verifies: V02
func TestInvariants(t *testing.T) {
	c := bench(t).Capability("move_to")
	force := func(n float64, ms int) world.Fact { return number("table_force_n", "contact_sensor", n, ms) }
	gap := func(mm float64, ms int) world.Fact { return number("jaw_gap_mm", "gripper_encoder", mm, ms) }
	cases := map[string]struct {
		mode     string
		facts    []world.Fact
		violated []string
		unknown  []string
	}{
		"all well":              {"sim", []world.Fact{force(0, 1000), gap(20, 1000)}, nil, nil},
		"exactly at the bound":  {"sim", []world.Fact{force(5, 1000), gap(1, 1000)}, nil, nil},
		"pressed":               {"sim", []world.Fact{force(5.01, 1000), gap(20, 1000)}, []string{"no_table_push"}, nil},
		"both":                  {"sim", []world.Fact{force(40, 1000), gap(0, 1000)}, []string{"no_table_push", "grip_kept"}, nil},
		"force not measured":    {"sim", []world.Fact{gap(20, 1000)}, nil, []string{"no_table_push"}},
		"force stale":           {"sim", []world.Fact{force(40, 700), gap(20, 1000)}, nil, []string{"no_table_push"}},
		"force not a number":    {"sim", []world.Fact{force(math.NaN(), 1000), gap(20, 1000)}, nil, []string{"no_table_push"}},
		"nothing measured":      {"sim", nil, nil, []string{"no_table_push", "grip_kept"}},
		"no sensor on hardware": {"hardware", []world.Fact{gap(20, 1000)}, nil, nil},
		"one unknown, one not":  {"sim", []world.Fact{gap(0, 1000)}, []string{"grip_kept"}, []string{"no_table_push"}},
	}
	for name, k := range cases {
		t.Run(name, func(t *testing.T) {
			v := NewInvariants(c, args(), k.mode)
			var rules []string
			for _, f := range v.Observe(world.NewSnapshot(at(1000), k.facts)) {
				rules = append(rules, f.Rule)
			}
			if !slices.Equal(rules, k.violated) {
				t.Errorf("violated %v, want %v", rules, k.violated)
			}
			var unknown []string
			for _, u := range v.Unmeasured() {
				unknown = append(unknown, u.Rule)
				if u.Ticks != 1 || len(u.Missing) == 0 {
					t.Errorf("unmeasured %+v", u)
				}
			}
			if !slices.Equal(unknown, k.unknown) || v.Ticks() != 1 {
				t.Errorf("unknown %v of %d ticks, want %v", unknown, v.Ticks(), k.unknown)
			}
		})
	}
}

// TestViolationSaysWhatWasMeasured: the number, its bound and its sensor come with the rule.
func TestViolationSaysWhatWasMeasured(t *testing.T) {
	v := NewInvariants(bench(t).Capability("move_to"), args(), "sim")
	s := world.NewSnapshot(at(1000), []world.Fact{number("table_force_n", "contact_sensor", 41, 990), number("jaw_gap_mm", "gripper_encoder", 20, 990)})
	got := v.Observe(s)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	f := got[0]
	if f.OnViolation != contract.ViolationStop || f.Cause.Got != "41" || f.Cause.Limit != "5" || f.Cause.Fact != "table_force_n" {
		t.Errorf("%+v", f)
	}
	if f.Says != "pressed with 41 N, more than 5 N" {
		t.Errorf("says %q", f.Says)
	}
	if len(f.Evidence) != 1 || f.Evidence[0].Witness != "contact_sensor" {
		t.Errorf("evidence %+v", f.Evidence)
	}
}

// TestUnmeasuredIsCounted: an unknown invariant does not stop anything, and nobody can say later that it was kept.
//
// Verifies: V02
func TestUnmeasuredIsCounted(t *testing.T) {
	v := NewInvariants(bench(t).Capability("move_to"), args(), "sim")
	for now := 1000; now < 2000; now += 20 {
		facts := []world.Fact{number("jaw_gap_mm", "gripper_encoder", 20, now)}
		if now >= 1500 {
			facts = append(facts, number("table_force_n", "contact_sensor", 0, now))
		}
		if got := v.Observe(world.NewSnapshot(at(now), facts)); len(got) > 0 {
			t.Fatalf("at %d ms: %+v", now, got)
		}
	}
	got := v.Unmeasured()
	if len(got) != 1 || got[0].Rule != "no_table_push" || got[0].Ticks != 25 || v.Ticks() != 50 {
		t.Errorf("%+v of %d", got, v.Ticks())
	}
}
