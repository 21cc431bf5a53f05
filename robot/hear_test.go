package robot_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body"
	"interlock/body/guard"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/units"
)

// balky is a body that refuses setpoints, or cannot be read, for a while.
type balky struct {
	*guard.Guard
	later  atomic.Int64 // setpoints still refused for now
	silent atomic.Bool  // every call takes 250 ms and fails
	blind  atomic.Int64 // readings that still fail
	asked  int
	repeat bool // every refused setpoint was the first of the motion
	first  []float64
	says   func() reject.Rejection // what a setpoint is refused with; nil: the latch file is being written
}

func (b *balky) Send(s body.Setpoint) (body.Sent, error) {
	if b.later.Add(-1) < 0 {
		return b.Guard.Send(s)
	}
	if b.asked++; b.first == nil {
		b.first, b.repeat = s.PositionsRad, true
	}
	for i, q := range s.PositionsRad {
		b.repeat = b.repeat && q == b.first[i]
	}
	if b.says != nil {
		return body.Sent{}, b.says()
	}
	return body.Sent{}, latchFileLate()
}

func latchFileLate() reject.Rejection {
	r := reject.New(reject.NotPermitted, "the latch file is still being written").By("latch_file").In("driver")
	r.Retry = reject.Later
	return r
}

// sleepy is what a driver says that slept and wants to be looked at first.
func sleepy() reject.Rejection {
	return reject.New(reject.StaleFact, "the driver slept through a silence").In("driver")
}

var errSilent = errors.New("test: no answer")

func (b *balky) Halt() error {
	if b.silent.Load() {
		time.Sleep(250 * time.Millisecond)
		return errSilent
	}
	return b.Guard.Halt()
}

func (b *balky) Stop(reason string) uint64 {
	if b.silent.Load() {
		time.Sleep(250 * time.Millisecond)
		return 0
	}
	return b.Guard.Stop(reason)
}

func (b *balky) Observe() (body.Observation, error) {
	if b.silent.Load() {
		time.Sleep(250 * time.Millisecond)
		return body.Observation{}, errSilent
	}
	if b.blind.Add(-1) >= 0 {
		return body.Observation{}, errors.New("test: not yet")
	}
	return b.Guard.Observe()
}

func balkySet(b **balky, prepare func(*balky)) set {
	return set{beat: units.Beat, body: func(g *guard.Guard) robot.Body {
		*b = &balky{Guard: g}
		prepare(*b)
		return *b
	}}
}

// A driver that asks for the first setpoint a little later is asked again, with the same one; the mission begins then. One
// that does not take it within half a second has refused it, as one that says so in the middle of a motion has.
//
// Verifies: D11, K138, T65
func TestAMotionBeginsWhenItsDriverDoes(t *testing.T) {
	for _, c := range []struct {
		name    string
		refused int64
		midway  bool
		want    string
		says    func() reject.Rejection
	}{
		{"ten ticks", 10, false, "VERIFIED", latchFileLate},
		{"for ever", 1 << 30, false, "ABORTED(fault)", latchFileLate},
		{"in the middle", 1, true, "ABORTED(fault)", latchFileLate},
		{"a driver that slept, ten ticks", 10, false, "VERIFIED", sleepy},
		{"a driver that slept, for ever", 1 << 30, false, "ABORTED(fault)", sleepy},
		{"a driver that slept, in the middle", 1, true, "ABORTED(fault)", sleepy},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b *balky
			run(t, balkySet(&b, func(b *balky) { b.says = c.says }), func(t *testing.T, r *rig) {
				before := r.sent()
				if !c.midway {
					b.later.Store(c.refused)
					r.accepted("m1", "move_to", there, "")
				} else {
					_, resume := r.midway(10, there, "")
					b.later.Store(c.refused)
					resume()
				}
				if e := r.ending("m1"); !strings.HasPrefix(word(e), c.want) {
					t.Errorf("it ended %s (%s), want %s", word(e), e.GetReason(), c.want)
				}
				if !c.midway && (!b.repeat || c.refused == 10 && b.asked != 10) {
					t.Errorf("asked %d times; always the first setpoint: %v", b.asked, b.repeat)
				}
				if c.refused == 1<<30 && r.sent() > before {
					t.Error("and it moved")
				}
			})
		})
	}
}

