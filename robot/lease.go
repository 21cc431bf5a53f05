package robot

import (
	"context"
	"errors"
	"time"

	"interlock/body"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/mission"
	"interlock/transport"
	"interlock/units"
)

// leases is who may move which resource. A brain that keeps a session acquires one and renews it; without one the robot
// holds the resource for the mission, and anybody may start the next. A person who took the robot holds all of it.
type leases struct {
	of    map[string]*held // by resource; of those that some capability holds
	epoch uint64           // of the latest grant of any resource; no epoch is ever granted twice
	taker string           // the person who took the robot; empty: nobody
	taken uint64           // epoch of the take
}

// held is one resource. Its lease knows the time and the epoch; the rest is who may show it.
type held struct {
	body.Lease
	principal, holder string
	sequence          uint64 // of the latest renewal
	granted           uint64 // epoch of a grant that was neither released nor seen to lapse; 0: none
}

func newLeases(resources []string, after uint64) leases {
	ls := leases{of: make(map[string]*held, len(resources)), epoch: after}
	for _, name := range resources {
		ls.of[name] = &held{}
	}
	return ls
}

// resources are what the contract's capabilities hold.
func (r *Robot) resources() (names []string) {
	for _, c := range r.cfg.Contract.Capabilities {
		names = append(names, c.Holds...)
	}
	return names
}

func (h *held) message(resource string, now units.Instant) *contractv1.Lease {
	return &contractv1.Lease{
		Resource: resource, Holder: h.holder, Epoch: h.Epoch(), Sequence: h.sequence,
		ExpiresInMs: h.Until().Sub(now).Milliseconds(),
	}
}

// busy names who holds the resource, and when the lease ends if it is not renewed.
func (h *held) busy(resource string, now units.Instant) reject.Rejection {
	by := h.Holder(now)
	r := reject.New(reject.Busy, "the "+resource+" is held by "+quoted(by)).By("lease").In("holds").Saw(quoted(by), "", "")
	r.Retry, r.AfterMS = reject.Later, int(h.Until().Sub(now).Milliseconds())+1
	return r
}

// holderOf names who holds what the mission moves: the person who took the robot, the holder of its lease, and for a mission
// without one the mission itself, for which the robot holds it.
func (r *Robot) holderOf(m *motion) string {
	if r.leases.taker != "" {
		return r.leases.taker
	}
	for _, h := range r.leases.of {
		if m.epoch != 0 && h.Epoch() == m.epoch {
			return h.holder
		}
	}
	return m.id
}

// movedBy refuses what needs the robot while a mission moves it: it names the holder, and says which mission.
func (r *Robot) movedBy(m *motion) reject.Rejection {
	by := r.holderOf(m)
	says := "mission " + quoted(m.id) + " is moving"
	if by != m.id {
		says += ", and " + quoted(by) + " holds the robot"
	}
	return reject.New(reject.Busy, says).Saw(jsonText(by), "", "")
}

// shows refuses a lease that is not the one granted to this caller. An older renewal of it shows the same grant: the reply
// to the latest may not have arrived yet.
func (h *held) shows(now units.Instant, l *contractv1.Lease, principal string) *reject.Rejection {
	no := func(rule, field, says string) *reject.Rejection {
		r := reject.New(reject.NoLease, says).By(rule).In(field)
		return &r
	}
	switch {
	case h.granted == 0 || h.Check(now, h.granted) != nil:
		return no("lapsed", "lease.epoch", "nobody holds this lease now; acquire it anew")
	case l.GetEpoch() != h.granted:
		return no("epoch", "lease.epoch", "another epoch holds the lease")
	case principal != h.principal:
		return no("principal", "lease", "the lease was given to another caller")
	case l.GetHolder() != h.holder:
		return no("holder", "lease.holder", "the lease was given to another holder")
	case l.GetSequence() > h.sequence || l.GetSequence() == 0:
		return no("sequence", "lease.sequence", "the lease was never renewed so often")
	}
	return nil
}

// mayHold refuses a motion that needs what another holds, or that shows a lease which is not good. It returns the epoch
// of the caller's lease, 0 for a caller that has none.
func (r *Robot) mayHold(holds []string, shown *contractv1.Lease, principal string) (epoch uint64, l reject.List) {
	now := r.now()
	if r.leases.taker != "" {
		return 0, reject.List{r.leases.takenIn("holds")}
	}
	if shown != nil && shown.GetResource() == "" {
		return 0, missing("lease.resource", "")
	}
	if shown != nil && r.leases.of[shown.GetResource()] == nil {
		return 0, reject.List{reject.New(reject.NoLease, "there is no such resource").By("resource").In("lease.resource").Saw(quoted(shown.GetResource()), "", "")}
	}
	for _, resource := range holds {
		h := r.leases.of[resource]
		switch by := h.Holder(now); {
		case shown != nil && shown.GetResource() == resource:
			if bad := h.shows(now, shown, principal); bad != nil {
				l = append(l, *bad)
			}
			epoch = shown.GetEpoch()
		case by != "":
			l = append(l, h.busy(resource, now))
		}
	}
	if len(l) > 0 {
		return 0, l
	}
	return epoch, nil
}

// takenIn refuses what needs the robot that a person took. Only a person gives it back.
func (ls *leases) takenIn(field string) reject.Rejection {
	busy := reject.New(reject.Busy, "a person has taken the robot: "+quoted(ls.taker)).By("taken").In(field).Saw(quoted(ls.taker), "", "")
	busy.Retry = reject.AfterOperator
	return busy
}

