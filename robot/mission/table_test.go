package mission

import (
	"strings"
	"testing"

	"interlock/internal/golden"
	"interlock/reject"
)

// scenes brings a mission into each of its states, by events alone.
func scenes() [][2]string {
	run := "start at=0 return\nstarted at=20\n"
	return [][2]string{
		{"new", ""},
		{"new, stopped", "tick at=0 stopped latch=1\n"},
		{"new, reset since", "tick at=0 stopped latch=1\ntick at=20 latch=1\n"},
		{"accepted", "start at=0\n"},
		{"running", "start at=0\nstarted at=20\n"},
		{"running, uninterruptible", "start at=0 uninterruptible finish\nstarted at=20\n"},
		{"verifying", "start at=0\nstarted at=20\nended at=40\n"},
		{"verifying, may finish without its caller", "start at=0 finish\nstarted at=20\nended at=40\n"},
		{"cancelling", "start at=0\nstarted at=20\ncancel at=100\n"},
		{"cancelling, way back owed", run + "cancel at=100\n"},
		{"cancelling, on the way back", run + "cancel at=100\ntick at=220 still\n"},
		{"cancelling for a timeout", "start at=0 timeout=100\nstarted at=20\ntick at=100\n"},
		{"cancelling for a lost lease", run + "lease_lost at=100\n"},
		{"cancelling for a refused setpoint", run + "refused at=100 code=OUT_OF_RANGE\n"},
		{"cancelling for a stop", run + "stop at=100 latch=1\n"},
		{"succeeded", "start at=0\nstarted at=20\nended at=40\nverdict at=60 outcome=succeeded\n"},
		{"failed", "start at=0\nstarted at=20\nended at=40\nverdict at=60 outcome=failed\n"},
		{"unverified", "start at=0\nstarted at=20\nended at=40\nverdict at=60 outcome=unverified\n"},
		{"cancelled", "start at=0\ncancel at=100\ntick at=220 still\n"},
		{"aborted", "start at=0\nstop at=100 latch=1\ntick at=220 still latch=1\n"},
		{"interrupted", "start at=0\nrestarted at=100\n"},
	}
}

// happenings is one event of every kind and of every kind of argument that decides something.
func happenings() []string {
	return []string{
		"start", "started", "phase name=reach", "ended",
		"tick", "tick still", "tick still observed=150", "tick still observed=500", "tick stopped latch=1", "tick latch=1",
		"verdict outcome=succeeded", "verdict outcome=failed", "verdict outcome=unverified", "verdict outcome=maybe",
		"cancel", "stop latch=1", "stop",
		"fault code=driver_lost", "fault code=tracking", "fault code=silence", "fault code=slow_tick", "fault code=nobody_knows",
		"invariant rule=no_push do=stop", "invariant rule=no_push do=fail", "invariant rule=no_push do=",
		"refused code=STOPPED", "refused code=OUT_OF_RANGE", "lease_lost", "disconnected", "restarted", "alien",
	}
}

// TestTable writes what every event does in every state, and compares it with the reviewed file.
//
// Verifies: P21
func TestTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Every event in every state, at 400 ms. Written by TestTable.\n")
	for _, sc := range scenes() {
		var s State
		for line := range strings.Lines(sc[1]) {
			s, _ = Step(s, mustParse(t, line))
		}
		b.WriteString("\n" + sc[0] + " = " + s.Word() + "\n")
		for _, h := range happenings() {
			ev := mustParse(t, h+" at=400")
			next, effects := Step(s, ev)
			checkStep(t, s, ev, next, effects)
			b.WriteString("  " + h + " → " + row(s, next, effects) + "\n")
		}
	}
	golden.Compare(t, "table.golden", []byte(b.String()))
}

func mustParse(t *testing.T, line string) Event {
	t.Helper()
	ev, err := parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return ev
}

func row(s, next State, effects []Effect) string {
	word := next.Word()
	if word == s.Word() {
		word = "·"
	}
	for _, e := range effects {
		if _, wake := e.(Wake); !wake {
			word += "; " + strings.TrimSuffix(show(e), " at 400 ms")
		}
	}
	return word
}

