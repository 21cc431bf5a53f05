package robot_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	contractv1 "interlock/contract/v1"
)

// TestEventsOfAMission: from the start to the measured verdict, numbered without gaps, with the evidence behind it.
//
// Verifies: P13
// Verifies: P22
func TestEventsOfAMission(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		r.accepted("m1", "move_to", there, "")
		var got []string
		var last *contractv1.Event
		for i, e := range r.events("m1") {
			if e.GetSeq() != uint64(i+1) || e.GetMissionId() != "m1" {
				t.Errorf("event %d: %v", i, e)
			}
			if last != nil && e.GetAtMs() < last.GetAtMs() {
				t.Errorf("event %d goes back in time: %v after %v", i, e, last)
			}
			got, last = append(got, word(e)), e
		}
		if want := "ACCEPTED STARTED PHASE ARRIVED VERIFIED"; strings.Join(got, " ") != want {
			t.Fatalf("%v, want %s", got, want)
		}
		if d := r.moved([3]float64{0.20, 0.05, 0.15}); d > 0.01 {
			t.Errorf("the tip is %.1f mm off", d*1000)
		}
		for _, e := range last.GetEvidence() {
			if e.GetWitness() == "" || e.GetObserved() == "" || e.GetThreshold() == "" || e.GetSourceAtMs() <= e.GetMissionStartedAtMs() {
				t.Errorf("evidence %v", e)
			}
		}
		if len(last.GetEvidence()) == 0 || last.GetFailure() != nil || len(last.GetFactsAfter()) == 0 {
			t.Errorf("the last word: %v", last)
		}
	})
}

// TestStartIsIdempotent: one start and a thousand copies of it at the same time are one mission; its id with another
// body is a conflict; and a copy that comes after the end still is no second one.
//
// Verifies: P19
func TestStartIsIdempotent(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open("")
		const copies = 1000
		acks := make([]*contractv1.MissionAck, copies)
		var all sync.WaitGroup
		for i := range acks {
			all.Go(func() { acks[i] = r.start(request("m1", "move_to", there, task)) })
		}
		all.Wait()
		first := 0
		for _, ack := range acks {
			if !ack.GetAccepted() || len(ack.GetNormalizedArgsJson()) == 0 {
				t.Fatalf("%v", ack)
			}
			if !ack.GetDuplicate() {
				first++
			}
		}
		if first != 1 {
			t.Fatalf("%d of %d started something", first, copies)
		}
		r.ends("m1", "VERIFIED")
		sent := r.sent()
		for name, q := range map[string]*contractv1.StartRequest{
			"the same":                     request("m1", "move_to", there, task),
			"the same in another spelling": request("m1", "move_to", ` {"z_cm":15.0, "y_cm":5e0,"x_cm":20} `, task),
		} {
			if ack := r.start(q); !ack.GetAccepted() || !ack.GetDuplicate() {
				t.Errorf("%s: %v", name, ack)
			}
		}
		for name, q := range map[string]*contractv1.StartRequest{
			"other arguments":  request("m1", "move_to", moveTo(20, 0, 10), task),
			"other capability": request("m1", "home", there, task),
			"no task":          request("m1", "move_to", there, ""),
			"not JSON":         request("m1", "move_to", "{", task),
		} {
			t.Log(name)
			if rs := r.refused(q, "CONFLICT"); rs[0].GetField() != "mission_id" {
				t.Errorf("%s: %v", name, rs)
			}
		}
		if got := r.task(task).GetMissions(); got != 1 || r.sent() != sent {
			t.Errorf("%d missions, %d setpoints after the end", got, r.sent()-sent)
		}
	})
}

