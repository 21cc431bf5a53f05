package bodytest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"interlock/body"
	"interlock/reject"
	"interlock/units"
)

// Times of leaseLapses. Two gaps last longer than a lease, so that what did not keep it is missed at the next question.
const (
	leaseGap  = units.LeaseTTL/2 + 100*time.Millisecond
	leaseOver = 100 * time.Millisecond // longer than the lease, it has lapsed
	lastsFor  = 3 * time.Second        // a motion that outlives its lease
)

// errLate says that the machine let a lease lapse while it was asked for: nothing is known of the body.
var errLate = errors.New("the machine was too late, for which NO_LEASE may be right")

// leaseLapses is asked again where the machine was late.
func leaseLapses(b body.Stepper) (err error) {
	if err := warm(b); err != nil {
		return err
	}
	for range mostTries {
		if err = leaseLapsesOnce(b); !errors.Is(err, errLate) {
			return err
		}
	}
	return err
}

// mostTries is how often a question is asked that a busy machine may spoil.
const mostTries = 3

// leaseLapsesOnce keeps a lease by one call after another, lets it lapse in a motion while an onlooker looks, and asks what
// is left of it. Its times are the body's own.
func leaseLapsesOnce(b body.Stepper) error {
	c, err := callerOf(b)
	if err != nil {
		return err
	}
	k := &keptLease{caller: c}
	for _, ask := range []func() error{k.look, k.byRenew, k.byObserve, k.bySend, k.held, k.lapsed} {
		if err := ask(); err != nil {
			return errors.Join(err, c.end())
		}
	}
	if err := c.reopened(b); err != nil {
		return err
	}
	return c.haltsUnheld(b)
}

// keptLease is a lease that is kept in one way after another.
type keptLease struct {
	*caller
	since units.Instant // the body's time before it was kept last
	until units.Instant // and when it has lapsed for certain
}

// look begins with the grant.
func (k *keptLease) look() error { return k.kept("Open", k.since, reply{}) }

// kept takes an answer to a call that keeps the lease. It was called at a time after before.
func (k *keptLease) kept(how string, before units.Instant, r reply) error {
	o, err := k.Watch()
	if err != nil {
		return err
	}
	if len(r.Rejections) > 0 {
		if o.At.Sub(k.since) >= units.LeaseTTL || !r.rejectedAs(reject.NoLease, "epoch") {
			return fmt.Errorf("%s is answered with %+v: %w", how, r.Rejections, errLate)
		}
		return fmt.Errorf("%s is refused as NO_LEASE %v after the lease was kept", how, o.At.Sub(k.since))
	}
	if how == "Open" {
		before = o.At // it was granted before, and says so by lapsing earlier
	}
	k.since, k.until = before, o.At.Add(units.LeaseTTL+leaseOver)
	return nil
}

// pass waits until the body's own time is at, looking as an onlooker, which keeps no lease.
func (c *caller) pass(at units.Instant) (o body.Observation, err error) {
	for begun := c.Passed(); ; {
		if o, err = c.Watch(); err != nil || !o.At.Before(at) {
			return o, err
		}
		if c.Passed()-begun > 3*units.LeaseTTL {
			return o, fmt.Errorf("its clock is at %v after %v, and not at %v", o.At, c.Passed()-begun, at)
		}
		if err := c.Wait(2 * tick); err != nil {
			return o, err
		}
	}
}

func (k *keptLease) by(method string, fields map[string]any) error {
	o, err := k.pass(k.since.Add(leaseGap))
	if err != nil {
		return err
	}
	r, err := k.call(method, fields)
	if err != nil {
		return err
	}
	return k.kept(method, o.At, r)
}

func (k *keptLease) byRenew() error { return k.by("Renew", map[string]any{"epoch": k.epoch}) }

// byObserve takes an error of the call for a refusal: an observation has no room for one.
func (k *keptLease) byObserve() error {
	o, err := k.pass(k.since.Add(leaseGap))
	if err != nil {
		return err
	}
	status, _, err := k.Post("Observe", `{"epoch":"`+k.epoch+`"}`)
	if err != nil {
		return err
	}
	if status == http.StatusOK {
		return k.kept("Observe", o.At, reply{})
	}
	return k.kept("Observe", o.At, reply{Rejections: []refusal{{Code: string(reject.NoLease), Field: "epoch"}}})
}

// bySend begins a motion that outlives the lease, where nobody ends it.
func (k *keptLease) bySend() error {
	o, err := k.pass(k.since.Add(leaseGap))
	if err != nil {
		return err
	}
	r, err := k.sendLong()
	if err != nil {
		return err
	}
	return k.kept("Send", o.At, r)
}

