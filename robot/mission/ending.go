package mission

import (
	"fmt"

	"interlock/units"
)

// end ends the mission early: halt at once, the word once standstill is measured. A mission that is being ended takes a
// worse cause and keeps its word against an equal or milder one. One that is not open is left alone.
func (st *step) end(e end) {
	switch {
	case st.Status.active():
		st.Status = Cancelling
		st.hold()
		st.owe(e)
	case st.Status == Cancelling && e.rank() > st.pending.rank():
		st.wayBack = false
		if st.returning {
			st.hold()
		}
		st.halt = true
		st.owe(e)
	}
}

// owe makes e the word that waits for standstill, and says so.
func (st *step) owe(e end) {
	st.pending, st.Reason, st.Detail = e, e.reason, e.detail
	st.record(RecordCancelling)
}

// hold halts the body and starts the time within which standstill must be measured.
func (st *step) hold() {
	st.halt = true
	st.returning, st.haltAt = false, st.Now
	st.wakeAt(st.confirmBy())
}

// tick is the only event that lets time decide.
func (st *step) tick(e Tick) {
	if e.Latch.Number < st.Latch.Number {
		st.impossible("stop numbers run backwards")
		return
	}
	st.Latch = e.Latch
	if st.Status == New || st.Status.Final() {
		return
	}
	if e.Latch.Stopped || e.Latch.Number > st.Policy.StopNumber {
		st.end(end{Aborted, ReasonStop, fmt.Sprint(e.Latch.Number), ActLatch})
	}
	switch {
	case (st.Status.active() || st.returning) && st.Now >= st.Deadline():
		st.end(end{status: Failed, reason: ReasonTimeout})
	case st.Status == Cancelling && !st.returning:
		st.confirm(e)
	}
}

// confirm looks for standstill. Only a window of measurement that began after the halt tells anything.
func (st *step) confirm(e Tick) {
	windowAt := e.ObservedAt.Add(-units.StandstillOver)
	still := e.Standstill && windowAt >= st.haltAt && e.ObservedAt <= st.Now
	switch {
	case still && st.Now <= st.confirmBy() && st.wayBack && st.Now < st.Deadline():
		st.wayBack, st.returning = false, true
		st.move = PlayBack{}
		st.wakeAt(st.Deadline())
	case still && st.Now <= st.confirmBy():
		st.finish(st.pending)
	case st.Now >= st.confirmBy():
		st.halt = true
		st.latches = append(st.latches, Latch{Reason: string(ReasonStopUnconfirmed)})
		st.finish(end{status: Aborted, reason: ReasonStopUnconfirmed, detail: st.pending.cause()})
	}
}

// finish says the last word.
func (st *step) finish(e end) {
	st.Status, st.Reason, st.Detail = e.status, e.reason, e.detail
	if e.status == Cancelled {
		st.Reason = NoReason
	}
	st.pending, st.wayBack, st.returning, st.wake = end{}, false, false, nil
	st.record(lastWord(e.status))
}
