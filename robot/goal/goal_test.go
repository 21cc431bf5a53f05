package goal

import (
	"slices"
	"strings"
	"testing"

	"interlock/reject"
	"interlock/units"
	"interlock/world"
)

// TestFixRefuses: what the contract does not understand or what measures nothing is no goal.
//
// Verifies: G01
func TestFixRefuses(t *testing.T) {
	c := bench(t, false)
	cases := map[string]string{
		"no condition":         "lift it",
		"unknown word":         `raised("red cube")`,
		"unknown fact":         "torch_n > 1.0",
		"an argument":          "args.x_cm > 1.0",
		"not a truth":          "jaw_gap_mm",
		"measures nothing":     "1.0 < 2.0",
		"always true":          "true",
		"mixed units":          "jaw_gap_mm >= bottom_cm(objects, \"red cube\")",
		"not a number of ours": "jaw_gap_mm >= \"15\"",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			g, l := Fix(c, text)
			if g != nil || len(l) == 0 {
				t.Fatalf("accepted: %v", l)
			}
			for _, r := range l {
				if r.Code != reject.Malformed || r.Field != "goal" || r.Rule == "" || r.Says == "" {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// TestNoTextIsNoGoal, and no refusal.
func TestNoTextIsNoGoal(t *testing.T) {
	for _, text := range []string{"", "  \n"} {
		if g, l := Fix(bench(t, false), text); g != nil || l != nil {
			t.Errorf("%q: %v %v", text, g, l)
		}
	}
}

// TestObjects: a goal licenses what it names, by the vocabulary's label.
//
// Verifies: G02
func TestObjects(t *testing.T) {
	cases := map[string][]string{
		redLifted:             {"red cube"},
		`lifted("red block")`: {"red cube"},
		`in_region(objects, "red cube", "tray") && lifted("blue cube")`: {"blue cube", "red cube"},
		`distance_mm(tip, point_cm(20.0, 5.0, 15.0)) <= 10.0`:           nil,
		`lifted("green cube")`: {"green cube"},
		`lifted("red cube") || lifted("red block") || !seen(objects, "blue cube")`: {"blue cube", "red cube"},
	}
	for text, want := range cases {
		g, l := Fix(bench(t, false), text)
		if len(l) > 0 {
			t.Errorf("%s: %v", text, l)
			continue
		}
		if !slices.Equal(g.Objects(), want) {
			t.Errorf("%s names %q, want %q", text, g.Objects(), want)
		}
		if g.Text() != text {
			t.Errorf("text %q", g.Text())
		}
	}
}

// TestMeasure: a goal is measured like a postcondition.
//
// Verifies: G01
// Verifies: P16
func TestMeasure(t *testing.T) {
	c := bench(t, false)
	cases := map[string]struct {
		goal  string
		facts func(now int) []world.Fact
		want  world.Truth
	}{
		"lifted":                  {redLifted, func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 20, 0, 8))} }, world.True},
		"on the table":            {redLifted, func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 20, 0, 0))} }, world.False},
		"only the other one":      {redLifted, func(now int) []world.Fact { return []world.Fact{seen(now, cube("blue cube", 20, 0, 8))} }, world.Unknown},
		"no camera":               {redLifted, func(int) []world.Fact { return nil }, world.Unknown},
		"camera stands still":     {redLifted, func(int) []world.Fact { return []world.Fact{seen(1000, cube("red cube", 20, 0, 8))} }, world.Unknown},
		"seen before the start":   {redLifted, func(int) []world.Fact { return []world.Fact{seen(990, cube("red cube", 20, 0, 8))} }, world.Unknown},
		"dropped after 100 ms":    {redLifted, dropped, world.False},
		"carried over the tray":   {`in_region(objects, "red cube", "tray") && bottom_cm(objects, "red cube") <= 0.5`, carried, world.False},
		"put into the tray":       {`in_region(objects, "red cube", "tray")`, func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 15, -15, 0))} }, world.True},
		"unknown does not matter": {`lifted("red cube") || lifted("blue cube")`, func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 20, 0, 8))} }, world.True},
		"false whatever else":     {`lifted("red cube") && lifted("green cube")`, func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 20, 0, 0))} }, world.False},
		"one witness of two":      {`lifted("red cube") && distance_mm(tip, point_cm(20.0, 0.0, 10.0)) <= 10.0`, func(now int) []world.Fact { return []world.Fact{seen(now, cube("red cube", 20, 0, 8)), tip(20, 1000)} }, world.Unknown},
	}
	for name, k := range cases {
		t.Run(name, func(t *testing.T) {
			g, l := Fix(c, k.goal)
			if len(l) > 0 {
				t.Fatal(l)
			}
			m := measure(g, k.facts)
			if m.Truth != k.want {
				t.Errorf("%s, want %s", m.Truth, k.want)
			}
			if m.Truth == world.True && (len(m.Evidence) == 0 || m.Evidence[0].StartedAtMS != 1000 || m.Evidence[0].Witness == "" || m.Evidence[0].Threshold == "") {
				t.Errorf("evidence %+v", m.Evidence)
			}
		})
	}
}

