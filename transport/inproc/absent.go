package inproc

import (
	"context"
	"iter"

	contractv1 "interlock/contract/v1"
)

// absent is the server of a line that nobody is at the end of.
type absent struct{}

func (absent) Describe(context.Context) (*contractv1.Manifest, error) { return nil, ErrAbsent }

func (absent) OpenTask(context.Context, *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return nil, ErrAbsent
}

func (absent) Start(context.Context, *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return nil, ErrAbsent
}

func (absent) Cancel(context.Context, *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return nil, ErrAbsent
}

func (absent) Observe(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return nil, ErrAbsent
}

func (absent) Events(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) { yield(nil, ErrAbsent) }
}

func (absent) Claim(context.Context, *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return nil, ErrAbsent
}

func (absent) Task(context.Context, *contractv1.TaskRequest) (*contractv1.Task, error) {
	return nil, ErrAbsent
}

func (absent) AcquireLease(context.Context, *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return nil, ErrAbsent
}

func (absent) RenewLease(context.Context, *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return nil, ErrAbsent
}

func (absent) ReleaseLease(context.Context, *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return nil, ErrAbsent
}
