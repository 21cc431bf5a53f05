package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"interlock/body"
	driverv1 "interlock/body/remote/v1"
	"interlock/reject"
	"interlock/units"
)

// Options of a client. The zero value is usable.
type Options struct {
	Holder      string        // who holds the lease, for people; default "robot"
	CallTimeout time.Duration // deadline of one call; default 250 ms
	OpenWithin  time.Duration // how long Open waits for the lease of another holder to lapse; default 3 s
	JSON        bool          // speak Connect's JSON, which any language can serve, instead of binary messages
}

const (
	defaultCall = 250 * time.Millisecond
	defaultOpen = units.LeaseTTL + time.Second
	openRetry   = 100 * time.Millisecond
)

func (o Options) filled() Options {
	if o.Holder == "" {
		o.Holder = "robot"
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = defaultCall
	}
	if o.OpenWithin <= 0 {
		o.OpenWithin = defaultOpen
	}
	return o
}

// Driver is a body owned by another process. It implements robot.Body. Methods may come from any goroutine; every call
// ends within Options.CallTimeout, Open within Options.OpenWithin.
type Driver struct {
	opt  Options
	http *http.Client
	rpc  driverv1.DriverClient
	desc body.Description
	hash string // of the contract whose limits the process keeps, as Dial heard it

	held atomic.Uint64 // the epoch of the latest lease; 0: none was taken. A stop does not wait for whoever holds mu

	mu       sync.Mutex
	open     bool
	epoch    uint64
	sequence uint64
	renewer  func() // ends the goroutine that renews the lease, and waits for it
}

var _ body.Driver = (*Driver)(nil)

// Dial asks the process at addr ("unix:PATH" or "HOST:PORT") what its body is.
func Dial(ctx context.Context, addr string, o Options) (*Driver, error) {
	d := newDriver(addr, o)
	desc, hash, err := d.describe(ctx)
	if err != nil {
		d.http.CloseIdleConnections()
		return nil, fmt.Errorf("driver at %s: %w", addr, err)
	}
	d.desc, d.hash = desc, hash
	return d, nil
}

// ContractHash is that of the contract whose limits the process keeps, as Dial heard it; empty: it has none.
func (d *Driver) ContractHash() string { return d.hash }

// Expect is Dial for a body that is known: nothing is touched before Open, which refuses a process with another body.
func Expect(addr string, desc body.Description, o Options) *Driver {
	d := newDriver(addr, o)
	d.desc = desc
	return d
}

func newDriver(addr string, o Options) *Driver {
	client, options := newHTTP(addr), clientOptions()
	if o.JSON {
		options = append(options, connect.WithProtoJSON())
	}
	return &Driver{opt: o.filled(), http: client, rpc: driverv1.NewDriverClient(client, baseURL, options...)}
}

// baseURL names the loopback for every line; the dialer knows the address.
const baseURL = "http://localhost"

func newHTTP(addr string) *http.Client {
	network, address := "tcp", addr
	if path, ok := strings.CutPrefix(addr, unixPrefix); ok {
		network, address = "unix", path
	}
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, DisableCompression: true,
	}}
}

func clientOptions() []connect.ClientOption {
	return []connect.ClientOption{connect.WithCodec(strictBinary{}), connect.WithReadMaxBytes(1 << 20), connect.WithSendGzip(), connect.WithCompressMinBytes(1 << 20)}
}

func (d *Driver) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.opt.CallTimeout)
}

func (d *Driver) describe(ctx context.Context) (desc body.Description, contractHash string, err error) {
	ctx, cancel := d.within(ctx)
	defer cancel()
	p, err := d.rpc.Describe(ctx, &driverv1.DescribeRequest{})
	if err != nil {
		return body.Description{}, "", err
	}
	if p.GetProtocol() != Protocol {
		return body.Description{}, "", fmt.Errorf("it speaks driver protocol %d, not %d", p.GetProtocol(), Protocol)
	}
	return descriptionFrom(p), p.GetContractHash(), nil
}

// Opened reports whether it is open: it took the lease and was not closed.
func (d *Driver) Opened() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// Describe implements body.Driver.
func (d *Driver) Describe() body.Description { return d.desc }

