package mission

import (
	"strings"
	"time"

	"interlock/units"
)

// Status is where a mission stands.
type Status uint8

// The states of a mission. The zero Status is a mission that was not started.
const (
	New Status = iota
	Accepted
	Running
	Verifying
	Cancelling
	Succeeded
	Failed
	Unverified
	Cancelled
	Aborted
	Interrupted
)

// String returns the word for the state.
func (s Status) String() string {
	words := [...]string{"new", "accepted", "running", "verifying", "cancelling",
		"succeeded", "failed", "unverified", "cancelled", "aborted", "interrupted"}
	if int(s) < len(words) {
		return words[s]
	}
	return "invalid"
}

// Final reports whether the state is an end.
func (s Status) Final() bool { return s >= Succeeded && s <= Interrupted }

// active reports whether the mission owns the body and can still be ended early.
func (s Status) active() bool { return s >= Accepted && s <= Verifying }

// Reason says why a mission was ended early.
type Reason string

// The closed list of reasons.
const (
	NoReason              Reason = ""
	ReasonCancel          Reason = "cancel" // of a cancelling mission only: cancelled itself needs no reason
	ReasonTimeout         Reason = "timeout"
	ReasonInvariant       Reason = "invariant"
	ReasonStop            Reason = "stop"
	ReasonFault           Reason = "fault"
	ReasonStopUnconfirmed Reason = "stop_unconfirmed"
	ReasonLeaseLost       Reason = "lease_lost"
	ReasonRestart         Reason = "restart"
)

// OnCancel says what a cancelled motion does once it stands still.
type OnCancel string

// The closed list of what a cancel leads to.
const (
	HoldPosition   OnCancel = "hold"
	ReturnToOrigin OnCancel = "return_to_origin"
)

// OnDisconnect says what happens to the motion when its caller's line is lost.
type OnDisconnect string

// The closed list of what a disconnect leads to.
const (
	StopMotion   OnDisconnect = "stop"
	FinishMotion OnDisconnect = "finish" // at most until the mission's own deadline
)

// OnViolation says what a violated invariant does.
type OnViolation string

// The closed list of what a violation leads to.
const (
	StopAndLatch OnViolation = "stop"
	FailMission  OnViolation = "fail"
)

// Policy is what the contract says about a capability, as plain data. Nothing in it has a default: a policy that
// leaves something out is refused.
type Policy struct {
	Timeout              time.Duration // from the start to the end of the verification
	StopUnconfirmedAfter time.Duration // from a halt to measured standstill; units.StopUnconfirmed
	Interruptible        bool          // whether cancel is taken; stop always is
	OnCancel             OnCancel
	OnDisconnect         OnDisconnect
	StopNumber           uint64 // the number of the last stop known when the call was judged
}

func (p Policy) valid() bool {
	return p.Timeout > 0 && p.StopUnconfirmedAfter >= units.StandstillOver &&
		(p.OnCancel == HoldPosition || p.OnCancel == ReturnToOrigin) &&
		(p.OnDisconnect == StopMotion || p.OnDisconnect == FinishMotion)
}

// Mirror is the state of the driver's stop latch as last observed. The latch itself belongs to the driver.
type Mirror struct {
	Stopped bool
	Number  uint64
}

// end is a last word that waits for standstill.
type end struct {
	status Status
	reason Reason
	detail string
	act    Action // of an abort: what its cause asks for
}

// cause is the reason with its detail.
func (e end) cause() string { return strings.TrimSpace(string(e.reason) + " " + e.detail) }

// rank orders ends by how bad they are: a worse cause replaces a milder one, an equal one does not. Of two aborts the worse is
// the one whose cause asks for more: a driver that is found dead says more than the setpoint that it refused before.
func (e end) rank() int {
	switch e.status {
	case Cancelled:
		return 1
	case Failed:
		return 2
	case Interrupted:
		return 3
	case Aborted:
		return 4 + int(e.act)
	case New, Accepted, Running, Verifying, Cancelling, Succeeded, Unverified:
	}
	return 0
}

// State is one mission. It is a plain value: copying it copies the mission, and two of them compare with ==. The zero
// State was not started.
type State struct {
	Status     Status
	Reason     Reason // why it ended, or why it is being ended
	Detail     string // the rule, the fault's code or the driver's word behind the reason
	Phase      string // of the motion, as the skill last named it
	Policy     Policy
	Latch      Mirror
	Seq        uint64        // number of the last record; they count from 1 without gaps
	AcceptedAt units.Instant // when it was accepted; its timeout counts from here
	StartedAt  units.Instant // when the driver took the first setpoint: evidence is later than this
	EndedAt    units.Instant // when the motion ended by itself and its verification began
	Now        units.Instant // time of the latest event

	pending   end           // the last word, while cancelling
	haltAt    units.Instant // when the halt that is to be confirmed was owed
	wayBack   bool          // a way back is owed once standstill is measured
	returning bool          // on the way back
	asked     bool          // the stop latch was asked for
}

// Word returns the state with its reason, as people read it: "aborted(stop)".
func (s State) Word() string {
	if s.Reason == NoReason {
		return s.Status.String()
	}
	return s.Status.String() + "(" + string(s.Reason) + ")"
}

// Deadline is when the mission times out. It means nothing before the start.
func (s State) Deadline() units.Instant { return s.AcceptedAt.Add(s.Policy.Timeout) }

// confirmBy is the last instant at which standstill may be measured.
func (s State) confirmBy() units.Instant { return s.haltAt.Add(s.Policy.StopUnconfirmedAfter) }

// Moving reports whether the mission may still move the body: setpoints are only sent while it is true.
func (s State) Moving() bool { return s.Status == Accepted || s.Status == Running || s.returning }
