package world

import (
	"testing"
	"time"

	"interlock/units"

	"pgregory.net/rapid"
)

// ms is an instant so many milliseconds after the clock's start.
func ms(n int) units.Instant { return units.Instant(0).Add(time.Duration(n) * time.Millisecond) }

// look is one observation: at now, from a reading of source, answering t.
type look struct {
	now, source int
	t           Truth
}

// every makes a look every 20 ms in [from, to], each with a source of its own time.
func every(from, to int, t Truth) (out []look) {
	for n := from; n <= to; n += 20 {
		out = append(out, look{n, n, t})
	}
	return out
}

func join(parts ...[]look) (out []look) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// TestDwell: within 1,500 ms after 1,000 ms, held for 200 ms, both included.
//
// Verifies: P16
// Verifies: W01
func TestDwell(t *testing.T) {
	cases := map[string]struct {
		looks []look
		want  DwellState
	}{
		"nothing seen":                      {nil, Pending},
		"true for the hold":                 {every(1000, 1200, True), Held},
		"one reading short of the hold":     {every(1000, 1180, True), Pending},
		"becomes true at the deadline":      {join(every(1000, 2480, False), every(2500, 2700, True)), Held},
		"true one tick too late":            {join(every(1000, 2500, False), every(2520, 2800, True)), Refuted},
		"deadline missed, true when looked": {join(every(1000, 2480, False), every(2520, 2800, True)), Refuted},
		"unknown, then true too late":       {join(every(1000, 2480, Unknown), every(2520, 2800, True)), Undecided},
		"never looked until too late":       {every(2520, 2800, True), Undecided},
		"false at the deadline":             {every(1000, 2500, False), Refuted},
		"unknown at the deadline":           {every(1000, 2500, Unknown), Undecided},
		"false first, unknown at the end":   {join(every(1000, 2000, False), every(2020, 2500, Unknown)), Undecided},
		"unknown first, false at the end":   {join(every(1000, 2000, Unknown), every(2020, 2500, False)), Refuted},
		"false before the deadline":         {every(1000, 2480, False), Pending},
		"flicker starts the hold anew":      {join(every(1000, 1180, True), every(1200, 1200, False), every(1220, 1400, True)), Pending},
		"flicker, then the whole hold":      {join(every(1000, 1180, True), every(1200, 1200, False), every(1220, 1420, True)), Held},
		"unknown breaks the hold too":       {join(every(1000, 1180, True), every(1200, 1200, Unknown), every(1220, 1400, True)), Pending},
		"hold goes on past the deadline":    {join(every(1000, 2400, False), every(2420, 2620, True)), Held},
		"hold breaks past the deadline":     {join(every(1000, 2400, False), every(2420, 2600, True), every(2620, 2620, False)), Refuted},
		"hold lost past the deadline":       {join(every(1000, 2400, False), every(2420, 2600, True), every(2620, 2620, Unknown)), Undecided},
		"broken hold is not mended late":    {join(every(2420, 2600, True), every(2620, 2620, False), every(2640, 3000, True)), Refuted},
		"held, then false in time":          {join(every(1000, 1200, True), every(1220, 1220, False)), Pending},
		"held, then false after the end":    {join(every(1000, 2600, True), every(2620, 2620, False)), Refuted},
		"held twice":                        {join(every(1000, 1200, True), every(1220, 1220, False), every(1240, 1440, True)), Held},
		"time of the source stands still":   {[]look{{1000, 1000, True}, {1200, 1000, True}, {1400, 1000, True}, {2500, 1000, True}}, Pending},
		"stands still for good":             {[]look{{1000, 1000, True}, {2000, 1000, True}, {3000, 1000, True}}, Undecided},
		"source runs back":                  {[]look{{1000, 1000, True}, {1100, 1100, True}, {1200, 1050, True}, {1400, 1100, True}}, Pending},
		"two readings far enough apart":     {[]look{{1010, 1000, True}, {1250, 1200, True}}, Held},
		"two readings too close":            {[]look{{1010, 1000, True}, {1400, 1190, True}}, Pending},
		"reading from before the start":     {[]look{{1000, 999, True}, {1300, 999, True}}, Pending},
		"hold cannot begin before it":       {[]look{{1000, 900, True}, {1100, 1100, True}, {1200, 1200, True}}, Pending},
		"reading from the future":           {[]look{{1000, 1001, True}, {1300, 1301, True}}, Pending},
		"old false does not refute":         {[]look{{2500, 900, False}}, Undecided},
		"looking back in time":              {[]look{{1300, 1300, False}, {1000, 1000, True}, {1200, 1200, True}}, Pending},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := Dwell{Start: ms(1000), Within: 1500 * time.Millisecond, Hold: 200 * time.Millisecond}
			for _, l := range c.looks {
				d.Observe(ms(l.now), ms(l.source), l.t)
			}
			if d.State() != c.want {
				t.Errorf("%s, want %s", d.State(), c.want)
			}
		})
	}
}

