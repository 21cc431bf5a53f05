package main

import (
	"context"
	"iter"
	"sync"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/transport"
)

// front is the robot as its listener knows it: there before the driver is, and saying what it waits for.
type front struct {
	mu    sync.Mutex
	robot *robot.Robot
}

var _ transport.Server = (*front)(nil)

func (f *front) open(r *robot.Robot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.robot = r
}

func (f *front) now() (*robot.Robot, reject.List) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.robot == nil {
		r := reject.New(reject.StaleFact, "the robot waits for its driver; nothing is measured and nothing moves").In("driver")
		r.Retry, r.AfterMS = reject.Later, 500
		return nil, reject.List{r}
	}
	return f.robot, nil
}

// through hands a call to the robot, once there is one.
func through[Q, R any](ctx context.Context, f *front, q Q, call func(*robot.Robot, context.Context, Q) (R, error)) (R, error) {
	r, waits := f.now()
	if waits != nil {
		var none R
		return none, waits
	}
	return call(r, ctx, q)
}

// Describe implements transport.Server.
func (f *front) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	r, waits := f.now()
	if waits != nil {
		return nil, waits
	}
	return r.Describe(ctx)
}

// OpenTask implements transport.Server.
func (f *front) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return through(ctx, f, q, (*robot.Robot).OpenTask)
}

// Start implements transport.Server.
func (f *front) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return through(ctx, f, q, (*robot.Robot).Start)
}

// Cancel implements transport.Server.
func (f *front) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return through(ctx, f, q, (*robot.Robot).Cancel)
}

// Observe implements transport.Server.
func (f *front) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return through(ctx, f, q, (*robot.Robot).Observe)
}

// Events implements transport.Server.
func (f *front) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	r, waits := f.now()
	if waits != nil {
		return func(yield func(*contractv1.Event, error) bool) { yield(nil, waits) }
	}
	return r.Events(ctx, q)
}

// Claim implements transport.Server.
func (f *front) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return through(ctx, f, q, (*robot.Robot).Claim)
}

// Task implements transport.Server.
func (f *front) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return through(ctx, f, q, (*robot.Robot).Task)
}

// AcquireLease implements transport.Server.
func (f *front) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return through(ctx, f, q, (*robot.Robot).AcquireLease)
}

// RenewLease implements transport.Server.
func (f *front) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return through(ctx, f, q, (*robot.Robot).RenewLease)
}

// ReleaseLease implements transport.Server.
func (f *front) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return through(ctx, f, q, (*robot.Robot).ReleaseLease)
}
