package guard_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body"
	"interlock/reject"
)

// A body that is found moving, or moves before anything was sent to it, is stopped: nobody here knows that motion, and none is
// taken over. One that sags under its load is not, nor is one that moves by what was sent.
//
// Verifies: F49, D26
func TestAMotionThatWasFoundIsNotTakenOver(t *testing.T) {
	for name, c := range map[string]struct {
		rad     float64 // the first joint goes so far in half a second, by itself
		stopped bool
	}{"stands": {0, false}, "sags": {-0.03, false}, "moves": {0.2, true}, "moves the other way": {-0.2, true}} {
		t.Run(name+", on virtual time", func(t *testing.T) {
			r := newRig(t)
			r.plant.bend = func(o *body.Observation) {
				o.JointsRad[0] += c.rad * min(1, o.At.Sub(0).Seconds()/0.5)
			}
			r.advance(time.Second)
			if l := r.Latch(); l.Stopped != c.stopped || len(r.plant.writes) > 0 {
				t.Errorf("the latch is %+v, and %d commands reached the body", l, len(r.plant.writes))
			}
			if code := r.observe().Health.FaultCode; (code == "unasked_motion") != c.stopped {
				t.Errorf("the fault is %q", code)
			}
		})
		t.Run(name+", with its own clock", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &clocked{plant: newPlant(), since: time.Now()}
				b.plant.bend = func(o *body.Observation) {
					o.JointsRad[0] += c.rad * min(1, o.At.Sub(0).Seconds()/0.5)
				}
				writes := func() (n int) {
					b.set(func(c *clocked) { n = len(c.plant.writes) })
					return n
				}
				r := run(t, b, config())
				defer r.end()
				time.Sleep(time.Second)
				l := r.Latch()
				if l.Stopped != c.stopped || writes() > 0 {
					t.Errorf("the latch is %+v, and %d commands reached the body", l, writes())
				}
				if !c.stopped {
					return
				}
				o := r.watch()
				_, err := r.Send(body.Setpoint{PositionsRad: []float64{0.1, 0}, Over: time.Second, Expires: o.At.Add(body.Expiry), Stop: l.Number, Epoch: r.epoch})
				refusedAs(t, err, reject.Stopped, "stop")
				check(t, r.Reset(l.Number))
				if time.Sleep(time.Second); r.Latch().Stopped || writes() > 0 { // where it is then is where it is
					t.Errorf("after the reset the latch is %+v, and %d commands reached the body", r.Latch(), writes())
				}
				r.swing()
				if time.Sleep(200 * time.Millisecond); r.Latch().Stopped || writes() == 0 {
					t.Errorf("a motion after the reset: %+v, %d commands", r.Latch(), writes())
				}
			})
		})
	}
}

// What was sent before a sleep that was a silence, and comes when the driver wakes, moves nothing, though it has not expired:
// the robot must look first. Verified for every length of a sleep, and for setpoints that are good for a second.
//
// Verifies: F21, P07, D27
func TestWhatWasSentBeforeASleepMovesNothing(t *testing.T) {
	for name, build := range map[string]func() (body.Driver, func(time.Duration)){
		"virtual time": func() (body.Driver, func(time.Duration)) {
			p := &sleepy{plant: newPlant()}
			return p, func(d time.Duration) { p.sleep.Store(int64(d)) }
		},
		"own clock": func() (body.Driver, func(time.Duration)) {
			c := &clocked{plant: newPlant(), since: time.Now()}
			return c, func(d time.Duration) { c.set(func(c *clocked) { c.once = d }) }
		},
	} {
		for _, slept := range []time.Duration{310, 350, 500, 900} {
			t.Run(fmt.Sprintf("%s, %d ms", name, slept), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					inner, sleep := build()
					r := run(t, inner, config())
					defer r.end()
					r.swing()
					time.Sleep(100 * time.Millisecond)
					o := r.watch()
					late := body.Setpoint{PositionsRad: []float64{0.4, 0}, Over: time.Second, Expires: o.At.Add(body.MaxAhead), Stop: o.Latch.Number, Epoch: r.epoch}
					sleep(slept * time.Millisecond)
					time.Sleep(slept*time.Millisecond + 30*time.Millisecond)
					at := r.pan()
					_, err := r.Send(late)
					refusedAs(t, err, reject.StaleFact, "driver")
					time.Sleep(200 * time.Millisecond)
					if now := r.pan(); now != at {
						t.Errorf("what was sent before the sleep moved the command by %v rad", now-at)
					}
					r.swing() // it looks
					if time.Sleep(200 * time.Millisecond); r.pan() == at {
						t.Error("who has looked cannot move it")
					}
				})
			})
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
