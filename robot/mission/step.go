package mission

import (
	"fmt"
	"strings"

	"interlock/reject"
	"interlock/units"
)

// Step takes one event. It returns the mission after it and what is owed, in the order the package doc states.
func Step(s State, ev Event) (State, []Effect) {
	st := step{State: s}
	st.take(ev)
	return st.State, st.list()
}

// step is a mission in the middle of one event.
type step struct {
	State
	owed
}

func (st *step) take(ev Event) {
	if known(ev) && ev.when() < st.Now {
		st.impossible("time runs backwards")
		return
	}
	if known(ev) {
		st.Now = ev.when()
	}
	switch e := ev.(type) {
	case Start:
		st.start(e)
	case Started:
		st.started()
	case Phase:
		st.phase(e)
	case MotionEnded:
		st.motionEnded()
	case Tick:
		st.tick(e)
	case Verdict:
		st.verdict(e)
	case Cancel:
		st.cancel()
	case Stop:
		st.stop(fmt.Sprint(e.Number))
	case Fault:
		st.fault(e.Code, strings.TrimSuffix(e.Code+": "+e.Detail, ": "))
	case InvariantViolated:
		st.invariant(e)
	case SetpointRefused:
		st.setpointRefused(e)
	case LeaseLost:
		st.end(end{status: Interrupted, reason: ReasonLeaseLost})
	case Disconnected:
		st.disconnected()
	case Restarted:
		st.restarted()
	default:
		st.impossible(fmt.Sprintf("unknown event %T", ev))
	}
}

// known reports whether the event is one of this package's own values; nil and pointers are not.
func known(ev Event) bool {
	switch ev.(type) {
	case Start, Started, Phase, MotionEnded, Tick, Verdict, Cancel, Stop, Fault, InvariantViolated, SetpointRefused,
		LeaseLost, Disconnected, Restarted:
		return true
	}
	return false
}

func (st *step) start(e Start) {
	switch {
	case st.Status != New:
		st.refuse(reject.New(reject.Conflict, "this mission was started before").By("started_once"))
		return
	case !e.Policy.valid():
		st.refuse(reject.New(reject.NotPermitted, "the capability's policy is incomplete").By("policy_complete"))
		return
	case e.Policy.StopNumber < st.Latch.Number || st.Latch.Stopped:
		st.refuse(reject.New(reject.Stopped, "a stop came after the call was judged").By("stop_number"))
		return
	}
	st.Status, st.Policy, st.AcceptedAt = Accepted, e.Policy, st.Now
	st.Latch.Number = e.Policy.StopNumber
	st.record(RecordAccepted)
	st.move = Play{}
	st.wakeAt(st.Deadline())
	st.reply = &Reply{}
}

func (st *step) started() {
	switch {
	case st.Status == Accepted:
		st.Status, st.StartedAt = Running, st.Now
		st.record(RecordStarted)
	case st.Status.active() || st.Status == New:
		st.impossible("started twice or unasked")
	}
}

func (st *step) phase(e Phase) {
	switch {
	case st.Status == Accepted || st.Status == New:
		st.impossible("phase before start")
	case st.Moving() && e.Name != st.Phase:
		st.Phase = e.Name
		st.record(RecordPhase)
	}
}

func (st *step) motionEnded() {
	switch {
	case st.Status == Running:
		st.Status, st.EndedAt = Verifying, st.Now
		st.record(RecordArrived)
		st.move = Verify{}
	case st.returning:
		st.hold()
	case st.Status == Accepted || st.Status == New:
		st.impossible("motion ended before it started")
	}
}

func (st *step) verdict(e Verdict) {
	switch {
	case e.Outcome != Succeeded && e.Outcome != Failed && e.Outcome != Unverified:
		st.impossible("unknown verdict")
	case st.Status == Verifying:
		st.finish(end{status: e.Outcome})
	case st.Status.active() || st.Status == New:
		st.impossible("verdict before verification")
	}
}

func (st *step) cancel() {
	switch {
	case !st.Status.active() && st.Status != Cancelling:
		st.refuse(reject.New(reject.NotPermitted, "the mission is "+st.Word()+": there is nothing to cancel").By("open"))
		return
	case !st.Policy.Interruptible:
		st.refuse(reject.New(reject.NotPermitted, "this capability cannot be cancelled; stop always works").By("interruptible"))
		return
	case st.returning:
		st.hold() // a second cancel ends the way back too
	case st.Status != Cancelling:
		st.wayBack = st.Policy.OnCancel == ReturnToOrigin
		st.end(end{status: Cancelled, reason: ReasonCancel})
	}
	st.reply = &Reply{}
}

// stop halts in every state, also where there is no motion to end.
func (st *step) stop(detail string) {
	st.end(end{Aborted, ReasonStop, detail, ActLatch})
	st.halt = true
}

func (st *step) fault(code, detail string) {
	h := HazardOf(code)
	if h.Action <= ActWarn || h.Action == ActHold && !st.Moving() {
		return
	}
	st.halt = true
	if h.Action == ActLatch {
		st.ask(code)
	}
	st.end(end{Aborted, ReasonFault, detail, h.Action})
}

func (st *step) invariant(e InvariantViolated) {
	switch {
	case st.Status == New:
		st.impossible("invariant of a mission that was not started")
	case st.Status.Final():
	case e.OnViolation == FailMission:
		st.end(end{status: Failed, reason: ReasonInvariant, detail: e.Rule})
	default: // stop, and whatever nobody knows
		st.halt = true
		st.ask("invariant " + e.Rule)
		st.end(end{Aborted, ReasonStop, "invariant " + e.Rule, ActLatch})
	}
}

func (st *step) setpointRefused(e SetpointRefused) {
	switch {
	case st.Status == New:
		st.impossible("setpoint of a mission that was not started")
	case !st.Moving():
	case e.Code == reject.Stopped:
		st.stop("refused by the driver")
	default:
		st.fault("setpoint_refused", string(e.Code))
	}
}

func (st *step) disconnected() {
	if st.Policy.OnDisconnect != FinishMotion {
		st.end(end{status: Interrupted, reason: ReasonLeaseLost, detail: "disconnected"})
	}
}

func (st *step) restarted() {
	if st.Status == New || st.Status.Final() {
		return
	}
	st.halt = true
	st.finish(end{status: Interrupted, reason: ReasonRestart})
}

// impossible is what the machine excludes. Something is badly wrong, so the body halts and a person must look.
func (st *step) impossible(what string) {
	st.halt = true
	st.latches = append(st.latches, Latch{Reason: "impossible: " + what})
	st.asked = st.Status != New && !st.Status.Final()
	st.end(end{Aborted, ReasonFault, "impossible: " + what, ActLatch})
}

func (st *step) record(k RecordKind) {
	st.Seq++
	st.records = append(st.records, Record{
		Seq: st.Seq, Kind: k, Reason: st.Reason, Detail: st.Detail, Phase: st.Phase, At: st.Now, Final: st.Status.Final(),
	})
}

func (st *step) refuse(r reject.Rejection) { st.reply = &Reply{Rejections: reject.List{r}} }

func (st *step) wakeAt(t units.Instant) { st.wake = &Wake{At: t} }

// ask requests the stop latch, once a mission.
func (st *step) ask(reason string) {
	if !st.asked {
		st.asked = st.Status != New && !st.Status.Final()
		st.latches = append(st.latches, Latch{Reason: reason})
	}
}
