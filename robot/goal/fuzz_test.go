package goal

import (
	"reflect"
	"testing"

	"interlock/reject"
	"interlock/world"
)

// FuzzGoal takes a goal's text and three bytes per look: how high the red cube is, how old the reading is, the time
// since the last look in units of 20 ms. What is refused is refused with code, field and rule; what is not measures
// something, and is true only on evidence from after the start.
//
// Verifies: G01
func FuzzGoal(f *testing.F) {
	var lifted, frozen, dropped []byte
	for i := range byte(18) {
		lifted = append(lifted, 8, 0, 5)
		frozen = append(frozen, 8, 5*i, 5)
		dropped = append(dropped, 8-min(8, 8*(i/2)), 0, 5)
	}
	for _, text := range []string{
		redLifted, `lifted("blue cube") || ` + redLifted, `!lifted("red block")`, `in_region(objects, "red cube", "tray")`, "true", "", "1.0 < 2.0", `lifted(`, "args.x_cm > 1.0",
		`bottom_cm(objects, "red cube") * 2.0 >= 1e300`, `seen(objects, "cup") ? jaw_gap_mm > 1.0 : ` + redLifted,
	} {
		f.Add(text, lifted)
	}
	f.Add(redLifted, frozen)
	f.Add(redLifted, dropped)
	c := bench(f, false)
	f.Fuzz(func(t *testing.T, text string, looks []byte) {
		g, l := Fix(c, text)
		for _, r := range l {
			if g != nil || r.Code != reject.Malformed || r.Field != "goal" || r.Says == "" {
				t.Fatalf("%q: %+v", text, r)
			}
		}
		if g == nil {
			return
		}
		if len(g.Hash()) != 64 || g.Text() != text {
			t.Fatalf("%q is kept as %q with hash %q", text, g.Text(), g.Hash())
		}
		w, now, truth, settled := g.Watch(at(1000)), 1000, world.Unknown, false
		for i := 0; i+2 < len(looks) && i < 600; i += 3 {
			now += int(looks[i+2]) * 20
			seen := seen(now-int(looks[i+1])*20, cube("red cube", 20, 0, float64(looks[i]%16)))
			is, done := w.Observe(world.NewSnapshot(at(now), []world.Fact{seen}))
			if settled && (is != truth || !done) || !done && is != world.Unknown {
				t.Fatalf("%q: %s became %s, settled %v", text, truth, is, done)
			}
			truth, settled = is, done
		}
		m := w.Measurement()
		if m.Truth != truth || m.Truth == world.True && len(m.Evidence) == 0 {
			t.Fatalf("%q: %+v", text, m)
		}
		for _, e := range m.Evidence {
			if m.Truth == world.True && (e.SourceAtMS < 1000 || e.Witness == "" || e.Threshold == "") {
				t.Fatalf("%q is true on %+v", text, e)
			}
		}
	})
}

// FuzzTask takes one byte per happening: what happens, how the goal was measured then, and with evidence or without. The
// last word is final, done needs a goal measured true, and what was frozen stays.
//
// Verifies: G01
func FuzzTask(f *testing.F) {
	for _, seed := range [][]byte{{}, {2}, {0, 2, 130}, {128 + 2, 3}, {0, 0, 0, 0, 5}, {9, 41, 2}, {6, 130}, {10, 8, 10}} {
		f.Add(true, seed)
		f.Add(false, seed)
	}
	with, without := open(f, redLifted), open(f, "")
	f.Fuzz(func(t *testing.T, goal bool, src []byte) {
		task := without
		if goal {
			task = with
		}
		frozen := task
		for _, b := range src[:min(len(src), 200)] {
			before := task
			m := measured([]world.Truth{world.Unknown, world.False, world.True}[b/16%3])
			if b&128 != 0 {
				m.Evidence = nil
			}
			task = happen(task, int(b%16), m)
			switch {
			case before.Closed() && (task.State != before.State || !reflect.DeepEqual(task.Measured, before.Measured) || task.Missions != before.Missions):
				t.Fatalf("%s became %s", before.State, task.State)
			case before.Claim.Reported && task.Claim != before.Claim:
				t.Fatalf("the claim %+v became %+v", before.Claim, task.Claim)
			case task.State == Done && (task.Goal == nil || task.Measured.Truth != world.True || len(task.Measured.Evidence) == 0):
				t.Fatalf("done without a measured goal: %+v", task.Measured)
			case task.Hash != frozen.Hash || !reflect.DeepEqual(task.Licence, frozen.Licence) || !reflect.DeepEqual(task.Request, frozen.Request):
				t.Fatal("what was frozen changed")
			case task.Closed() && task.MayStart() == nil, task.BudgetLeft() == 0 && task.MayStart() == nil, task.BudgetLeft() < 0:
				t.Fatalf("%s with %d missions left may start another", task.State, task.BudgetLeft())
			}
		}
	})
}