// TestBusy: a second motion is refused while the first one runs, and told which that is; a read-only call is answered.
//
// Verifies: R01
func TestBusy(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		_, resume := r.midway(10, slowly, "")
		busy := later(func() *contractv1.MissionAck { return r.start(request("m2", "home", "{}", "")) })
		looked := later(func() *contractv1.MissionAck { return r.start(request("look", "get_state", "{}", "")) })
		observed := later(r.observe)
		again := r.pauseAfter(10) // each turn hears one of the three, so that all are answered by then
		resume()
		rs := (<-busy).GetRejections()
		if codesOf(rs) != "BUSY" || rs[0].GetField() != "holds" || rs[0].GetGot() != `"m1"` || rs[0].GetRetry() != "later" {
			t.Errorf("%v", rs)
		}
		if ack := <-looked; !ack.GetAccepted() || len(ack.GetFacts()) == 0 {
			t.Errorf("%v", ack)
		}
		if got := (<-observed).GetRunningMission(); got != "m1" {
			t.Errorf("running: %q", got)
		}
		synctest.Wait() // m1 stands in its tick: without that it might end before the stop
		r.guard.Stop("test")
		again()
		r.ends("m1", "ABORTED(stop)")
		if got := r.observe().GetRunningMission(); got != "" {
			t.Errorf("running after the end: %q", got)
		}
		if r.start(request("m2", "home", "{}", "")).GetDuplicate() {
			t.Error("a refusal became a mission")
		}
	})
}

// TestStopInMotion: the arm is still within the second, the mission ends as stopped, and no reset brings it back.
// Named after what Motoman's driver did: it took up the interrupted trajectory once motion was enabled again.
//
// Verifies: P01
// Verifies: P03
func TestStopInMotion(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(atThere)
		_, resume := r.midway(12, there, task)
		number := r.guard.Stop("test")
		stoppedAt := r.truth.Now()
		resume()
		end := r.ends("m1", "ABORTED(stop)")
		if took := end.GetAtMs() - stoppedAt.Millis(); took > 1000 {
			t.Errorf("standstill after %d ms", took)
		}
		if o := r.observe(); !o.GetStandstill() || !o.GetStopped() || o.GetStopNumber() != number {
			t.Errorf("%v", o)
		}
		r.is(task, contractv1.TaskState_STOPPED)
		r.still(task, number)
	})
}

// still checks that nothing starts while the stop is latched, and that a reset only permits.
func (r *rig) still(task string, number uint64) {
	r.t.Helper()
	at, sent := r.truth.TipInBase(), r.sent()
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		r.refused(request(id, "move_to", there, ""), "STOPPED")
	}
	r.refused(request("f", "move_to", there, task), "STOPPED", "NOT_PERMITTED")
	check(r.t, r.guard.Reset(number))
	check(r.t, r.guard.Advance(2*time.Second))
	if r.moved(at) > 0.002 || r.sent() != sent {
		r.t.Errorf("after the reset the tip moved by %.1f mm, on %d setpoints", r.moved(at)*1000, r.sent()-sent)
	}
	if ack := r.start(request("m1", "move_to", there, task)); !ack.GetDuplicate() || r.sent() != sent {
		r.t.Errorf("the stopped mission once more: %v", ack)
	}
	r.refused(request("g", "move_to", there, task), "NOT_PERMITTED")
	r.accepted("new", "move_to", there, "")
	r.ends("new", "VERIFIED")
	r.ends("m1", "ABORTED(stop)")
}

// TestStopEndsTheTask, also where nothing moves: before the first mission, and between two.
//
// Verifies: R02
func TestStopEndsTheTask(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(atThere)
		number := r.guard.Stop("test")
		r.refused(request("m1", "move_to", there, task), "STOPPED", "NOT_PERMITTED")
		r.is(task, contractv1.TaskState_STOPPED)
		second := r.open(atThere) // while it is stopped; that stop is older than the task
		r.refused(request("m1", "move_to", there, second), "STOPPED")
		r.is(second, contractv1.TaskState_OPEN)
		check(t, r.guard.Reset(number))
		r.accepted("m1", "move_to", moveTo(20, 0, 10), second)
		r.ends("m1", "VERIFIED")
		check(t, r.guard.Reset(r.guard.Stop("and at once reset")))
		if task := r.claim(second, true); task.GetState() != contractv1.TaskState_STOPPED || !task.GetClaim().GetSuccess() {
			t.Errorf("%v", task)
		}
		measured := r.open(elsewhere)
		resume := r.pauseAfter(5)
		answer := later(func() *contractv1.Task { return r.claim(measured, true) })
		check(t, r.guard.Reset(r.guard.Stop("while its goal is measured")))
		resume()
		if task := <-answer; task.GetState() != contractv1.TaskState_STOPPED {
			t.Errorf("%v", task)
		}
		unmeasured := r.open("")
		r.guard.Stop("and claimed at once")
		if task := r.claim(unmeasured, true); task.GetState() != contractv1.TaskState_STOPPED {
			t.Errorf("%v", task)
		}
	})
}

