package robot_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body"
	"interlock/body/guard"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/units"
)

// leased is a body whose lease can be lost, and that counts how often it is read.
type leased struct {
	*guard.Guard
	reads atomic.Int64
	gone  atomic.Int64 // readings until the lease is there again
}

var errGone = reject.New(reject.NoLease, "another holds the lease")

func (l *leased) Observe() (body.Observation, error) {
	l.reads.Add(1)
	if l.gone.Load() > 0 {
		l.gone.Add(-1)
		return body.Observation{}, errGone
	}
	return l.Guard.Observe()
}

func (l *leased) Send(s body.Setpoint) (body.Sent, error) {
	if l.gone.Load() > 0 {
		return body.Sent{}, errGone
	}
	return l.Guard.Send(s)
}

func leasedSet(l **leased) set {
	return set{beat: units.Beat, body: func(g *guard.Guard) robot.Body { *l = &leased{Guard: g}; return *l }}
}

// While nothing moves and nobody asks, the body is read at every beat, no oftener, and without time passing.
//
// Verifies: Z13
func TestBeatWhileIdle(t *testing.T) {
	var l *leased
	run(t, leasedSet(&l), func(t *testing.T, r *rig) {
		task := r.open("at(point_cm(20.0, 0.0, 15.0))")
		before, ticks := l.reads.Load(), r.ticks()
		time.Sleep(time.Second + units.Beat/2)
		synctest.Wait()
		if n := l.reads.Load() - before; n != int64(time.Second/units.Beat) || r.ticks() != ticks {
			t.Errorf("read %d times in a second, %d ticks", n, r.ticks()-ticks)
		}
		r.guard.Stop("test")
		time.Sleep(units.Beat)
		synctest.Wait()
		r.is(task, contractv1.TaskState_STOPPED)
	})
}

// A lease that is lost in a motion interrupts the mission, and nothing latches where standstill can be measured in time;
// where it cannot, the stop that is owed was not confirmed, and it latches.
//
// Verifies: Z14
func TestLeaseLostInMotion(t *testing.T) {
	for _, c := range []struct {
		readings int64
		want     contractv1.EventKind
		reason   string
		latched  bool
	}{
		{10, contractv1.EventKind_INTERRUPTED, "lease_lost", false},
		{1000, contractv1.EventKind_ABORTED, "stop_unconfirmed: lease_lost", true},
	} {
		var l *leased
		run(t, leasedSet(&l), func(t *testing.T, r *rig) {
			followed, resume := r.midway(10, moveTo(20, 14, 15), "")
			l.gone.Store(c.readings)
			resume()
			events := <-followed
			e := events[len(events)-1]
			if e.GetKind() != c.want || e.GetReason() != c.reason || r.guard.Latch().Stopped != c.latched {
				t.Errorf("ended %v, %q; latched: %v", e.GetKind(), e.GetReason(), r.guard.Latch().Stopped)
			}
			l.gone.Store(0)
		})
	}
}

// A body that comes back as another one changes the manifest and its hash, and what it cannot fill is refused.
//
// Verifies: Z15
func TestRealign(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		before := must(r.client.Describe(t.Context()))
		c := contractOf(t, nil)
		planner := must(skill.NewPlanner(c, skill.Solver(c.Solver)))
		blind := r.guard.Describe()
		blind.Witnesses = blind.Witnesses[:1]
		a := robot.Align(c, blind, planner)
		check(t, r.robot.Realign(t.Context(), a, gate.New(c, a, planner)))
		after := must(r.client.Describe(t.Context()))
		if before.GetManifestHash() == after.GetManifestHash() || len(after.GetWithdrawn()) == 0 || len(before.GetWithdrawn()) != 0 {
			t.Errorf("withdrawn: %v", after.GetWithdrawn())
		}
		r.refused(request("p", "pick", `{"name":"red cube"}`, ""), string(reject.NotPermitted))
	})
}

// A pacer that only waits never lets a tick follow sooner than one tick after it was asked for, and makes nothing up.
//
// Verifies: Z16
func TestWaitingPacerNeverCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := robot.Waiting()
		for _, late := range []time.Duration{0, 3 * time.Millisecond, 500 * time.Millisecond, 0, 0} {
			time.Sleep(late)
			asked := time.Now()
			ticks(t, p, 1)
			if d := time.Since(asked); d != units.RobotTick {
				t.Errorf("a tick after %v", d)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.Tick(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

// However often a robot that rests is asked, it reads its body at each beat, so that its time goes on: a lease whose holder
// has died lapses for whoever asks for it all the time.
//
// Verifies: P06, K136
func TestRequestsDoNotPutOffTheBeat(t *testing.T) {
	run(t, set{beat: units.Beat}, func(t *testing.T, r *rig) {
		r.lease("dead")
		for range 100 {
			check(t, r.guard.Advance(units.Beat/2)) // a body with a clock of its own
			time.Sleep(units.Beat / 2)
			if r.acquire("alive").GetLease() != nil {
				return
			}
		}
		t.Error("a lease of 2 s was not free after 5 s of asking")
	})
}
