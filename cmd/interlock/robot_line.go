package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"interlock/body"
	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/connect"
)

// namedLine is a client of the robot that a person names. It looks the robot up for each call, so that one which starts
// later, or again at another address, is found.
type namedLine struct {
	who, tokenFile string

	mu     sync.Mutex
	at     entry // what client was made for
	client transport.Client
	closer io.Closer
}

var _ transport.Client = (*namedLine)(nil)

func newNamedLine(who, tokenFile string) *namedLine {
	return &namedLine{who: who, tokenFile: tokenFile}
}

// now is the line to the robot as it is found now.
func (l *namedLine) now() (transport.Client, error) {
	e, err := find(l.who)
	if err != nil {
		return nil, err
	}
	if l.tokenFile != "" {
		e.TokenFile = l.tokenFile
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil && l.at == e {
		return l.client, nil
	}
	o := connect.DialOptions{}
	if e.TokenFile != "" {
		if o.Token, err = connect.ReadToken(e.TokenFile); err != nil && l.tokenFile != "" {
			return nil, badInput(fmt.Errorf("--token-file: %w", err))
		} else if err != nil {
			return nil, err
		}
	}
	client, closer, err := connect.Dial(e.Address, o)
	if err != nil {
		return nil, badInput(err)
	}
	if l.closer != nil {
		_ = l.closer.Close()
	}
	l.at, l.client, l.closer = e, client, closer
	return client, nil
}

// name is the robot's, for people.
func (l *namedLine) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cmp.Or(l.at.Name, l.who, "the robot")
}

// silent is nil, or why the robot does not answer.
func (l *namedLine) silent(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, lineWithin)
	defer done()
	if _, err := l.Describe(ctx); !answers(err) {
		return l.status(err)
	}
	return nil
}

func (l *namedLine) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closer != nil {
		_ = l.closer.Close()
	}
}

func onLine[Q, R any](ctx context.Context, l *namedLine, q Q, call func(transport.Client, context.Context, Q) (R, error)) (R, error) {
	c, err := l.now()
	if err != nil {
		var none R
		return none, err
	}
	return call(c, ctx, q)
}

// Describe implements transport.Client.
func (l *namedLine) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	c, err := l.now()
	if err != nil {
		return nil, err
	}
	return c.Describe(ctx)
}

// OpenTask implements transport.Client.
func (l *namedLine) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return onLine(ctx, l, q, transport.Client.OpenTask)
}

// Start implements transport.Client.
func (l *namedLine) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return onLine(ctx, l, q, transport.Client.Start)
}

// Cancel implements transport.Client.
func (l *namedLine) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return onLine(ctx, l, q, transport.Client.Cancel)
}

// Observe implements transport.Client.
func (l *namedLine) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return onLine(ctx, l, q, transport.Client.Observe)
}

// Events implements transport.Client.
func (l *namedLine) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	c, err := l.now()
	if err != nil {
		return func(yield func(*contractv1.Event, error) bool) { yield(nil, err) }
	}
	return c.Events(ctx, q)
}

// Claim implements transport.Client.
func (l *namedLine) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return onLine(ctx, l, q, transport.Client.Claim)
}

// Task implements transport.Client.
func (l *namedLine) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return onLine(ctx, l, q, transport.Client.Task)
}

// AcquireLease implements transport.Client.
func (l *namedLine) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return onLine(ctx, l, q, transport.Client.AcquireLease)
}

// RenewLease implements transport.Client.
func (l *namedLine) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return onLine(ctx, l, q, transport.Client.RenewLease)
}

// ReleaseLease implements transport.Client.
func (l *namedLine) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return onLine(ctx, l, q, transport.Client.ReleaseLease)
}

// answers reports whether a call was answered by a robot, even if by a refusal.
func answers(err error) bool {
	var l reject.List
	return err == nil || errors.As(err, &l)
}

// latch is the stop of a driver, as a person reaches it.
type latch interface {
	// Stop closes it and halts. A number of 0 says that nobody confirmed it.
	Stop(reason string) (number uint64)
	Reset(number uint64) error
	Latch() body.Latch
}

// distantLatch is the latch of a driver in another process. Calls take bounded time.
type distantLatch struct {
	addr func() (string, error)
}

// operatorWithin is the time of one attempt at a person's line to a driver.
const operatorWithin = 600 * time.Millisecond

func (d distantLatch) ask(call func(context.Context, *remote.Operator) error) error {
	addr, err := d.addr()
	if err != nil {
		return err
	}
	o := remote.DialOperator(addr)
	defer o.Close()
	ctx, done := context.WithTimeout(context.Background(), operatorWithin)
	defer done()
	err = call(ctx, o)
	var refused reject.Rejection
	if err == nil || errors.As(err, &refused) { // the line is fine then
		return err
	}
	return fmt.Errorf("the driver's operator line at %s: %w", addr, err)
}

// Stop implements latch.
func (d distantLatch) Stop(reason string) (number uint64) {
	addr, err := d.addr()
	if err != nil {
		return 0
	}
	number, _, _ = stopDriver(context.Background(), addr, reason)
	return number
}

// Reset implements latch. A refusal is a reject.Rejection.
func (d distantLatch) Reset(number uint64) error {
	return d.ask(func(ctx context.Context, o *remote.Operator) error { return o.Reset(ctx, number) })
}

// Latch implements latch; a driver that does not answer shows an open one without a number.
func (d distantLatch) Latch() (l body.Latch) {
	_ = d.ask(func(ctx context.Context, o *remote.Operator) (err error) {
		l, _, err = o.State(ctx)
		return err
	})
	return l
}
