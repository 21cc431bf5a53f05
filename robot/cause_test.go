package robot_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/reject"
	"interlock/robot"
	"interlock/units"
)

// failing is a guard that refuses setpoints once it fails, and that tells what else is wrong with it.
type failing struct {
	*guard.Guard
	fails   atomic.Bool
	refusal reject.Rejection
	tells   func(*body.Observation)
	after   int // observations after the refusal that say nothing of it yet
	refused bool
}

func (f *failing) Send(s body.Setpoint) (body.Sent, error) {
	if f.fails.Load() {
		f.refused = true
		return body.Sent{}, f.refusal
	}
	return f.Guard.Send(s)
}

func (f *failing) Observe() (body.Observation, error) {
	o, err := f.Guard.Observe()
	if err != nil || !f.refused {
		return o, err
	}
	if f.after--; f.after < 0 && f.tells != nil {
		f.tells(&o)
	}
	return o, nil
}

// expired is what a driver says to a setpoint that comes too late for it.
func expired() reject.Rejection {
	return reject.New(reject.OutOfRange, "the setpoint has expired").In("expires").Saw("-30", "0", "ms")
}

// TestTheCauseIsToldBeforeWhatFollowsFromIt: where a body does not answer or tells nothing new, a setpoint that is refused
// meanwhile is not why the mission ended, whether that is seen in the same tick or before standstill was measured.
//
// Verifies: T70
func TestTheCauseIsToldBeforeWhatFollowsFromIt(t *testing.T) {
	dead := func(o *body.Observation) { o.Health.BusOK = false }
	for name, c := range map[string]struct {
		tells func(*body.Observation)
		after int
		want  string
	}{
		"its bus is dead":              {dead, 0, "fault: bus_dead"},
		"it is found dead later":       {dead, 4, "fault: bus_dead"},
		"its torque is gone":           {func(o *body.Observation) { o.Health.TorqueOn = false }, 0, "fault: torque_off"},
		"a motor is at fault":          {func(o *body.Observation) { o.Health.FaultCode = "overload" }, 0, "fault: motor_fault: overload"},
		"dead, and with a motor fault": {func(o *body.Observation) { dead(o); o.Health.FaultCode, o.Health.TorqueOn = "overload", false }, 0, "fault: bus_dead"},
		"its readings are old": {func(o *body.Observation) {
			for i := range o.Readings {
				o.Readings[i].At = o.Readings[i].At.Add(-time.Second)
			}
			o.At = o.At.Add(units.Silence + units.RobotTick)
		}, 0, "fault: stale_reading: no reading has had a newer time for"},
		"nothing else is wrong": {nil, 0, "fault: OUT_OF_RANGE"},
	} {
		t.Run(name, func(t *testing.T) {
			var b *failing
			held := func(g *guard.Guard) robot.Body {
				b = &failing{Guard: g, refusal: expired(), tells: c.tells, after: c.after}
				return b
			}
			run(t, set{body: held}, func(t *testing.T, r *rig) {
				followed, resume := r.midway(20, slowly, "")
				b.fails.Store(true)
				resume()
				events := <-followed
				told := ""
				for _, e := range events {
					told += e.GetReason() + "\n"
				}
				last := events[len(events)-1]
				if cause := strings.TrimPrefix(last.GetReason(), "stop_unconfirmed: fault "); !strings.HasPrefix("fault: "+strings.TrimPrefix(cause, "fault: "), c.want) {
					t.Errorf("it ended %s (%s), want %s; told:\n%s", word(last), last.GetReason(), c.want, told)
				}
				if c.after == 0 && c.tells != nil && strings.Contains(told, "OUT_OF_RANGE") {
					t.Errorf("the refusal was told first:\n%s", told)
				}
			})
		})
	}
}

// frozen is a guard whose clock stands still for whoever reads it, and that takes no setpoint of a time beyond.
type frozen struct {
	*guard.Guard
	on  atomic.Bool
	was *body.Observation
}

func (f *frozen) Observe() (body.Observation, error) {
	o, err := f.Guard.Observe()
	if f.on.Load() && err == nil {
		if f.was == nil {
			f.was = &o
		}
		return *f.was, nil
	}
	return o, err
}

func (f *frozen) Send(s body.Setpoint) (body.Sent, error) {
	if f.was != nil && s.Expires.Sub(f.was.At) > units.SetpointExpiry+5*units.RobotTick {
		return body.Sent{}, reject.New(reject.OutOfRange, "the setpoint expires too far ahead").In("expires").Saw("370", "350", "ms")
	}
	return f.Guard.Send(s)
}

// TestAClockThatStandsIsTheCause: a setpoint that is refused for its time by a driver whose own clock has stood still says that.
//
// Verifies: T71
func TestAClockThatStandsIsTheCause(t *testing.T) {
	var b *frozen
	run(t, set{body: func(g *guard.Guard) robot.Body { b = &frozen{Guard: g}; return b }}, func(t *testing.T, r *rig) {
		followed, resume := r.midway(20, slowly, "")
		b.on.Store(true)
		resume()
		events := <-followed
		halted := events[len(events)-2]
		if reason := halted.GetReason(); !strings.HasPrefix(reason, "fault: stale_reading: the driver's clock has stood still for ") {
			t.Errorf("%v", events)
		}
	})
}

// TestARefusedSetpointIsOnRecordWhole: a mission that a setpoint's refusal ended says what was seen and what the limit is, as
// the refusal did: of a blocked path the parts that meet.
//
// Verifies: T72
func TestARefusedSetpointIsOnRecordWhole(t *testing.T) {
	blocked := arm.Blocked{Rule: arm.MeetsKeepOut, Part: "gripper", Other: "charger", ClearM: 0.003, LeastM: 0.01}.Refusal()
	for name, refusal := range map[string]reject.Rejection{"blocked": blocked, "expired": expired()} {
		var b *failing
		run(t, set{body: func(g *guard.Guard) robot.Body { b = &failing{Guard: g, refusal: refusal}; return b }}, func(t *testing.T, r *rig) {
			_, resume := r.midway(20, slowly, "")
			b.fails.Store(true)
			resume()
			e := r.ends("m1", "ABORTED(fault)")
			f := e.GetFailure()
			if e.GetReason() != "fault: "+string(refusal.Code) || f.GetReplanReason() != e.GetReason()+": "+refusal.Says || f.GetDriverError() != refusal.Error() ||
				f.GetSource() != "driver" || f.GetObservedValue() != refusal.Got || f.GetTolerance() != refusal.Limit || f.GetUnit() != refusal.Unit || f.GetPhase() != "move" {
				t.Errorf("%s: %v", name, e)
			}
			var where arm.Obstruction
			if name == "blocked" && (json.Unmarshal([]byte(f.GetObservedValue()), &where) != nil || where.Part != "gripper" || where.Other != "charger") {
				t.Errorf("what met what: %+v", where)
			}
		})
	}
}
