package robot_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/units"
)

// merging is the guard as a robot reaches it: its own stop under a closed latch is one more cause of the same stop.
func merging(g *guard.Guard) robot.Body { return guard.ForRobot{Guard: g} }

// causes is what the record says of the latch: each line with its reason.
func causes(all []*contractv1.AuditRecord) (lines []string) {
	for _, rec := range all {
		if l := rec.GetLatch(); l != nil {
			lines = append(lines, strconv.FormatBool(l.GetStopped())+" "+strconv.FormatUint(l.GetNumber(), 10)+" "+l.GetReason())
		}
	}
	return lines
}

// TestEveryCauseOfAStopIsOnRecord: a stop that the robot adds to one that is latched keeps its number, and is on record with what
// it added. Stop, further cause and reset are one line each, however often they are seen and also where the disk was sick
// meanwhile; a robot that begins anew says once how the latch stands.
//
// Verifies: T80
func TestEveryCauseOfAStopIsOnRecord(t *testing.T) {
	for name, sick := range map[string]bool{"": false, "with a sick disk: ": true} {
		d := newDisk()
		on(t, d, set{body: merging, beat: units.Beat}, func(t *testing.T, r *rig, _ *kept) {
			followed, resume := r.midway(10, slowly, "")
			if sick {
				d.is(errFull)
			}
			number := r.guard.Stop("interlock stop")
			r.fail(errTest) // and now its driver is lost
			resume()
			<-followed
			r.fail(nil)
			for range 3 {
				r.passes(units.Beat)
				r.observe()
			}
			check(t, r.guard.Reset(number))
			for range 3 {
				r.passes(units.Beat)
			}
			d.is(nil)
			r.passes(10 * time.Second)
		})
		on(t, d, set{body: merging, beat: units.Beat, after: time.Minute}, func(_ *testing.T, r *rig, _ *kept) {
			for range 3 {
				r.passes(units.Beat)
			}
		})
		got := causes(d.says(t))
		const first = "true 1 interlock stop"
		want := []string{"false 0 ", first, first + "; then driver_lost", first + "; then driver_lost; then stop_unconfirmed", "false 1 ", "false 0 "}
		if !slices.Equal(got, want) {
			t.Errorf("%s%q, want %q", name, got, want)
		}
	}
}

// recounting is a guard whose latch is told under other numbers, as of a driver that was started anew and counts anew.
type recounting struct {
	guard.ForRobot
	less uint64
}

func (c *recounting) Observe() (body.Observation, error) {
	o, err := c.ForRobot.Observe()
	o.Latch.Number -= c.less
	return o, err
}

// TestNothingAllowedOutlivesAStop: what was asked for or allowed before a stop is withdrawn by it, also by the stop of a driver
// that counts anew; while it is latched nothing can be asked for and nothing is left to allow, whatever causes are added.
//
// Verifies: T81
func TestNothingAllowedOutlivesAStop(t *testing.T) {
	low, lower := moveTo(20, 5, 4), moveTo(20, 5, 3.9)
	var b *recounting
	s := asked()
	s.body = func(g *guard.Guard) robot.Body { b = &recounting{ForRobot: guard.ForRobot{Guard: g}}; return b }
	run(t, s, func(t *testing.T, r *rig) {
		for _, less := range []uint64{0, 1, 2} { // the stops are told as numbers 1, 1 and 1
			r.refused(request("m1", "move_to", low, ""), "NEEDS_APPROVAL")
			waited := r.approve() // allowed, and not used
			r.refused(request("m2", "move_to", lower, ""), "NEEDS_APPROVAL")
			if len(r.pending()) != 2 {
				t.Fatalf("%v", r.pending())
			}
			b.less = less
			number := r.guard.Stop("interlock stop")
			for _, cause := range []string{"", "stop_unconfirmed", "driver_lost"} {
				if cause != "" && r.guard.StopByRobot(cause) != number {
					t.Fatal("a further cause is another stop")
				}
				for _, args := range []string{low, lower} {
					r.refused(request("m3", "move_to", args, ""), "STOPPED")
				}
				_, err := r.robot.Person().Approve(t.Context(), &contractv1.ApproveRequest{Hash: waited.GetHash(), Displayed: waited.GetAct().GetDisplayed(), By: "ada"})
				var no reject.List
				if !errors.As(err, &no) || no[0].Code != reject.Conflict || no[0].Rule != "approval_withdrawn" || len(r.pending()) > 0 {
					t.Errorf("less %d, %q: %v, %v", less, cause, err, r.pending())
				}
			}
			check(t, r.guard.Reset(number))
			r.refused(request("m1", "move_to", low, ""), "NEEDS_APPROVAL")
			if r.sent() > 0 || len(r.pending()) != 1 {
				t.Errorf("less %d: %d setpoints, %v", less, r.sent(), r.pending())
			}
			p := r.robot.Person() // who takes the robot clears the desk for the next
			taken, err := p.Take(t.Context(), &contractv1.TakeRequest{By: "ada"})
			check(t, err)
			_, err = p.GiveBack(t.Context(), &contractv1.GiveBackRequest{By: "ada", Epoch: taken.GetEpoch()})
			check(t, err)
		}
	})
}
