package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"interlock/body"
	"interlock/body/remote"
	"interlock/reject"
	"interlock/robot"
	"interlock/units"
)

// link is a robot's line to its driver that outlives the driver: a line that broke, or a lease that was lost, is an error
// of every call until there is a driver with a lease again. The robot's clock goes on over it, as far as real time did, so
// that no reading from before seems young.
type link struct {
	addr, holder string
	contract     string // hash of the robot's contract; a driver that keeps another one's limits is not joined
	say          func(string)

	lost chan struct{} // one that waits: the line in use broke

	mu     sync.Mutex
	driver *remote.Driver // with a lease; nil: none
	latest *remote.Driver // the last there was: a halt and a stop are tried whatever broke
	desc   body.Description
	cause  error         // why there is none
	offset time.Duration // from the driver's clock to the robot's
	last   units.Instant // the latest time told, on the robot's clock, and when
	lastAt time.Time
	owed   string // a stop that no driver has confirmed
}

var _ robot.Body = (*link)(nil)

var (
	errNoDriver      = errors.New("there is no driver yet") // what calls get before there was any
	errOtherContract = errors.New("it keeps the limits of another contract")
)

func newLink(addr, holder, contractHash string, say func(string)) *link {
	return &link{addr: addr, holder: holder, contract: contractHash, say: say, lost: make(chan struct{}, 1), cause: errNoDriver}
}

// Times of the search for a driver.
const (
	linkRetry   = 50 * time.Millisecond
	leaseWithin = 500 * time.Millisecond // how long one attempt waits for the lease of another holder
)

// join waits for a driver and its lease, and says so. known gets what its body is before anything is read of it.
func (l *link) join(ctx context.Context, known func(body.Description) error) error {
	began := time.Now()
	for told := ""; ; {
		err := l.tryJoin(ctx, known)
		if err == nil || ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if why := waitsFor(err); why != told && (why != absent || time.Since(began) > quietFor) {
			told = why
			l.say("waiting for the driver at " + l.addr + ": " + err.Error())
		}
		select {
		case <-time.After(linkRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waitsFor tells one reason to wait from another, so that each is said once.
func waitsFor(err error) string {
	var r reject.Rejection
	if errors.As(err, &r) {
		return string(r.Code)
	}
	if errors.Is(err, errOtherContract) {
		return "contract"
	}
	return absent
}

// absent is the reason of a driver that is not there. One that is started beside the robot takes a moment, which is no
// news.
const (
	absent   = "absent"
	quietFor = 700 * time.Millisecond
)

func (l *link) tryJoin(ctx context.Context, known func(body.Description) error) error {
	d, err := remote.Dial(ctx, l.addr, remote.Options{Holder: l.holder, OpenWithin: leaseWithin})
	if err != nil {
		return err
	}
	if theirs := d.ContractHash(); theirs != "" && theirs != l.contract {
		return errors.Join(fmt.Errorf("%w: %.12s, not %.12s", errOtherContract, theirs, l.contract), d.Close())
	}
	if err := d.Open(); err != nil {
		return errors.Join(err, d.Close())
	}
	if err := known(d.Describe()); err != nil {
		return errors.Join(err, d.Close())
	}
	if err := l.take(d); err != nil {
		return errors.Join(err, d.Close())
	}
	return nil
}

// take makes the driver the one in use. A stop that is owed comes first.
func (l *link) take(d *remote.Driver) error {
	l.mu.Lock()
	owed := l.owed
	l.mu.Unlock()
	if owed != "" && d.Stop(owed) == 0 {
		return errors.New("a stop that it owes was not confirmed")
	}
	o, err := d.Observe()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owed != owed {
		return errors.New("another stop came to be owed")
	}
	if l.last != 0 {
		l.offset = l.last.Add(time.Since(l.lastAt)).Sub(o.At)
	}
	l.owed, l.driver, l.latest, l.desc, l.cause = "", d, d, d.Describe(), nil
	return nil
}

// keep finds a driver again whenever the line broke, until ctx ends. changed is told of another body before the robot
// reads it.
func (l *link) keep(ctx context.Context, changed func(body.Description) error) {
	for {
		select {
		case <-l.lost:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		old, cause, was := l.latest, l.cause, l.desc
		l.mu.Unlock()
		l.say("the driver was lost: " + cause.Error())
		_ = old.Close() // it may be gone
		err := l.join(ctx, func(d body.Description) error {
			if reflect.DeepEqual(d, was) {
				return nil
			}
			return changed(d)
		})
		if err == nil {
			l.say("the driver is back")
		}
	}
}

func (l *link) now() (*remote.Driver, time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.driver, l.offset, l.cause
}

// drop notes that the line broke.
func (l *link) drop(d *remote.Driver, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.driver != d {
		return
	}
	l.driver, l.cause = nil, cause
	l.lost <- struct{}{} // there is room: only what was joined is dropped, and joining follows a drop
}

// Describe implements body.Driver.
func (l *link) Describe() body.Description {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.desc
}

// Open implements body.Driver: join has opened it.
func (l *link) Open() error {
	_, _, err := l.now()
	return err
}

// Send implements body.Driver.
func (l *link) Send(s body.Setpoint) (body.Sent, error) {
	d, offset, err := l.now()
	if err != nil {
		return body.Sent{}, err
	}
	s.Expires = s.Expires.Add(-offset)
	sent, err := d.Send(s)
	var r reject.Rejection
	if err != nil && (!errors.As(err, &r) || r.Code == reject.NoLease) {
		l.drop(d, err)
	}
	return sent, err
}

// Observe implements body.Driver.
func (l *link) Observe() (body.Observation, error) {
	d, offset, err := l.now()
	if err != nil {
		return body.Observation{}, err
	}
	o, err := d.Observe()
	if err != nil {
		l.drop(d, err)
		return body.Observation{}, err
	}
	o.At = o.At.Add(offset)
	for i := range o.Readings {
		o.Readings[i].At = o.Readings[i].At.Add(offset)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.At.After(l.last) {
		l.last, l.lastAt = o.At, time.Now()
	}
	return o, nil
}

// Halt implements body.Driver.
func (l *link) Halt() error {
	l.mu.Lock()
	d, cause := l.latest, l.cause
	l.mu.Unlock()
	if d == nil {
		return cause
	}
	return d.Halt()
}

// Stop implements robot.Body. One that no driver confirmed is owed to the next.
func (l *link) Stop(reason string) (number uint64) {
	l.mu.Lock()
	d := l.latest
	l.mu.Unlock()
	if d != nil {
		number = d.Stop(reason)
	}
	if number == 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.owed = reason
	}
	return number
}

// Close implements body.Driver.
func (l *link) Close() error {
	l.mu.Lock()
	d := l.driver
	l.driver, l.cause = nil, errNoDriver
	l.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.Close()
}
