package mission

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock/reject"
	"interlock/units"

	"pgregory.net/rapid"
)

// drawEvent makes a random event that is not earlier than at.
func drawEvent(t *rapid.T, at units.Instant) (Event, units.Instant) {
	at = at.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "dt")) * 40 * time.Millisecond)
	return eventOf(rapid.Byte().Draw(t, "kind"), rapid.Byte().Draw(t, "arg"), at), at
}

// TestNothingMovesAfterAStop: from the first sign of a stop on, whatever follows, no motion begins and none goes on.
//
// Verifies: P01
// Verifies: P03
func TestNothingMovesAfterAStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := Step(State{}, Start{0, goodPolicy()})
		at := units.Instant(0)
		for range rapid.IntRange(0, 8).Draw(t, "before") {
			var ev Event
			ev, at = drawEvent(t, at)
			s, _ = Step(s, ev)
		}
		stop := rapid.SampledFrom([]Event{
			Stop{At: at, Number: 1}, Tick{At: at, ObservedAt: at, Latch: Mirror{Stopped: true, Number: 9}},
			Tick{At: at, ObservedAt: at, Latch: Mirror{Number: 9}},
		}).Draw(t, "stop")
		s, _ = Step(s, stop)
		for range rapid.IntRange(1, 20).Draw(t, "after") {
			var ev Event
			ev, at = drawEvent(t, at)
			next, effects := Step(s, ev)
			if next.Moving() || has[Play](effects) || has[PlayBack](effects) {
				t.Fatalf("%T moves after a stop: %s → %s, %v", ev, s.Word(), next.Word(), effects)
			}
			s = next
		}
	})
}

// TestNothingMovesWithoutItsLease: once the caller has lost what it moves, or its line with a capability that then
// stops, no motion begins and none goes on, the way back of a cancel included.
//
// Verifies: S05
func TestNothingMovesWithoutItsLease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := goodPolicy()
		p.OnCancel = rapid.SampledFrom([]OnCancel{HoldPosition, ReturnToOrigin}).Draw(t, "on cancel")
		s, _ := Step(State{}, Start{0, p})
		at := units.Instant(0)
		for range rapid.IntRange(0, 8).Draw(t, "before") {
			var ev Event
			ev, at = drawEvent(t, at)
			s, _ = Step(s, ev)
		}
		open := !s.Status.Final()
		s, effects := Step(s, rapid.SampledFrom([]Event{LeaseLost{At: at}, Disconnected{At: at}}).Draw(t, "lost"))
		if open && (s.Moving() || s.Status != Cancelling || has[PlayBack](effects)) {
			t.Fatalf("still %s, %v", s.Word(), effects)
		}
		for range rapid.IntRange(1, 20).Draw(t, "after") {
			var ev Event
			ev, at = drawEvent(t, at)
			next, effects := Step(s, ev)
			if next.Moving() || has[Play](effects) || has[PlayBack](effects) || open && next.Status == Cancelled {
				t.Fatalf("%T moves without a lease: %s → %s, %v", ev, s.Word(), next.Word(), effects)
			}
			s = next
		}
	})
}

// TestOnlyAResetOpens: a machine that has seen a stop starts nothing until the driver shows an open latch, and then only
// what was judged after that stop. No effect of the machine opens a latch.
//
// Verifies: S06
func TestOnlyAResetOpens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		at := units.Instant(0)
		latch := Mirror{}
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			at = at.Add(20 * time.Millisecond)
			p := goodPolicy()
			p.StopNumber = uint64(rapid.IntRange(0, 3).Draw(t, "judged after"))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				latch = Mirror{Stopped: true, Number: latch.Number + 1}
			case 1:
				latch.Stopped = false
			case 2:
				s, _ = Step(s, Tick{At: at, ObservedAt: at, Latch: latch})
			case 3:
				next, effects := Step(s, Start{at, p})
				may := s.Status == New && !s.Latch.Stopped && p.StopNumber >= s.Latch.Number
				if has[Play](effects) != may {
					t.Fatalf("latch %+v, judged after %d, %s: %v", s.Latch, p.StopNumber, s.Word(), effects)
				}
				if may {
					return
				}
				s = next
			}
		}
	})
}

// TestStartedOnce: of any number of starts among any other events, one begins the motion.
//
// Verifies: P19
func TestStartedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		plays, at := 0, units.Instant(0)
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			var ev Event = Start{at, goodPolicy()}
			if i%2 == 1 {
				ev, at = drawEvent(t, at)
			}
			next, effects := Step(s, ev)
			if has[Play](effects) {
				plays++
			}
			s = next
		}
		if plays != 1 {
			t.Fatalf("the motion began %d times", plays)
		}
	})
}