// TestCancelInMotion: the acknowledgement says only that it was taken; CANCELLED waits for standstill.
//
// Verifies: P10
func TestCancelInMotion(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		_, resume := r.midway(20, there, "")
		ack := later(func() *contractv1.CancelAck { return r.cancelled("m1") })
		resume()
		if a := <-ack; !a.GetAccepted() {
			t.Fatalf("%v", a)
		}
		events := r.events("m1")
		end, cancelling := events[len(events)-1], events[len(events)-2]
		if word(end) != "CANCELLED" || word(cancelling) != "CANCELLING(cancel)" {
			t.Fatalf("%v", events)
		}
		if took := end.GetAtMs() - cancelling.GetAtMs(); took < 100 || took > 1000 {
			t.Errorf("standstill was measured within %d ms", took)
		}
		if !r.observe().GetStandstill() || r.observe().GetStopped() {
			t.Errorf("%v", r.observe())
		}
		at := r.truth.TipInBase()
		check(t, r.guard.Advance(time.Second))
		if d := r.moved(at); d > 0.002 {
			t.Errorf("cancelled, and moved on by %.1f mm", d*1000)
		}
		if a := r.cancelled("m1"); a.GetAccepted() || codesOf(a.GetRejections()) != "NOT_PERMITTED" {
			t.Errorf("cancelled twice: %v", a)
		}
		if a := r.cancelled("nobody"); a.GetAccepted() || codesOf(a.GetRejections()) != "NOT_IN_ENUM" {
			t.Errorf("cancelled what is not: %v", a)
		}
		r.accepted("m2", "move_to", there, "")
		r.ends("m2", "VERIFIED")
	})
}

func (r *rig) cancelled(id string) *contractv1.CancelAck {
	r.t.Helper()
	ack, err := r.client.Cancel(r.t.Context(), &contractv1.CancelRequest{MissionId: id})
	check(r.t, err)
	return ack
}

// TestReturnToOrigin: a cancelled motion whose contract says so goes back, and only then is cancelled.
//
// Verifies: P10
func TestReturnToOrigin(t *testing.T) {
	run(t, set{yaml: []string{"on_cancel: hold", "on_cancel: return_to_origin"}}, func(t *testing.T, r *rig) {
		origin := r.truth.TipInBase()
		_, resume := r.midway(20, there, "")
		ack := later(func() *contractv1.CancelAck { return r.cancelled("m1") })
		away := r.moved(origin)
		resume()
		<-ack
		r.ends("m1", "CANCELLED")
		if d := r.moved(origin); away < 0.005 || d > 0.005 {
			t.Errorf("%.1f mm on the way, %.1f mm after it", away*1000, d*1000)
		}
	})
}

// TestSpeed: speed_mps makes the motion slower, by as much as it says.
//
// Verifies: R03
func TestSpeed(t *testing.T) {
	took := func(args string) (ms int64) {
		run(t, set{}, func(t *testing.T, r *rig) {
			r.accepted("m1", "move_to", args, "")
			for _, e := range r.events("m1") {
				if e.GetKind() == contractv1.EventKind_STARTED {
					ms -= e.GetAtMs()
				}
				if e.GetKind() == contractv1.EventKind_ARRIVED {
					ms += e.GetAtMs()
				}
			}
		})
		return ms
	}
	fast, slow := took(there), took(slowly)
	way := 0.06 / 0.02 * 1000 // at least 6 cm at 2 cm a second, in ms
	if float64(slow) < way || slow < 3*fast {
		t.Errorf("%d ms, and %d ms at 2 cm a second", fast, slow)
	}
}