// Whatever else a driver refuses the first setpoint with ends the mission, also where it says that the same may pass later.
//
// Verifies: T66
func TestOtherRefusalsOfTheFirstSetpointAreFinal(t *testing.T) {
	spoiled := func(r reject.Rejection, spoil func(*reject.Rejection)) func() reject.Rejection {
		spoil(&r)
		return func() reject.Rejection { return r }
	}
	for name, says := range map[string]func() reject.Rejection{
		"overloaded":                            spoiled(reject.New(reject.Overloaded, "too much").In("driver"), func(r *reject.Rejection) { r.Retry, r.AfterMS = reject.Later, 20 }),
		"busy":                                  spoiled(reject.New(reject.Busy, "it parks").In("driver"), func(r *reject.Rejection) { r.Retry = reject.Later }),
		"no record":                             spoiled(reject.New(reject.AuditUnavailable, "no disk").In("driver"), func(r *reject.Rejection) { r.Retry = reject.Later }),
		"another rule":                          spoiled(latchFileLate(), func(r *reject.Rejection) { r.Rule = "ending" }),
		"stale, but not the driver":             spoiled(sleepy(), func(r *reject.Rejection) { r.Field = "tip" }),
		"the latch file, of another field":      spoiled(latchFileLate(), func(r *reject.Rejection) { r.Field = "stop" }),
		"the latch file, and never otherwise":   spoiled(latchFileLate(), func(r *reject.Rejection) { r.Retry = reject.Never }),
		"a driver that slept, for the operator": spoiled(sleepy(), func(r *reject.Rejection) { r.Retry = reject.AfterOperator }),
	} {
		t.Run(name, func(t *testing.T) {
			var b *balky
			run(t, balkySet(&b, func(b *balky) { b.says = says }), func(t *testing.T, r *rig) {
				b.later.Store(1)
				r.accepted("m1", "move_to", there, "")
				if e := r.ends("m1", "ABORTED(fault)"); b.asked != 1 || e.GetFailure().GetDriverError() == "" {
					t.Errorf("asked %d times: %v", b.asked, e)
				}
			})
		})
	}
}

// A body whose first readings fail, as that of a process that is late, is read again.
//
// Verifies: K139
func TestTheFirstReadingMayBeLate(t *testing.T) {
	var b *balky
	run(t, balkySet(&b, func(b *balky) { b.blind.Store(5) }), func(t *testing.T, r *rig) {
		r.observe()
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, balkySet(&b, func(b *balky) { b.blind.Store(1 << 30) }))
		if err := <-r.ended; err == nil || !strings.Contains(err.Error(), "first observation") {
			t.Errorf("a body that never answers ended with %v", err)
		}
		r.over = true
	})
}

// While a goal is measured nothing else begins, and whoever only looks, holds a lease or cancels is answered in a tick.
//
// Verifies: P25, K140
func TestLookingDoesNotWaitForAGoal(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(elsewhere)
		first := r.pauseAfter(3)
		claimed := later(func() *contractv1.Task { return r.claim(task, true) })
		second := r.pauseAfter(1)
		looked := []<-chan bool{
			later(func() bool { return r.observe() != nil }),
			later(func() bool { return r.acquire("somebody").GetLease() != nil }),
			later(func() bool { return r.cancelled("nothing") != nil }),
		}
		started := later(func() *contractv1.MissionAck { return r.start(request("m1", "move_to", there, "")) })
		first()
		synctest.Wait()
		for i, answer := range looked {
			select {
			case <-answer:
			default:
				t.Errorf("request %d waits while a goal is measured", i)
			}
		}
		select {
		case ack := <-started:
			t.Errorf("a mission began while a goal was measured: %v", ack)
		default:
		}
		second()
		<-claimed
		<-started
	})
}

