package bodytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"interlock/body"
	"interlock/units"
)

func describes(b body.Stepper) error {
	d := b.Describe()
	if d.Name == "" || d.Step <= 0 || len(d.Joints) == 0 {
		return fmt.Errorf("name %q, step %v, %d joints", d.Name, d.Step, len(d.Joints))
	}
	if d.Mode != body.ModeSim && d.Mode != body.ModeHardware {
		return fmt.Errorf("mode %q", d.Mode)
	}
	names := map[string]bool{}
	for _, j := range d.Joints {
		if j.Name == "" || names[j.Name] || !(j.MinRad < j.MaxRad) || !(j.MaxVelRadS > 0) {
			return fmt.Errorf("joint %+v", j)
		}
		names[j.Name] = true
	}
	facts := map[string]bool{}
	for _, w := range d.Witnesses {
		if w.Name == "" || len(w.Facts) == 0 {
			return fmt.Errorf("witness %+v", w)
		}
		for _, f := range w.Facts {
			if facts[f] {
				return fmt.Errorf("two witnesses of %s", f)
			}
			facts[f] = true
		}
	}
	return nil
}

func needsOpen(b body.Stepper) error {
	n := len(b.Describe().Joints)
	answers := func(when string) error {
		if _, err := b.Send(body.Setpoint{PositionsRad: make([]float64, n), Expires: 1}); err == nil {
			return errors.New("takes a setpoint " + when)
		}
		if _, err := b.Observe(); err == nil {
			return errors.New("tells an observation " + when)
		}
		if err := b.Advance(b.Describe().Step); err == nil {
			return errors.New("advances " + when)
		}
		return nil
	}
	if err := answers("before it is open"); err != nil {
		return err
	}
	if err := b.Open(); err != nil {
		return err
	}
	if err := b.Open(); err == nil {
		return errors.New("opens twice")
	}
	if err := b.Close(); err != nil {
		return err
	}
	return answers("after it is closed")
}

func openingNeverMoves(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	return s.stays(slices.Clone(s.last.JointsRad), time.Second, "opening")
}

func zeroSetpoint(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	before := slices.Clone(s.last.JointsRad)
	if _, err := s.Send(s.setpoint()); err != nil {
		return fmt.Errorf("the present position is refused: %w", err)
	}
	at := s.setpoint() // the goal itself, in no time
	copy(at.PositionsRad, s.last.GoalRad)
	at.Over = 0
	if _, err := s.Send(at); err != nil {
		return fmt.Errorf("the present goal at once is refused: %w", err)
	}
	return s.stays(before, 200*time.Millisecond, "a setpoint at the present position")
}

func follows(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	if err := often(s.tellsItsMotion); err != nil {
		return err
	}
	if h := s.last.Health; !h.TorqueOn || !h.BusOK || !h.MotionAllowed || h.FaultCode != "" {
		return fmt.Errorf("it moved, and its health is %+v", h)
	}
	return nil
}

// tellsItsMotion: that it moves is measured too, and not always "standstill", nor what stands always a motion.
func (s *session) tellsItsMotion() error {
	to, moving := s.nudge(), false
	var seen []body.Observation
	var told error
	err := s.drive(to, 500*time.Millisecond, func() {
		moving, seen = moving || !s.last.Standstill, append(seen, s.last)
		if told == nil {
			told = stillWhileMoving(seen)
		}
	})
	switch {
	case err != nil || told != nil:
		return errors.Join(err, told)
	case !moving:
		return errors.New("standstill is told of a joint that moves")
	case s.last.Holding != body.HoldNone:
		return fmt.Errorf("holds (%s) while setpoints arrive", s.last.Holding)
	}
	if d := math.Abs(s.last.JointsRad[0] - to[0]); !(d <= arriveRad) {
		return fmt.Errorf("the first joint is %v rad away from its setpoint", d)
	}
	if err := s.run(200 * time.Millisecond); err != nil {
		return err
	}
	if !s.last.Standstill {
		return errors.New("no standstill is measured after the motion")
	}
	return nil
}

// stillWhileMoving is the error of a standstill that is told while the positions of the time it is measured over say otherwise.
func stillWhileMoving(seen []body.Observation) error {
	last := &seen[len(seen)-1]
	for i := range seen {
		o := &seen[i]
		over := last.At.Sub(o.At)
		if d := math.Abs(last.JointsRad[0] - o.JointsRad[0]); last.Standstill && over <= units.StandstillOver-tick && !(d <= stayRad) {
			return fmt.Errorf("standstill is told of a joint that moved by %v rad in the last %v", d, over)
		}
	}
	return nil
}

func returnsSent(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	before := s.last.Applied // a process counts on from one lease to the next
	for n := before + 1; n <= before+3; n++ {
		p := s.setpoint()
		p.PositionsRad[0] += 1e-4
		sent, err := s.Send(p)
		if err != nil {
			return err
		}
		if !slices.Equal(sent.PositionsRad, p.PositionsRad) {
			return fmt.Errorf("sent %v, returned %v", p.PositionsRad, sent.PositionsRad)
		}
		if err := s.run(tick); err != nil {
			return err
		}
		if sent.Applied != n || s.last.Applied != n {
			return fmt.Errorf("after %d setpoints %d and %d are applied", n, sent.Applied, s.last.Applied)
		}
	}
	return s.keepsWhatWasSent()
}

