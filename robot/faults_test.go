package robot_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/robot/skill"
	"interlock/units"
)

// drift is a body that says yes to every halt and keeps turning its first joint, 0.1 rad/s for 3 s from on.
func drift(on *atomic.Bool) func(*trouble) error {
	left := 3 * time.Second / sim.Step
	return func(b *trouble) error {
		if !on.Load() || left == 0 {
			return nil
		}
		left--
		o, err := b.Stepper.Observe()
		if err != nil {
			return err
		}
		o.GoalRad[0] += 0.1 * sim.Step.Seconds()
		_, err = b.Stepper.Send(body.Setpoint{PositionsRad: o.GoalRad})
		return err
	}
}

// TestStopUnconfirmed: a halt that was acknowledged is no standstill. After syswonder/robonix#140.
//
// Verifies: P10
func TestStopUnconfirmed(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"stop":   func(r *rig) { r.guard.Stop("test") },
		"cancel": func(r *rig) { later(func() *contractv1.CancelAck { return r.cancelled("m1") }) },
		"close":  func(r *rig) { r.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			var drifts atomic.Bool
			run(t, set{trouble: func(b *trouble) { b.advance, b.deaf = drift(&drifts), &drifts }}, func(t *testing.T, r *rig) {
				task := r.open(atThere)
				followed, resume := r.midway(20, slowly, task)
				drifts.Store(true)
				end(r)
				resume()
				events := <-followed
				last := events[len(events)-1]
				halted := events[len(events)-2]
				for _, e := range events {
					if k := e.GetKind(); k == contractv1.EventKind_CANCELLED || k == contractv1.EventKind_INTERRUPTED {
						t.Errorf("it said %s while it moved", k)
					}
				}
				if word(last) != "ABORTED(stop_unconfirmed)" {
					t.Fatalf("%v", events)
				}
				if took := last.GetAtMs() - halted.GetAtMs(); took != units.StopUnconfirmed.Milliseconds() {
					t.Errorf("after %d ms", took)
				}
				if !r.guard.Latch().Stopped {
					t.Error("and nothing is latched")
				}
				if name != "close" {
					r.is(task, contractv1.TaskState_STOPPED)
				} else if e := new(robot.EndError); !errors.As(r.close(), &e) || !e.NotStill || e.Halt != nil || e.Close != nil {
					t.Errorf("it ended with %+v", e)
				}
			})
		})
	}
}

// TestLyingDriver: what answers "done" and did not move ends failed, with what was measured beside what was expected.
// One that lies with its only witness too is believed: that is the limit, and only a second witness moves it.
//
// Verifies: R04, F35
func TestLyingDriver(t *testing.T) {
	run(t, set{lie: sim.LieStill}, func(t *testing.T, r *rig) {
		task := r.open(atThere)
		r.accepted("m1", "move_to", there, task)
		f := r.ends("m1", "FAILED").GetFailure()
		if f.GetViolatedPostcondition() != "tip_at_target" || f.GetObservedValue() == "" || f.GetTolerance() != "10" || f.GetUnit() != "mm" ||
			f.GetSource() != "encoders" || f.GetAttempt() != 1 || f.GetBudgetLeft() != 7 || f.GetPhase() != "move" {
			t.Errorf("%v", f)
		}
		r.accepted("m2", "move_to", there, task)
		if f := r.ends("m2", "FAILED").GetFailure(); f.GetAttempt() != 2 || f.GetKind() != "permanent" {
			t.Errorf("the same once more: %v", f)
		}
		if task := r.claim(task, true); task.GetState() != contractv1.TaskState_NOT_DONE || !task.GetClaim().GetSuccess() {
			t.Errorf("%v", task)
		}
	})
	run(t, set{lie: sim.LieEcho}, func(t *testing.T, r *rig) {
		at := r.truth.TipInBase()
		r.accepted("m1", "move_to", there, "")
		r.ends("m1", "VERIFIED")
		if r.moved(at) > 0.005 {
			t.Errorf("the liar moved by %.1f mm", r.moved(at)*1000)
		}
	})
}

