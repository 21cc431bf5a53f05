package guard_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/units"
)

const patient = time.Minute

// A robot's stop under a closed latch is one more cause of the same stop: number and first cause stay, and a person who resets that
// number opens the latch. Under an open one it is a stop like any other, and a person's is always new.
//
// Verifies: F06, D125
func TestARobotsStopKeepsTheNumber(t *testing.T) {
	r := newRig(t)
	is := func(number uint64, reason string) {
		t.Helper()
		if l := r.Latch(); !l.Stopped || l.Number != number || l.Reason != reason {
			t.Errorf("the latch is %+v; want stop %d, %q", l, number, reason)
		}
	}
	if n := r.StopByRobot("halt_failed"); n != 1 {
		t.Errorf("stop %d", n)
	}
	is(1, "halt_failed")
	for range 3 {
		if n := r.StopByRobot("stop_unconfirmed"); n != 1 {
			t.Errorf("stop %d", n)
		}
	}
	is(1, "halt_failed; then stop_unconfirmed")
	if n := r.Stop("a person"); n != 2 {
		t.Errorf("a person's stop is %d", n)
	}
	is(2, "a person")
	if n := r.StopByRobot("stop_unconfirmed"); n != 2 {
		t.Errorf("stop %d", n)
	}
	if n := r.StopInput("button", true); n != 3 {
		t.Errorf("a stop input is %d", n)
	}
	r.StopInput("button", false)
	r.StopByRobot("stop_unconfirmed")
	check(t, r.Reset(3))
	if n := r.StopByRobot("stop_unconfirmed"); n != 4 {
		t.Errorf("after the reset it is %d", n)
	}
	is(4, "stop_unconfirmed")
	for i := range 1000 {
		r.StopByRobot(fmt.Sprintf("cause %d", i))
	}
	if l := r.Latch(); l.Number != 4 || !strings.HasPrefix(l.Reason, "stop_unconfirmed; then cause 0; then cause 1;") || len(l.Reason) > 1000 {
		t.Errorf("after a thousand causes: %+v", l)
	}
}

// A robot's stop that meets a reset is part of the stop that is reset, or a stop after it: it is never answered by a number that the
// latch does not know, and what came after the reset stays.
//
// Verifies: P04, D125
func TestARobotsStopIsNotLostToAReset(t *testing.T) {
	r := newRig(t)
	for range 2000 {
		n := r.Stop("first")
		var both sync.WaitGroup
		var got uint64
		both.Go(func() { got = r.StopByRobot("follows") })
		both.Go(func() {
			if err := r.Reset(n); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		switch l := r.Latch(); {
		case got == n && !l.Stopped:
		case got == n+1 && l.Stopped && l.Number == n+1:
		default:
			t.Fatalf("stop %d was reset while another came, which was told %d: %+v", n, got, l)
		}
	}
}

// The lease changes hands: what the one before left moving ends, whether it gave the lease back or somebody came to a body that was
// driven without one.
//
// Verifies: P09, D132
func TestWhatMovesEndsWithItsLease(t *testing.T) {
	for name, c := range map[string]struct {
		leased bool
		change func(g *guard.Guard, epoch uint64)
	}{
		"given back": {true, func(g *guard.Guard, epoch uint64) { g.Release(epoch) }},
		"taken": {false, func(g *guard.Guard, _ uint64) {
			_, err := g.Acquire("other")
			check(t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, cfg := newPlant(), config()
			cfg.Leased = c.leased
			g := guard.New(p, cfg)
			check(t, g.Open())
			var epoch uint64
			if c.leased {
				var err error
				epoch, err = g.Acquire("first")
				check(t, err)
			}
			_, err := g.Send(body.Setpoint{PositionsRad: []float64{0.4, 0}, Over: time.Second, Expires: units.Instant(body.MaxAhead), Epoch: epoch})
			check(t, err)
			check(t, g.Advance(100*time.Millisecond))
			c.change(g, epoch)
			check(t, g.Advance(guard.RampTime+step))
			at := p.at[0]
			check(t, g.Advance(100*time.Millisecond)) // before silence and expiry
			o, err := g.Watch(0)
			check(t, err)
			if at == 0 || p.at[0] != at || o.Holding != body.HoldHalted {
				t.Errorf("it was at %v rad and is at %v, and holds by %q", at, p.at[0], o.Holding)
			}
		})
	}
}

// A robot in the same process stops its guard as one over the line does.
//
// Verifies: D125
func TestAFoldedRobotsStopKeepsTheNumber(t *testing.T) {
	r := newRig(t)
	folded := guard.ForRobot{Guard: r.Guard}
	if n := folded.Stop("first"); n != 1 {
		t.Fatalf("stop %d", n)
	}
	if n := folded.Stop("again"); n != 1 || r.Latch().Number != 1 {
		t.Errorf("its second stop has number %d", n)
	}
	if n := r.Stop("a person"); n != 2 {
		t.Errorf("a person's stop has number %d", n)
	}
}
