package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net"
	"net/http"
	"time"

	rpc "connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/reject"
	"interlock/transport"
)

// DialOptions say how a client reaches its robot; zero fields take their defaults.
type DialOptions struct {
	Token      string        // what the robot's operator gave out; not needed over a unix socket of the same user
	Call       time.Duration // a call without a deadline of its own may take (30 s)
	Connect    time.Duration // opening a connection may take (2 s)
	Quiet      time.Duration // a connection may say nothing before it is asked; as long again, and it counts as lost (3 s)
	Reconnects int           // an event stream may break in a row without one new event (6); negative: none
}

func (o DialOptions) orDefaults() DialOptions {
	o.Call, o.Connect = cmp.Or(o.Call, 30*time.Second), cmp.Or(o.Connect, 2*time.Second)
	o.Quiet, o.Reconnects = cmp.Or(o.Quiet, 3*time.Second), cmp.Or(o.Reconnects, 6)
	return o
}

// maxReply is the longest reply that is read, in bytes.
const maxReply = 16 << 20

// Dial returns a client of the robot at "HOST:PORT" or "unix:PATH" and what gives its connections back. It opens none:
// the robot may start later, and each call finds out. A call is sent once and never again.
func Dial(addr string, o DialOptions) (transport.Client, io.Closer, error) {
	network, where, err := split(addr)
	if err != nil {
		return nil, nil, err
	}
	o = o.orDefaults()
	base := "http://" + where
	if network == "unix" {
		base = "http://localhost"
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	dialer := &net.Dialer{Timeout: o.Connect}
	line := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, where)
		},
		Protocols: &protocols, DisableCompression: true,
		HTTP2: &http.HTTP2Config{SendPingTimeout: o.Quiet, PingTimeout: o.Quiet},
	}
	asks := &http.Client{Transport: line, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	stub := contractv1connect.NewRobotClient(asks, base,
		rpc.WithReadMaxBytes(maxReply), rpc.WithAcceptCompression("gzip", nil, nil), rpc.WithInterceptors(bearer(o.Token)))
	c := &client{stub: stub, call: o.Call}
	c.follow = follower{open: c.stream, pause: pause, tries: max(0, o.Reconnects)}
	return c, closer(line.CloseIdleConnections), nil
}

type closer func()

// Close implements io.Closer. Calls that are under way keep their connection until they end.
func (c closer) Close() error { c(); return nil }

// bearer puts the token on every request.
type bearer string

// WrapUnary implements rpc.Interceptor.
func (b bearer) WrapUnary(next rpc.UnaryFunc) rpc.UnaryFunc {
	return func(ctx context.Context, q rpc.AnyRequest) (rpc.AnyResponse, error) {
		b.onto(q.Header())
		return next(ctx, q)
	}
}

// WrapStreamingClient implements rpc.Interceptor.
func (b bearer) WrapStreamingClient(next rpc.StreamingClientFunc) rpc.StreamingClientFunc {
	return func(ctx context.Context, s rpc.Spec) rpc.StreamingClientConn {
		c := next(ctx, s)
		b.onto(c.RequestHeader())
		return c
	}
}

// WrapStreamingHandler implements rpc.Interceptor.
func (b bearer) WrapStreamingHandler(next rpc.StreamingHandlerFunc) rpc.StreamingHandlerFunc {
	return next
}

func (b bearer) onto(h http.Header) {
	if b != "" {
		h.Set("Authorization", "Bearer "+string(b))
	}
}

// client is a brain's end of the line.
type client struct {
	stub   contractv1connect.RobotClient
	call   time.Duration
	follow follower
}

// request is a pointer to a protobuf message struct.
type request[M any] interface {
	*M
	proto.Message
}