// TestBadSensors: what the tip's only sensor does wrong never ends as success.
//
// Verifies: P16
func TestBadSensors(t *testing.T) {
	for _, c := range []struct {
		fault sim.Fault
		want  string
		task  contractv1.TaskState
	}{
		{sim.Fault{Kind: sim.FrozenTime, Fact: sim.FactTip}, "UNVERIFIED", contractv1.TaskState_TASK_UNVERIFIED},
		{sim.Fault{Kind: sim.Replayed, Fact: sim.FactTip}, "UNVERIFIED", contractv1.TaskState_TASK_UNVERIFIED},
		{sim.Fault{Kind: sim.Stale, Fact: sim.FactTip, Amount: 1}, "UNVERIFIED", contractv1.TaskState_TASK_UNVERIFIED},
		{sim.Fault{Kind: sim.Dropped, Fact: sim.FactTip, Amount: 1}, "UNVERIFIED", contractv1.TaskState_TASK_UNVERIFIED},
		{sim.Fault{Kind: sim.FrozenValue, Fact: sim.FactTip}, "FAILED", contractv1.TaskState_NOT_DONE},
		{sim.Fault{Kind: sim.UnitScaled, Fact: sim.FactTip, Amount: 100}, "FAILED", contractv1.TaskState_NOT_DONE},
		{sim.Fault{Kind: sim.Biased, Fact: sim.FactTip, Vector: units.Vec3{0, 0.02, 0}}, "FAILED", contractv1.TaskState_NOT_DONE},
		{sim.Fault{Kind: sim.TrackingError, Joint: "pan", Amount: 0.2}, "FAILED", contractv1.TaskState_NOT_DONE},
		{sim.Fault{Kind: sim.NotANumber, Fact: sim.FactTip}, "ABORTED(fault)", contractv1.TaskState_STOPPED},
	} {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			c.fault.After = 100 * time.Millisecond
			run(t, set{sim: func(cfg *sim.Config) { cfg.Faults = []sim.Fault{c.fault} }}, func(t *testing.T, r *rig) {
				task := r.open(atThere)
				r.accepted("m1", "move_to", there, task)
				if end := r.ends("m1", c.want); end.GetFailure() == nil {
					t.Error("no failure record")
				}
				if got := r.claim(task, true).GetState(); got != c.task {
					t.Errorf("claimed: %s, want %s", got, c.task)
				}
			})
		})
	}
}

// TestDroppedReading: one frame that is missing now and then is no unknown world; its last reading has an age.
//
// Verifies: R05
func TestDroppedReading(t *testing.T) {
	fault := sim.Fault{Kind: sim.Dropped, Fact: sim.FactTip, Amount: 0.6}
	run(t, set{sim: func(cfg *sim.Config) { cfg.Faults = []sim.Fault{fault} }}, func(t *testing.T, r *rig) {
		r.accepted("m1", "move_to", there, "")
		r.ends("m1", "VERIFIED")
	})
}

// TestObservationSentAgain: from some tick on the driver tells the same sample again and again, under its old time or
// under a new one; one of them was taken as the arm stood still. After OpenRAL/openral#294.
//
// Verifies: P16
func TestObservationSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		fresh bool
		tick  int
	}{
		"under its old time": {false, 40}, "under a new time": {true, 40},
		"at rest, under its old time": {false, 3}, "at rest, under a new time": {true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var freeze atomic.Bool
			var old *body.Observation
			again := func(o *body.Observation) error {
				at := o.At
				if freeze.Load() {
					if old == nil {
						kept := *o
						old = &kept
					}
					*o = *old
					if c.fresh {
						o.At = at
					}
				}
				return nil
			}
			run(t, set{trouble: func(b *trouble) { b.observe = again }}, func(t *testing.T, r *rig) {
				check(t, r.guard.Advance(time.Second))
				task := r.open(atThere)
				followed, resume := r.midway(c.tick, slowly, task)
				freeze.Store(true)
				resume()
				events := <-followed
				halted, last := events[len(events)-2], events[len(events)-1]
				if word(halted) != "CANCELLING(fault)" || !strings.Contains(halted.GetReason(), "stale_reading") || !strings.Contains(halted.GetReason(), "300 ms") {
					t.Errorf("%v", halted)
				}
				if word(last) != "ABORTED(stop_unconfirmed)" || !r.guard.Latch().Stopped {
					t.Errorf("%v", last)
				}
				at := r.truth.TipInBase()
				check(t, r.guard.Advance(time.Second))
				if r.moved(at) > 0.002 {
					t.Errorf("it does not hold: %.1f mm", r.moved(at)*1000)
				}
				r.is(task, contractv1.TaskState_STOPPED)
				for _, f := range last.GetFactsAfter() {
					if f.GetFresh() {
						t.Errorf("fresh: %v", f)
					}
				}
				if r.observe().GetStandstill() {
					t.Error("standstill was told from an old sample")
				}
			})
		})
	}
}

