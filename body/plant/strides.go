package plant

import (
	"slices"
	"sync"
	"time"

	"interlock/body"
)

// Strides is a Stepped for a guard, which commands its body anew at every driver step: what it is told goes over the line
// in as few calls as move the plant to the same bits. Steps without a command pass as one. Commands that lie on one
// straight line from the goal that the plant was seen to hold go as that line, which a plant follows in the same steps;
// others go one by one. What is owed passes before the body tells anything, and whoever moves the time calls CatchUp
// before anybody else looks at the world; what the body refuses is told then.
type Strides struct {
	Stepped

	mu   sync.Mutex
	goal []float64     // that the plant was seen to hold, with nothing told to it since; nil: not known
	told [][]float64   // commands that are owed, a driver step apart
	owed time.Duration // since the first of them, or since the last call
}

var _ body.Stepper = (*Strides)(nil)

// Send implements body.Driver. The answer is what will be sent.
func (s *Strides) Send(p body.Setpoint) (body.Sent, error) {
	if !s.Opened() {
		return body.Sent{}, body.ErrNotOpen
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owed != time.Duration(len(s.told))*s.Describe().Step { // what comes after a pause is no part of the same line
		if err := s.catchUp(); err != nil {
			return body.Sent{}, err
		}
	}
	s.told = append(s.told, slices.Clone(p.PositionsRad))
	return body.Sent{PositionsRad: slices.Clone(p.PositionsRad)}, nil
}

// Advance implements body.Stepper: the time passes with the next call.
func (s *Strides) Advance(by time.Duration) error {
	if !s.Opened() {
		return body.ErrNotOpen
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed += by
	return nil
}

// Observe implements body.Driver.
func (s *Strides) Observe() (body.Observation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.catchUp(); err != nil {
		return body.Observation{}, err
	}
	o, err := s.Stepped.Observe()
	if err == nil {
		s.goal = slices.Clone(o.GoalRad)
	}
	return o, err
}

// CatchUp sends what is owed and lets the time pass.
func (s *Strides) CatchUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.catchUp()
}

func (s *Strides) catchUp() error {
	told, owed, goal := s.told, s.owed, s.goal
	s.told, s.owed = nil, 0
	if len(told) > 0 {
		s.goal = nil
	}
	step := s.Describe().Step
	if n := len(told); n > 1 && straight(goal, told) {
		if err := s.send(told[n-1], time.Duration(n)*step); err != nil {
			return err
		}
		told = nil
	}
	for _, q := range told {
		if err := s.send(q, 0); err != nil {
			return err
		}
		by := min(step, owed)
		if err := s.pass(by); err != nil {
			return err
		}
		owed -= by
	}
	return s.pass(owed)
}

func (s *Strides) send(q []float64, over time.Duration) error {
	_, err := s.Stepped.Send(body.Setpoint{PositionsRad: q, Over: over})
	return err
}

func (s *Strides) pass(by time.Duration) error {
	if by == 0 {
		return nil
	}
	return s.Stepped.Advance(by)
}

// straight reports whether a plant that is sent the last point from the goal, over as many steps as there are points,
// has each of them as its goal in turn, to the bit (see sim.Driver).
func straight(goal []float64, points [][]float64) bool {
	last := points[len(points)-1]
	if len(goal) != len(last) {
		return false
	}
	for k, p := range points[:len(points)-1] {
		done := float64(k+1) / float64(len(points))
		for j, q := range p {
			if q != goal[j]+(last[j]-goal[j])*done {
				return false
			}
		}
	}
	return true
}
