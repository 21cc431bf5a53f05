package connect

import (
	"context"
	"errors"
	"time"

	rpc "connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/transport"
)

var _ contractv1connect.RobotHandler = (*service)(nil)

// service hands each call to the robot and its answer back.
type service struct {
	server transport.Server
	slow   time.Duration
}

// errNoReply means that the robot returned neither a reply nor an error.
var errNoReply = errors.New("the robot gave no reply")

func answer[R any](ctx context.Context, reply *R, err error) (*R, error) {
	switch {
	case err != nil:
		return nil, failure(ctx, err)
	case reply == nil:
		return nil, rpc.NewError(rpc.CodeInternal, errNoReply)
	}
	return reply, nil
}

func (s *service) Describe(ctx context.Context, _ *contractv1.DescribeRequest) (*contractv1.Manifest, error) {
	m, err := s.server.Describe(ctx)
	return answer(ctx, m, err)
}

func (s *service) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	t, err := s.server.OpenTask(ctx, q)
	return answer(ctx, t, err)
}

func (s *service) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	a, err := s.server.Start(ctx, q)
	return answer(ctx, a, err)
}

func (s *service) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	a, err := s.server.Cancel(ctx, q)
	return answer(ctx, a, err)
}

func (s *service) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	o, err := s.server.Observe(ctx, q)
	return answer(ctx, o, err)
}

func (s *service) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	t, err := s.server.Claim(ctx, q)
	return answer(ctx, t, err)
}

func (s *service) GetTask(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	t, err := s.server.Task(ctx, q)
	return answer(ctx, t, err)
}

func (s *service) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	l, err := s.server.AcquireLease(ctx, q)
	return answer(ctx, l, err)
}

func (s *service) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	l, err := s.server.RenewLease(ctx, q)
	return answer(ctx, l, err)
}

func (s *service) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	l, err := s.server.ReleaseLease(ctx, q)
	return answer(ctx, l, err)
}

// Events sends what the robot tells. The robot's log is read only as fast as the reader takes it, so a slow one costs
// a goroutine and nothing else, and that not for long.
func (s *service) Events(ctx context.Context, q *contractv1.EventsRequest, out *rpc.ServerStream[contractv1.Event]) error {
	w := newWatch(ctx, s.slow)
	defer w.end()
	for e, err := range s.server.Events(ctx, q) {
		if err != nil {
			return failure(ctx, err)
		}
		if e == nil {
			return rpc.NewError(rpc.CodeInternal, errNoReply)
		}
		w.begin()
		err := out.Send(e)
		if w.done() {
			return refused(slowReader(e.GetSeq() + 1))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
