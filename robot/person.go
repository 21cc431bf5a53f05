package robot

import (
	"context"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/goal"
	"interlock/robot/mission"
	"interlock/robot/operator"
)

// person is the robot as the person beside it sees it. It is a type of its own, so that no transport for brains can
// serve it by mistake.
type person struct{ robot *Robot }

var _ operator.Person = person{}

// Person returns what a person may do at this robot, for a listener that no agent is told of.
func (r *Robot) Person() operator.Person { return person{r} }

// decided is the answer to a person's act.
type decided[T any] struct {
	reply   T
	refused reject.List
}

// decide runs a person's act on the loop. It does not wait for the record of it: a person's word never waits for a disk, and
// no motion comes of it without an intent that is durable.
func decide[T any](ctx context.Context, p person, f func() (T, reject.List)) (T, error) {
	a, err := aside(ctx, p.robot, func() decided[T] {
		reply, l := f()
		return decided[T]{reply, p.robot.timed(l)}
	})
	if err == nil && len(a.refused) > 0 {
		err = a.refused
	}
	return a.reply, err
}

// desk refuses where there is none.
func (p person) desk() (*operator.Desk, reject.List) {
	if p.robot.cfg.Desk == nil {
		return nil, reject.List{reject.New(reject.NotPermitted, "this robot asks nobody").In("desk")}
	}
	return p.robot.cfg.Desk, nil
}

// ListPending implements operator.Person.
func (p person) ListPending(ctx context.Context, _ *contractv1.ListPendingRequest) (*contractv1.PendingList, error) {
	return decide(ctx, p, func() (*contractv1.PendingList, reject.List) {
		d, l := p.desk()
		if len(l) > 0 {
			return nil, l
		}
		_ = p.robot.look() // its time is what expires by
		return &contractv1.PendingList{Pending: d.List(p.robot.desktime()), TakenBy: p.robot.leases.taker}, nil
	})
}

// actOf refuses an act of nobody, or under a name that cannot be shown to others, and one that lacks something else.
func actOf(by string, others ...string) reject.List {
	return append(missing(append(others, "by", by)...), printable("by", by)...)
}

// Approve implements operator.Person.
func (p person) Approve(ctx context.Context, q *contractv1.ApproveRequest) (*contractv1.Pending, error) {
	return decide(ctx, p, func() (*contractv1.Pending, reject.List) {
		if l := actOf(q.GetBy(), "hash", q.GetHash(), "displayed", q.GetDisplayed()); len(l) > 0 {
			return nil, l
		}
		return p.onDesk(contractv1.ApprovalChange_APPROVED, q.GetBy(), func(d *operator.Desk) (*contractv1.Pending, *reject.Rejection) {
			return d.Approve(p.robot.desktime(), q)
		})
	})
}

// Deny implements operator.Person.
func (p person) Deny(ctx context.Context, q *contractv1.DenyRequest) (*contractv1.Pending, error) {
	return decide(ctx, p, func() (*contractv1.Pending, reject.List) {
		if l := actOf(q.GetBy(), "hash", q.GetHash()); len(l) > 0 {
			return nil, l
		}
		return p.onDesk(contractv1.ApprovalChange_DENIED, q.GetBy(), func(d *operator.Desk) (*contractv1.Pending, *reject.Rejection) {
			return d.Deny(p.robot.desktime(), q)
		})
	})
}

func (p person) onDesk(kind contractv1.ApprovalChange_Kind, by string, f func(*operator.Desk) (*contractv1.Pending, *reject.Rejection)) (*contractv1.Pending, reject.List) {
	d, l := p.desk()
	if len(l) > 0 {
		return nil, l
	}
	_ = p.robot.look() // its time is what expires by
	pending, refused := f(d)
	if refused != nil {
		return nil, reject.List{*refused}
	}
	p.robot.noteApproval(kind, pending, by)
	return pending, nil
}

