package bodytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"interlock/body"
	"interlock/reject"
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
	return s.stays(before, 200*time.Millisecond, "a setpoint at the present position")
}

func follows(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	to := s.nudge()
	moving := false // that it moves is measured too, and not always "standstill"
	if err := s.drive(to, 500*time.Millisecond, func() { moving = moving || !s.last.Standstill }); err != nil {
		return err
	}
	if !moving {
		return errors.New("standstill is told of a joint that moves")
	}
	if s.last.Holding != body.HoldNone {
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
	return nil
}

func refusesTimes(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	if err := s.run(100 * time.Millisecond); err != nil {
		return err
	}
	ahead := map[string]time.Duration{"expired": -time.Millisecond, "expiring now": 0, "too distant": body.MaxAhead + 100*time.Millisecond, "an hour ahead": time.Hour}
	for _, name := range []string{"expired", "expiring now", "too distant", "an hour ahead"} {
		p := s.setpoint()
		copy(p.PositionsRad, s.nudge())
		p.Over, p.Expires = 400*time.Millisecond, s.last.At.Add(ahead[name])
		if err := s.refused(p, reject.OutOfRange, "expires"); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	p := s.setpoint()
	copy(p.PositionsRad, s.nudge())
	p.Over, p.Expires = 400*time.Millisecond, 0
	if err := s.refused(p, reject.OutOfRange, "expires"); err != nil {
		return fmt.Errorf("no expiry: %w", err)
	}
	return nil
}

func refusesPositions(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	joint := s.Describe().Joints[0]
	field := "positions_rad." + joint.Name
	n := len(s.last.JointsRad)
	cases := []struct {
		name  string
		code  reject.Code
		field string
		spoil func(*body.Setpoint)
	}{
		{"too short", reject.WrongType, "positions_rad", func(p *body.Setpoint) { p.PositionsRad = p.PositionsRad[:n-1] }},
		{"too long", reject.WrongType, "positions_rad", func(p *body.Setpoint) { p.PositionsRad = append(p.PositionsRad, 0) }},
		{"empty", reject.WrongType, "positions_rad", func(p *body.Setpoint) { p.PositionsRad = nil }},
		{"not a number", reject.NotFinite, field, func(p *body.Setpoint) { p.PositionsRad[0] = math.NaN() }},
		{"infinite", reject.NotFinite, field, func(p *body.Setpoint) { p.PositionsRad[0] = math.Inf(1) }},
		{"beyond the range", reject.OutOfRange, field, func(p *body.Setpoint) { p.PositionsRad[0] = joint.MaxRad + 0.01 }},
		{"below the range", reject.OutOfRange, field, func(p *body.Setpoint) { p.PositionsRad[0] = joint.MinRad - 0.01 }},
	}
	for _, c := range cases {
		p := s.setpoint()
		p.Over = 900 * time.Millisecond
		c.spoil(&p)
		if err := s.refused(p, c.code, c.field); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

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

// refusesSpeeds asks for twice the speed that the first joint is described with.
func refusesSpeeds(b body.Stepper) error {
	s, err := start(b)
	if err != nil {
		return err
	}
	joint, step := s.Describe().Joints[0], s.Describe().Step
	by := math.Max(nudgeRad, 2*joint.MaxVelRadS*step.Seconds())
	if s.last.GoalRad[0]+by > joint.MaxRad {
		by = -by
	}
	for _, over := range []time.Duration{0, step} { // 0 is the next step
		p := s.setpoint()
		copy(p.PositionsRad, s.last.GoalRad)
		p.PositionsRad[0] += by
		p.Over = over
		if err := s.refused(p, reject.OutOfRange, "positions_rad."+joint.Name); err != nil {
			return fmt.Errorf("%.3f rad over %v: %w", by, over, err)
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