// sendable finds out before anything is sent whether the request has a wire form: the library below would find out
// with the call half made, and the server would read what never was written as an empty request.
func sendable(q proto.Message) error {
	if _, err := proto.Marshal(q); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// ask makes one call. A refusal by the line itself is turned into a reply where the reply has a place for it.
func ask[Q, R any, P request[Q]](ctx context.Context, c *client, q P, call func(context.Context, P) (*R, error), in func(reject.List) *R) (*R, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q == nil {
		q = new(Q)
	}
	if err := sendable(q); err != nil {
		return nil, err
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if _, bounded := ctx.Deadline(); !bounded {
		within, cancel = context.WithTimeout(ctx, c.call)
	}
	defer cancel()
	reply, err := call(within, q)
	if err == nil {
		return reply, nil
	}
	l := rejections(err)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(l) > 0 && in != nil:
		return in(l), nil
	case len(l) > 0:
		return nil, l
	}
	return nil, fmt.Errorf("connect: %w", err)
}

func asTask(l reject.List) *contractv1.Task { return &contractv1.Task{Refusals: messages(l)} }

// Describe implements transport.Client.
func (c *client) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	return ask(ctx, c, &contractv1.DescribeRequest{}, c.stub.Describe, nil)
}

// OpenTask implements transport.Client.
func (c *client) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return ask(ctx, c, q, c.stub.OpenTask, asTask)
}

// Start implements transport.Client.
func (c *client) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return ask(ctx, c, q, c.stub.Start, func(l reject.List) *contractv1.MissionAck {
		return &contractv1.MissionAck{MissionId: q.GetMissionId(), Reason: reason(q.GetCapability(), l), Rejections: messages(l)}
	})
}

// Cancel implements transport.Client.
func (c *client) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return ask(ctx, c, q, c.stub.Cancel, func(l reject.List) *contractv1.CancelAck { return &contractv1.CancelAck{Rejections: messages(l)} })
}

// Observe implements transport.Client.
func (c *client) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return ask(ctx, c, q, c.stub.Observe, nil)
}

// Claim implements transport.Client.
func (c *client) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return ask(ctx, c, q, c.stub.Claim, asTask)
}

// Task implements transport.Client.
func (c *client) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return ask(ctx, c, q, c.stub.GetTask, asTask)
}

func asLease(l reject.List) *contractv1.LeaseReply {
	return &contractv1.LeaseReply{Rejections: messages(l)}
}

// AcquireLease implements transport.Client.
func (c *client) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return ask(ctx, c, q, c.stub.AcquireLease, asLease)
}

// RenewLease implements transport.Client.
func (c *client) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return ask(ctx, c, q, c.stub.RenewLease, asLease)
}

// ReleaseLease implements transport.Client.
func (c *client) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return ask(ctx, c, q, c.stub.ReleaseLease, asLease)
}

// Events implements transport.Client. A stream that breaks is opened again behind the last event.
func (c *client) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	if err := sendable(q); err != nil {
		return func(yield func(*contractv1.Event, error) bool) { yield(nil, err) }
	}
	return c.follow.events(ctx, q.GetMissionId(), q.GetFromSeq())
}

// stream is one attempt at a mission's events.
func (c *client) stream(ctx context.Context, id string, from uint64) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		s, err := c.stub.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: from})
		if err != nil {
			cancel()
			yield(nil, err)
			return
		}
		defer func() { _ = s.Close() }() // what it says was said by Err
		defer cancel()                   // first, so that nothing more is waited for
		for s.Receive() {
			if !yield(s.Msg(), nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// cutOff reports whether the server reset the stream on purpose, which it does to readers that are too slow.
func cutOff(err error) bool {
	var reset resetError
	return errors.As(err, &reset) && reset.Code == internalError
}

// resetError has the fields of net/http's own error for a stream that was reset, which converts itself to it.
type resetError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error implements error.
func (e resetError) Error() string {
	return fmt.Sprintf("stream %d was reset with code %d", e.StreamID, e.Code)
}

// internalError is INTERNAL_ERROR of RFC 9113, section 7: how net/http resets a stream whose write deadline passed.
const internalError = 2

// pause waits before the n-th attempt in a row: 20 ms, then twice as long each time, 1 s at most.
func pause(ctx context.Context, n int) error {
	t := time.NewTimer(time.Duration(min(1000, 20*math.Pow(2, float64(n-1)))) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
