package body

import (
	"strconv"

	"interlock/reject"
	"interlock/units"
)

// Lease is the right of one mover, as data: it has no clock. An epoch is never granted twice by one Lease, so whoever
// slept through the end of its own is refused for ever. The zero Lease is free; it is not safe for concurrent use.
type Lease struct {
	epoch  uint64 // of the latest grant
	holder string
	until  units.Instant
	held   bool
}

// StartAt makes every epoch larger than the given one, so that epochs grow over restarts of the process too.
func (l *Lease) StartAt(epoch uint64) { l.epoch = max(l.epoch, epoch) }

// Epoch is that of the latest grant, whether it is still held or not.
func (l *Lease) Epoch() uint64 { return l.epoch }

// Holder names who holds the lease now; empty: nobody.
func (l *Lease) Holder(now units.Instant) string {
	if !l.live(now) {
		return ""
	}
	return l.holder
}

// Until is when the latest grant lapses, if it is not renewed before.
func (l *Lease) Until() units.Instant { return l.until }

func (l *Lease) live(now units.Instant) bool { return l.held && now.Before(l.until) }

// Acquire grants the lease for units.LeaseTTL. While another grant runs, also one to the same holder, it is BUSY: a name
// is no proof of who asks.
func (l *Lease) Acquire(now units.Instant, holder string) (epoch uint64, err error) {
	if l.live(now) {
		r := reject.New(reject.Busy, "the lease is held by "+l.holder).In("holder").Saw(strconv.Quote(l.holder), "", "")
		r.Retry, r.AfterMS = reject.Later, int(l.until.Sub(now).Milliseconds())+1
		return 0, r
	}
	l.epoch++
	l.holder, l.held, l.until = holder, true, now.Add(units.LeaseTTL)
	return l.epoch, nil
}

// Check returns NO_LEASE unless the epoch is that of the grant that runs now.
func (l *Lease) Check(now units.Instant, epoch uint64) error {
	if epoch == l.epoch && l.live(now) {
		return nil
	}
	return reject.New(reject.NoLease, "this epoch does not hold the lease").In("epoch").
		Saw(strconv.FormatUint(epoch, 10), strconv.FormatUint(l.epoch, 10), "")
}

// Renew makes the lease last units.LeaseTTL from now. One that lapsed is never revived.
func (l *Lease) Renew(now units.Instant, epoch uint64) error {
	if err := l.Check(now, epoch); err != nil {
		return err
	}
	l.until = now.Add(units.LeaseTTL)
	return nil
}

// Release gives the lease back. It reports whether the epoch held it.
func (l *Lease) Release(now units.Instant, epoch uint64) bool {
	if l.Check(now, epoch) != nil {
		return false
	}
	l.held = false
	return true
}

// A robot that misses two renewals still holds its lease: the build fails if the table of times says otherwise.
const _ = uint(units.LeaseTTL - 3*units.LeaseRenew)
