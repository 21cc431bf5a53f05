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

// Clocked is a body whose time moves by itself. Advance waits.
type Clocked interface {
	body.Stepper
	// Passed is the time that passed on the clock of whoever waits, from any beginning.
	Passed() time.Duration
}

// Line is a body in another process, as robots and onlookers reach it.
type Line interface {
	Clocked
	// Watch observes as an onlooker: without the lease, and as no sign of life. It works before Open and after Close.
	Watch() (body.Observation, error)
	// Post makes one call in plain JSON, to a method of the robot's line or to a whole path, with header names and values
	// in turn.
	Post(method, body string, header ...string) (status int, reply []byte, err error)
	// Wait lets time pass, whoever holds the lease.
	Wait(by time.Duration) error
	// Another is the line of another robot to the same body. It is not open.
	Another() body.Stepper
}

// Process is a driver process: a Line, and a latch that robots and persons can close and persons can open.
type Process interface {
	Line
	// Stop closes the latch, as a robot does. A number of 0 says that it was not confirmed.
	Stop(reason string) (number uint64)
	// Person is a person's line to the latch.
	Person() Latch
}

// Restarted is a line to a process that can be ended and started again.
type Restarted interface {
	Line
	// Restart ends the process, starts it by the same command and waits until it answers.
	Restart() error
}

// Latch is a person's line to a stop latch.
type Latch interface {
	Stop(reason string) (number uint64)
	Reset(number uint64) error
}

// startLine opens a body that must be a line.
func startLine(b body.Stepper) (Line, *session, error) {
	l, err := as[Line](b)
	if err != nil {
		return nil, nil, err
	}
	s, err := start(l)
	return l, s, err
}

// lineChecks are what every process owes, with a guard in it or before it.
func lineChecks() []Check {
	return slices.Concat(leaseChecks(), motionChecks(), wireChecks())
}

// as makes sure that a body is more than a body.
func as[L body.Stepper](b body.Stepper) (L, error) {
	l, is := b.(L)
	if !is {
		return l, fmt.Errorf("%T cannot be asked for this", b)
	}
	return l, nil
}

// How far the clock of a body may seem to differ from that of whoever waits. It is read late where the machine is busy.
const (
	slowest = 0.6
	fastest = 1.6
)

// clockRunsOn is timeRunsOn for a body whose clock moves by itself: it never runs back, and goes on as other clocks do.
func clockRunsOn(b body.Stepper) error {
	c, err := as[Clocked](b)
	if err != nil {
		return err
	}
	s, err := start(b)
	if err != nil {
		return err
	}
	early := c.Passed()
	if err := s.look(); err != nil {
		return err
	}
	late, first := c.Passed(), s.last.At
	for range 50 {
		before := s.last.At
		if err := s.run(tick); err != nil {
			return err
		}
		if s.last.At.Before(before) {
			return fmt.Errorf("its clock ran back by %v", before.Sub(s.last.At))
		}
	}
	asked := c.Passed()
	if err := s.look(); err != nil {
		return err
	}
	told, least, most := s.last.At.Sub(first), asked-late, c.Passed()-early
	if float64(told) < slowest*float64(least) || float64(told) > fastest*float64(most) {
		return fmt.Errorf("its clock went on by %v while %v to %v passed", told, least, most)
	}
	return nil
}

// watch is look for an onlooker.
func (s *session) watch(l Line) (err error) {
	if s.last, err = l.Watch(); err == nil && len(s.last.JointsRad) != len(s.Describe().Joints) {
		err = errors.New("an onlooker is not told every joint")
	}
	return err
}

func holdsOnSilence(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	p := s.setpoint()
	to := s.nudge()
	copy(p.PositionsRad, to)
	p.Over, p.Expires = 900*time.Millisecond, s.last.At.Add(body.MaxAhead)
	if _, err := s.Send(p); err != nil {
		return err
	}
	if err := s.Advance(700 * time.Millisecond); err != nil { // without a sign of life
		return err
	}
	if err := s.watch(l); err != nil {
		return err
	}
	return s.ended(to, body.HoldSilence)
}

// stopLatches: a stop from either side ends the motion, and nothing moves until it is reset.
func stopLatches(b body.Stepper) error {
	p, err := as[Process](b)
	if err != nil {
		return err
	}
	s, err := start(p)
	if err != nil {
		return err
	}
	for name, stop := range map[string]func(string) uint64{"robot": p.Stop, "person": p.Person().Stop} {
		if err := s.stopsBy(stop, p.Person()); err != nil {
			return fmt.Errorf("a stop by a %s: %w", name, err)
		}
	}
	return nil
}

func (s *session) stopsBy(stop func(string) uint64, person Latch) error {
	to, err := s.begin()
	if err != nil {
		return err
	}
	n := stop("the conformance suite")
	if n == 0 {
		return errors.New("it was not confirmed with a number")
	}
	if err := s.run(400 * time.Millisecond); err != nil {
		return err
	}
	if l := s.last.Latch; !l.Stopped || l.Number != n {
		return fmt.Errorf("it had number %d, and the latch says %+v", n, l)
	}
	if err := s.ended(to, body.HoldStopped); err != nil {
		return err
	}
	again := s.setpoint() // with the number of the stop itself
	copy(again.PositionsRad, to)
	again.Over = 400 * time.Millisecond
	if err := s.refused(again, reject.Stopped, "stop"); err != nil {
		return err
	}
	return errors.Join(person.Reset(n), s.look())
}

func resetsByNumber(b body.Stepper) error {
	p, err := as[Process](b)
	if err != nil {
		return err
	}
	s, err := start(p)
	if err != nil {
		return err
	}
	person := p.Person()
	old := person.Stop("the conformance suite")
	n := person.Stop("the conformance suite, again")
	if !(old > 0 && n > old) {
		return fmt.Errorf("two stops have the numbers %d and %d", old, n)
	}
	for _, wrong := range []uint64{0, old, n + 1, math.MaxUint64} {
		if err := rejectedAs(person.Reset(wrong), reject.Conflict, "number"); err != nil {
			return fmt.Errorf("a reset of %d instead of %d: %w", wrong, n, err)
		}
		if err := s.look(); err != nil {
			return err
		}
		if l := s.last.Latch; !l.Stopped || l.Number != n {
			return fmt.Errorf("after a reset of %d the latch says %+v", wrong, l)
		}
	}
	if err := errors.Join(person.Reset(n), s.look()); err != nil {
		return err
	}
	if s.last.Latch.Stopped {
		return fmt.Errorf("after a reset of its number the latch says %+v", s.last.Latch)
	}
	return nil
}

// resetStartsNothing: neither what ran before the stop, nor what was sent for it and comes late.
func resetStartsNothing(b body.Stepper) error {
	p, err := as[Process](b)
	if err != nil {
		return err
	}
	s, err := start(p)
	if err != nil {
		return err
	}
	before := s.last.Latch.Number
	to, err := s.begin()
	if err != nil {
		return err
	}
	n := p.Person().Stop("the conformance suite")
	if err := s.run(300 * time.Millisecond); err != nil {
		return err
	}
	stood := slices.Clone(s.last.JointsRad)
	if err := p.Person().Reset(n); err != nil {
		return err
	}
	if err := s.stays(stood, 500*time.Millisecond, "a reset"); err != nil {
		return err
	}
	late := s.setpoint()
	copy(late.PositionsRad, to)
	late.Over, late.Stop = 400*time.Millisecond, before
	if err := s.refused(late, reject.Stopped, "stop"); err != nil {
		return err
	}
	return s.drive(to, 300*time.Millisecond, nil) // with the new number
}
