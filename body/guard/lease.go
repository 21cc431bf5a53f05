package guard

import (
	"time"

	"interlock/body"
	"interlock/reject"
)

// firstEpoch keeps epochs growing over restarts, also of a process whose latch file is gone. Where there is one, its
// epoch holds too, so that a clock that was set back changes nothing.
func firstEpoch() uint64 { return uint64(max(0, time.Now().UnixNano())) }

// Acquire grants the lease of the one mover; BUSY names the holder. Nothing moves by it, and what an earlier holder left
// moving ends.
func (g *Guard) Acquire(holder string) (epoch uint64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return 0, body.ErrNotOpen
	}
	if epoch, err = g.lease.Acquire(g.now, holder); err != nil {
		return 0, err
	}
	if g.motion.active {
		g.halts.Add(1)
	}
	return epoch, nil
}

// Renew keeps the lease for another units.LeaseTTL. It is no sign of life: a robot whose loop hangs may still renew.
func (g *Guard) Renew(epoch uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lease.Renew(g.now, epoch)
}

// Release gives the lease back and halts what its holder left moving. An epoch that does not hold it changes nothing.
func (g *Guard) Release(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lease.Release(g.now, epoch) && g.motion.active {
		g.halts.Add(1)
	}
}

// Holder names who holds the lease; empty: nobody.
func (g *Guard) Holder() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lease.Holder(g.now)
}

// Watch observes for a holder of the lease, of whom it is a sign of life, or for an onlooker (epoch 0), of whom it is
// none. An epoch that does not hold the lease is NO_LEASE.
func (g *Guard) Watch(epoch uint64) (body.Observation, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if epoch != 0 {
		if err := g.lease.Renew(g.now, epoch); err != nil {
			return body.Observation{}, err
		}
		g.heard, g.asleep = g.now, false
	}
	return g.observe()
}

// checkEpoch refuses a setpoint of anybody but the lease's holder.
func (g *Guard) checkEpoch(epoch uint64) error {
	switch {
	case g.cfg.Leased:
		return g.lease.Check(g.now, epoch)
	case epoch != 0:
		return reject.New(reject.NoLease, "no lease was granted here").In("epoch").Saw(decimal(epoch), "0", "")
	}
	return nil
}
