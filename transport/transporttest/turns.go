package transporttest

import (
	"context"
	"iter"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// turns is a scene's robot that gets, for each call that reaches it while it moves, the ticks that it needs to answer, and
// no more: between the calls its time stands still, however slow the line is.
type turns struct {
	transport.Server
	pacer *grants
}

// inTurns grants ticks until the call is answered.
func inTurns[R any](ctx context.Context, p *grants, call func() R) R {
	answered := make(chan R, 1)
	go func() { answered <- call() }()
	for {
		select {
		case r := <-answered:
			return r
		case p.next <- struct{}{}: // it moves
		case <-ctx.Done(): // the call sees that too
			return <-answered
		}
		t := time.NewTimer(5 * time.Millisecond) // lets the robot have its turn, which it had before it asks for another tick
		select {
		case r := <-answered:
			t.Stop()
			return r
		case <-t.C:
		}
	}
}

// answer is a reply and its error.
type answer[R any] struct {
	reply R
	err   error
}

func inTurn[Q, R any](ctx context.Context, p *grants, q Q, call func(context.Context, Q) (R, error)) (R, error) {
	a := inTurns(ctx, p, func() answer[R] {
		r, err := call(ctx, q)
		return answer[R]{r, err}
	})
	return a.reply, a.err
}

// OpenTask implements transport.Server.
func (s *turns) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return inTurn(ctx, s.pacer, q, s.Server.OpenTask)
}

// Start implements transport.Server.
func (s *turns) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return inTurn(ctx, s.pacer, q, s.Server.Start)
}

// Cancel implements transport.Server.
func (s *turns) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return inTurn(ctx, s.pacer, q, s.Server.Cancel)
}

// Observe implements transport.Server.
func (s *turns) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return inTurn(ctx, s.pacer, q, s.Server.Observe)
}

// Events implements transport.Server. The robot is asked as the call comes; what it tells then needs no turn.
func (s *turns) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return inTurns(ctx, s.pacer, func() iter.Seq2[*contractv1.Event, error] { return s.Server.Events(ctx, q) })
}

// Claim implements transport.Server.
func (s *turns) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return inTurn(ctx, s.pacer, q, s.Server.Claim)
}

// Task implements transport.Server.
func (s *turns) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return inTurn(ctx, s.pacer, q, s.Server.Task)
}

// AcquireLease implements transport.Server.
func (s *turns) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return inTurn(ctx, s.pacer, q, s.Server.AcquireLease)
}

// RenewLease implements transport.Server.
func (s *turns) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return inTurn(ctx, s.pacer, q, s.Server.RenewLease)
}

// ReleaseLease implements transport.Server.
func (s *turns) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return inTurn(ctx, s.pacer, q, s.Server.ReleaseLease)
}
