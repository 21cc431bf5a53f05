package bodytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"interlock/body"
	"interlock/units"
)

// Check is one thing that every body keeps. Run gets a body that was built and not opened, and returns what is wrong.
type Check struct {
	Name string
	Run  func(body.Stepper) error
}

// Checks lists the suite.
func Checks() []Check {
	return []Check{
		{"describes itself before it is open", describes},
		{"needs to be open", needsOpen},
		{"opening never moves", openingNeverMoves},
		{"a setpoint at the present position does not move", zeroSetpoint},
		{"follows setpoints", follows},
		{"returns what was sent", returnsSent},
		{"refuses expired and too distant setpoints", refusesTimes},
		{"refuses malformed setpoints", refusesPositions},
		{"refuses setpoints that are too fast", refusesSpeeds},
		{"observations are finite and complete", observes},
		{"time never runs back", timeRunsOn},
		{"halt works in every state", haltsEverywhere},
		{"halt ends a motion", haltEndsMotion},
		{"holds when a setpoint expires", holdsOnExpiry},
		{"advances in whole steps", wholeSteps},
		{"closes twice", closesTwice},
	}
}

// RealTimeChecks lists the suite for a body whose time moves by itself: Advance of the Clocked it gets only waits.
func RealTimeChecks() []Check {
	var live []Check
	for _, c := range Checks() {
		switch c.Name {
		case "advances in whole steps": // nobody advances it
			continue
		case "time never runs back":
			c.Run = clockRunsOn
		}
		live = append(live, c)
	}
	return live
}

// ProcessChecks lists the suite for a driver process, with what only its line shows. What they get is a Line.
func ProcessChecks() []Check {
	return append(RealTimeChecks(), append(lineChecks(), Check{"holds when the robot falls silent", holdsOnSilence})...)
}

// LatchChecks lists what a driver process owes whoever stops and resets it. What they get is a Process. A check that
// fails may leave the latch closed.
func LatchChecks() []Check {
	return []Check{
		{"a stop ends a motion and latches", stopLatches},
		{"only its own number resets a stop", resetsByNumber},
		{"a reset starts nothing", resetStartsNothing},
	}
}

// BareChecks lists what a body process owes that stands behind a guard: not expiry, silence, speed and latch, which the
// guard keeps for it. What they get is a Line.
func BareChecks() []Check {
	guards := map[string]bool{
		"refuses expired and too distant setpoints": true, "refuses setpoints that are too fast": true, "holds when a setpoint expires": true,
	}
	bare := slices.DeleteFunc(RealTimeChecks(), func(c Check) bool { return guards[c.Name] })
	return append(append(bare, lineChecks()...), Check{"a stop is a halt", stopIsHalt})
}

// RestartChecks lists what only a process shows that can be started again. What they get is a Restarted.
func RestartChecks() []Check {
	return []Check{{"grants no epoch again after a restart", grantsNoneAgain}}
}

// Run runs every check on a body of its own. The builder returns a body that is not open.
func Run(t *testing.T, build func(t *testing.T) body.Stepper) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			b := build(t)
			if err := c.Run(b); err != nil {
				t.Error(err)
			}
			if err := b.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// What the suite moves and tolerates.
const (
	tick      = 20 * time.Millisecond
	nudgeRad  = 0.05  // a test motion of the first joint
	slowRadS  = 0.25  // its speed
	stayRad   = 0.006 // a joint that does not move may sag by this
	arriveRad = 0.015
)

// session is an open body and the last observation of it.
type session struct {
	body.Stepper
	last body.Observation
}

func start(b body.Stepper) (*session, error) {
	if err := b.Open(); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	s := &session{Stepper: b}
	return s, s.look()
}