// TestEveryStateIsReached keeps the table complete.
func TestEveryStateIsReached(t *testing.T) {
	seen := map[Status]bool{}
	for _, sc := range scenes() {
		var s State
		for line := range strings.Lines(sc[1]) {
			s, _ = Step(s, mustParse(t, line))
		}
		if !strings.HasPrefix(sc[0], s.Status.String()) {
			t.Errorf("scene %q is %s", sc[0], s.Word())
		}
		seen[s.Status] = true
	}
	for st := New; st <= Interrupted; st++ {
		if !seen[st] {
			t.Errorf("no scene is %s", st)
		}
	}
}

// TestIncompletePolicyIsRefused leaves one thing out at a time: nothing has a default.
func TestIncompletePolicyIsRefused(t *testing.T) {
	cases := map[string]func(*Policy){
		"no timeout":            func(p *Policy) { p.Timeout = 0 },
		"negative timeout":      func(p *Policy) { p.Timeout = -1 },
		"no time to confirm":    func(p *Policy) { p.StopUnconfirmedAfter = 0 },
		"too short to measure":  func(p *Policy) { p.StopUnconfirmedAfter = 1 },
		"no word for a cancel":  func(p *Policy) { p.OnCancel = "" },
		"typo in on_cancel":     func(p *Policy) { p.OnCancel = "holt" },
		"no word for lost line": func(p *Policy) { p.OnDisconnect = "" },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			p := goodPolicy()
			spoil(&p)
			s, effects := Step(State{}, Start{0, p})
			reply, ok := effects[0].(Reply)
			if len(effects) != 1 || !ok || reply.Rejections[0].Code != reject.NotPermitted || reply.Rejections[0].Rule != "policy_complete" {
				t.Errorf("effects %v", effects)
			}
			if s.Status != New {
				t.Errorf("state %s", s.Word())
			}
		})
	}
}

// TestPointerIsNoEvent: the machine takes values; a pointer to one is as unknown as nil.
func TestPointerIsNoEvent(t *testing.T) {
	for _, ev := range []Event{nil, &Cancel{}, (*Tick)(nil)} {
		s, effects := Step(State{Status: Running, Policy: goodPolicy()}, ev)
		if s.Status != Cancelling || s.Reason != ReasonFault || !has[Halt](effects) || !has[Latch](effects) {
			t.Errorf("%T: %s, %v", ev, s.Word(), effects)
		}
	}
}

// TestHazards: the table has every code once, a way to clear each, and nothing that only warns halts.
func TestHazards(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range Hazards() {
		if seen[h.Code] || h.Action == ActNone || h.Clears == "" || h.Means == "" {
			t.Errorf("hazard %+v", h)
		}
		seen[h.Code] = true
		_, effects := Step(State{Status: Running, Policy: goodPolicy(), Latch: Mirror{}}, Fault{Code: h.Code})
		if has[Halt](effects) != (h.Action > ActWarn) || has[Latch](effects) != (h.Action == ActLatch) {
			t.Errorf("%s: %v", h.Code, effects)
		}
		if h.Action == ActLatch && h.Clears != ByOperator {
			t.Errorf("%s latches and clears %s", h.Code, h.Clears)
		}
	}
	if HazardOf("nobody knows").Action != ActLatch {
		t.Error("an unknown hazard does not latch")
	}
}

// TestHazardTable writes every hazard with what it does in each kind of state, and compares it with the reviewed file: a
// line that becomes milder is a diff.
//
// Verifies: S04
func TestHazardTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Every hazard, how it clears, and what it does. Written by TestHazardTable.\n")
	seen := map[string]bool{}
	for _, h := range append(Hazards(), HazardOf("nobody_knows")) {
		if seen[h.Code] {
			t.Errorf("%s stands in the table twice", h.Code)
		}
		seen[h.Code] = true
		b.WriteString("\n" + h.Code + ", cleared " + string(h.Clears) + "\n")
		for _, sc := range [][2]string{{"new", ""}, {"running", "start at=0\nstarted at=20\n"}, {"verifying", "start at=0\nstarted at=20\nended at=40\n"},
			{"cancelling", "start at=0\nstarted at=20\ncancel at=100\n"}, {"aborted", "start at=0\nstop at=100 latch=1\ntick at=220 still latch=1\n"}} {
			var s State
			for line := range strings.Lines(sc[1]) {
				s, _ = Step(s, mustParse(t, line))
			}
			ev := mustParse(t, "fault at=400 code="+h.Code)
			next, effects := Step(s, ev)
			checkStep(t, s, ev, next, effects)
			b.WriteString("  " + sc[0] + " → " + row(s, next, effects) + "\n")
		}
	}
	golden.Compare(t, "hazards.golden", []byte(b.String()))
}
