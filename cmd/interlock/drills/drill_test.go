package drills_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/remote"
	"interlock/reject"
)

// operate is a person at the driver's operator socket.
func operate(t testing.TB, h home) *remote.Operator {
	t.Helper()
	o := remote.DialOperator(h.socket("operator"))
	t.Cleanup(o.Close)
	waitFor(t, "a driver", func() bool { _, _, err := o.State(t.Context()); return err == nil })
	return o
}

func state(t testing.TB, o *remote.Operator) body.Latch {
	t.Helper()
	l, _, err := o.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// answerTo is how a driver answers a setpoint that would turn the arm ahead. One that a busy machine let wait too long for its
// answer is sent again.
func answerTo(t testing.TB, d *remote.Driver, knows uint64) (err error) {
	t.Helper()
	waitFor(t, "an answer to a setpoint", func() bool {
		_, err = sendHome(d, knows)
		var r reject.Rejection
		return err == nil || errors.As(err, &r)
	})
	return err
}

// kept waits until the latch file holds the latch.
func kept(t testing.TB, person *remote.Operator) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if !person.Durable(ctx) {
		t.Error("the stop is not durable")
	}
}

func rejected(err error, code reject.Code) bool {
	var r reject.Rejection
	return errors.As(err, &r) && r.Code == code
}

// The stop latch and its number outlive the process, whether it was stopped at rest, in a motion or before there was any
// body; a damaged file is a stop; who was never stopped comes up ready.
//
// Verifies: P04, D03
func TestLatchOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	driver := h.driver(t) // the simulator inside
	if says := driver.line(); !strings.Contains(says, "ready") {
		t.Fatalf("a new driver comes up with %q", says)
	}
	person := operate(t, h)
	number, _, err := person.Stop(t.Context(), "drill")
	if err != nil || number == 0 {
		t.Fatalf("stop %d: %v", number, err)
	}
	kept(t, person)
	driver.kill()
	driver = h.driver(t, "--plant", h.socket("nobody")) // no body will ever come
	if says := driver.line(); !strings.Contains(says, "stopped") {
		t.Fatalf("a stopped driver comes up with %q", says)
	}
	if l := state(t, person); l.Number != number || l.Reason != "drill" {
		t.Errorf("the latch came back as %+v", l)
	}
	if err := person.Reset(t.Context(), number); err != nil {
		t.Error(err)
	}
	if number, _, err = person.Stop(t.Context(), "no body"); err != nil || number != 2 {
		t.Errorf("a stop without a body: %d, %v", number, err)
	}
	driver.end()
	if err := os.WriteFile(h.latch(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if says := h.driver(t).line(); !strings.Contains(says, "damaged") {
		t.Errorf("a damaged latch file comes up with %q", says)
	}
}

// Two processes want the body: the second is told who holds it, and gets it when the first has died.
//
// Verifies: D05
func TestOneMoverAtATime(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.driver(t)
	robot := h.robot(t)
	if says := robot.line(); says != "open" {
		t.Fatalf("the robot says %q", says)
	}
	second, err := remote.Dial(t.Context(), h.socket("driver"), remote.Options{Holder: "second", CallTimeout: 2 * time.Second, OpenWithin: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	var busy reject.Rejection
	waitFor(t, "an answer", func() bool { err = second.Open(); return err == nil || errors.As(err, &busy) })
	if busy.Code != reject.Busy || busy.Got != `"drill"` {
		t.Errorf("the second robot's open was answered by %v", err)
	}
	robot.kill()
	third := h.opensOn(t, "third")
	if err := third.Close(); err != nil {
		t.Error(err)
	}
}

// A person's stop in the middle of a motion, from a socket of its own while the robot goes on sending; then setpoints
// are refused however often they come, and the reset starts nothing, not even what was sent while it was stopped.
//
// Verifies: P04, D21
func TestStopEndsTheMotionAndResetStartsNone(t *testing.T) {
	t.Parallel()
	l := newLane(t, 0, false)
	w, person, robot := l.w, l.person, l.swinging()
	var number uint64
	took := w.standsAfter("a stop", halting, func() {
		var err error
		if number, _, err = person.Stop(t.Context(), "drill"); err != nil {
			t.Fatal(err)
		}
	})
	kept(t, person)
	tell(t, "the arm stood %v after the stop", took.Round(time.Millisecond))
	robot.kill()
	before := w.look()
	d := l.opens("fighter")
	defer func() { _ = d.Close() }()
	fight := func(knows uint64, times int) {
		t.Helper()
		for range times {
			if err := answerTo(l.t, d, knows); !rejected(err, reject.Stopped) {
				t.Fatalf("a setpoint under stop %d was answered by %v", knows, err)
			}
		}
	}
	fight(number, 100)
	fight(number-1, 5)
	if err := person.Reset(t.Context(), number); err != nil {
		t.Fatal(err)
	}
	fight(0, 5) // what belongs to a motion from before the stop
	if d := w.after(before, time.Second).tip.Distance(before.tip); d > movingM {
		t.Errorf("the tip moved by %v m", d)
	}
}
