package guard

import (
	"errors"
	"slices"
	"time"

	"interlock/body"
	"interlock/reject"
	"interlock/units"
)

// live is what is known of a body with its own clock. Only Run's goroutine talks to it, without holding the lock, so
// that a body that hangs never hangs a stop, a setpoint or an observation.
type live struct {
	seen   body.Observation // the latest, on the guard's clock
	seenAt units.Instant
	any    bool
	halt   bool          // Halt is owed, once the command has come to rest
	down   bool          // it does not answer
	since  units.Instant // when that began
	resync bool          // the command is to be taken from the body: it missed some
	lost   bool          // it must be opened again
	tryAt  units.Instant
	cause  error // why the last attempt to open it again failed
}

// turnLive is one cycle: plan, command, read.
func (g *Guard) turnLive(steps int, lost time.Duration) {
	g.mu.Lock()
	if !g.open {
		g.mu.Unlock()
		return
	}
	g.skip(lost)
	moves := false
	for range steps {
		moves = g.planStep() || moves
		g.now = g.now.Add(g.step)
	}
	p := body.Setpoint{
		PositionsRad: slices.Clone(g.command), Over: time.Duration(steps) * g.step,
		Expires: g.now.Add(body.Expiry - g.offset), Stop: 0,
	}
	halt := g.live.halt && !g.motion.active && (g.ramp == 0 || g.live.down)
	reopen := g.live.lost && !g.now.Before(g.live.tryAt)
	idle := !moves && !halt && !reopen && !g.live.down && g.now.Sub(g.live.seenAt) < idleCycle
	if idle {
		g.rest(restAfter)
	}
	g.mu.Unlock()

	switch {
	case idle:
		return
	case reopen:
		g.reopen()
		return
	}
	var o body.Observation
	err := g.tell(p, moves, halt)
	if err == nil {
		o, err = g.inner.Observe()
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.unanswered(err)
		return
	}
	if halt {
		g.live.halt = false
	}
	g.takeLive(o)
	g.rest(restAfter)
}

// tell sends the body what it is owed.
func (g *Guard) tell(p body.Setpoint, moves, halt bool) error {
	switch {
	case halt:
		return g.inner.Halt()
	case moves:
		sent, err := g.inner.Send(p)
		if err != nil {
			return err
		}
		return applied(sent, p.PositionsRad)
	}
	return nil
}

// unanswered ends the motion at once, and latches if it lasts or if the body refuses what it is told.
func (g *Guard) unanswered(err error) {
	l := &g.live
	if errors.Is(err, body.ErrNotOpen) && l.cause != nil { // it is not open because of that
		err = l.cause
	}
	if !l.down {
		l.down, l.since = true, g.now
	}
	l.halt, l.resync = true, true
	g.ramp = 0
	clear(g.velocity)
	var refusal reject.Rejection
	if errors.As(err, &refusal) || g.now.Sub(l.since) >= g.cfg.Silence {
		g.fail(hazardDriverLost, err.Error())
		if !l.lost {
			l.lost, l.tryAt = true, g.now
		}
	}
}

// reopen opens a body that was lost. It stays stopped until a person resets it.
func (g *Guard) reopen() {
	_ = g.inner.Close()
	o, err := g.touch()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		if errors.Is(err, body.ErrAnother) && !errors.Is(g.live.cause, body.ErrAnother) { // a fault of its own, which a person must see
			g.fault = hazardDriverLost
			g.latch.trip(ladder[hazardDriverLost].code + ": " + err.Error())
		}
		g.live.tryAt, g.live.cause = g.now.Add(reopenWait), err
		return
	}
	applied := g.applied
	g.adopt(o)
	g.applied = applied
}

// takeLive takes an observation of a body with its own clock.
func (g *Guard) takeLive(o body.Observation) {
	if g.stepper != nil {
		return
	}
	l := &g.live
	g.align(o.At)
	g.examine(&o)
	shift(&o, g.offset)
	if l.resync && len(o.GoalRad) == len(g.command) && units.Finite(o.GoalRad...) {
		copy(g.command, o.GoalRad)
		l.resync = false
	}
	l.seen, l.seenAt, l.any, l.down = o, g.now, true, false
}

// driftShare bounds how fast two clocks run apart.
const driftShare = 1000

// align follows the difference of the two clocks: the smallest seen, since the line only ever delays, growing slowly
// for clocks that run apart. An observation that is sent again therefore shows its age.
func (g *Guard) align(at units.Instant) {
	l, offset := &g.live, g.now.Sub(at)
	if l.any {
		offset = min(offset, g.offset+g.now.Sub(l.seenAt)/driftShare)
	}
	g.offset = offset
}

// readLive is what was last read, with its age: an old standstill is no standstill.
func (g *Guard) readLive() body.Observation {
	o := g.live.seen
	o.Readings = slices.Clone(o.Readings)
	for i := range o.Readings {
		o.Readings[i].Objects = slices.Clone(o.Readings[i].Objects)
	}
	o.JointsRad = slices.Clone(o.JointsRad)
	o.Standstill = o.Standstill && g.now.Sub(g.live.seenAt) <= units.StandstillOver
	o.Health.BusOK = o.Health.BusOK && !g.live.down
	o.At = g.now
	return o
}
