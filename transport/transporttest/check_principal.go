package transporttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// principals: what one caller started, opened or holds, no other moves by, follows, ends, claims, shows, keeps, gives back
// or even repeats, whatever state it is in; and its owner may, all the while.
func principals(ctx context.Context, t *testing.T, l *line) error {
	switch {
	case l.two == nil && l.alone == "":
		return errors.New("this line says neither how its callers are told apart (Principals) nor why there is only one (OneCaller)")
	case l.two == nil:
		t.Logf("there is nobody to tell apart: %s", l.alone)
		return oneCaller(ctx, t, l)
	}
	if err := complete(trespasses(&handles{})); err != nil {
		return err
	}
	disk := newSlowDisk()
	s, err := newSceneOn(t, disk)
	if err != nil {
		return err
	}
	h := &handles{disk: disk, scene: s}
	h.mine, h.others = l.two(t, &turns{s.robot, s.pacer})
	for _, live := range []func(context.Context) error{h.holding, h.beginning, h.moving, h.ended} {
		if err := live(ctx); err != nil {
			return err
		}
	}
	return nil
}

// handles are what one caller was given, and what another has got hold of.
type handles struct {
	*scene
	disk         *slowDisk
	mine, others transport.Client
	task         string
	lease        *contractv1.Lease
	start        *contractv1.StartRequest // of mission m1
	acks         chan error               // of that start
	tried        int
}

// try makes every call of the other caller that belongs to the state.
func (h *handles) try(ctx context.Context, state string) error {
	for _, c := range trespasses(h) {
		if !slices.Contains(c.in, state) {
			continue
		}
		if state != ended {
			if err := h.renew(ctx); err != nil { // the owner may, whatever the other has just tried
				return fmt.Errorf("%s: before %s: %w", state, c.what, err)
			}
		}
		got, err := c.call(ctx, h.others)
		refused := slices.ContainsFunc(got, func(r *contractv1.Rejection) bool {
			return r.GetCode() == string(c.code) && r.GetRule() == c.rule && r.GetField() == c.at
		})
		if err != nil || !refused {
			return wrong(fmt.Sprintf("%s of another caller while it is %s, which is to be %s by %q in %s", c.what, state, c.code, c.rule, c.at), got, err)
		}
	}
	return nil
}

func (h *handles) renew(ctx context.Context) error {
	r, err := h.mine.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: h.lease})
	if err != nil || len(r.GetRejections()) > 0 {
		return wrong("the owner's renewal", r, err)
	}
	h.lease = r.GetLease()
	return nil
}

// holding: the owner has a task and a lease, and nothing moves.
func (h *handles) holding(ctx context.Context) (err error) {
	if h.lease, err = acquire(ctx, h.mine, "me"); err != nil {
		return err
	}
	task, err := h.mine.OpenTask(ctx, &contractv1.OpenTaskRequest{Words: "mine", Provenance: "person"})
	if err != nil || len(task.GetRefusals()) > 0 {
		return wrong("opening a task", task, err)
	}
	h.task = task.GetTaskId()
	return h.try(ctx, holding)
}

// beginning: the owner has made a start, and its intent is not durable yet.
func (h *handles) beginning(ctx context.Context) error {
	h.start = request("m1", "move_to", slowly)
	h.start.TaskId, h.start.Lease = h.task, h.lease
	h.acks = make(chan error, 1)
	q := proto.CloneOf(h.start)
	h.disk.slowDown()
	go func() {
		ack, err := h.mine.Start(ctx, q)
		if err != nil || !ack.GetAccepted() || ack.GetDuplicate() {
			err = wrong("the owner's start", ack, err)
		}
		h.acks <- err
	}()
	select {
	case <-h.disk.reached:
	case err := <-h.acks:
		return wrong("a start was answered before its intent was durable", nil, err)
	case <-ctx.Done():
		return errors.New("the start never came to be written down")
	}
	return h.try(ctx, beginning)
}

// moving: the owner's mission moves.
func (h *handles) moving(ctx context.Context) error {
	h.disk.release()
	if err := <-h.acks; err != nil {
		return err
	}
	if err := h.try(ctx, moving); err != nil {
		return err
	}
	o, err := h.mine.Observe(ctx, &contractv1.ObserveRequest{})
	if err != nil || o.GetRunningMission() != "m1" {
		return wrong("after all that the mission still moves", o, err)
	}
	return nil
}

// ended: the owner has cancelled it, and may still claim the task and give the lease back.
func (h *handles) ended(ctx context.Context) error {
	if err := h.renew(ctx); err != nil {
		return err
	}
	if ack, err := h.mine.Cancel(ctx, &contractv1.CancelRequest{MissionId: "m1"}); err != nil || !ack.GetAccepted() {
		return wrong("the owner's cancel", ack, err)
	}
	h.pacer.all()
	events, err := follow(ctx, h.mine, "m1")
	if err != nil || lastWord(events) != contractv1.EventKind_CANCELLED {
		return wrong("the owner's mission ended", events, err)
	}
	if err := h.try(ctx, ended); err != nil {
		return err
	}
	t, err := h.mine.Claim(ctx, &contractv1.ClaimRequest{TaskId: h.task})
	if err != nil || len(t.GetRefusals()) > 0 || t.GetClaim().GetReported() {
		return wrong("the owner's claim", t, err)
	}
	r, err := h.mine.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: h.lease})
	if err != nil || len(r.GetRejections()) > 0 {
		return wrong("the owner's release", r, err)
	}
	return nil
}

// oneCaller: whatever is called, over whichever line, comes from the same caller.
func oneCaller(ctx context.Context, t *testing.T, l *line) error {
	var names []string
	hear := func(ctx context.Context) { names = append(names, transport.PrincipalOf(ctx)) }
	server := &script{
		start: func(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
			hear(ctx)
			return &contractv1.MissionAck{MissionId: q.GetMissionId()}, nil
		},
		observe: func(ctx context.Context, _ *contractv1.ObserveRequest) (*contractv1.Observation, error) {
			hear(ctx)
			return &contractv1.Observation{AtMs: 1}, nil
		},
		events: func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
			hear(ctx)
			return logOf(1)(ctx, q)
		},
	}
	for range 2 {
		client := l.open(t, server)
		_, errStart := client.Start(ctx, &contractv1.StartRequest{MissionId: "m"})
		_, errObserve := client.Observe(ctx, &contractv1.ObserveRequest{})
		_, errEvents := follow(ctx, client, "m")
		if err := errors.Join(errStart, errObserve, errEvents); err != nil {
			return err
		}
	}
	if len(names) != 6 || len(slices.Compact(slices.Clone(names))) != 1 {
		return fmt.Errorf("a line of one caller is heard from %q", names)
	}
	return nil
}