// Take implements operator.Person. Whoever takes the robot again, or from another person, gets it: persons settle among
// themselves who is at the robot.
func (p person) Take(ctx context.Context, q *contractv1.TakeRequest) (*contractv1.TakeReply, error) {
	return decide(ctx, p, func() (*contractv1.TakeReply, reject.List) {
		if l := actOf(q.GetBy()); len(l) > 0 {
			return nil, l
		}
		if len(q.GetBy()) > maxHolder {
			return nil, reject.List{reject.New(reject.OutOfRange, "who takes the robot has a name of 1 to 64 bytes").In("by").Saw(quoted(q.GetBy()), "", "")}
		}
		return p.robot.take(q.GetBy()), nil
	})
}

func (r *Robot) take(by string) *contractv1.TakeReply {
	_ = r.look() // a driver that is silent is no reason to leave the robot with whoever has it
	reply := &contractv1.TakeReply{TakenBy: by, WasHeldBy: r.leases.taker}
	for resource, h := range r.leases.of {
		if h.granted != 0 {
			reply.WasHeldBy = h.holder
			r.leaseChanged(contractv1.LeaseChange_RELEASED, resource)
			r.endLease(h)
		}
	}
	if r.cfg.Desk != nil { // also what was asked without a lease
		r.withdrawn(r.cfg.Desk.WithdrawAll())
	}
	if in := r.intended; in != nil {
		in.cancelled = true
	}
	if m := r.active; m != nil {
		reply.EndedMission = m.id
		r.step(m, mission.LeaseLost{At: r.now()})
	}
	r.leases.epoch++
	r.leases.taker, r.leases.taken = by, r.leases.epoch
	reply.Epoch = r.leases.epoch
	r.note(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Lease{Lease: &contractv1.LeaseChange{
		Kind: contractv1.LeaseChange_TAKEN, Lease: &contractv1.Lease{Holder: by, Epoch: reply.GetEpoch()}, Principal: by,
	}}})
	return reply
}

// GiveBack implements operator.Person.
func (p person) GiveBack(ctx context.Context, q *contractv1.GiveBackRequest) (*contractv1.TakeReply, error) {
	return decide(ctx, p, func() (*contractv1.TakeReply, reject.List) {
		ls := &p.robot.leases
		if l := actOf(q.GetBy()); len(l) > 0 {
			return nil, l
		}
		if ls.taker == "" || q.GetEpoch() != ls.taken {
			return nil, reject.List{reject.New(reject.Conflict, "nobody has taken the robot under this number").In("epoch")}
		}
		reply := &contractv1.TakeReply{WasHeldBy: ls.taker, Epoch: ls.taken}
		p.robot.note(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Lease{Lease: &contractv1.LeaseChange{
			Kind: contractv1.LeaseChange_RELEASED, Lease: &contractv1.Lease{Holder: ls.taker, Epoch: ls.taken}, Principal: q.GetBy(),
		}}})
		ls.taker, ls.taken = "", 0
		return reply, nil
	})
}

// Resolve implements operator.Person. The state stays what was measured.
func (p person) Resolve(ctx context.Context, q *contractv1.ResolveRequest) (*contractv1.Task, error) {
	return decide(ctx, p, func() (*contractv1.Task, reject.List) {
		if l := actOf(q.GetBy(), "task_id", q.GetTaskId()); len(l) > 0 {
			return nil, l
		}
		request := p.robot.tasks.known[q.GetTaskId()]
		switch {
		case request == nil:
			_, l := p.robot.tasks.find(q.GetTaskId(), "")
			return nil, l
		case !settledByNobody(request.task.State):
			return nil, reject.List{reject.New(reject.Conflict, "the task is "+string(request.task.State)+"; there is nothing for a person to say").By("state").In("task_id")}
		case request.resolution != nil:
			return nil, reject.List{reject.New(reject.Conflict, "the task was resolved by "+request.resolution.GetBy()).By("resolved").In("task_id")}
		}
		request.resolution = &contractv1.Resolution{By: q.GetBy(), Achieved: q.GetAchieved(), Note: q.GetNote()}
		p.robot.noteResolved(request)
		return taskPB(request), nil
	})
}

// settledByNobody reports whether a person's word is of use: nothing was measured that says it.
func settledByNobody(s goal.State) bool {
	return s == goal.Unverified || s == goal.NeedsConfirmation || s == goal.Escalated
}
