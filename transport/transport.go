// Package transport declares the two ends of the line between a brain and a robot: the Client a brain holds and the
// Server a robot implements. Both speak contract/v1 messages and nothing else.
//
// A transport carries; it never decides, retries a start under another id, or invents an answer. Refusals travel
// inside the replies; where a reply has no place for them (Describe, Observe, Events) they are an error that is a
// reject.List. Any other error means that the line or the robot failed. Resetting a stop is no method here: no surface
// that an agent can reach has it.
//
// A line that has more to serve than it can refuses at once: OVERLOADED, with AfterMS. A reader of events that does not
// keep up is dropped: OVERLOADED, rule slow_reader, field from_seq, and Limit is the sequence number to go on from.
//
// A transport knows who calls, as far as it can, and tells the server by WithPrincipal; what a message says about its
// sender is never believed.
//
// What every transport keeps is the suite in transport/transporttest.
package transport

import (
	"context"
	"iter"

	contractv1 "interlock/contract/v1"
)

// Client is a brain's end of the line.
type Client interface {
	// Describe returns what the robot offers now.
	Describe(context.Context) (*contractv1.Manifest, error)
	// OpenTask freezes one request of a person. A goal that does not compile comes back as refusals in the task.
	OpenTask(context.Context, *contractv1.OpenTaskRequest) (*contractv1.Task, error)
	// Start asks for one mission, or for the answer of a read-only capability.
	Start(context.Context, *contractv1.StartRequest) (*contractv1.MissionAck, error)
	// Cancel asks to end a mission.
	Cancel(context.Context, *contractv1.CancelRequest) (*contractv1.CancelAck, error)
	// Observe returns what is known now.
	Observe(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error)
	// Events streams a mission's events from a sequence number on. It ends after the final event, without an error; from one
	// behind that there are none. From further on, also of a mission that goes on, it is OUT_OF_RANGE in from_seq, whose limit
	// is the highest number to go on from. Any other end is an error, also one that looks like an end of the events.
	Events(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error]
	// Claim writes what the brain says about a task beside the measured verdict, and closes it.
	Claim(context.Context, *contractv1.ClaimRequest) (*contractv1.Task, error)
	// Task returns the robot's record of a task.
	Task(context.Context, *contractv1.TaskRequest) (*contractv1.Task, error)
	// AcquireLease asks for the right to move a resource for a while; BUSY names who holds it.
	AcquireLease(context.Context, *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error)
	// RenewLease keeps a lease, shown as it was last given. One that lapsed is NO_LEASE.
	RenewLease(context.Context, *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error)
	// ReleaseLease gives a lease back. What moves under it is ended.
	ReleaseLease(context.Context, *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error)
}

// Server is a robot's end of the line: the same calls.
type Server interface {
	Client
}
