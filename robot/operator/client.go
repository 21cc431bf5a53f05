package operator

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/reject"
)

const (
	callWithin = 5 * time.Second // a call whose context has no deadline
	maxReply   = 16 << 20        // bytes: a desk full of acts, each as long as it may be
)

// Client is a person's line to a robot. It implements Person; methods may come from any goroutine. A refusal comes back
// as a reject.Rejection, several as a reject.List.
type Client struct {
	http *http.Transport
	rpc  contractv1connect.OperatorClient
}

var _ Person = (*Client)(nil)

// Dial makes a client for "unix:PATH". Nothing is touched before the first call, which says what is wrong with the address.
func Dial(addr string) *Client {
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			path, err := pathOf(addr)
			if err != nil {
				return nil, err
			}
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
		DisableCompression: true, MaxIdleConns: 2, IdleConnTimeout: idleWithin,
	}
	once := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{http: t, rpc: contractv1connect.NewOperatorClient(once, "http://robot",
		connect.WithReadMaxBytes(maxReply), connect.WithAcceptCompression("gzip", nil, nil))}
}

// Close ends the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func ask[Q, R any](ctx context.Context, q *Q, call func(context.Context, *Q) (*R, error)) (*R, error) {
	if _, has := ctx.Deadline(); !has {
		within, done := context.WithTimeout(ctx, callWithin)
		defer done()
		ctx = within
	}
	reply, err := call(ctx, q)
	if err != nil {
		return nil, refusalIn(err)
	}
	return reply, nil
}

// refusalIn takes the refusals out of an error of the line, if it carries any.
func refusalIn(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	var l reject.List
	for _, d := range e.Details() {
		v, valueErr := d.Value()
		if m, ok := v.(*contractv1.Rejection); ok && valueErr == nil {
			l = append(l, reject.Rejection{
				Code: reject.Code(m.GetCode()), Rule: m.GetRule(), Field: m.GetField(), Got: m.GetGot(), Limit: m.GetLimit(), Unit: m.GetUnit(),
				Retry: reject.Retry(m.GetRetry()), AfterMS: int(m.GetAfterMs()), Says: m.GetSays(),
			})
		}
	}
	switch len(l) {
	case 0:
		return err
	case 1:
		return l[0]
	}
	return l
}

// ListPending implements Person.
func (c *Client) ListPending(ctx context.Context, q *contractv1.ListPendingRequest) (*contractv1.PendingList, error) {
	return ask(ctx, q, c.rpc.ListPending)
}

// Approve implements Person.
func (c *Client) Approve(ctx context.Context, q *contractv1.ApproveRequest) (*contractv1.Pending, error) {
	return ask(ctx, q, c.rpc.Approve)
}

// Deny implements Person.
func (c *Client) Deny(ctx context.Context, q *contractv1.DenyRequest) (*contractv1.Pending, error) {
	return ask(ctx, q, c.rpc.Deny)
}

// Take implements Person.
func (c *Client) Take(ctx context.Context, q *contractv1.TakeRequest) (*contractv1.TakeReply, error) {
	return ask(ctx, q, c.rpc.Take)
}

// GiveBack implements Person.
func (c *Client) GiveBack(ctx context.Context, q *contractv1.GiveBackRequest) (*contractv1.TakeReply, error) {
	return ask(ctx, q, c.rpc.GiveBack)
}

// Resolve implements Person.
func (c *Client) Resolve(ctx context.Context, q *contractv1.ResolveRequest) (*contractv1.Task, error) {
	return ask(ctx, q, c.rpc.Resolve)
}