// keepsWhatWasSent: the goal is what was commanded, of every joint, and not what was made of it.
func (s *session) keepsWhatWasSent() error {
	p := s.setpoint()
	p.PositionsRad[0] += 1e-3
	if _, err := s.Send(p); err != nil {
		return err
	}
	if err := s.run(10 * tick); err != nil {
		return err
	}
	for i, j := range s.Describe().Joints {
		if d := math.Abs(s.last.GoalRad[i] - p.PositionsRad[i]); !(d <= sameRad) {
			return fmt.Errorf("the goal of %s is %v rad away from what was sent", j.Name, d)
		}
	}
	return nil
}

// sameRad is within what a position is the same.
const sameRad = 1e-6

func observes(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	told := map[string]string{}
	for _, w := range s.Describe().Witnesses {
		for _, f := range w.Facts {
			told[f] = w.Name
		}
	}
	for range 10 {
		if err := s.run(tick); err != nil {
			return err
		}
		if err := finiteObservation(&s.last); err != nil {
			return err
		}
		for _, r := range s.last.Readings {
			if told[r.Fact] != r.Witness {
				return fmt.Errorf("%s by %s was not described", r.Fact, r.Witness)
			}
			if r.At.After(s.last.At) {
				return fmt.Errorf("the reading of %s comes from the future", r.Fact)
			}
		}
		if len(s.last.Readings) != len(told) {
			return fmt.Errorf("%d readings of %d facts", len(s.last.Readings), len(told))
		}
	}
	return nil
}

func timeRunsOn(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	for range 10 {
		before := s.last.At
		if err := s.run(tick); err != nil {
			return err
		}
		if got := s.last.At.Sub(before); got != tick {
			return fmt.Errorf("advancing %v took %v", tick, got)
		}
		at := s.last.At
		if err := s.look(); err != nil {
			return err
		}
		if s.last.At != at {
			return errors.New("time moves without Advance")
		}
	}
	return nil
}

func haltsEverywhere(b body.Stepper) error {
	halt := func(when string) error {
		for range 2 {
			if err := b.Halt(); err != nil {
				return fmt.Errorf("halt %s: %w", when, err)
			}
		}
		return nil
	}
	if err := halt("before open"); err != nil {
		return err
	}
	s, err := start(b)
	if err != nil {
		return err
	}
	before := slices.Clone(s.last.JointsRad)
	if err := halt("at rest"); err != nil {
		return err
	}
	if err := s.stays(before, 300*time.Millisecond, "a halt at rest"); err != nil {
		return err
	}
	if s.last.Holding != body.HoldHalted {
		return fmt.Errorf("holding is %q after a halt at rest", s.last.Holding)
	}
	if err := b.Close(); err != nil {
		return err
	}
	return halt("after close")
}

func haltEndsMotion(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	p := s.setpoint()
	to := s.nudge()
	copy(p.PositionsRad, to)
	p.Over, p.Expires = 800*time.Millisecond, s.last.At.Add(body.MaxAhead)
	if _, err := s.Send(p); err != nil {
		return err
	}
	if err := s.run(60 * time.Millisecond); err != nil {
		return err
	}
	for range 3 {
		if err := s.Halt(); err != nil {
			return err
		}
		if err := s.run(100 * time.Millisecond); err != nil {
			return err
		}
	}
	if s.last.Holding != body.HoldHalted {
		return fmt.Errorf("holding is %q after a halt", s.last.Holding)
	}
	if h := s.last.Health; !h.TorqueOn || !h.MotionAllowed { // it holds, and a halt is no latch
		return fmt.Errorf("after a halt its health is %+v", h)
	}
	if !s.last.Standstill {
		return errors.New("no standstill 300 ms after a halt")
	}
	if d := math.Abs(s.last.JointsRad[0] - to[0]); !(d >= arriveRad) {
		return errors.New("a halted motion went on to its end")
	}
	if err := s.stays(slices.Clone(s.last.JointsRad), 500*time.Millisecond, "a halted body"); err != nil {
		return err
	}
	return s.drive(to, 300*time.Millisecond, nil) // a halt is no latch
}

func holdsOnExpiry(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	p := s.setpoint()
	to := s.nudge()
	copy(p.PositionsRad, to)
	p.Over, p.Expires = 400*time.Millisecond, s.last.At.Add(100*time.Millisecond)
	if _, err := s.Send(p); err != nil {
		return err
	}
	if err := s.run(400 * time.Millisecond); err != nil {
		return err
	}
	if s.last.Holding != body.HoldExpired {
		return fmt.Errorf("holding is %q after the setpoint expired", s.last.Holding)
	}
	if !s.last.Standstill {
		return errors.New("no standstill 300 ms after the setpoint expired")
	}
	if d := math.Abs(s.last.JointsRad[0] - to[0]); !(d >= arriveRad) {
		return errors.New("an expired motion went on to its end")
	}
	return s.stays(slices.Clone(s.last.JointsRad), time.Second, "a body that holds")
}

func wholeSteps(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	step := s.Describe().Step
	for _, d := range []time.Duration{0, -step, step / 2, step + step/2} {
		if err := s.Advance(d); err == nil {
			return fmt.Errorf("advances by %v", d)
		}
	}
	at := s.last.At
	if err := s.look(); err != nil {
		return err
	}
	if s.last.At != at {
		return errors.New("a refused advance moved time")
	}
	return nil
}

func closesTwice(b body.Stepper) error {
	if err := b.Close(); err != nil {
		return fmt.Errorf("close before open: %w", err)
	}
	if _, err := start(b); err != nil {
		return err
	}
	for range 2 {
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}
