package bodytest

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"interlock/body"
	"interlock/reject"
)

// leaseChecks are what a lease is for: one mover at a time, and none that slept through the end of its own.
func leaseChecks() []Check {
	return []Check{
		{"obeys only the holder of the lease", obeysHolder},
		{"grants every epoch once", grantsOnce},
		{"a lease is kept, lapses and is not revived", leaseLapses},
	}
}

func obeysHolder(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	second, err := (&caller{Line: l}).call("Open", map[string]any{"holder": "another"})
	if err != nil {
		return err
	}
	if !second.rejectedAs(reject.Busy, "holder") {
		return fmt.Errorf("a second robot's open is answered with %+v, not with BUSY", second)
	}
	for _, epoch := range []uint64{1, math.MaxUint64} { // long gone, and never granted
		p := s.setpoint()
		copy(p.PositionsRad, s.nudge())
		p.Over, p.Epoch = 400*time.Millisecond, epoch
		if err := s.refused(p, reject.NoLease, "epoch"); err != nil {
			return fmt.Errorf("with epoch %d: %w", epoch, err)
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	other := l.Another()
	if err := other.Open(); err != nil {
		return fmt.Errorf("the lease was given back, and another robot does not get it: %w", err)
	}
	return other.Close()
}

// noLease asks for a call that is refused as one of nobody who holds the lease.
func (c *caller) noLease(method string, fields map[string]any) error {
	r, err := c.call(method, fields)
	if err == nil && !r.rejectedAs(reject.NoLease, "epoch") {
		err = fmt.Errorf("%s is answered with %+v, not with NO_LEASE", method, r)
	}
	return err
}

// sendNoLease is noLease for a setpoint that would move nothing.
func (c *caller) sendNoLease(epoch string, sequence int) error {
	r, err := c.send(epoch, sequence)
	if err == nil && !r.rejectedAs(reject.NoLease, "epoch") {
		err = fmt.Errorf("Send is answered with %+v, not with NO_LEASE", r)
	}
	return err
}

// grantsOnce: the epoch of an earlier grant is worth nothing, and whoever does not hold the lease can neither keep it nor
// give it back. A name is no proof of who asks.
func grantsOnce(b body.Stepper) error {
	if err := warm(b); err != nil {
		return err
	}
	c, err := callerOf(b)
	if err != nil {
		return err
	}
	first := c.epoch
	if err := c.heldAgainst(nobody, "0", "1", strconv.FormatUint(math.MaxUint64, 10)); err != nil {
		return errors.Join(err, c.end())
	}
	if err := c.end(); err != nil {
		return err
	}
	if err := c.noLease("Renew", map[string]any{"epoch": first}); err != nil {
		return fmt.Errorf("after it was given back: %w", err)
	}
	c, err = callerOf(b)
	if err != nil {
		return err
	}
	if err = laterEpoch(first, c.epoch); err == nil {
		err = c.heldAgainst(first)
	}
	return errors.Join(err, c.end())
}

// nobody is the epoch of a call that carries none.
const nobody = ""

// under are the fields of a call under an epoch.
func under(epoch string) map[string]any {
	if epoch == nobody {
		return map[string]any{}
	}
	return map[string]any{"epoch": epoch}
}

// heldAgainst asks whether the lease stays its holder's while others use these epochs, or its holder's name.
func (c *caller) heldAgainst(epochs ...string) error {
	again, err := c.call("Open", map[string]any{"holder": callerName})
	if err != nil {
		return err
	}
	if !again.rejectedAs(reject.Busy, "holder") {
		return fmt.Errorf("while the lease runs the same holder's open is answered with %+v, not with BUSY", again)
	}
	for _, epoch := range epochs {
		if err := errors.Join(c.noLease("Renew", under(epoch)), c.sendNoLease(epoch, 1000)); err != nil {
			return fmt.Errorf("with epoch %q: %w", epoch, err)
		}
		if _, err := c.call("Close", under(epoch)); err != nil {
			return err
		}
		mine, err := c.call("Renew", map[string]any{"epoch": c.epoch})
		if err != nil {
			return err
		}
		if len(mine.Rejections) > 0 {
			return fmt.Errorf("a close with epoch %q took the lease from epoch %s: %+v", epoch, c.epoch, mine.Rejections)
		}
	}
	return nil
}

func laterEpoch(first, then string) error {
	a, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return fmt.Errorf("the epoch %q: %w", first, err)
	}
	b, err := strconv.ParseUint(then, 10, 64)
	if err != nil {
		return fmt.Errorf("the epoch %q: %w", then, err)
	}
	if b <= a {
		return fmt.Errorf("after epoch %d epoch %d is granted, which is not larger", a, b)
	}
	return nil
}

// grantsNoneAgain: whoever slept through a restart must not find that his epoch is another's.
func grantsNoneAgain(b body.Stepper) error {
	l, err := as[Restarted](b)
	if err != nil {
		return err
	}
	c, err := callerOf(l)
	if err != nil {
		return err
	}
	if err := errors.Join(c.end(), l.Restart()); err != nil {
		return err
	}
	next, err := callerOf(l)
	if err != nil {
		return err
	}
	if err = laterEpoch(c.epoch, next.epoch); err == nil {
		err = next.noLease("Renew", map[string]any{"epoch": c.epoch})
	}
	return errors.Join(err, next.end(), l.Open(), l.Close()) // it is the same body still
}
