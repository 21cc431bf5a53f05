package robot

import (
	"context"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/transport"
)

// Explanation is what the robot would say to a start, and why. Nothing was started.
type Explanation struct {
	Before reject.List // what refuses every motion, before the gate is asked
	Gate   gate.Explanation
}

// Refusals are the reasons the start would be refused for; none: it would be accepted.
func (e Explanation) Refusals() reject.List {
	if len(e.Before) > 0 {
		return e.Before
	}
	return e.Gate.Refusals
}

// Explain judges a start as Start would, on what is measured now, and tells every stage. It moves nothing and counts
// nothing; it is no part of transport.Server, because a model gets refusals and not explanations.
func (r *Robot) Explain(ctx context.Context, q *contractv1.StartRequest) (Explanation, error) {
	type answer struct {
		e   Explanation
		err error
	}
	a, err := aside(ctx, r, func() answer {
		if err := r.look(); err != nil {
			return answer{err: err}
		}
		request, _ := r.tasks.find(q.GetTaskId(), transport.PrincipalOf(ctx))
		var a answer
		if c := r.cfg.Contract.Capability(q.GetCapability()); c == nil || !c.ReadOnly {
			a.e.Before = r.mayMove(request)
		}
		a.e.Before = append(missing("capability", q.GetCapability(), "args_json", string(q.GetArgsJson())), a.e.Before...)
		st := r.standing()
		if c := r.cfg.Contract.Capability(q.GetCapability()); c != nil {
			_, st.Held = r.mayHold(c.Holds, q.GetLease(), transport.PrincipalOf(ctx))
		}
		call := gate.Call{Capability: q.GetCapability(), Args: q.GetArgsJson()}
		a.e.Gate = r.cfg.Gate.Explain(call, r.snapshot(), st, r.licenceFor(request))
		return a
	})
	if err != nil {
		return Explanation{}, err
	}
	return a.e, a.err
}
