package leasing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// ErrClosed is what a start that needs a lease gets after Close.
var ErrClosed = errors.New("leasing: closed")

// Client leases what its missions hold. The rest of its calls are those of the client below.
type Client struct {
	transport.Client
	holder string
	renew  time.Duration

	mu    sync.Mutex
	holds map[string]string // capability → the resource it holds; of the manifest as last read
	waits map[string]*wait  // leases of starts that wait for a person, by mission
	ended bool
	live  context.Context //nolint:containedctx // of the leases, which outlive the calls that began them
	end   context.CancelFunc
	all   sync.WaitGroup
}

// New returns a client whose motions are leased in the holder's name (1 to 64 printable ASCII characters) and renewed
// after each interval: units.LeaseRenew, a third of what a lease lasts, unless a test asks for less. Close ends it.
func New(c transport.Client, holder string, renew time.Duration) *Client {
	live, end := context.WithCancel(context.Background())
	return &Client{Client: c, holder: holder, renew: renew, waits: map[string]*wait{}, live: live, end: end}
}

// Close gives back every lease, which ends what moves under it, and waits until that is done.
func (c *Client) Close() error {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.end()
	c.all.Wait()
	return nil
}

// Describe implements transport.Client.
func (c *Client) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	m, err := c.Client.Describe(ctx)
	if err != nil {
		return nil, err
	}
	holds := make(map[string]string, len(m.GetCapabilities()))
	for _, k := range m.GetCapabilities() {
		if h := k.GetHolds(); len(h) > 0 && !k.GetReadOnly() {
			holds[k.GetName()] = h[0]
		} else {
			holds[k.GetName()] = ""
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = holds
	return m, nil
}

// resource is what the capability holds; empty: nothing, or the robot does not offer it and will say so itself.
func (c *Client) resource(ctx context.Context, capability string) (string, error) {
	known := func() (string, bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		name, known := c.holds[capability]
		return name, known
	}
	if name, is := known(); is {
		return name, nil
	}
	if _, err := c.Describe(ctx); err != nil {
		return "", err
	}
	name, _ := known()
	return name, nil
}

// Start implements transport.Client. A request that brings a lease of its own is passed on as it is. What holds the
// resource refuses the start as if the robot had been asked.
func (c *Client) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	if q.GetLease() != nil {
		return c.Client.Start(ctx, q)
	}
	resource, err := c.resource(ctx, q.GetCapability())
	if err != nil {
		return nil, err
	}
	switch {
	case resource == "":
		return c.Client.Start(ctx, q)
	case c.live.Err() != nil:
		return nil, ErrClosed
	}
	l := c.waited(ctx, q.GetMissionId())
	waited := l != nil
	if !waited {
		got, err := c.AcquireLease(ctx, &contractv1.AcquireLeaseRequest{Resource: resource, Holder: c.holder})
		switch {
		case err != nil:
			return nil, err
		case got.GetLease() == nil:
			return c.without(ctx, q, got.GetRejections())
		}
		l = got.GetLease()
	}
	ack, err := c.Client.Start(ctx, &contractv1.StartRequest{
		MissionId: q.GetMissionId(), Capability: q.GetCapability(), ArgsJson: q.GetArgsJson(), TaskId: q.GetTaskId(), Lease: l,
	})
	switch {
	case err != nil: // nobody knows whether something moves; then it must not
	case ack.GetAccepted() && !ack.GetDuplicate() && c.keep(q.GetMissionId(), l):
		return ack, nil
	case (needsPerson(ack) || waited && passes(ack)) && c.wait(q.GetMissionId(), l):
		return ack, nil
	}
	c.release(l)
	return ack, err
}

// needsPerson reports whether a person may still allow the start. What they allow is bound to the lease it was asked under.
func needsPerson(ack *contractv1.MissionAck) bool {
	return slices.ContainsFunc(ack.GetRejections(), func(r *contractv1.Rejection) bool {
		return r.GetCode() == needsApproval || r.GetCode() == notLicensed && r.GetRetry() == afterOperator
	})
}

// passes reports whether a start is refused by nothing but what passes by itself, such as a stale reading. A start that waits
// for a person waits through that: under another lease what the person allowed would be worth nothing.
func passes(ack *contractv1.MissionAck) bool {
	return len(ack.GetRejections()) > 0 && !slices.ContainsFunc(ack.GetRejections(), func(r *contractv1.Rejection) bool {
		return r.GetRetry() != later || r.GetCode() == notLicensed
	})
}

// Cancel implements transport.Client. A start that waits for a person is given up, and its lease is free at once.
func (c *Client) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	if l := c.unwait(q.GetMissionId()); l != nil {
		c.release(l)
	}
	return c.Client.Cancel(ctx, q)
}