// TestDriverTrouble: whatever stops answering in motion ends the mission, latches, and does not take the robot with it.
//
// Verifies: R06
func TestDriverTrouble(t *testing.T) {
	var on atomic.Bool
	for name, c := range map[string]struct {
		trouble func(*trouble)
		pacer   error
		hazard  string
		want    string
		then    string // what a start is refused with
	}{
		"no observation": {func(b *trouble) {
			b.observe = func(*body.Observation) error { return broken(&on) }
		}, nil, "driver_lost", "ABORTED(stop_unconfirmed)", "STALE_FACT"},
		"does not advance": {func(b *trouble) {
			b.advance = func(*trouble) error { return broken(&on) }
		}, nil, "driver_lost", "ABORTED(stop_unconfirmed)", "STOPPED"},
		"pacer fails": {nil, errTest, "driver_lost", "ABORTED(stop_unconfirmed)", "STOPPED"},
		"torque gone": {func(b *trouble) {
			b.observe = func(o *body.Observation) error { o.Health.TorqueOn = broken(&on) == nil; return nil }
		}, nil, "torque_off", "ABORTED(fault)", "STOPPED"},
		"bus dead": {func(b *trouble) {
			b.observe = func(o *body.Observation) error { o.Health.BusOK = broken(&on) == nil; return nil }
		}, nil, "bus_dead", "ABORTED(fault)", "STOPPED"},
		"motor fault": {func(b *trouble) {
			b.observe = func(o *body.Observation) error {
				if broken(&on) != nil {
					o.Health.FaultCode = "overload"
				}
				return nil
			}
		}, nil, "motor_fault: overload", "ABORTED(fault)", "STOPPED"},
	} {
		t.Run(name, func(t *testing.T) {
			on.Store(false)
			run(t, set{trouble: c.trouble}, func(t *testing.T, r *rig) {
				task := r.open(atThere)
				followed, resume := r.midway(10, slowly, task)
				on.Store(true)
				r.fail(c.pacer)
				resume()
				events := <-followed
				halted, last := events[len(events)-2], events[len(events)-1]
				if word(last) != c.want || !strings.Contains(halted.GetReason(), c.hazard) || !r.guard.Latch().Stopped {
					t.Errorf("%v, %v, latch %v", halted, last, r.guard.Latch())
				}
				r.refused(request("m2", "home", "{}", ""), c.then)
				r.is(task, contractv1.TaskState_STOPPED)
				r.ends("m1", c.want)
			})
		})
	}
}

func broken(on *atomic.Bool) error {
	if on.Load() {
		return errTest
	}
	return nil
}

// TestUnfitBody: with the torque off or the bus dead no motion is accepted at all.
//
// Verifies: R07
func TestUnfitBody(t *testing.T) {
	for rule, spoil := range map[string]func(*body.Health){
		"torque_on":      func(h *body.Health) { h.TorqueOn = false },
		"bus_ok":         func(h *body.Health) { h.BusOK = false },
		"motion_allowed": func(h *body.Health) { h.MotionAllowed = false },
	} {
		run(t, set{trouble: func(b *trouble) { b.observe = func(o *body.Observation) error { spoil(&o.Health); return nil } }}, func(t *testing.T, r *rig) {
			if rs := r.refused(request("m1", "home", "{}", ""), "NOT_PERMITTED"); rs[0].GetRule() != rule || rs[0].GetRetry() != string(reject.AfterOperator) {
				t.Errorf("%s: %v", rule, rs)
			}
			if r.sent() != 0 {
				t.Errorf("%s: %d setpoints", rule, r.sent())
			}
		})
	}
}

// deep is a contract that lets the tip be sent into the table.
var deep = []string{"args.z_cm >= 2.0", "args.z_cm >= -50.0"}

// TestInvariant: more than 5 N on the table stops the motion, latches, and stands in the record.
//
// Verifies: R08
func TestInvariant(t *testing.T) {
	run(t, set{yaml: deep, solver: skill.DLSLast}, func(t *testing.T, r *rig) {
		task := r.open(atThere)
		r.accepted("m1", "move_to", moveTo(20, 0, -5), task)
		end := r.ends("m1", "ABORTED(stop)")
		f := end.GetFailure()
		if f.GetViolatedPostcondition() != "no_table_push" || f.GetTolerance() != "5" || f.GetUnit() != "n" || f.GetObservedValue() == "" {
			t.Errorf("%v", f)
		}
		if len(end.GetEvidence()) == 0 || end.GetEvidence()[0].GetFact() != "table_force_n" {
			t.Errorf("%v", end.GetEvidence())
		}
		if o := r.observe(); !o.GetStopped() || !o.GetStandstill() {
			t.Errorf("%v", o)
		}
		r.is(task, contractv1.TaskState_STOPPED)
		if peak := r.truth.PeakTableForceN(); peak <= 5 {
			t.Errorf("the table was pressed with %.1f N: nothing was tested", peak)
		}
	})
	run(t, set{yaml: append([]string{"on_violation: stop", "on_violation: fail"}, deep...), solver: skill.DLSLast}, func(t *testing.T, r *rig) {
		r.accepted("m1", "move_to", moveTo(20, 0, -5), "")
		r.ends("m1", "FAILED(invariant)")
		if r.observe().GetStopped() {
			t.Error("latched")
		}
	})
}