func (s *session) look() error {
	o, err := s.Observe()
	if err != nil {
		return fmt.Errorf("observe: %w", err)
	}
	if len(o.JointsRad) != len(s.Describe().Joints) {
		return fmt.Errorf("observed %d joints of %d", len(o.JointsRad), len(s.Describe().Joints))
	}
	if o.At.Before(s.last.At) || o.Applied < s.last.Applied {
		return fmt.Errorf("its clock and the setpoints it applied went from %v and %d to %v and %d", s.last.At, s.last.Applied, o.At, o.Applied)
	}
	s.last = o
	return nil
}

// run advances tick by tick, looking at every tick.
func (s *session) run(d time.Duration) error {
	for range d / tick {
		if err := s.Advance(tick); err != nil {
			return fmt.Errorf("advance: %w", err)
		}
		if err := s.look(); err != nil {
			return err
		}
	}
	return nil
}

// laterFor is how long a body may ask for a setpoint a little later: a driver first notes on its disk that something will move.
const laterFor = 2 * time.Second

// Send sends a setpoint, and again while the body asks for it later. The answer is the last one.
func (s *session) Send(p body.Setpoint) (sent body.Sent, err error) {
	for begun := s.last.At; ; p.Expires = p.Expires.Add(tick) {
		if sent, err = s.Stepper.Send(p); err == nil || !notYet(rejections(err)) || s.last.At.Sub(begun) > laterFor {
			return sent, err
		}
		if err := s.run(tick); err != nil {
			return sent, err
		}
	}
}

// setpoint is a valid setpoint that stands where the joints are.
func (s *session) setpoint() body.Setpoint {
	return body.Setpoint{
		PositionsRad: append([]float64(nil), s.last.JointsRad...),
		Over:         tick,
		Expires:      s.last.At.Add(body.MaxAhead / 2), // a busy machine may be late
		Stop:         s.last.Latch.Number,
	}
}

// nudge returns a target nudgeRad away from the first joint's present position, inside its range.
func (s *session) nudge() []float64 {
	q := append([]float64(nil), s.last.GoalRad...)
	if j := s.Describe().Joints[0]; q[0]+nudgeRad <= j.MaxRad {
		q[0] += nudgeRad
	} else {
		q[0] -= nudgeRad
	}
	return q
}

// drive sends setpoints on the line to the target for d and returns early on an error. It calls seen, if there is one,
// after each look.
func (s *session) drive(to []float64, d time.Duration, seen func()) error {
	from := append([]float64(nil), s.last.GoalRad...)
	whole := time.Duration(math.Abs(to[0]-from[0]) / slowRadS * float64(time.Second))
	for gone := tick; gone <= d; gone += tick {
		p := s.setpoint()
		share := math.Min(1, float64(gone)/float64(whole))
		for i := range p.PositionsRad {
			p.PositionsRad[i] = from[i] + (to[i]-from[i])*share
		}
		if _, err := s.Send(p); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		if err := s.run(tick); err != nil {
			return err
		}
		if seen != nil {
			seen()
		}
	}
	return nil
}

// moved is the largest change of a joint since q.
func (s *session) moved(q []float64) float64 {
	most := 0.0
	for i := range q {
		if d := math.Abs(s.last.JointsRad[i] - q[i]); !(d <= most) {
			most = d
		}
	}
	return most
}

func (s *session) stays(q []float64, d time.Duration, what string) error {
	if err := s.run(d); err != nil {
		return err
	}
	if m := s.moved(q); !(m <= stayRad) {
		return fmt.Errorf("%s moved a joint by %v rad", what, m)
	}
	return nil
}

func finiteObservation(o *body.Observation) error {
	if !units.Finite(o.JointsRad...) || !units.Finite(o.GoalRad...) {
		return errors.New("joints or goal are not finite")
	}
	for _, r := range o.Readings {
		ok := units.Finite(r.Number, r.Sigma) && r.Point.Finite()
		for _, seen := range r.Objects {
			q := seen.Pose.Orientation
			ok = ok && seen.Pose.Position.Finite() && seen.SizeM.Finite() && units.Finite(q[0], q[1], q[2], q[3])
		}
		if !ok {
			return fmt.Errorf("the reading of %s is not finite", r.Fact)
		}
	}
	return nil
}