// Words of a refusal, as reject spells them.
const (
	noLease       = "NO_LEASE"
	needsApproval = "NEEDS_APPROVAL"
	notLicensed   = "NOT_LICENSED"
	afterOperator = "after_operator"
	later         = "later"
)

// wait is a lease that is kept for the same start made again.
type wait struct {
	over  chan struct{} // closed when it is wanted
	lease chan *contractv1.Lease
}

// waitFor is how many renewals a lease is kept for a start that is not made again.
const waitFor = 10

// wait keeps the lease for a while, so that the start can be made again under it.
func (c *Client) wait(mission string, l *contractv1.Lease) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.waits[mission] != nil {
		return false
	}
	w := &wait{make(chan struct{}), make(chan *contractv1.Lease, 1)}
	c.waits[mission] = w
	c.all.Go(func() {
		wanted, done := context.WithTimeout(c.live, waitFor*c.renew)
		defer done()
		go func() {
			select {
			case <-w.over:
				done()
			case <-wanted.Done():
			}
		}()
		l = c.renewUntil(wanted.Done(), l)
		c.mu.Lock()
		defer c.mu.Unlock()
		select {
		case <-w.over:
			w.lease <- l
		default:
			delete(c.waits, mission)
			c.release(l)
		}
	})
	return true
}

// waited is the lease that was kept for the start, renewed; nil: none was, or it is gone.
func (c *Client) waited(ctx context.Context, mission string) *contractv1.Lease {
	l := c.unwait(mission)
	if l == nil {
		return nil
	}
	r, err := c.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: l}) // retries may be closer than renewals
	if err != nil {
		return nil
	}
	return r.GetLease()
}

// unwait ends the wait of a start, and returns the lease that was kept for it; nil: none is.
func (c *Client) unwait(mission string) *contractv1.Lease {
	c.mu.Lock()
	w := c.waits[mission]
	if w != nil {
		delete(c.waits, mission)
		close(w.over)
	}
	c.mu.Unlock()
	if w == nil {
		return nil
	}
	return <-w.lease
}

// without asks the robot all the same where it gave no lease: it may know better why the call is refused, or have started
// this mission before. It cannot start it now: a lease that nobody holds is none.
func (c *Client) without(ctx context.Context, q *contractv1.StartRequest, refused []*contractv1.Rejection) (*contractv1.MissionAck, error) {
	ack, err := c.Client.Start(ctx, &contractv1.StartRequest{
		MissionId: q.GetMissionId(), Capability: q.GetCapability(), ArgsJson: q.GetArgsJson(), TaskId: q.GetTaskId(),
		Lease: &contractv1.Lease{Resource: nobodys},
	})
	if err != nil || ack.GetAccepted() || len(refused) == 0 {
		return ack, err
	}
	if i := slices.IndexFunc(ack.GetRejections(), func(r *contractv1.Rejection) bool { return r.GetCode() == noLease }); i >= 0 {
		ack.Rejections = append(refused, slices.Delete(ack.GetRejections(), i, i+1)...)
		ack.Reason = "rejected_" + strings.ToLower(ack.GetRejections()[0].GetCode()) + ":" + q.GetCapability()
	}
	return ack, nil
}

// nobodys is a resource that no robot has.
const nobodys = "nobody's"

// keep renews the lease until the mission has ended, and gives it back. It reports whether there is somebody to do so.
func (c *Client) keep(mission string, l *contractv1.Lease) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.all.Go(func() {
		following, end := context.WithCancel(c.live)
		defer end()
		over := make(chan struct{})
		go func() {
			defer close(over)
			for e, err := range c.Events(following, &contractv1.EventsRequest{MissionId: mission, FromSeq: 1}) {
				if err != nil || e.GetFinal() {
					return
				}
			}
		}()
		l = c.renewUntil(over, l)
		end()
		<-over
		c.release(l)
	})
	return true
}

func (c *Client) renewUntil(over <-chan struct{}, l *contractv1.Lease) *contractv1.Lease {
	t := time.NewTicker(c.renew)
	defer t.Stop()
	for {
		select {
		case <-over:
			return l
		case <-c.live.Done():
			return l
		case <-t.C:
		}
		ctx, done := context.WithTimeout(c.live, c.renew)
		r, err := c.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: l})
		done()
		switch {
		case err == nil && r.GetLease() != nil:
			l = r.GetLease()
		case err == nil:
			return l // it lapsed, or somebody took it: the robot has ended what moved
		}
	}
}

// release gives the lease back; one that cannot be told lapses by itself.
func (c *Client) release(l *contractv1.Lease) {
	ctx, done := context.WithTimeout(context.Background(), c.renew)
	defer done()
	_, _ = c.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: l})
}
