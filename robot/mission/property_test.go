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

// failer is what a check reports to: a test, a fuzz run, rapid, or a collector that wants to see a failure.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkStep holds one step against everything the machine promises.
func checkStep(t failer, s State, ev Event, next State, effects []Effect) {
	t.Helper()
	checkOrder(t, ev, effects)
	checkRecords(t, s, next, effects)
	if s.Status.Final() && (next.Status != s.Status || next.Reason != s.Reason || next.Seq != s.Seq) {
		t.Fatalf("%T left the end %s for %s", ev, s.Word(), next.Word())
	}
	if has[Halt](effects) && (next.Moving() || has[Play](effects) || has[PlayBack](effects)) {
		t.Fatalf("%T: halted and moving at once, now %s", ev, next.Word())
	}
	if has[Play](effects) && (s.Status != New || next.Status != Accepted) {
		t.Fatalf("%T: a motion begins at %s", ev, s.Word())
	}
	if has[PlayBack](effects) && (s.pending.reason != ReasonCancel || !next.returning) {
		t.Fatalf("%T: a way back without a cancel", ev)
	}
	if _, stop := ev.(Stop); stop && (!has[Halt](effects) || !next.Status.Final() && next.Status != New && next.pending.status != Aborted) {
		t.Fatalf("a stop did not halt, or did not end the mission, at %s", s.Word())
	}
	if worse := next.pending.status == Aborted && next.pending.act > s.pending.act; s.pending.status == Aborted && next.pending != s.pending && !worse && !next.Status.Final() {
		t.Fatalf("%T took the worst cause back: %s, then %s", ev, s.Word(), next.Word())
	}
	if !known(ev) && (!has[Halt](effects) || !has[Latch](effects)) {
		t.Fatalf("an unknown event did not halt and latch at %s", s.Word())
	}
	checkEnd(t, s, ev, next, effects)
}

// checkEnd holds the last word against the measurement it needs.
func checkEnd(t failer, s State, ev Event, next State, effects []Effect) {
	t.Helper()
	if s.Status.Final() || !next.Status.Final() {
		return
	}
	tick, isTick := ev.(Tick)
	still := isTick && tick.Standstill && tick.ObservedAt.Sub(s.haltAt) >= units.StandstillOver && tick.ObservedAt <= tick.At
	switch {
	case next.Status == Cancelled && !still:
		t.Fatalf("cancelled by %T without measured standstill", ev)
	case next.Status == Succeeded && s.Status != Verifying:
		t.Fatalf("succeeded from %s", s.Word())
	case next.Reason == ReasonStopUnconfirmed && !has[Latch](effects):
		t.Fatalf("a halt was not confirmed and the latch was not asked for")
	case next.Status == Aborted && next.Reason != ReasonStopUnconfirmed && !still:
		t.Fatalf("%s without measured standstill", next.Word())
	case next.Status == Aborted && next.Reason != ReasonStop && next.Reason != ReasonFault && next.Reason != ReasonStopUnconfirmed:
		t.Fatalf("aborted for %q", next.Reason)
	}
}

// checkOrder keeps halt, latch, record, move, wake, reply.
func checkOrder(t failer, ev Event, effects []Effect) {
	t.Helper()
	last := 0
	for _, e := range effects {
		rank := map[string]int{"Halt": 1, "Latch": 2, "Record": 3, "Play": 4, "PlayBack": 4, "Verify": 4, "Wake": 5, "Reply": 6}[strings.TrimPrefix(fmt.Sprintf("%T", e), "mission.")]
		if rank < last || rank == 0 {
			t.Fatalf("%T: %T is owed out of order", ev, e)
		}
		last = rank
	}
}

// checkRecords keeps the numbers gapless and one last word.
func checkRecords(t failer, s, next State, effects []Effect) {
	t.Helper()
	seq := s.Seq
	for _, e := range effects {
		if r, ok := e.(Record); ok {
			seq++
			if r.Seq != seq {
				t.Fatalf("record %d follows %d", r.Seq, seq-1)
			}
			if r.Final != (r.Seq == next.Seq && next.Status.Final()) {
				t.Fatalf("record %d %s: final is %v at %s", r.Seq, r.Kind, r.Final, next.Word())
			}
		}
	}
	if next.Seq != seq {
		t.Fatalf("the state counts %d records, the effects %d", next.Seq, seq)
	}
}

func has[E Effect](effects []Effect) bool {
	for _, e := range effects {
		if _, ok := e.(E); ok {
			return true
		}
	}
	return false
}

