package guard_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
)

// seeds is how many seeds a test walks; INTERLOCK_SEEDS=N asks for another number than the short one.
func seeds(t *testing.T, short int) uint64 {
	t.Helper()
	text := os.Getenv("INTERLOCK_SEEDS")
	switch {
	case text == "" && testing.Short():
		return uint64(short / 10)
	case text == "":
		return uint64(short)
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		t.Fatalf("INTERLOCK_SEEDS is %q", text)
	}
	return n
}

// walker drives a guarded body through stops and resets as one seed says.
type walker struct {
	*rig
	rand *rand.Rand
	sent []body.Setpoint // what was accepted once
}

func newWalker(t *testing.T, seed uint64) *walker {
	return &walker{newRig(t), rand.New(rand.NewPCG(seed, 154)), nil}
}

// moves sends a setpoint under the number that the latch shows, and lets it run for a while.
func (w *walker) moves() {
	w.t.Helper()
	pan := w.rand.Float64()*1.6 - 0.8
	s := w.setpoint(pan, time.Duration(1000+w.rand.IntN(4000))*time.Millisecond)
	w.send(s)
	w.sent = append(w.sent, s)
	w.steps(1+w.rand.IntN(60), nil)
}

// steps lets so many driver steps pass, with something done before each.
func (w *walker) steps(n int, before func()) {
	w.t.Helper()
	for range n {
		if before != nil {
			before()
		}
		if err := w.Advance(step); err != nil {
			w.t.Fatal(err)
		}
		if w.rand.IntN(20) == 0 {
			w.observe()
		}
	}
}

// stop stops in one of the ways there are: whether an input is held down, and what lets it go.
func (w *walker) stop() (held bool, release func()) {
	switch w.rand.IntN(3) {
	case 0:
		w.StopInput("button", true)
		return true, func() { w.StopInput("button", false) }
	case 1:
		w.Stop("first")
	}
	w.Stop("last")
	return false, func() {}
}

// stands lets a stop take its time: after the ramp nothing reaches the body, whatever is sent and halted.
func (w *walker) stands() {
	w.t.Helper()
	always := func(uint64) bool { return true }
	w.steps(int(guard.RampTime/step)+1, func() { w.fight(always) })
	w.quietSteps(1+w.rand.IntN(150), "stopped", func() {
		if w.fight(always); w.rand.IntN(30) == 0 {
			_ = w.Halt()
		}
	})
}

// fight sends what an agent would that does not take a stop: what was accepted before, anew and with every number.
func (w *walker) fight(refusedTo func(number uint64) bool) {
	w.t.Helper()
	s := w.sent[w.rand.IntN(len(w.sent))]
	s.Expires, s.Over = w.now().Add(body.Expiry), 5*time.Second
	s.Stop = uint64(w.rand.IntN(int(w.Latch().Number) + 2))
	if !refusedTo(s.Stop) {
		return
	}
	if _, err := w.Send(s); err == nil {
		w.t.Errorf("stop %d (%v): a setpoint that knows stop %d is accepted", w.Latch().Number, w.Latch().Stopped, s.Stop)
	}
}

// quietSteps asks that no command reaches the body in so many steps, whatever is done before each.
func (w *walker) quietSteps(n int, why string, before func()) {
	w.t.Helper()
	was := len(w.plant.writes)
	w.steps(n, before)
	if more := len(w.plant.writes) - was; more > 0 {
		w.t.Errorf("%s: %d commands reached the body", why, more)
	}
}

// Under every seed: once the ramp after a stop is over no command reaches the body, whatever is sent, halted or observed;
// and none does between the reset and a setpoint with the new number, whatever is sent again of the motions before, as it
// happened with a driver that took up its old trajectory at the reset (ros-industrial/motoman#154).
//
// Verifies: P01, P03, U109
func TestMotoman154ResetNeverRestarts(t *testing.T) {
	walked := 0
	for seed := range seeds(t, 1000) {
		w := newWalker(t, seed)
		for w.plant.steps < 1000 {
			w.moves()
			held, release := w.stop()
			if w.rand.IntN(4) > 0 { // else it is reset before the body has taken one more step
				w.stands()
			}
			number := w.Latch().Number
			if w.Reset(number-1) == nil || w.Reset(number+1) == nil || held && w.Reset(number) == nil || !w.Latch().Stopped {
				t.Errorf("stop %d, input held %v: a reset that does not fit opens the latch", number, held)
			}
			release()
			if err := w.Reset(number); err != nil {
				t.Error(err)
			}
			old := func(knows uint64) bool { return knows != number }
			w.steps(int(guard.RampTime/step)+1, func() { w.fight(old) })
			w.quietSteps(1+w.rand.IntN(150), "reset", func() { w.fight(old) })
		}
		w.moves() // and now it may
		walked += int(w.plant.steps)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d steps", walked)
}

// The same on the simulated arm, by what is true of it: it stands after a stop, and a reset moves nothing but what is sent
// after it.
//
// Verifies: P03, U109
func TestResetMovesNothingOnTheSimulator(t *testing.T) {
	for seed := range seeds(t, 200) {
		r := rand.New(rand.NewPCG(seed, 154))
		g, truth := guardedSim(t)
		o, err := g.Observe()
		if err != nil {
			t.Fatal(err)
		}
		away := append([]float64(nil), o.GoalRad...)
		away[0] += r.Float64()*2 - 1
		away[1] -= r.Float64() * 0.3
		p := body.Setpoint{PositionsRad: away, Over: 1500 * time.Millisecond, Expires: o.At.Add(body.MaxAhead)}
		if _, err := g.Send(p); err != nil {
			t.Fatal(err)
		}
		advance := func(d time.Duration) {
			if err := g.Advance(d); err != nil {
				t.Fatal(err)
			}
		}
		advance(time.Duration(1+r.IntN(100)) * step)
		number := g.Stop("test")
		advance(600 * time.Millisecond)
		if o, err = g.Observe(); err != nil || !o.Standstill {
			t.Errorf("no standstill 600 ms after a stop: %v", err)
		}
		at := truth.TipInBase()
		if err := g.Reset(number); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			p.Expires = o.At.Add(body.MaxAhead)
			if _, err := g.Send(p); err == nil {
				t.Error("a setpoint from before the stop is accepted after the reset")
			}
			advance(100 * time.Millisecond)
			if o, err = g.Observe(); err != nil {
				t.Fatal(err)
			}
		}
		if moved := truth.TipInBase().Distance(at); !(moved < 0.001) {
			t.Errorf("a second after the reset the tip moved by %v m", moved)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
