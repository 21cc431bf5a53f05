package sim

import (
	"fmt"
	"time"

	"interlock/body"
)

// Lie is what a lying driver does.
type Lie string

// The closed list of lies.
const (
	LieStill Lie = "still" // accepts setpoints, counts them as applied, never moves
	LieEcho  Lie = "echo"  // the same, and reports the goal as if the encoders had measured it
)

// Liar is a body that says it did and did not. Its readings, except an echoed goal, are those of the body inside,
// which stays where it is; only evaluation builds one.
type Liar struct {
	inner   body.Stepper
	lie     Lie
	goal    []float64
	applied uint64
	open    bool
}

var _ body.Stepper = (*Liar)(nil)

// NewLiar wraps a body. An unknown lie is refused.
func NewLiar(inner body.Stepper, lie Lie) (*Liar, error) {
	switch lie {
	case LieStill, LieEcho:
		return &Liar{inner: inner, lie: lie}, nil
	}
	return nil, fmt.Errorf("sim: unknown lie %q", lie)
}

// Describe implements body.Driver.
func (l *Liar) Describe() body.Description { return l.inner.Describe() }

// Open implements body.Driver.
func (l *Liar) Open() error {
	err := l.inner.Open()
	l.open = l.open || err == nil
	return err
}

// Send pretends.
func (l *Liar) Send(s body.Setpoint) (body.Sent, error) {
	if !l.open {
		return body.Sent{}, body.ErrNotOpen
	}
	if err := checkSetpoint(s); err != nil {
		return body.Sent{}, err
	}
	l.goal = append(l.goal[:0], s.PositionsRad...)
	l.applied++
	return body.Sent{PositionsRad: append([]float64(nil), l.goal...), Applied: l.applied}, nil
}

// Halt implements body.Driver.
func (l *Liar) Halt() error { return l.inner.Halt() }

// Observe reports the body inside, with the lies.
func (l *Liar) Observe() (body.Observation, error) {
	o, err := l.inner.Observe()
	if err != nil || l.goal == nil {
		return o, err
	}
	o.Applied, o.GoalRad = l.applied, append([]float64(nil), l.goal...)
	if l.lie == LieStill {
		return o, nil
	}
	o.JointsRad = append([]float64(nil), l.goal...)
	q := [NumJoints]float64(l.goal)
	for i := range o.Readings {
		switch r := &o.Readings[i]; r.Fact {
		case FactTip:
			r.Point = TipInBase(q)
		case FactJawGap:
			r.Number = JawGapMM(q[jaw])
		}
	}
	return o, nil
}

// Close implements body.Driver.
func (l *Liar) Close() error {
	l.open = false
	return l.inner.Close()
}

// Advance implements body.Stepper.
func (l *Liar) Advance(d time.Duration) error { return l.inner.Advance(d) }
