package drills_test

import (
	"io"
	"math"
	"os/exec"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
)

// "wave at me", typed in one process, waves in another: the hand swings to both sides by the plant's truth, and the mission
// is verified back home. "cancel" in the middle brings it back to where it began, and "stop" in the middle stops it there.
//
// Verifies: Z23
func TestWaveAtMe(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	cmd := h.env(exec.Command(binary, "chat", "--robot", "so101", "--json"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	chat := start(t, cmd)
	say := func(words string) {
		if _, err := io.WriteString(in, words+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	until := func(pieces ...string) { t.Helper(); chat.until(pieces...) }
	home := w.tip()
	say("wave at me")
	until(`"phase":"wave"`)
	left, right, top := 0.0, 0.0, 0.0
	for begun := time.Now(); time.Since(begun) < 3500*time.Millisecond; time.Sleep(lookEvery) {
		tip := w.tip()
		left, right, top = math.Max(left, tip[1]), math.Min(right, tip[1]), math.Max(top, tip[2])
	}
	if left-right < 0.06 || top < home[2]+0.03 {
		t.Errorf("the hand swung from %v to %v m, %v m up from %v", right, left, top, home[2])
	}
	until(`"state":"verified"`)
	until(`"event":"verdict"`)
	if d := w.tip().Distance(home); d > 0.01 {
		t.Errorf("after the wave the tip is %v m from home", d)
	}
	carry(t, c, "aside", toLeft)
	origin := w.tip()
	say("wave at me")
	until(`"phase":"wave"`)
	say("cancel")
	until(`"state":"cancelled"`)
	if d := w.tip().Distance(origin); d > 0.01 {
		t.Errorf("after the cancel the tip is %v m from where it began", d)
	}
	until(`"event":"verdict"`)
	say("wave at me")
	until(`"phase":"wave"`)
	begun := time.Now()
	say("stop")
	until(`"event":"stopped"`, `"state":"aborted"`) // in whatever order they come
	if took := w.untilStill(begun); took > standstill+slack {
		t.Errorf("the arm moved for %v after the stop", took)
	}
	if o, err := c.Observe(t.Context(), &contractv1.ObserveRequest{}); err != nil || !o.GetStopped() || !o.GetStandstill() {
		t.Errorf("%v, %v", o, err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
}
