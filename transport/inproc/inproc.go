package inproc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// ErrNoReply means that the server returned neither a reply nor an error.
var ErrNoReply = errors.New("inproc: the server gave no reply")

// ErrAbsent means that there is no server.
var ErrAbsent = errors.New("inproc: nobody is there")

// ErrCutShort means that the server ended a stream of events before the mission's last.
var ErrCutShort = errors.New("inproc: the events ended before the mission's last")

// New returns a client of the server; nil stands for one that is not there. A message that has no wire form (a text that is not UTF-8) is an error here as
// it would be on any line; errors of the server are passed on as they are. The context is looked at before the server
// is called and before each event is delivered.
func New(server transport.Server) transport.Client {
	if server == nil {
		server = absent{}
	}
	return line{server}
}

// line is the wire: two ends and nothing between them but bytes.
type line struct{ server transport.Server }

func (l line) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return reply(l.server.Describe(ctx))
}

func (l line) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return call(ctx, q, l.server.OpenTask)
}

func (l line) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return call(ctx, q, l.server.Start)
}

func (l line) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return call(ctx, q, l.server.Cancel)
}

func (l line) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return call(ctx, q, l.server.Observe)
}

func (l line) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return call(ctx, q, l.server.Claim)
}

func (l line) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return call(ctx, q, l.server.Task)
}

func (l line) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return call(ctx, q, l.server.AcquireLease)
}

func (l line) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return call(ctx, q, l.server.RenewLease)
}

func (l line) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return call(ctx, q, l.server.ReleaseLease)
}

// Events copies each event on its way. An error ends the stream, whichever side it comes from.
func (l line) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		sent, err := copied(q)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			yield(nil, err)
			return
		}
		none, whole := true, false
		for event, err := range l.server.Events(ctx, sent) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			received, err := reply(event, nil)
			if !yield(received, err) || err != nil {
				return
			}
			none, whole = false, received.GetFinal()
		}
		if !whole && !(none && l.ends(ctx, sent)) {
			yield(nil, ErrCutShort)
		}
	}
}

// ends reports whether the event before the one that was asked for is the mission's last, so that there is none behind it: a
// stream that leaves out what there is looks the same.
func (l line) ends(ctx context.Context, q *contractv1.EventsRequest) bool {
	if q.GetFromSeq() <= 1 {
		return false
	}
	last := q.GetFromSeq() - 1
	for e, err := range l.server.Events(ctx, &contractv1.EventsRequest{MissionId: q.GetMissionId(), FromSeq: last}) {
		return err == nil && e.GetMissionId() == q.GetMissionId() && e.GetSeq() == last && e.GetFinal()
	}
	return false
}

// message is a pointer to a protobuf message struct.
type message[M any] interface {
	*M
	proto.Message
}

// call carries one request to the server and its reply back.
func call[Q, R any, PQ message[Q], PR message[R]](ctx context.Context, q PQ, serve func(context.Context, PQ) (PR, error)) (PR, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sent, err := copied(q)
	if err != nil {
		return nil, err
	}
	return reply(serve(ctx, sent))
}

// reply carries what the server returned: its error as it is, its message as a copy.
func reply[M any, P message[M]](m P, err error) (P, error) {
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, ErrNoReply
	}
	return copied(m)
}

// copied returns what the other end of a wire would read. A nil message reads as an empty one.
func copied[M any, P message[M]](m P) (P, error) {
	wire, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("inproc: %w", err)
	}
	read := P(new(M))
	if err := proto.Unmarshal(wire, read); err != nil {
		return nil, fmt.Errorf("inproc: %w", err)
	}
	return read, nil
}
