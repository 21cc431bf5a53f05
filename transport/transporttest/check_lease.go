package transporttest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/units"
)

// leased is a robot with a caller that holds its arm.
type leased struct {
	*scene
	client transport.Client
	lease  *contractv1.Lease
}

// leases: one caller at a time holds what moves; a lease is shown to move and is renewed to go on moving; what is old,
// foreign or made up is refused, and a motion whose lease lapses ends interrupted, at standstill.
func leases(ctx context.Context, t *testing.T, l *line) error {
	s, err := newScene(t)
	if err != nil {
		return err
	}
	h := &leased{scene: s, client: l.open(t, &turns{s.robot, s.pacer})}
	if h.lease, err = acquire(ctx, h.client, "first"); err != nil {
		return err
	}
	if err := h.holdsAlone(ctx); err != nil {
		return err
	}
	if err := h.movesAndLapses(ctx); err != nil {
		return err
	}
	return h.neverAgain(ctx)
}

func acquire(ctx context.Context, c transport.Client, holder string) (*contractv1.Lease, error) {
	r, err := c.AcquireLease(ctx, &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: holder})
	if err != nil || r.GetLease() == nil || len(r.GetRejections()) > 0 {
		return nil, wrong("acquiring the arm", r, err)
	}
	if l := r.GetLease(); l.GetEpoch() == 0 || l.GetHolder() != holder || l.GetExpiresInMs() != units.LeaseTTL.Milliseconds() {
		return nil, wrong("the lease", l, nil)
	}
	return r.GetLease(), nil
}

// like is the lease with something changed.
func (h *leased) like(change func(*contractv1.Lease)) *contractv1.Lease {
	l := &contractv1.Lease{Resource: h.lease.GetResource(), Holder: h.lease.GetHolder(), Epoch: h.lease.GetEpoch(), Sequence: h.lease.GetSequence()}
	change(l)
	return l
}

// holdsAlone: nobody else gets the arm, and no start but one that shows the lease is accepted.
func (h *leased) holdsAlone(ctx context.Context) error {
	for _, holder := range []string{"first", "second"} {
		r, err := h.client.AcquireLease(ctx, &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: holder})
		if err := refusedLease(r, err, reject.Busy); err != nil {
			return fmt.Errorf("acquired again by %s: %w", holder, err)
		}
		if got := r.GetRejections()[0].GetGot(); got != `"first"` {
			return fmt.Errorf("BUSY names %s as the holder", got)
		}
	}
	for name, shown := range map[string]*contractv1.Lease{
		"another resource": h.like(func(l *contractv1.Lease) { l.Resource = "base" }),
		"an old epoch":     h.like(func(l *contractv1.Lease) { l.Epoch-- }),
		"a later epoch":    h.like(func(l *contractv1.Lease) { l.Epoch++ }),
		"another holder":   h.like(func(l *contractv1.Lease) { l.Holder = "second" }),
		"a later sequence": h.like(func(l *contractv1.Lease) { l.Sequence++ }),
		"no sequence":      h.like(func(l *contractv1.Lease) { l.Sequence = 0 }),
	} {
		if err := h.refusedWith(ctx, name, shown, reject.NoLease); err != nil {
			return err
		}
	}
	return h.startRefused(ctx, "no lease", nil, reject.Busy)
}

// refusedWith holds every call that a lease is shown to against one that is not good.
func (h *leased) refusedWith(ctx context.Context, name string, shown *contractv1.Lease, code reject.Code) error {
	if err := h.startRefused(ctx, name, shown, code); err != nil {
		return err
	}
	r, err := h.client.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: shown})
	if err := refusedLease(r, err, code, reject.NotInEnum); err != nil {
		return fmt.Errorf("renewed with %s: %w", name, err)
	}
	r, err = h.client.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: shown})
	if err := refusedLease(r, err, code, reject.NotInEnum); err != nil {
		return fmt.Errorf("released with %s: %w", name, err)
	}
	return nil
}

func (h *leased) startRefused(ctx context.Context, name string, shown *contractv1.Lease, code reject.Code) error {
	q := request("refused", "move_to", there)
	q.Lease = shown
	ack, err := h.client.Start(ctx, q)
	if err != nil || ack.GetAccepted() || len(ack.GetRejections()) == 0 || ack.GetRejections()[0].GetCode() != string(code) {
		return wrong("a start with "+name, ack, err)
	}
	return nil
}

func refusedLease(r *contractv1.LeaseReply, err error, codes ...reject.Code) error {
	if err == nil && r.GetLease() == nil && len(r.GetRejections()) > 0 {
		for _, code := range codes {
			if r.GetRejections()[0].GetCode() == string(code) {
				return nil
			}
		}
	}
	return wrong("the lease", r, err)
}

// movesAndLapses: a motion goes on as long as its lease is renewed, far beyond the time of one lease, and ends when it is
// not.
func (h *leased) movesAndLapses(ctx context.Context) error {
	q := request("m1", "move_to", slowly)
	q.Lease = h.lease
	ack, err := h.client.Start(ctx, q)
	if err != nil || !ack.GetAccepted() {
		return wrong("a start with a lease", ack, err)
	}
	followed := make(chan []*contractv1.Event, 1)
	go func() {
		events, _ := follow(ctx, h.client, "m1")
		followed <- events
	}()
	second := int(1e9 / units.RobotTick.Nanoseconds())
	for range 3 {
		if err := h.pacer.grant(ctx, second); err != nil {
			return err
		}
		r, err := h.client.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: h.lease})
		if err != nil || r.GetLease().GetSequence() <= h.lease.GetSequence() {
			return wrong("a renewal", r, err)
		}
		h.lease = r.GetLease()
	}
	h.pacer.all()
	events := <-followed
	if lastWord(events) != contractv1.EventKind_INTERRUPTED || !strings.HasPrefix(events[len(events)-1].GetReason(), "lease_lost") {
		return fmt.Errorf("the mission whose lease lapsed ended %v", events)
	}
	if took := events[len(events)-1].GetAtMs() - events[0].GetAtMs(); took < 3000 {
		return fmt.Errorf("a motion under a lease that was renewed ended after %d ms", took)
	}
	o, err := h.client.Observe(ctx, &contractv1.ObserveRequest{})
	if err != nil || !o.GetStandstill() || o.GetRunningMission() != "" {
		return wrong("after the lease lapsed", o, err)
	}
	return nil
}

// neverAgain: a lease that lapsed is no good any more; the next one has a later epoch and can be given back.
func (h *leased) neverAgain(ctx context.Context) error {
	old := h.lease
	if err := h.refusedWith(ctx, "a lease that lapsed", old, reject.NoLease); err != nil {
		return err
	}
	next, err := acquire(ctx, h.client, "second")
	if err != nil {
		return err
	}
	if next.GetEpoch() <= old.GetEpoch() {
		return fmt.Errorf("epoch %d came after %d", next.GetEpoch(), old.GetEpoch())
	}
	if err := h.refusedWith(ctx, "a lease of another time", old, reject.NoLease); err != nil {
		return err
	}
	r, err := h.client.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: next})
	if err != nil || len(r.GetRejections()) > 0 {
		return wrong("a release", r, err)
	}
	ack, err := h.client.Start(ctx, request("m2", "move_to", there))
	if err != nil || !ack.GetAccepted() {
		return wrong("a start while nobody holds the arm", ack, err)
	}
	return nil
}
