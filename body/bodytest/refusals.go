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
	field := positionOf(joint)
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
		{"infinite below", reject.NotFinite, field, func(p *body.Setpoint) { p.PositionsRad[0] = math.Inf(-1) }},
		{"beyond the range", reject.OutOfRange, field, func(p *body.Setpoint) { p.PositionsRad[0] = joint.MaxRad + beyondRad }},
		{"below the range", reject.OutOfRange, field, func(p *body.Setpoint) { p.PositionsRad[0] = joint.MinRad - beyondRad }},
	}
	for _, c := range cases {
		p := s.setpoint()
		p.Over = 900 * time.Millisecond
		c.spoil(&p)
		if err := s.refused(p, c.code, c.field); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return s.refusesOthers()
}

// beyondRad is how far beyond its range no joint may be sent.
const beyondRad = 1e-4

func positionOf(j body.Joint) string { return "positions_rad." + j.Name }

// refusesOthers asks the same of every other joint: of none is anything taken that is not in its range.
func (s *session) refusesOthers() error {
	before := slices.Clone(s.last.JointsRad)
	for i, j := range s.Describe().Joints[1:] {
		for _, c := range []struct {
			at   float64
			code reject.Code
		}{{math.NaN(), reject.NotFinite}, {j.MaxRad + beyondRad, reject.OutOfRange}, {j.MinRad - beyondRad, reject.OutOfRange}} {
			p := s.setpoint()
			p.PositionsRad[i+1], p.Over = c.at, 900*time.Millisecond
			_, err := s.Send(p)
			if err := rejectedAs(err, c.code, positionOf(j)); err != nil {
				return fmt.Errorf("%s at %v: %w", j.Name, c.at, err)
			}
			if err := s.run(tick); err != nil {
				return err
			}
		}
	}
	return s.stays(before, 200*time.Millisecond, "a refused setpoint")
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
		if err := s.refused(p, reject.OutOfRange, positionOf(joint)); err != nil {
			return fmt.Errorf("%.3f rad over %v: %w", by, over, err)
		}
	}
	return nil
}

// refused asks for a rejection with the code and field, of a setpoint that then moves nothing.
func (s *session) refused(p body.Setpoint, code reject.Code, field string) error {
	before := append([]float64(nil), s.last.JointsRad...)
	applied := s.last.Applied
	_, err := s.Send(p)
	if err := rejectedAs(err, code, field); err != nil {
		return fmt.Errorf("a setpoint: %w", err)
	}
	if err := s.stays(before, 200*time.Millisecond, "a refused setpoint"); err != nil {
		return err
	}
	if s.last.Applied != applied {
		return fmt.Errorf("a refused setpoint counts as applied")
	}
	return nil
}

// rejectedAs asks for an error that is a refusal with the code and field, among others or alone.
func rejectedAs(err error, code reject.Code, field string) error {
	list := rejections(err)
	switch {
	case err == nil:
		return fmt.Errorf("was taken, not refused as %s in %q", code, field)
	case len(list) == 0:
		return fmt.Errorf("was answered, instead of by %s in %q, by: %w", code, field, err)
	case !slices.ContainsFunc(list, func(r reject.Rejection) bool { return r.Code == code && r.Field == field }):
		return fmt.Errorf("was refused as %s in %q, not %s in %q", list[0].Code, list[0].Field, code, field)
	}
	return nil
}

// rejections are the refusals in an error.
func rejections(err error) (list []reject.Rejection) {
	if many, is := err.(interface{ Unwrap() []error }); is { //nolint:errorlint // the parts of a join, one by one
		for _, part := range many.Unwrap() {
			list = append(list, rejections(part)...)
		}
		return list
	}
	var r reject.Rejection
	if errors.As(err, &r) {
		list = append(list, r)
	}
	return list
}

// notYet reports whether a refusal lifts by itself.
func notYet(list []reject.Rejection) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(r reject.Rejection) bool { return r.Retry != reject.Later })
}