func dropped(now int) []world.Fact {
	height := 8.0
	if now > 1100 {
		height = 0
	}
	return []world.Fact{seen(now, cube("red cube", 20, 0, height))}
}

// carried is a cube on its way through the column over the tray, which then leaves it again.
func carried(now int) []world.Fact {
	y := -float64(now-1000) / 100
	return []world.Fact{seen(now, cube("red cube", 15, y, 10))}
}

// TestTruthNow looks once and certifies nothing.
func TestTruthNow(t *testing.T) {
	g, _ := Fix(bench(t, false), redLifted)
	truth, evidence := g.Truth(world.NewSnapshot(at(100), []world.Fact{seen(90, cube("red cube", 20, 0, 8))}))
	if truth != world.True || len(evidence) != 1 {
		t.Errorf("%s %+v", truth, evidence)
	}
	if truth, _ := g.Truth(world.NewSnapshot(at(1000), nil)); truth != world.Unknown {
		t.Errorf("nothing seen: %s", truth)
	}
}

// TestWatchIsSettledOnce: the first settled answer stays.
func TestWatchIsSettledOnce(t *testing.T) {
	g, _ := Fix(bench(t, false), redLifted)
	w := g.Watch(at(0))
	looks := 0
	for now := 0; now <= 3000; now += 20 {
		height := 8.0
		if now > 200 {
			height = 0
		}
		if truth, settled := w.Observe(world.NewSnapshot(at(now), []world.Fact{seen(now, cube("red cube", 20, 0, height))})); settled {
			looks++
			if truth != world.True {
				t.Fatalf("%s at %d ms", truth, now)
			}
		}
	}
	if looks != 141 {
		t.Errorf("settled on %d looks, want every one from %v on", looks, units.Hold)
	}
}

// TestTighten: a conjunct can only make the goal stricter, changes its hash and no licence.
//
// Verifies: G03
func TestTighten(t *testing.T) {
	g, _ := Fix(bench(t, false), redLifted)
	both, l := g.Tighten(`in_region(objects, "blue cube", "tray")`)
	if len(l) > 0 {
		t.Fatal(l)
	}
	if !slices.Equal(both.Objects(), []string{"red cube"}) || both.Hash() == g.Hash() || !strings.Contains(both.Text(), redLifted) {
		t.Errorf("%q names %v", both.Text(), both.Objects())
	}
	if g.Text() != redLifted {
		t.Errorf("the goal itself became %q", g.Text())
	}
	lifted := func(now int) []world.Fact {
		return []world.Fact{seen(now, cube("red cube", 20, 0, 8), cube("blue cube", 30, 0, 0))}
	}
	if got := measure(g, lifted).Truth; got != world.True {
		t.Errorf("the goal: %s", got)
	}
	if got := measure(both, lifted).Truth; got != world.False {
		t.Errorf("the stricter goal: %s", got)
	}
	again, _ := both.Tighten(`lifted("blue cube")`)
	if len(again.conjuncts) != 3 || len(both.conjuncts) != 2 {
		t.Error("conjuncts are shared or lost")
	}
	if same, l := g.Tighten("nonsense"); len(l) == 0 || same != g {
		t.Error("nonsense changed the goal")
	}
}

// TestHash: other words, another hash; parts cannot be shifted between each other.
func TestHash(t *testing.T) {
	c := bench(t, false)
	a, _ := Fix(c, redLifted)
	b, _ := Fix(c, redLifted)
	other, _ := Fix(c, `lifted("blue cube")`)
	closed, _ := Fix(bench(t, true), redLifted)
	if a.Hash() != b.Hash() || len(a.Hash()) != 64 {
		t.Errorf("%q and %q", a.Hash(), b.Hash())
	}
	if a.Hash() == other.Hash() || a.Hash() == closed.Hash() {
		t.Error("different goals, or goals of different contracts, share a hash")
	}
	if digest("ab", "c") == digest("a", "bc") || digest("a") == digest("a", "") || digest("1:a") == digest("a") {
		t.Error("parts run into each other")
	}
}