// Open implements body.Driver: it takes the lease, waiting for that of a process that died to lapse. Nothing moves. The
// error is a reject.Rejection (BUSY, with the holder's name) if another robot keeps the lease.
func (d *Driver) Open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open {
		return body.ErrOpen
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.opt.OpenWithin)
	defer cancel()
	desc, _, err := d.describe(ctx)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(desc, d.desc) {
		return fmt.Errorf("%w: %s, where there was %s", body.ErrAnother, named(desc), named(d.desc))
	}
	lease, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	d.open, d.epoch, d.sequence = true, lease, 0
	d.held.Store(lease)
	d.renewer = d.keepLease(lease)
	return nil
}

// named tells a body from another one, for people.
func named(d body.Description) string {
	return fmt.Sprintf("%q in mode %s with %d joints and %d witnesses", d.Name, d.Mode, len(d.Joints), len(d.Witnesses))
}

func (d *Driver) acquire(ctx context.Context) (epoch uint64, err error) {
	for {
		call, cancel := d.within(ctx)
		lease, err := d.rpc.Open(call, &driverv1.OpenRequest{Holder: d.opt.Holder})
		cancel()
		if err != nil {
			return 0, err
		}
		refused := refusal(lease.GetRejections())
		if refused == nil {
			return lease.GetEpoch(), nil
		}
		var r reject.Rejection
		if !errors.As(refused, &r) || r.Code != reject.Busy || !wait(ctx, openRetry) {
			return 0, refused
		}
	}
}

// wait reports whether the time passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// keepLease renews the lease until it is told to end. A lease that was lost is not taken again: the robot learns of it
// by its next Send or Observe.
func (d *Driver) keepLease(epoch uint64) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for wait(ctx, units.LeaseRenew) {
			call, done := d.within(ctx)
			_, _ = d.rpc.Renew(call, &driverv1.RenewRequest{Epoch: epoch})
			done()
		}
	})
	return func() { cancel(); running.Wait() }
}

// next is the lease and the number of the next command.
func (d *Driver) next() (epoch, sequence uint64, open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sequence++
	return d.epoch, d.sequence, d.open
}

// Send implements body.Driver. The setpoint's Epoch is filled in from the lease where it is 0; another one goes as it is
// and is refused. One whose answer does not come in time may have been applied or not: the next observation tells.
func (d *Driver) Send(s body.Setpoint) (body.Sent, error) {
	epoch, sequence, open := d.next()
	if !open {
		return body.Sent{}, body.ErrNotOpen
	}
	if s.Epoch != 0 {
		epoch = s.Epoch
	}
	ctx, cancel := d.within(context.Background())
	defer cancel()
	p, err := d.rpc.Send(ctx, &driverv1.Setpoint{
		PositionsRad: s.PositionsRad, OverNs: int64(s.Over), ExpiresNs: int64(s.Expires), Stop: s.Stop, Epoch: epoch, Sequence: sequence,
	})
	if err != nil {
		return body.Sent{}, fault(err)
	}
	if err := refusal(p.GetRejections()); err != nil {
		return body.Sent{}, err
	}
	return body.Sent{PositionsRad: p.GetPositionsRad(), Applied: p.GetApplied()}, nil
}

// Halt implements body.Driver. It needs no lease and works before Open and after Close too.
func (d *Driver) Halt() error {
	epoch, sequence, _ := d.next()
	ctx, cancel := d.within(context.Background())
	defer cancel()
	_, err := d.rpc.Halt(ctx, &driverv1.HaltRequest{Epoch: epoch, Sequence: sequence})
	return fault(err)
}

// Observe implements body.Driver; it is also the robot's sign of life.
func (d *Driver) Observe() (body.Observation, error) {
	d.mu.Lock()
	epoch, open := d.epoch, d.open
	d.mu.Unlock()
	if !open {
		return body.Observation{}, body.ErrNotOpen
	}
	return d.observe(epoch)
}

func (d *Driver) observe(epoch uint64) (body.Observation, error) {
	ctx, cancel := d.within(context.Background())
	defer cancel()
	p, err := d.rpc.Observe(ctx, &driverv1.ObserveRequest{Epoch: epoch})
	if err != nil {
		return body.Observation{}, fault(err)
	}
	return observationFrom(p)
}