// AcquireLease implements transport.Server. While something moves the resource is BUSY, whether there is a lease or not.
func (r *Robot) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	principal := transport.PrincipalOf(ctx)
	return aside(ctx, r, func() *contractv1.LeaseReply {
		h, l := r.resource(q.GetResource(), "resource")
		l = append(l, holderName(q.GetHolder())...)
		if len(l) == 0 && r.leases.taker != "" {
			l = append(l, r.leases.takenIn("resource"))
		}
		if m := r.busy(); len(l) == 0 && m != nil {
			l = append(l, r.movedBy(m).In("resource"))
		}
		if full := r.mayNote(principal); len(l) == 0 && full != nil {
			l = append(l, *full)
		}
		if len(l) > 0 {
			return &contractv1.LeaseReply{Rejections: r.refusals(l)}
		}
		h.StartAt(r.leases.epoch)
		epoch, err := h.Acquire(r.now(), q.GetHolder())
		if err != nil {
			return &contractv1.LeaseReply{Rejections: r.refusals(asList(err))}
		}
		r.leases.epoch = epoch
		h.granted, h.principal, h.holder, h.sequence = epoch, principal, q.GetHolder(), 1
		return r.leaseChanged(contractv1.LeaseChange_ACQUIRED, q.GetResource())
	})
}

// RenewLease implements transport.Server.
func (r *Robot) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	principal := transport.PrincipalOf(ctx)
	return aside(ctx, r, func() *contractv1.LeaseReply {
		h, l := r.shown(q.GetLease(), principal)
		if len(l) == 0 {
			l = asList(h.Renew(r.now(), h.granted))
		}
		if len(l) > 0 {
			return &contractv1.LeaseReply{Rejections: r.refusals(l)}
		}
		h.sequence = max(h.sequence, q.GetLease().GetSequence()+1) // a renewal made again is the same one
		return &contractv1.LeaseReply{Lease: h.message(q.GetLease().GetResource(), r.now())}
	})
}

// ReleaseLease implements transport.Server.
func (r *Robot) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	principal := transport.PrincipalOf(ctx)
	return aside(ctx, r, func() *contractv1.LeaseReply {
		h, l := r.shown(q.GetLease(), principal)
		if len(l) > 0 {
			return &contractv1.LeaseReply{Rejections: r.refusals(l)}
		}
		r.endLease(h)
		reply := r.leaseChanged(contractv1.LeaseChange_RELEASED, q.GetLease().GetResource())
		reply.Lease.ExpiresInMs = 0
		return reply
	})
}

// endLease ends a grant, and what moves under it.
func (r *Robot) endLease(h *held) {
	epoch := h.granted
	h.Release(r.now(), epoch)
	h.granted = 0
	if r.cfg.Desk != nil {
		r.withdrawn(r.cfg.Desk.Withdraw(epoch))
	}
	if m := r.active; m != nil && m.epoch == epoch && epoch != 0 {
		r.step(m, mission.LeaseLost{At: r.now()})
	}
}

// resource finds the resource that the field of a request names.
func (r *Robot) resource(name, field string) (*held, reject.List) {
	if name == "" {
		return nil, missing(field, "")
	}
	h := r.leases.of[name]
	if h == nil {
		return nil, reject.List{reject.New(reject.NotInEnum, "no capability of this robot holds "+quoted(name)).In(field).Saw(quoted(name), "", "")}
	}
	return h, nil
}

// shown is the resource of a lease that its caller still holds.
func (r *Robot) shown(l *contractv1.Lease, principal string) (*held, reject.List) {
	if l == nil {
		return nil, missing("lease", "")
	}
	h, refused := r.resource(l.GetResource(), "lease.resource")
	if len(refused) > 0 {
		return nil, refused
	}
	if bad := h.shows(r.now(), l, principal); bad != nil {
		return nil, reject.List{*bad}
	}
	return h, nil
}

// lapse ends the leases that were not renewed in time. A motion under one is treated as its capability says: ended, or
// finished at most until its own deadline.
func (r *Robot) lapse() {
	for name, h := range r.leases.of {
		epoch := h.granted
		if epoch == 0 || h.Check(r.now(), epoch) == nil {
			continue
		}
		h.granted = 0
		r.leaseChanged(contractv1.LeaseChange_LAPSED, name)
		if r.cfg.Desk != nil {
			r.withdrawn(r.cfg.Desk.Withdraw(epoch))
		}
		if m := r.active; m != nil && m.epoch == epoch {
			r.step(m, mission.Disconnected{At: r.now()})
		}
	}
}

// leaseChanged writes down what became of a lease.
func (r *Robot) leaseChanged(kind contractv1.LeaseChange_Kind, resource string) *contractv1.LeaseReply {
	h := r.leases.of[resource]
	l := h.message(resource, r.now())
	r.note(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Lease{Lease: &contractv1.LeaseChange{Kind: kind, Lease: l, Principal: h.principal}}})
	return &contractv1.LeaseReply{Lease: l}
}

// pass lets time pass while the driver tells none, so that a lease ends also where nobody can say what time it is.
func (s *senses) pass(d time.Duration) {
	s.elapsed += d
	s.follow()
}

func asList(err error) reject.List {
	var r reject.Rejection
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return reject.List{r}
	}
	return reject.List{reject.New(reject.NoLease, err.Error()).In("lease")}
}