// Those who only look, however many, do not keep a cancel waiting for a tick each.
//
// Verifies: P25, K141
func TestACancelIsHeardAmongMany(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		followed, first := r.midway(10, slowly, "")
		second := r.pauseAfter(8)
		var answered atomic.Int64
		for range 40 {
			go func() { r.observe(); answered.Add(1) }()
		}
		cancelled := later(func() *contractv1.CancelAck { return r.cancelled("m1") })
		first()
		synctest.Wait()
		select {
		case ack := <-cancelled:
			if !ack.GetAccepted() {
				t.Errorf("the cancel was answered by %v", ack)
			}
		default:
			t.Errorf("after seven ticks %d of 40 looked, and the cancel waits", answered.Load())
		}
		second()
		<-followed
	})
}

// Those who observe one after the other within a tick are told what one of them saw; whatever is asked of the robot
// meanwhile, and each tick, shows in the next observation.
//
// Verifies: K180
func TestOneLookServesATick(t *testing.T) {
	var l *leased
	run(t, leasedSet(&l), func(t *testing.T, r *rig) {
		first := r.observe()
		before := l.reads.Load()
		for range 20 {
			if o := r.observe(); o.GetAtMs() != first.GetAtMs() {
				t.Fatalf("%v after %v", o, first)
			}
		}
		if n := l.reads.Load() - before; n != 0 {
			t.Errorf("the body was read %d times for those who looked within a tick", n)
		}
		o := r.observe()
		o.StopReason = "changed by who got it"
		_, resume := r.midway(3, slowly, "")
		looked := later(r.observe)
		resume()
		if o := <-looked; o.GetRunningMission() != "m1" || o.GetStopReason() != "" {
			t.Errorf("a mission that just began is not seen: %v", o)
		}
		r.ending("m1")
		r.observe()
		before = l.reads.Load()
		time.Sleep(units.RobotTick)
		r.observe()
		if l.reads.Load() == before {
			t.Error("nobody looks again after a tick")
		}
	})
}

// A latch that the robot itself closed is told to whoever looks next, within the same tick too.
//
// Verifies: P10, K181
func TestItsOwnStopIsSeenAtOnce(t *testing.T) {
	var restless atomic.Bool
	s := set{beat: units.Beat, trouble: func(x *trouble) {
		x.observe = func(o *body.Observation) error {
			o.Standstill = o.Standstill && !restless.Load()
			return nil
		}
	}}
	run(t, s, func(t *testing.T, r *rig) {
		_, resume := r.midway(10, slowly, "")
		restless.Store(true)
		ack := later(func() *contractv1.CancelAck { return r.cancelled("m1") })
		resume()
		<-ack
		for e, err := range r.client.Events(t.Context(), &contractv1.EventsRequest{MissionId: "m1"}) {
			check(t, err)
			if !e.GetFinal() {
				continue
			}
			if o := r.observe(); word(e) != "ABORTED(stop_unconfirmed)" || !o.GetStopped() || o.GetStopNumber() != r.guard.Latch().Number {
				t.Errorf("after %s: %v; the latch is %+v", word(e), o, r.guard.Latch())
			}
		}
	})
}

// A driver whose every call fails only after its deadline delays the last word of a mission by one round of calls, not by one for
// each tick: what that takes counts as the mission's time.
//
// Verifies: P10, F12, K182
func TestASilentDriverDelaysNoLastWord(t *testing.T) {
	var b *balky
	run(t, balkySet(&b, func(*balky) {}), func(t *testing.T, r *rig) {
		followed, resume := r.midway(10, slowly, "")
		b.silent.Store(true)
		begun := time.Now()
		resume()
		events := <-followed
		if took := time.Since(begun); took > units.StopUnconfirmed+2*time.Second {
			t.Errorf("the last word, %s, came after %v", word(events[len(events)-1]), took)
		}
		b.silent.Store(false)
	})
}