// Watch observes as an onlooker: it needs no lease, and it is no sign of life.
func (d *Driver) Watch() (body.Observation, error) { return d.observe(0) }

// Stop implements robot.Body: it closes the driver's latch. A number of 0 says that the driver did not confirm it within
// the deadline; the driver then holds by silence, and whoever asked must say so and try again.
func (d *Driver) Stop(reason string) (number uint64) {
	number, _ = d.StopKept(reason)
	return number
}

// StopKept is Stop, and tells whether the latch file holds the stop already. Of who took the lease once it is a robot's stop:
// while the latch is closed, a further cause of the stop that is latched, with its number.
func (d *Driver) StopKept(reason string) (number uint64, durable bool) {
	ctx, cancel := context.WithTimeout(context.Background(), d.opt.CallTimeout+keepWithin)
	defer cancel()
	p, err := d.rpc.Stop(ctx, &driverv1.StopRequest{Reason: brief(reason, maxReason), Epoch: d.held.Load()})
	if err != nil {
		return 0, false
	}
	return p.GetNumber(), p.GetDurable()
}

// Close implements body.Driver: the lease goes back, and what moves is halted. The body stays with its process.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.http.CloseIdleConnections()
	if !d.open {
		return nil
	}
	d.open = false
	d.renewer()
	ctx, cancel := d.within(context.Background())
	defer cancel()
	_, err := d.rpc.Close(ctx, &driverv1.CloseRequest{Epoch: d.epoch})
	return fault(err)
}

// fault takes the refusals out of an error of the call, if it carries any.
func fault(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	var list []*driverv1.Rejection
	for _, detail := range e.Details() {
		if v, valueErr := detail.Value(); valueErr == nil {
			if p, ok := v.(*driverv1.Rejection); ok {
				list = append(list, p)
			}
		}
	}
	if len(list) > 0 {
		return refusal(list)
	}
	return err
}

// Operator is a person's line to a driver's stop latch.
type Operator struct {
	http *http.Client
	rpc  driverv1.OperatorClient
}

// DialOperator builds a client of an operator listener. Nothing is touched before the first call.
func DialOperator(addr string) *Operator {
	client := newHTTP(addr)
	return &Operator{http: client, rpc: driverv1.NewOperatorClient(client, baseURL, clientOptions()...)}
}

// Stop closes the latch and returns its number, and whether the latch file holds it already.
func (o *Operator) Stop(ctx context.Context, reason string) (number uint64, durable bool, err error) {
	p, err := o.rpc.Stop(ctx, &driverv1.StopRequest{Reason: brief(reason, maxReason)})
	return p.GetNumber(), p.GetDurable(), err
}

// Reset permits new motions if number is exactly that of the latched stop. The error is a reject.Rejection.
func (o *Operator) Reset(ctx context.Context, number uint64) error {
	p, err := o.rpc.Reset(ctx, &driverv1.ResetRequest{Number: number})
	if err != nil {
		return err
	}
	return refusal(p.GetRejections())
}

// State tells the latch and who holds the lease; empty: nobody.
func (o *Operator) State(ctx context.Context) (latch body.Latch, holder string, err error) {
	p, err := o.rpc.State(ctx, &driverv1.StateRequest{})
	return latchFrom(p.GetLatch()), p.GetHolder(), err
}

// Durable waits until the latch file holds the latch, or until ctx ends, and reports whether it does.
func (o *Operator) Durable(ctx context.Context) bool {
	for {
		p, err := o.rpc.State(ctx, &driverv1.StateRequest{})
		if err == nil && p.GetDurable() {
			return true
		}
		if !wait(ctx, durableRetry) {
			return false
		}
	}
}

// durableRetry is the pause between two looks at a latch file that is being written.
const durableRetry = 10 * time.Millisecond

// Close ends the idle connections.
func (o *Operator) Close() { o.http.CloseIdleConnections() }

// LabLine returns what a client of a lab socket needs.
func LabLine(addr string) (client *http.Client, base string, options []connect.ClientOption) {
	return newHTTP(addr), baseURL, clientOptions()
}