// sendLong begins a motion of nudgeRad that lasts for lastsFor.
func (c *caller) sendLong() (r reply, err error) {
	for sequence := range int(laterFor / tick) {
		o, err := c.Watch()
		if err != nil {
			return r, err
		}
		s := session{Stepper: c.Line, last: o}
		r, err = c.post(&o, s.nudge(), lastsFor, c.epoch, strconv.Itoa(sequence+1))
		if err != nil || !r.later() {
			return r, err
		}
		if err := c.Wait(tick); err != nil {
			return r, err
		}
	}
	return r, nil
}

// held asks without keeping it whether the lease still runs.
func (k *keptLease) held() error {
	if _, err := k.pass(k.since.Add(leaseGap)); err != nil {
		return err
	}
	r, err := k.call("Open", map[string]any{"holder": "another"})
	if err != nil || r.rejectedAs(reject.Busy, "holder") {
		return err
	}
	o, err := k.Watch()
	if err = errors.Join(err, (&caller{Line: k.Line, epoch: r.Epoch}).end()); err != nil {
		return err
	}
	if o.At.Sub(k.since) >= units.LeaseTTL {
		return errLate
	}
	return fmt.Errorf("%v after a setpoint kept the lease another robot's open is answered with %+v, not with BUSY", o.At.Sub(k.since), r)
}

// lapsed asks in every way whether a lease that nobody kept can be used again.
func (k *keptLease) lapsed() error {
	if _, err := k.pass(k.until); err != nil {
		return err
	}
	mine := map[string]any{"epoch": k.epoch}
	renew := func(after string) error {
		if err := k.noLease("Renew", mine); err != nil {
			return fmt.Errorf("after a lease lapsed%s: %w", after, err)
		}
		return nil
	}
	if err := renew(""); err != nil {
		return err
	}
	if _, _, err := k.Post("Observe", `{"epoch":"`+k.epoch+`"}`); err != nil { // it may be refused, or answered as an onlooker's
		return err
	}
	if err := renew(", and its holder looked"); err != nil {
		return err
	}
	if err := k.sendNoLease(k.epoch, 100); err != nil {
		return fmt.Errorf("after a lease lapsed: %w", err)
	}
	return renew(", and its holder sent a setpoint")
}

// reopened asks for a new lease after one lapsed in a motion, which ends by that.
func (c *caller) reopened(b body.Stepper) error {
	next, err := callerOf(b)
	if err != nil {
		return fmt.Errorf("after a lease lapsed: %w", err)
	}
	if err := laterEpoch(c.epoch, next.epoch); err != nil {
		return errors.Join(err, next.end())
	}
	c.epoch = next.epoch
	if err := c.standsFor(600*time.Millisecond, "what an earlier holder left moving goes on after an open, and"); err != nil {
		return errors.Join(err, next.end())
	}
	return nil
}

// haltsUnheld asks for the halt of what moves when nobody holds the lease.
func (c *caller) haltsUnheld(b body.Stepper) error {
	r, err := c.sendLong()
	if err != nil || len(r.Rejections) > 0 {
		return errors.Join(err, fmt.Errorf("a setpoint of the holder is answered with %+v: %w", r.Rejections, errLate), c.end())
	}
	o, err := c.Watch()
	if err != nil {
		return err
	}
	if _, err := c.pass(o.At.Add(units.LeaseTTL + leaseOver)); err != nil {
		return err
	}
	if _, err := c.call("Halt", map[string]any{}); err != nil {
		return err
	}
	if err := c.Wait(5 * tick); err != nil {
		return err
	}
	if o, err = c.Watch(); err != nil {
		return err
	}
	if o.Holding != body.HoldHalted || !o.Health.TorqueOn {
		return fmt.Errorf("after a halt while nobody holds the lease holding is %q, with torque on: %v", o.Holding, o.Health.TorqueOn)
	}
	return c.standsFor(500*time.Millisecond, "after a halt while nobody holds the lease it goes on, and")
}

// standsFor asks an onlooker whether the body stays where it is.
func (c *caller) standsFor(d time.Duration, what string) error {
	before, err := c.Watch()
	if err != nil {
		return err
	}
	if err := c.Wait(d); err != nil {
		return err
	}
	s := session{Stepper: c.Line}
	if err := s.watch(c.Line); err != nil {
		return err
	}
	if m := s.moved(slices.Clone(before.JointsRad)); !(m <= stayRad) {
		return fmt.Errorf("%s moved a joint by %v rad", what, m)
	}
	return nil
}