// eventOf makes an event from one byte of kind and one of argument, dt after now.
func eventOf(kind, arg byte, at units.Instant) Event {
	switch kind % 16 {
	case 0:
		p := goodPolicy()
		p.Interruptible, p.StopNumber = arg&1 == 0, uint64(arg>>6)
		if arg&2 != 0 {
			p.OnCancel = ReturnToOrigin
		}
		if arg&4 != 0 {
			p.OnDisconnect = FinishMotion
		}
		if arg&8 != 0 {
			p.Timeout = 300 * time.Millisecond
		}
		return Start{at, p}
	case 1:
		return Started{at}
	case 2:
		return Phase{at, string(rune('a' + arg%3))}
	case 3:
		return MotionEnded{at}
	case 4, 5:
		return Tick{At: at, ObservedAt: at.Add(-time.Duration(arg>>5) * 40 * time.Millisecond), Standstill: arg&1 != 0, Latch: Mirror{Stopped: arg&30 == 2, Number: uint64(arg >> 6)}}
	case 6:
		return Tick{At: at, ObservedAt: at, Standstill: true, Latch: Mirror{Number: 3}}
	case 7:
		return Verdict{at, []Status{Succeeded, Failed, Unverified, Running}[arg%4]}
	case 8:
		return Cancel{at}
	case 9:
		return Stop{at, uint64(arg)}
	case 10:
		table := Hazards()
		return Fault{At: at, Code: append(table, Hazard{Code: "nobody knows"})[int(arg)%(len(table)+1)].Code}
	case 11:
		return InvariantViolated{at, "rule", []OnViolation{StopAndLatch, FailMission, ""}[arg%3]}
	case 12:
		return SetpointRefused{at, []reject.Code{reject.Stopped, reject.OutOfRange}[arg%2]}
	case 13:
		return []Event{LeaseLost{at}, Disconnected{at}}[arg%2]
	case 14:
		return []Event{Restarted{at}, Cancel{at}}[arg%2]
	}
	return []Event{alien{}, Tick{At: at, ObservedAt: at, Standstill: true}}[min(1, arg%32)]
}

// TestRules drives the machine with random events.
//
// Verifies: P21, P22, P10, F34
func TestRules(t *testing.T) {
	reached, events := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		var s State
		at := units.Instant(0)
		s, _ = Step(s, eventOf(0, rapid.Byte().Draw(t, "policy")&0x3f, at))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			kind, arg := rapid.Byte().Draw(t, "kind"), rapid.Byte().Draw(t, "arg")
			at = at.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "dt")) * 40 * time.Millisecond)
			ev := eventOf(kind, arg, at)
			next, effects := Step(s, ev)
			checkStep(t, s, ev, next, effects)
			s = next
			events++
		}
		reached[s.Status.String()]++
	})
	t.Logf("%d random events", events)
	if !testing.Short() && (reached["aborted"] == 0 || reached["interrupted"] == 0) { // a short run draws too few
		t.Fatalf("the random events reach too little: %v", reached)
	}
}

// TestHonestMissionsEnd walks a plausible mission with one disturbance at a random tick: whatever it is, the mission
// has its last word by the deadline plus the time a halt may take to show.
//
// Verifies: P10
func TestHonestMissionsEnd(t *testing.T) {
	ends := map[string]int{}
	walk := func(t *rapid.T) {
		p := goodPolicy()
		p.OnCancel = rapid.SampledFrom([]OnCancel{HoldPosition, ReturnToOrigin}).Draw(t, "on cancel")
		p.Timeout = 2 * time.Second
		disturb := rapid.IntRange(1, 90).Draw(t, "tick")
		kind := rapid.ByteRange(7, 15).Draw(t, "kind")
		arg := rapid.Byte().Draw(t, "arg")
		glide := rapid.IntRange(0, 60).Draw(t, "glide") // ticks the body moves on after a halt
		var b bench
		b.send(t, Start{0, p})
		for i := 1; i <= 220 && !b.s.Status.Final(); i++ {
			at := units.Instant(0).Add(time.Duration(i) * units.RobotTick)
			switch {
			case i == 1:
				b.send(t, Started{at})
			case i == 40 && b.s.Status == Running, i == 80 && b.s.returning:
				b.send(t, MotionEnded{at})
			case i == 60 && b.s.Status == Verifying:
				b.send(t, Verdict{at, Succeeded})
			}
			if i == disturb {
				b.send(t, eventOf(kind, arg, at))
			}
			b.tick(t, at, glide)
		}
		if !b.s.Status.Final() {
			t.Fatalf("no last word: %s", b.s.Word())
		}
		ends[b.s.Word()]++
	}
	for range 5 { // random walks may miss an end, but not five times over
		rapid.Check(t, walk)
		if ends["cancelled"] > 0 && ends["succeeded"] > 0 && ends["aborted(stop_unconfirmed)"] > 0 {
			break
		}
	}
	for _, w := range []string{"cancelled", "succeeded", "aborted(stop_unconfirmed)"} {
		if ends[w] == 0 && !testing.Short() { // a short run draws too few
			t.Errorf("never ended %s: %v", w, ends)
		}
	}
}

// bench is a body that glides on for a while after a halt.
type bench struct {
	s     State
	halt  units.Instant
	moves bool
}

