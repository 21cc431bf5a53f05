package mission

import (
	"interlock/reject"
	"interlock/units"
)

// Effect is something the shell owes the world after a step.
type Effect interface {
	effect()
}

type (
	// Halt stops the body and holds it with torque on, now, before anything else.
	Halt struct{}
	// Latch asks the driver to close its stop latch. Only a person opens it again.
	Latch struct{ Reason string }
	// Record is one line of the mission's history. It is durable before the effects behind it happen.
	Record struct {
		Seq    uint64
		Kind   RecordKind
		Reason Reason
		Detail string
		Phase  string
		At     units.Instant
		Final  bool
	}
	// Play begins the motion of the cleared plan.
	Play struct{}
	// PlayBack begins the way back to where the motion began.
	PlayBack struct{}
	// Verify begins the verification.
	Verify struct{}
	// Wake asks for a Tick no later than At.
	Wake struct{ At units.Instant }
	// Reply answers the caller of the event. No rejections: it was taken. It never says that the robot stands still.
	Reply struct{ Rejections reject.List }
)

func (Halt) effect()     {}
func (Latch) effect()    {}
func (Record) effect()   {}
func (Play) effect()     {}
func (PlayBack) effect() {}
func (Verify) effect()   {}
func (Wake) effect()     {}
func (Reply) effect()    {}

// RecordKind is what a record tells; the names are those of the contract's event kinds.
type RecordKind string

// The closed list of record kinds.
const (
	RecordAccepted    RecordKind = "ACCEPTED"
	RecordStarted     RecordKind = "STARTED"
	RecordPhase       RecordKind = "PHASE"
	RecordArrived     RecordKind = "ARRIVED"
	RecordVerified    RecordKind = "VERIFIED"
	RecordFailed      RecordKind = "FAILED"
	RecordUnverified  RecordKind = "UNVERIFIED"
	RecordCancelling  RecordKind = "CANCELLING"
	RecordCancelled   RecordKind = "CANCELLED"
	RecordAborted     RecordKind = "ABORTED"
	RecordInterrupted RecordKind = "INTERRUPTED"
)

// lastWord returns the record of an end.
func lastWord(s Status) RecordKind {
	switch s {
	case Succeeded:
		return RecordVerified
	case Failed:
		return RecordFailed
	case Unverified:
		return RecordUnverified
	case Cancelled:
		return RecordCancelled
	case Interrupted:
		return RecordInterrupted
	case New, Accepted, Running, Verifying, Cancelling, Aborted:
	}
	return RecordAborted
}

// owed collects the effects of one step. A halt and a move exclude each other by construction.
type owed struct {
	halt    bool
	latches []Latch
	records []Record
	move    Effect
	wake    *Wake
	reply   *Reply
}

// list returns the effects in the order in which they are owed.
func (o owed) list() []Effect {
	var out []Effect
	if o.halt {
		out = append(out, Halt{})
	}
	for _, l := range o.latches {
		out = append(out, l)
	}
	for _, r := range o.records {
		out = append(out, r)
	}
	if o.move != nil && !o.halt {
		out = append(out, o.move)
	}
	if o.wake != nil {
		out = append(out, *o.wake)
	}
	if o.reply != nil {
		out = append(out, *o.reply)
	}
	return out
}
