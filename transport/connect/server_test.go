package connect_test

import (
	"context"
	"iter"
	"sync/atomic"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// echo is a robot that answers everything and counts how often it is asked.
type echo struct {
	asked atomic.Int64
	start func(context.Context) (*contractv1.MissionAck, error)
}

var _ transport.Server = (*echo)(nil)

func (s *echo) Describe(context.Context) (*contractv1.Manifest, error) {
	s.asked.Add(1)
	return &contractv1.Manifest{Robot: "so101", Capabilities: []*contractv1.Capability{{Name: "move_to"}}}, nil
}

func (s *echo) OpenTask(_ context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	s.asked.Add(1)
	return &contractv1.Task{TaskId: "task-1", Goal: q.GetGoal()}, nil
}

func (s *echo) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	s.asked.Add(1)
	if s.start != nil {
		return s.start(ctx)
	}
	return &contractv1.MissionAck{MissionId: q.GetMissionId(), Accepted: true, NormalizedArgsJson: q.GetArgsJson()}, nil
}

func (s *echo) Cancel(context.Context, *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	s.asked.Add(1)
	return &contractv1.CancelAck{Accepted: true}, nil
}

func (s *echo) Observe(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	s.asked.Add(1)
	return &contractv1.Observation{AtMs: 7}, nil
}

func (s *echo) Claim(_ context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	s.asked.Add(1)
	return &contractv1.Task{TaskId: q.GetTaskId(), Claim: q.GetClaim()}, nil
}

func (s *echo) Task(_ context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	s.asked.Add(1)
	return &contractv1.Task{TaskId: q.GetTaskId()}, nil
}

// Events serves three.
func (s *echo) Events(_ context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	s.asked.Add(1)
	return func(yield func(*contractv1.Event, error) bool) {
		for seq := max(1, q.GetFromSeq()); seq <= 3; seq++ {
			e := &contractv1.Event{MissionId: q.GetMissionId(), Seq: seq, Kind: contractv1.EventKind_PHASE, Final: seq == 3}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *echo) AcquireLease(_ context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	s.asked.Add(1)
	return &contractv1.LeaseReply{Lease: &contractv1.Lease{Resource: q.GetResource(), Holder: q.GetHolder()}}, nil
}

func (s *echo) RenewLease(context.Context, *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	s.asked.Add(1)
	return &contractv1.LeaseReply{}, nil
}

func (s *echo) ReleaseLease(context.Context, *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	s.asked.Add(1)
	return &contractv1.LeaseReply{}, nil
}
