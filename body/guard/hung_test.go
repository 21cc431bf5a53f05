package guard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body"
	"interlock/reject"
)

// frozen makes every call to the body take as long as a line waits for one that was frozen, and fail.
func (c *clocked) frozen() {
	c.set(func(c *clocked) { c.hang, c.fail = 250*time.Millisecond, errors.New("deadline exceeded") })
}

// tick sends the next setpoint of a motion near the limit of the tip's speed, as a robot does each tick.
func (r *running) tick(k int, over time.Duration) error {
	o := r.watch()
	to := 0.0195 * float64(k) // 0.975 rad/s: 0.29 of 0.3 m/s at the tip
	_, err := r.Send(body.Setpoint{PositionsRad: []float64{to, 0}, Over: over, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number, Epoch: r.epoch})
	return err
}

// A body that freezes in a motion, at any moment between two setpoints: the setpoint that is too fast only since the command stands
// still is refused because the body does not answer, and after a silence that is what is latched, before anybody who waits for a
// standstill gives up; what a robot then adds keeps the number.
//
// Verifies: F33, D127
func TestAFrozenBodyIsTheCause(t *testing.T) {
	const tick = 20 * time.Millisecond
	for ms := range 20 {
		t.Run(fmt.Sprintf("%d ms after a setpoint", ms), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &clocked{plant: newPlant(), since: time.Now()}
				r := run(t, c, config())
				defer r.end()
				defer c.set(func(c *clocked) { c.hang, c.fail = 0, nil })
				time.Sleep(3 * time.Millisecond) // the robot's ticks fall between the turns of the loop
				k := 1
				for ; k <= 10; k++ {
					check(t, r.tick(k, tick))
					time.Sleep(tick)
				}
				check(t, r.tick(k, tick))
				time.Sleep(time.Duration(ms) * time.Millisecond)
				c.frozen()
				begun := time.Now()
				time.Sleep(tick - time.Duration(ms)*time.Millisecond)
				var err error
				for k++; err == nil && k < 40; k++ {
					if err = r.tick(k, tick); err == nil {
						time.Sleep(tick)
					}
				}
				refusedAs(t, err, reject.NotPermitted, "driver")
				var no reject.Rejection
				if errors.As(err, &no); no.Rule != "bus_ok" || time.Since(begun) > 3*tick {
					t.Errorf("after %v: %+v", time.Since(begun), no)
				}
				check(t, r.Halt()) // as the robot does then
				for r.pan(); !r.Latch().Stopped && time.Since(begun) < time.Second; r.pan() {
					time.Sleep(tick)
				}
				if l := r.Latch(); l.Number != 1 || !strings.HasPrefix(l.Reason, "driver_lost: the body has not answered for ") || time.Since(begun) > 400*time.Millisecond {
					t.Errorf("%v after it froze: %+v", time.Since(begun), l)
				}
				if n := r.StopByRobot("stop_unconfirmed"); n != 1 {
					t.Errorf("the robot's own stop is %d", n)
				}
				if o := r.watch(); o.Health.BusOK || o.Health.FaultCode != "driver_lost" {
					t.Errorf("its health is %+v", o.Health)
				}
			})
		})
	}
}

// What is too fast also from where the command would be is told as that, however long a call to the body waits; and so is what is
// too fast while none waits.
//
// Verifies: F33, D127
func TestTooFastIsToldOverASlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clocked{plant: newPlant(), since: time.Now()}
		r := run(t, c, config())
		defer r.end()
		time.Sleep(3 * time.Millisecond)
		check(t, r.tick(1, 20*time.Millisecond))
		time.Sleep(20 * time.Millisecond)
		refusedAs(t, r.tick(4, 20*time.Millisecond), reject.OutOfRange, "positions_rad.pan")
		check(t, r.tick(2, 20*time.Millisecond))
		c.set(func(c *clocked) { c.once = 200 * time.Millisecond })
		time.Sleep(60 * time.Millisecond)
		refusedAs(t, r.tick(9, 20*time.Millisecond), reject.OutOfRange, "positions_rad.pan")
		time.Sleep(time.Second)
	})
}

// The guard tells of each stop of its own, once, and of why the body was lost also where the latch was closed before: that is a
// further cause of the same stop. Of a stop that somebody asked for it does not tell.
//
// Verifies: F06, D126, D127
func TestAStopOfItsOwnIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []body.Latch
		c, cfg := &clocked{plant: newPlant(), since: time.Now()}, config()
		c.plant.mode = body.ModeHardware
		cfg.Tripped = func(l body.Latch) { told = append(told, l) }
		r := run(t, c, cfg)
		r.StopByRobot("bus_dead")
		r.Stop("a person")
		check(t, r.Reset(2))
		r.StopByRobot("bus_dead")
		c.frozen()
		time.Sleep(time.Second)
		c.set(func(c *clocked) { c.hang, c.fail = 0, nil })
		time.Sleep(time.Second)
		check(t, r.Reset(3))
		c.frozen()
		time.Sleep(time.Second)
		r.end()
		const lost = "driver_lost: the body has not answered for "
		if len(told) != 3 || told[0].Reason != "hardware comes up stopped" || told[1].Number != 3 || !strings.HasPrefix(told[1].Reason, "bus_dead; then "+lost) ||
			told[2].Number != 4 || !strings.HasPrefix(told[2].Reason, lost) {
			t.Errorf("told of %+v", told)
		}
	})
}
