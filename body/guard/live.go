package guard

import (
	"context"
	"errors"
	"fmt"
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
	asked  time.Time     // when the call that it has not answered yet began; zero: there is none
	down   bool          // it does not answer
	since  units.Instant // when that began
	silent time.Duration // how long it has not answered while somebody watched
	said   error         // how the latest call failed
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
	if !idle && !reopen {
		g.live.asked = time.Now()
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
	g.live.asked = time.Time{}
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
	l.halt, l.resync, l.said = true, true, err
	g.ramp = 0
	clear(g.velocity)
	var refusal reject.Rejection
	switch silent := g.now.Sub(l.since); {
	case errors.As(err, &refusal):
		g.lose(err.Error())
	case silent >= g.cfg.Silence:
		g.lose(silence(silent, err))
	}
}

// lose latches a stop for a body that is lost, which is then opened again. Where the latch is closed already, as by a robot that
// saw its motion end, why is told beside the stop's cause, once.
func (g *Guard) lose(says string) {
	if l := &g.live; !l.lost {
		l.lost, l.tryAt = true, g.now
		g.fault = hazardDriverLost
		g.latch.tripFault(ladder[hazardDriverLost].code + ": " + says)
		return
	}
	g.fail(hazardDriverLost, says)
}

// silence says how long a body has not answered, and why where that is more than that it did not.
func silence(d time.Duration, err error) string {
	says := fmt.Sprintf("the body has not answered for %d ms", d.Milliseconds())
	if errors.Is(err, context.DeadlineExceeded) {
		return says
	}
	return says + ": " + err.Error()
}

// watchSilence latches for a body that stopped answering, once that is a silence, though a call to it hangs just then: whoever
// waits for a standstill meanwhile is to find the cause, not only that there is none. It counts its own turns, so that a
// process that was asleep does not take that for a silence of the body.
func (g *Guard) watchSilence(stop <-chan struct{}) {
	tick := time.NewTicker(idleCycle)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.countSilence(idleCycle)
		case <-stop:
			return
		}
	}
}

func (g *Guard) countSilence(by time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.live
	if !g.open || !l.down && l.asked.IsZero() {
		return
	}
	if l.silent += by; l.down && !l.lost && l.silent >= g.cfg.Silence {
		g.lose(silence(l.silent, l.said))
	}
}

// late is how long the body has let a call wait by now; the command stands still over it.
func (g *Guard) late() time.Duration {
	if g.live.asked.IsZero() {
		return 0
	}
	return time.Since(g.live.asked)
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
			g.latch.tripAnew(ladder[hazardDriverLost].code + ": " + err.Error())
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
	l.seen, l.seenAt, l.any, l.down, l.silent = o, g.now, true, false, 0
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
