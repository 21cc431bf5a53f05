package guard

import (
	"errors"
	"fmt"
	"time"

	"interlock/body"
)

// Advance implements body.Stepper: the body runs for by, in whole driver steps, each with its own command.
func (g *Guard) Advance(by time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.open:
		return body.ErrNotOpen
	case g.running || g.stepper == nil:
		return errors.New("guard: the time of this body moves by itself")
	case by <= 0 || by%g.step != 0:
		return fmt.Errorf("guard: cannot advance by %v: steps are %v", by, g.step)
	}
	for range by / g.step {
		if err := g.advanceStep(); err != nil {
			g.fail(hazardDriverLost, err.Error())
			return err
		}
	}
	return nil
}

func (g *Guard) advanceStep() error {
	if g.planStep() {
		if err := g.forward(); err != nil {
			return err
		}
	}
	if err := g.stepper.Advance(g.step); err != nil {
		return err
	}
	g.now = g.now.Add(g.step)
	return nil
}

// planStep judges the hazards and moves the command by one step; false: it stays.
func (g *Guard) planStep() bool {
	if h := g.judge(); h >= 0 && (g.motion.active || g.hold < 0) {
		g.begin(h)
	}
	if !g.moveCommand() {
		return false
	}
	g.movedAt = g.now
	return true
}

// judge returns the worst hazard that ends the present motion, or −1.
func (g *Guard) judge() int {
	l, m := g.latch.read(), &g.motion
	var active [numHazards]bool
	active[hazardStopped] = l.Stopped || m.active && m.stop != l.Number
	active[hazardHalted] = g.halts.Load() != g.halted
	active[hazardExpired] = m.active && !g.now.Before(m.expires)
	active[hazardLink] = g.live.down
	active[hazardSilence] = m.active && g.now.Sub(g.heard) > g.cfg.Silence
	if g.fault >= 0 && l.Stopped {
		active[g.fault] = true
	}
	return worst(&active)
}

// begin ends the motion: the command decelerates from its present velocity.
func (g *Guard) begin(h int) {
	g.hold = h
	if halts := g.halts.Load(); halts != g.halted {
		g.halted = halts
		if ladder[h].act < actHalt {
			g.hold = hazardHalted
		}
	}
	g.live.halt = g.live.halt || ladder[g.hold].act >= actHalt
	if g.motion.active {
		g.motion.active = false
		g.ramp = int(RampTime / g.step)
	}
}

// moveCommand moves the command by one step; false: it stays, and nothing need be sent.
func (g *Guard) moveCommand() bool {
	switch {
	case g.motion.active:
		return g.followMotion()
	case g.ramp > 0:
		return g.decelerate()
	}
	return false
}

// followMotion puts the command on the motion's line.
func (g *Guard) followMotion() bool {
	m := &g.motion
	if m.gone >= m.over {
		clear(g.velocity)
		return false
	}
	m.gone += g.step
	done := float64(m.gone) / float64(m.over)
	for i := range g.command {
		next := m.from[i] + (m.to[i]-m.from[i])*done
		if m.gone >= m.over {
			next = m.to[i]
		}
		g.velocity[i] = (m.to[i] - m.from[i]) / m.over.Seconds()
		g.command[i] = next
	}
	return true
}

// decelerate moves the command on along its last velocity, which falls to zero over the ramp. A joint that would leave
// its range ends the ramp for all, and so does what the arm would come too near to: the line is not bent.
func (g *Guard) decelerate() bool {
	total := float64(RampTime / g.step)
	share := (float64(g.ramp) - 0.5) / total * g.step.Seconds()
	g.ramp--
	moves := false
	for i, v := range g.velocity {
		g.next[i] = g.command[i] + v*share
		if g.next[i] < g.joints[i].MinRad || g.next[i] > g.joints[i].MaxRad {
			moves = false
			break
		}
		moves = moves || v != 0
	}
	if !moves || !g.mayGoOn(g.next) {
		g.ramp = 0
		clear(g.velocity)
		return false
	}
	copy(g.command, g.next)
	return true
}

// forward sends the command to the body and insists that it was taken as it is.
func (g *Guard) forward() error {
	sent, err := g.inner.Send(body.Setpoint{
		PositionsRad: g.command,
		Expires:      g.now.Add(body.Expiry - g.offset),
		Stop:         g.latch.read().Number,
	})
	if err != nil {
		return err
	}
	return applied(sent, g.command)
}

// applied insists that the body took the command as it is.
func applied(sent body.Sent, command []float64) error {
	for i, q := range sent.PositionsRad {
		if i >= len(command) || q != command[i] {
			return errors.New("guard: the body applied another setpoint than was sent to it")
		}
	}
	return nil
}

// fail latches a stop for a fault of the body.
func (g *Guard) fail(hazard int, says string) {
	g.fault = hazard
	g.latch.tripOnce(ladder[hazard].code + ": " + says)
}