// TestReplay: the same events give the same state and the same effects, and a state kept aside does not change.
//
// Verifies: P30
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []Event
		at := units.Instant(0)
		events = append(events, Start{0, goodPolicy()})
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			var ev Event
			ev, at = drawEvent(t, at)
			events = append(events, ev)
		}
		var states []State
		var first []string
		var s State
		for _, ev := range events {
			next, effects := Step(s, ev)
			states, first, s = append(states, s), append(first, fmt.Sprint(effects)), next
		}
		end := s
		for i, ev := range events {
			next, effects := Step(states[i], ev)
			if got := fmt.Sprint(effects); got != first[i] {
				t.Fatalf("event %d: %s, the first time %s", i, got, first[i])
			}
			if i+1 < len(states) && next != states[i+1] || i+1 == len(states) && next != end {
				t.Fatalf("event %d leads elsewhere: %s", i, next.Word())
			}
		}
	})
}

// TestResume: a reader that comes back at any record gets the rest without a gap, and the end once, at the end.
//
// Verifies: P22
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log []Record
		s, effects := Step(State{}, Start{0, goodPolicy()})
		at := units.Instant(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			for _, e := range effects {
				if r, ok := e.(Record); ok {
					log = append(log, r)
				}
			}
			var ev Event
			ev, at = drawEvent(t, at)
			s, effects = Step(s, ev)
		}
		from := rapid.IntRange(0, len(log)-1).Draw(t, "cursor")
		for i, r := range log[from:] {
			if r.Seq != uint64(from+i+1) {
				t.Fatalf("record %d at position %d", r.Seq, from+i)
			}
			if r.Final && from+i != len(log)-1 {
				t.Fatalf("record %d is final and not the last", r.Seq)
			}
			if i > 0 && r.At < log[from+i-1].At {
				t.Fatalf("record %d is earlier than the one before it", r.Seq)
			}
		}
	})
}

// TestWakesAreEnough: a mission whose body says nothing, told of time only when it asked to be, still ends. A timer
// is an effect, and none is forgotten.
//
// Verifies: M01
func TestWakesAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := goodPolicy()
		p.OnCancel = rapid.SampledFrom([]OnCancel{HoldPosition, ReturnToOrigin}).Draw(t, "on cancel")
		var wake units.Instant
		var s State
		take := func(ev Event) {
			next, effects := Step(s, ev)
			for _, e := range effects {
				if w, ok := e.(Wake); ok {
					wake = w.At
				}
			}
			s = next
		}
		take(Start{0, p})
		at := units.Instant(0)
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			var ev Event
			ev, at = drawEvent(t, at)
			if _, isTick := ev.(Tick); !isTick {
				take(ev)
			}
		}
		for range 4 {
			if s.Status.Final() {
				return
			}
			if wake < s.Now {
				t.Fatalf("%s at %d ms asked to be woken at %d ms", s.Word(), s.Now.Millis(), wake.Millis())
			}
			take(Tick{At: wake, Latch: s.Latch})
		}
		if !s.Status.Final() {
			t.Fatalf("still %s", s.Word())
		}
	})
}

// TestWorstCauseWins: of two causes the worse names the end, in either order; of equal ones the first.
//
// Verifies: M02
func TestWorstCauseWins(t *testing.T) {
	causes := []struct {
		ev   Event
		word string
		rank int
	}{
		{Cancel{At: 20e6}, "cancelled", 1},
		{InvariantViolated{At: 20e6, Rule: "grip", OnViolation: FailMission}, "failed(invariant)", 2},
		{Disconnected{At: 20e6}, "interrupted(lease_lost)", 3},
		{Fault{At: 20e6, Code: "tracking"}, "aborted(fault)", 4},
		{Fault{At: 20e6, Code: "bus_dead"}, "aborted(fault)", 5},
		{Stop{At: 20e6, Number: 1}, "aborted(stop)", 5},
	}
	for _, first := range causes {
		for _, second := range causes {
			want := first.word
			if second.rank > first.rank {
				want = second.word
			}
			s, _ := Step(State{}, Start{0, goodPolicy()})
			for _, ev := range []Event{Started{At: 10e6}, first.ev, second.ev, Tick{At: 200e6, ObservedAt: 200e6, Standstill: true}} {
				s, _ = Step(s, ev)
			}
			if s.Word() != want {
				t.Errorf("%T then %T: %s, want %s", first.ev, second.ev, s.Word(), want)
			}
		}
	}
}

