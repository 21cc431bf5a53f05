package drills_test

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
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
	home := w.tip()
	left, right, top := waved(t, w, chat, say)
	if left-right < 0.06 || top < home[2]+0.03 {
		t.Errorf("the hand swung from %v to %v m, %v m up from %v", right, left, top, home[2])
	}
	if d := w.tip().Distance(home); d > 0.01 {
		t.Errorf("after the wave the tip is %v m from home", d)
	}
	cancelled(t, c, w, chat, say)
	stoppedInAWave(t, w, chat, say)
	waitFor(t, "a stopped robot that stands", func() bool { // old readings tell no standstill, on a busy machine
		o, err := c.Observe(t.Context(), &contractv1.ObserveRequest{})
		return err == nil && o.GetStopped() && o.GetStandstill()
	})
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
}

// The other gestures by their words, in processes: each is verified, and the plant's truth says that the hand went where
// the word says; the table is never pressed.
//
// Verifies: W109
func TestGesturesByTheirWords(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	ready(t, h.call(t))
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
	for _, g := range []struct {
		words string
		there func(x, y, z float64) bool
	}{
		{"point to the left", func(_, y, _ float64) bool { return y > 0.3 }},
		{"nod", func(x, _, z float64) bool { return x > 0.19 && z > 0.07 }},
		{"take a rest", func(_, _, z float64) bool { return z < 0.07 }},
	} {
		chat.verified(say, g.words)
		if tip := w.tip(); !g.there(tip[0], tip[1], tip[2]) {
			t.Errorf("%q is verified, with the tip at %v m", g.words, tip)
		}
	}
	truth, err := w.lab.Look()
	if err != nil || truth.PeakTableForceN() != 0 {
		t.Errorf("the table was pressed with %v N, %v", truth.PeakTableForceN(), err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
}

// waved asks for a wave until one is verified, since a busy machine may make one too slow, and returns how far the hand came
// to either side and up, metres.
func waved(t *testing.T, w *watcher, chat *process, say func(string)) (left, right, top float64) {
	t.Helper()
	for range busyTries {
		left, right, top = 0, 0, 0
		permitted(t)
		say("wave at me")
		ended := make(chan string, 1)
		go func() { ended <- chat.answered() }()
		how := ""
		for ; how == ""; time.Sleep(lookEvery) {
			tip := w.tip()
			left, right, top = math.Max(left, tip[1]), math.Min(right, tip[1]), math.Max(top, tip[2])
			select {
			case how = <-ended:
			default:
			}
		}
		if strings.Contains(how, `"state":"verified"`) {
			return left, right, top
		}
		t.Logf("a wave ended with %s", how)
	}
	t.Fatal("no wave is verified")
	return 0, 0, 0
}

// stoppedInAWave stops a wave in its middle, until one is not spoiled by a busy machine before.
func stoppedInAWave(t *testing.T, w *watcher, chat *process, say func(string)) {
	t.Helper()
	for range busyTries {
		permitted(t)
		say("wave at me")
		if !strings.Contains(chat.untilOne(`"phase":"wave"`, `"event":"verdict"`, `"event":"error"`), `"phase":"wave"`) {
			continue
		}
		said := ""
		w.standsAfter("a stop", halting, func() {
			say("stop")
			said = chat.until(`"event":"stopped"`, `"final":true`) // in whatever order they come
		})
		if strings.Contains(said, `"state":"aborted"`) {
			return
		}
		t.Logf("a wave to be stopped ended with %s", said)
	}
	t.Fatal("no wave is stopped")
}

// cancelled cancels a wave in its middle, until one is not spoiled by a busy machine before: the hand must come back to where
// it began.
func cancelled(t *testing.T, c transport.Client, w *watcher, chat *process, say func(string)) {
	t.Helper()
	for tries := range busyTries {
		carry(t, c, fmt.Sprintf("aside%d", tries), toLeft)
		origin := w.tip()
		say("wave at me")
		if strings.Contains(chat.untilOne(`"phase":"wave"`, `"event":"verdict"`, `"event":"error"`), `"phase":"wave"`) {
			say("cancel")
			if strings.Contains(chat.answered(), `"state":"cancelled"`) {
				if d := w.tip().Distance(origin); d > 0.01 {
					t.Errorf("after the cancel the tip is %v m from where it began", d)
				}
				return
			}
		}
		permitted(t)
	}
	t.Fatal("no wave is cancelled")
}
