package transporttest

import (
	"context"
	"iter"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// named is a robot as a caller of a name asks it, without a line between; which name that is may depend on the call.
type named struct {
	transport.Server
	name func(call string) string
}

// asked is the robot as the caller of this name asks it.
func asked(server transport.Server, name string) transport.Server {
	return named{server, func(string) string { return name }}
}

func (n named) who(ctx context.Context, call string) context.Context {
	return transport.WithPrincipal(ctx, n.name(call))
}

// Describe implements transport.Server.
func (n named) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	return n.Server.Describe(n.who(ctx, "Describe"))
}

// OpenTask implements transport.Server.
func (n named) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return n.Server.OpenTask(n.who(ctx, "OpenTask"), q)
}

// Start implements transport.Server.
func (n named) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return n.Server.Start(n.who(ctx, "Start"), q)
}

// Cancel implements transport.Server.
func (n named) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return n.Server.Cancel(n.who(ctx, "Cancel"), q)
}

// Observe implements transport.Server.
func (n named) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return n.Server.Observe(n.who(ctx, "Observe"), q)
}

// Events implements transport.Server.
func (n named) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return n.Server.Events(n.who(ctx, "Events"), q)
}

// Claim implements transport.Server.
func (n named) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return n.Server.Claim(n.who(ctx, "Claim"), q)
}

// Task implements transport.Server.
func (n named) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return n.Server.Task(n.who(ctx, "GetTask"), q)
}

// AcquireLease implements transport.Server.
func (n named) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return n.Server.AcquireLease(n.who(ctx, "AcquireLease"), q)
}

// RenewLease implements transport.Server.
func (n named) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return n.Server.RenewLease(n.who(ctx, "RenewLease"), q)
}

// ReleaseLease implements transport.Server.
func (n named) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return n.Server.ReleaseLease(n.who(ctx, "ReleaseLease"), q)
}
