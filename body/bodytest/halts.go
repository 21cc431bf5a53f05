package bodytest

import (
	"errors"
	"fmt"
	"math"
	"time"

	"interlock/body"
)

// begin starts a motion of 50 mrad that takes 800 ms, so that a busy machine has time to end it, and lets it run for 60 ms.
func (s *session) begin() (to []float64, err error) {
	p := s.setpoint()
	to = s.nudge()
	copy(p.PositionsRad, to)
	p.Over, p.Expires = 800*time.Millisecond, s.last.At.Add(body.MaxAhead)
	if _, err := s.Send(p); err != nil {
		return nil, err
	}
	return to, s.run(60 * time.Millisecond)
}

// ended asks for a motion that came to rest before its end, and why.
func (s *session) ended(to []float64, why body.HoldReason) error {
	switch {
	case s.last.Holding != why:
		return fmt.Errorf("holding is %q, not %q", s.last.Holding, why)
	case !s.last.Health.TorqueOn:
		return errors.New("it holds without torque")
	case !s.last.Standstill:
		return errors.New("no standstill is measured")
	case !(math.Abs(s.last.JointsRad[0]-to[0]) >= arriveRad):
		return errors.New("the motion went on to its end")
	}
	return nil
}

// haltsForAnyone: whoever sees that it must halt need not be its robot.
func haltsForAnyone(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	anyone := &caller{Line: l}
	for _, fields := range []map[string]any{{}, {"epoch": "1", "sequence": "1"}} {
		err := s.endsBy(func() error { _, err := anyone.call("Halt", fields); return err })
		if err != nil {
			return fmt.Errorf("a halt with %v: %w", fields, err)
		}
	}
	return s.haltsInMotion()
}

// endsBy asks for a motion that is ended by the call, on its way.
func (s *session) endsBy(call func() error) error {
	to, err := s.begin()
	if err != nil {
		return err
	}
	if err := errors.Join(call(), s.run(300*time.Millisecond)); err != nil {
		return err
	}
	return s.ended(to, body.HoldHalted)
}

// haltsInMotion: a halt holds where the arm is, not where its motion began.
func (s *session) haltsInMotion() error {
	to, err := s.begin()
	if err != nil {
		return err
	}
	if err := s.run(300 * time.Millisecond); err != nil {
		return err
	}
	before := s.last.JointsRad[0]
	if err := errors.Join(s.Halt(), s.run(300*time.Millisecond)); err != nil {
		return err
	}
	if back := (before - s.last.JointsRad[0]) * math.Copysign(1, to[0]-before); !(back <= stayRad) {
		return fmt.Errorf("a halt brought the first joint back by %v rad", back)
	}
	return nil
}

// stopIsHalt: a body has no latch, and ends its motion all the same.
func stopIsHalt(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	for _, fields := range []map[string]any{{"reason": "the conformance suite"}, {"reason": "the conformance suite", "epoch": "1"}} {
		var r reply
		err := s.endsBy(func() (err error) { r, err = (&caller{Line: l}).call("Stop", fields); return err })
		if err == nil && r.Number != "" && r.Number != "0" {
			err = fmt.Errorf("the stop of a body without a latch has the number %q", r.Number)
		}
		if err != nil {
			return fmt.Errorf("with %v: %w", fields, err)
		}
	}
	return nil
}

// closingHalts: an onlooker sees it before anybody else opens the body, which would end the motion too.
func closingHalts(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	to, err := s.begin()
	if err != nil {
		return err
	}
	if err := errors.Join(s.Close(), l.Wait(400*time.Millisecond), s.watch(l)); err != nil {
		return err
	}
	if err := s.ended(to, body.HoldHalted); err != nil {
		return err
	}
	other := l.Another()
	if err := other.Open(); err != nil {
		return err
	}
	if err := errors.Join(other.Advance(200*time.Millisecond), s.watch(l), other.Close()); err != nil {
		return err
	}
	return s.ended(to, body.HoldHalted)
}