// TestClockOfTheDriver: a driver's clock has its own zero, and goes on where nobody paced it.
//
// Verifies: R09
func TestClockOfTheDriver(t *testing.T) {
	run(t, set{before: 5 * time.Second}, func(t *testing.T, r *rig) {
		r.accepted("m1", "move_to", there, "")
		if end := r.ends("m1", "VERIFIED"); end.GetAtMs() < 5000 {
			t.Errorf("%v", end)
		}
		check(t, r.guard.Advance(7*time.Second))
		r.accepted("m2", "move_to", moveTo(20, 0, 10), "")
		if end := r.ends("m2", "VERIFIED"); end.GetAtMs() < 12000 {
			t.Errorf("%v", end)
		}
		if o := r.observe(); o.GetAtMs() != r.truth.Now().Millis() {
			t.Errorf("%d, the driver has %d", o.GetAtMs(), r.truth.Now().Millis())
		}
	})
}

// TestLateDriver: a driver that misses a few ticks and goes on is followed; its time is not outrun.
//
// Verifies: R09
func TestLateDriver(t *testing.T) {
	var hang atomic.Int32
	run(t, set{}, func(t *testing.T, r *rig) {
		r.pacer.inner = lazy{r.pacer.inner, &hang}
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			hang.Store(10) // 200 ms
			r.accepted(id, "move_to", slowly, "")
			r.ends(id, "VERIFIED")
			hang.Store(10)
			r.accepted(id+" back", "move_to", `{"x_cm":20,"y_cm":0,"z_cm":15,"speed_mps":0.02}`, "")
			r.ends(id+" back", "VERIFIED")
		}
		if o := r.observe(); o.GetAtMs()-r.truth.Now().Millis() > 200 {
			t.Errorf("the robot is %d ms ahead", o.GetAtMs()-r.truth.Now().Millis())
		}
	})
}

// listening is a guard whose calls are noted, and whose halts can fail.
type listening struct {
	*guard.Guard
	calls string // S a setpoint, H a halt, L a stop
	fails error
}

func (l *listening) Send(s body.Setpoint) (body.Sent, error) {
	l.calls += "S"
	return l.Guard.Send(s)
}

func (l *listening) Halt() error {
	l.calls += "H"
	if l.fails != nil {
		return l.fails
	}
	return l.Guard.Halt()
}

func (l *listening) Stop(reason string) uint64 {
	l.calls += "L"
	return l.Guard.Stop(reason)
}

// TestHalt: a mission that ends early halts the body before anything else and sends it nothing any more; a body that
// cannot be halted is stopped.
//
// Verifies: R21
func TestHalt(t *testing.T) {
	for fails, want := range map[error][2]string{nil: {"H", "CANCELLED"}, errTest: {"HL", "ABORTED(stop)"}} {
		var ear *listening
		held := func(g *guard.Guard) robot.Body {
			ear = &listening{Guard: g, fails: fails}
			return ear
		}
		run(t, set{body: held}, func(t *testing.T, r *rig) {
			followed, resume := r.midway(20, slowly, "")
			answer := later(func() *contractv1.CancelAck { return r.cancelled("m1") })
			before := len(ear.calls)
			resume()
			<-answer
			events := <-followed
			if got := word(events[len(events)-1]); got != want[1] {
				t.Errorf("%s, want %s", got, want[1])
			}
			if got := ear.calls[before:]; !strings.HasPrefix(got, want[0]) || strings.Contains(got, "S") {
				t.Errorf("calls %q, want %q and no setpoint", got, want[0])
			}
			ear.fails = nil
		})
	}
}

// TestForeignReading: a fact comes from the witness the contract names, as the kind it declares, or not at all.
//
// Verifies: R22
func TestForeignReading(t *testing.T) {
	for name, change := range map[string]func(*body.Reading){
		"another witness": func(g *body.Reading) { g.Witness = "gripper_encoder" },
		"another kind":    func(g *body.Reading) { g.Kind, g.Number = body.Number, 0 },
		"another name":    func(g *body.Reading) { g.Fact = "tip_m" },
		"the future":      func(g *body.Reading) { g.At = g.At.Add(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			foreign := func(o *body.Observation) error {
				for i := range o.Readings {
					if o.Readings[i].Fact == "tip" {
						change(&o.Readings[i])
					}
				}
				return nil
			}
			run(t, set{trouble: func(b *trouble) { b.observe = foreign }}, func(t *testing.T, r *rig) {
				for _, f := range r.observe().GetFacts() {
					if strings.HasPrefix(f.GetName(), "tip") {
						t.Errorf("%v", f)
					}
				}
				r.accepted("m1", "move_to", there, "")
				r.ends("m1", "UNVERIFIED")
			})
		})
	}
}