// TestTheMoreTellingFaultWins: a driver that is found dead after it refused a setpoint is why the mission ended, also where
// standstill is not confirmed any more; a refused setpoint after that is nothing.
//
// Verifies: T60
func TestTheMoreTellingFaultWins(t *testing.T) {
	refused, dead := SetpointRefused{At: 20e6, Code: reject.OutOfRange}, Fault{At: 40e6, Code: "bus_dead"}
	late := refused
	late.At = 60e6
	for name, c := range map[string]struct {
		events []Event
		want   string
	}{
		"refused, then found dead": {[]Event{refused, dead}, "bus_dead"},
		"found dead, then refused": {[]Event{dead, late}, "bus_dead"},
		"refused, then nothing":    {[]Event{refused}, "OUT_OF_RANGE"},
		"refused, then held":       {[]Event{refused, Fault{At: 40e6, Code: "silence"}}, "OUT_OF_RANGE"},
	} {
		for end, tick := range map[string]Tick{
			"aborted(fault)":            {At: 200e6, ObservedAt: 200e6, Standstill: true},
			"aborted(stop_unconfirmed)": {At: 2000e6},
		} {
			s, _ := Step(State{}, Start{0, goodPolicy()})
			for _, ev := range append([]Event{Started{At: 10e6}}, append(c.events, tick)...) {
				s, _ = Step(s, ev)
			}
			if s.Word() != end || strings.TrimPrefix(s.Detail, "fault ") != c.want {
				t.Errorf("%s: %s %q, want %s %q", name, s.Word(), s.Detail, end, c.want)
			}
		}
	}
}

// TestSecondCauseBuysNoTime: the second within which standstill must be measured counts from the first halt.
//
// Verifies: P10
func TestSecondCauseBuysNoTime(t *testing.T) {
	s, _ := Step(State{}, Start{0, goodPolicy()})
	ms := func(n int) units.Instant { return units.Instant(0).Add(time.Duration(n) * time.Millisecond) }
	for _, ev := range []Event{Started{ms(10)}, Cancel{ms(100)}, Disconnected{ms(600)}, Stop{ms(900), 1}, Tick{At: ms(1080)}} {
		s, _ = Step(s, ev)
	}
	if s.Word() != "cancelling(stop)" {
		t.Fatalf("before the second is over: %s", s.Word())
	}
	if s, _ = Step(s, Tick{At: ms(1100)}); s.Word() != "aborted(stop_unconfirmed)" || s.Detail != "stop 1" {
		t.Errorf("after it: %s, %s", s.Word(), s.Detail)
	}
}

// TestStandstillWindow: the measurement must lie wholly after the halt, and in time.
//
// Verifies: P10
func TestStandstillWindow(t *testing.T) {
	cases := map[string]struct {
		at, observed int // ms; the halt is at 1,000
		still        bool
		want         string
	}{
		"window just before the halt": {1100, 1099, true, "cancelling(cancel)"},
		"window begins at the halt":   {1100, 1100, true, "cancelled"},
		"not still":                   {1100, 1100, false, "cancelling(cancel)"},
		"observed in the future":      {1100, 1101, true, "cancelling(cancel)"},
		"observed late, told in time": {1999, 1100, true, "cancelled"},
		"at the last instant":         {2000, 2000, true, "cancelled"},
		"at the last, not still":      {2000, 2000, false, "aborted(stop_unconfirmed)"},
		"one millisecond too late":    {2001, 2001, true, "aborted(stop_unconfirmed)"},
		"measured in time, told late": {2001, 1500, true, "aborted(stop_unconfirmed)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ms := func(n int) units.Instant { return units.Instant(0).Add(time.Duration(n) * time.Millisecond) }
			s, _ := Step(State{}, Start{0, goodPolicy()})
			for _, ev := range []Event{Started{ms(10)}, Cancel{ms(1000)}, Tick{At: ms(c.at), ObservedAt: ms(c.observed), Standstill: c.still}} {
				s, _ = Step(s, ev)
			}
			if s.Word() != c.want {
				t.Errorf("%s, want %s", s.Word(), c.want)
			}
		})
	}
}

// TestWords: every status has a word, and the ends are exactly the six.
func TestWords(t *testing.T) {
	want := map[Status]string{
		New: "new", Accepted: "accepted", Running: "running", Verifying: "verifying", Cancelling: "cancelling", Succeeded: "succeeded",
		Failed: "failed", Unverified: "unverified", Cancelled: "cancelled", Aborted: "aborted", Interrupted: "interrupted", Interrupted + 1: "invalid",
	}
	for s, word := range want {
		if s.String() != word || s.Final() != (s >= Succeeded && s <= Interrupted) {
			t.Errorf("%d is %q, final %v", s, s, s.Final())
		}
	}
	if got := (State{Status: Aborted, Reason: ReasonStop}).Word(); got != "aborted(stop)" {
		t.Error(got)
	}
}
