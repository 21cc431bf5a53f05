package tool

import (
	"context"
	"fmt"
	"time"

	contractv1 "interlock/contract/v1"
)

// cancelWithin bounds how long a cancel of a lost mission may take: the robot's lease (2 s) ends it otherwise.
const cancelWithin = 2 * time.Second

// capability starts one capability and returns the measured answer.
func (r *Registry) capability(ctx context.Context, t Tool, args []byte) Result {
	r.missions++
	id := fmt.Sprintf("%s-m-%d", r.opts.Prefix, r.missions)
	ack, err := r.client.Start(ctx, &contractv1.StartRequest{
		MissionId: id, Capability: t.Name, ArgsJson: args, TaskId: r.opts.TaskID, Lease: r.opts.Lease,
	})
	switch {
	case err != nil && t.Effect == Motion:
		return r.lost(ctx, id, "the robot's answer to the start was lost: "+err.Error())
	case err != nil:
		return failed("the robot cannot be reached: " + err.Error())
	case !ack.GetAccepted():
		return refusedBy(ack.GetRejections())
	case t.Effect == Look:
		return Result{Verdict: OK, Facts: ack.GetFacts()}.with(answer{Facts: measuredFacts(ack.GetFacts())})
	}
	return r.follow(ctx, id)
}

// follow reads a mission's events to the final one.
func (r *Registry) follow(ctx context.Context, id string) Result {
	out := Result{Verdict: OK, MissionID: id}
	for e, err := range r.client.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
		if err != nil {
			return r.lost(ctx, id, "the mission's events were lost: "+err.Error())
		}
		out.Events = append(out.Events, eventWords(e))
		if !e.GetFinal() {
			continue
		}
		out.Mission, out.Facts, out.Failure = ending(e.GetKind()), e.GetFactsAfter(), e.GetFailure()
		return out.with(answer{Reason: e.GetReason(), Failure: failureJSON(out.Failure), Measured: measuredFacts(out.Facts)})
	}
	return r.lost(ctx, id, "the mission's events ended before the mission did")
}

// lost cancels a mission nobody follows any more. How it ends is not known here, so nothing is said about it.
func (r *Registry) lost(ctx context.Context, id, says string) Result {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), cancelWithin)
	defer done()
	if _, err := r.client.Cancel(ctx, &contractv1.CancelRequest{MissionId: id}); err != nil {
		says += "; and so was the cancel: " + err.Error()
	}
	out := failed(says + "; how the mission ended is not known")
	out.MissionID = id
	return out
}

// eventWords names an event, with the phase of a PHASE.
func eventWords(e *contractv1.Event) string {
	if e.GetKind() == contractv1.EventKind_PHASE {
		return "PHASE " + e.GetPhase()
	}
	return e.GetKind().String()
}

// ending names how a mission ended.
func ending(k contractv1.EventKind) string {
	switch k {
	case contractv1.EventKind_VERIFIED:
		return "succeeded"
	case contractv1.EventKind_FAILED:
		return "failed"
	case contractv1.EventKind_UNVERIFIED:
		return "unverified"
	case contractv1.EventKind_CANCELLED:
		return "cancelled"
	case contractv1.EventKind_ABORTED:
		return "aborted"
	case contractv1.EventKind_INTERRUPTED:
		return "interrupted"
	case contractv1.EventKind_EVENT_KIND_UNSPECIFIED, contractv1.EventKind_ACCEPTED, contractv1.EventKind_STARTED,
		contractv1.EventKind_PHASE, contractv1.EventKind_ARRIVED, contractv1.EventKind_CANCELLING:
	}
	return "unverified" // a final event that is no end measured nothing
}