func (b *bench) send(t failer, ev Event) {
	next, effects := Step(b.s, ev)
	checkStep(t, b.s, ev, next, effects)
	if has[Halt](effects) && b.moves {
		b.halt, b.moves = ev.when(), false
	}
	if has[Play](effects) || has[PlayBack](effects) {
		b.moves = true
	}
	b.s = next
}

func (b *bench) tick(t failer, at units.Instant, glide int) {
	stillFrom := b.halt.Add(time.Duration(glide)*units.RobotTick + units.StandstillOver)
	b.send(t, Tick{At: at, ObservedAt: at, Standstill: !b.moves && at >= stillFrom, Latch: b.s.Latch})
	if b.s.Status == Cancelled && at < stillFrom {
		t.Fatalf("cancelled while the body still moves")
	}
}

// FuzzStep takes three bytes per event: kind, argument, time since the last one in units of 20 ms.
//
// Verifies: P21
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 1, 2, 0, 1, 3, 0, 9, 7, 0, 9})
	f.Add([]byte{0, 2, 0, 1, 0, 1, 8, 0, 3, 5, 1, 9, 6, 0, 9, 3, 0, 9, 5, 1, 9})
	f.Add([]byte{0, 8, 0, 1, 0, 1, 4, 0, 20, 4, 0, 60})
	f.Add([]byte{15, 0, 0, 9, 1, 0, 0, 0, 0, 15, 0, 1})
	f.Fuzz(func(t *testing.T, src []byte) {
		var s State
		at := units.Instant(0)
		for i := 0; i+2 < len(src) && i < 300; i += 3 {
			at = at.Add(time.Duration(int8(src[i+2])) * units.RobotTick)
			ev := eventOf(src[i], src[i+1], at)
			next, effects := Step(s, ev)
			checkStep(t, s, ev, next, effects)
			s = next
		}
	})
}

// collector notes that a check failed.
type collector struct{ failed bool }

func (c *collector) Helper()               {}
func (c *collector) Fatalf(string, ...any) { c.failed = true }

// TestChecksCatchSabotage breaks one promise at a time: a check that lets one pass is worth nothing.
func TestChecksCatchSabotage(t *testing.T) {
	open := State{Status: Cancelling, Policy: goodPolicy(), Seq: 3, pending: end{status: Cancelled, reason: ReasonCancel, detail: ""}}
	tick := Tick{At: 1000, ObservedAt: 1000, Standstill: false}
	word := Record{Seq: 4, Kind: RecordCancelled, Final: true}
	ended := open
	ended.Status, ended.Seq = Cancelled, 4
	cases := map[string]struct {
		s       State
		ev      Event
		next    State
		effects []Effect
	}{
		"cancelled without standstill": {open, tick, ended, []Effect{word}},
		"gap in the records":           {open, tick, ended, []Effect{Record{Seq: 5, Kind: RecordCancelled, Final: true}}},
		"record not counted":           {open, tick, open, []Effect{Record{Seq: 4}}},
		"two last words":               {open, tick, ended, []Effect{Record{Seq: 4, Final: true}, Record{Seq: 5, Final: true}}},
		"end left":                     {ended, tick, open, nil},
		"halt and move":                {State{}, Start{}, State{Status: Accepted}, []Effect{Halt{}, Play{}}},
		"record after move":            {State{}, Start{}, State{Status: Accepted, Seq: 1}, []Effect{Play{}, Record{Seq: 1}}},
		"stop that does not halt":      {open, Stop{}, open, nil},
		"stop that ends nothing":       {open, Stop{}, open, []Effect{Halt{}}},
		"stop taken back":              {State{Status: Cancelling, pending: end{status: Aborted, reason: ReasonStop, detail: ""}}, tick, open, nil},
		"stop for a milder fault":      {State{Status: Cancelling, pending: end{Aborted, ReasonStop, "", ActLatch}}, tick, State{Status: Cancelling, pending: end{Aborted, ReasonFault, "", ActHalt}}, nil},
		"alien that does not latch":    {open, alien{}, open, []Effect{Halt{}}},
		"second start moves":           {open, Start{}, open, []Effect{Play{}}},
		"way back after a stop":        {State{pending: end{status: Aborted, reason: ReasonStop, detail: ""}}, tick, State{returning: true}, []Effect{PlayBack{}}},
		"success while running":        {State{Status: Running}, Verdict{}, State{Status: Succeeded, Seq: 1}, []Effect{Record{Seq: 1, Final: true}}},
		"unconfirmed without a latch":  {State{Status: Cancelling}, tick, State{Status: Aborted, Reason: ReasonStopUnconfirmed, Seq: 1}, []Effect{Record{Seq: 1, Final: true}}},
		"stopped, said too early":      {State{Status: Cancelling}, Stop{}, State{Status: Aborted, Reason: ReasonStop, Seq: 1}, []Effect{Halt{}, Record{Seq: 1, Final: true}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var caught collector
			checkStep(&caught, c.s, c.ev, c.next, c.effects)
			if !caught.failed {
				t.Error("not caught")
			}
		})
	}
}