// TestDwellWithoutHold still wants two readings: one alone could come from a source that stands still.
//
// Verifies: W01
func TestDwellWithoutHold(t *testing.T) {
	d := Dwell{Within: time.Second}
	if got := d.Observe(ms(100), ms(90), True); got != Pending {
		t.Errorf("one reading: %s", got)
	}
	if got := d.Observe(ms(120), ms(90), True); got != Pending {
		t.Errorf("the same reading twice: %s", got)
	}
	if got := d.Observe(ms(120), ms(91), True); got != Held {
		t.Errorf("two readings: %s", got)
	}
}

// TestDwellEndsAreFinal: what was refuted or left undecided stays so.
func TestDwellEndsAreFinal(t *testing.T) {
	for _, end := range []Truth{False, Unknown} {
		d := Dwell{Within: time.Second, Hold: 100 * time.Millisecond}
		want := d.Observe(ms(1000), ms(1000), end)
		for n := 1020; n < 2000; n += 20 {
			d.Observe(ms(n), ms(n), True)
		}
		if d.State() != want || want == Pending || want == Held {
			t.Errorf("after %s: %s, then %s", end, want, d.State())
		}
	}
}

// TestDwellWasTrue tells a slip from a motion that never got there.
func TestDwellWasTrue(t *testing.T) {
	d := Dwell{Within: time.Second, Hold: 100 * time.Millisecond}
	d.Observe(ms(0), ms(0), False)
	if d.WasTrue() {
		t.Error("true before it was")
	}
	d.Observe(ms(20), ms(20), True)
	d.Observe(ms(40), ms(40), False)
	if !d.WasTrue() {
		t.Error("forgotten")
	}
}

// TestDwellNeedsItsHold: whatever is observed, Held means that the latest answers were all true, from sources that
// span the hold and lie after the start.
//
// Verifies: W01
func TestDwellNeedsItsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Dwell{Start: ms(100), Within: 300 * time.Millisecond, Hold: 80 * time.Millisecond}
		now := 0
		var run []int // sources of the unbroken run of counted trues
		for range rapid.IntRange(1, 50).Draw(t, "looks") {
			now += rapid.IntRange(0, 40).Draw(t, "dt")
			source := now - rapid.IntRange(-20, 120).Draw(t, "age")
			truth := rapid.SampledFrom([]Truth{True, True, True, False, Unknown}).Draw(t, "truth")
			before := d.State()
			d.Observe(ms(now), ms(source), truth)
			if truth == True && source >= 100 && source <= now {
				run = append(run, source)
			} else {
				run = nil
			}
			if (before == Refuted || before == Undecided) && d.State() != before {
				t.Fatalf("left %s for %s", before, d.State())
			}
			if d.State() == Held && span(run) < 80 {
				t.Fatalf("held over %v", run)
			}
		}
	})
}

// span is how far the readings of a run reach past its first.
func span(run []int) int {
	widest := 0
	for _, source := range run {
		widest = max(widest, source-run[0])
	}
	return widest
}

// TestSince drops what was measured at or before the start of a motion.
//
// Verifies: P13
func TestSince(t *testing.T) {
	number := func(v float64) Value { return Value{Kind: KindNumber, Number: v} }
	s := NewSnapshot(ms(500), []Fact{
		{Name: "before", Value: number(1), At: ms(199)}, {Name: "at", Value: number(2), At: ms(200)},
		{Name: "after", Value: number(3), At: ms(201)},
	})
	later := s.Since(ms(200))
	if facts := later.Facts(); len(facts) != 1 || facts[0].Name != "after" || later.Now != s.Now {
		t.Errorf("%+v at %v", facts, later.Now)
	}
	if len(s.Facts()) != 3 {
		t.Error("the snapshot itself changed")
	}
}

// TestKeep: a later reading wins, a lacking one is kept with its time, and the future stays out.
//
// Verifies: P16
func TestKeep(t *testing.T) {
	number := func(v float64) Value { return Value{Kind: KindNumber, Number: v} }
	earlier := NewSnapshot(ms(100), []Fact{{Name: "a", Value: number(1), At: ms(90)}, {Name: "b", Value: number(2), At: ms(95)}})
	now := NewSnapshot(ms(120), []Fact{{Name: "a", Value: number(3), At: ms(110)}})
	both := now.Keep(earlier)
	a, _ := both.Fact("a")
	b, ok := both.Fact("b")
	if a.Value.Number != 3 || !ok || b.At != ms(95) || both.Now != ms(120) {
		t.Errorf("%+v", both)
	}
	if _, fresh := both.Fresh("b", 20*time.Millisecond); fresh {
		t.Error("a kept reading got younger")
	}
	if now.Keep(nil) != now || len(now.Facts()) != 1 {
		t.Error("keeping nothing changed the snapshot")
	}
}

// TestDwellWords names every state.
func TestDwellWords(t *testing.T) {
	for s, want := range []string{"pending", "held", "refuted", "undecided", "invalid"} {
		if got := DwellState(s).String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
		}
	}
}
