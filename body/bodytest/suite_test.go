package bodytest_test

import (
	"math"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/bodytest"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/units"
)

func tipOf(q []float64) units.Vec3 { return sim.TipInBase([sim.NumJoints]float64(q)) }

// guarded is the simulator inside a guard, with a cube in view; wrap may put something between the two.
func guarded(t testing.TB, wrap func(body.Stepper) body.Stepper) body.Stepper {
	t.Helper()
	cfg := sim.DefaultConfig()
	cfg.Objects = []sim.Object{{Label: "red cube", Position: units.Vec3{0.22, 0.03, 0.015}}}
	cfg.Camera.SigmaMM = 0.5
	inner, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b body.Stepper = inner
	if wrap != nil {
		b = wrap(b)
	}
	return guard.New(b, guard.Config{Ceiling: guard.Limits{TipSpeedMPS: 0.5, JointSpeedRadS: 2}, Tip: tipOf})
}

// Verifies: P08, B01
func TestSimulatorConforms(t *testing.T) {
	bodytest.Run(t, func(t *testing.T) body.Stepper { return guarded(t, nil) })
}

// spoilt is a body with single methods replaced.
type spoilt struct {
	body.Stepper
	describe func(body.Description) body.Description
	open     func(body.Stepper) error
	send     func(body.Stepper, body.Setpoint) (body.Sent, error)
	halt     func(body.Stepper) error
	observe  func(*body.Observation)
	advance  func(body.Stepper, time.Duration) error
	close    func(body.Stepper) error
}

func (s *spoilt) Describe() body.Description {
	if s.describe != nil {
		return s.describe(s.Stepper.Describe())
	}
	return s.Stepper.Describe()
}

func (s *spoilt) Open() error {
	if s.open != nil {
		return s.open(s.Stepper)
	}
	return s.Stepper.Open()
}

func (s *spoilt) Send(p body.Setpoint) (body.Sent, error) {
	if s.send != nil {
		return s.send(s.Stepper, p)
	}
	return s.Stepper.Send(p)
}

func (s *spoilt) Halt() error {
	if s.halt != nil {
		return s.halt(s.Stepper)
	}
	return s.Stepper.Halt()
}

func (s *spoilt) Observe() (body.Observation, error) {
	o, err := s.Stepper.Observe()
	if s.observe != nil {
		s.observe(&o)
	}
	return o, err
}

func (s *spoilt) Advance(d time.Duration) error {
	if s.advance != nil {
		return s.advance(s.Stepper, d)
	}
	return s.Stepper.Advance(d)
}

func (s *spoilt) Close() error {
	if s.close != nil {
		return s.close(s.Stepper)
	}
	return s.Stepper.Close()
}

// extend lets a setpoint live again, as a body without expiry does.
func extend(b body.Stepper, p body.Setpoint) (body.Sent, error) {
	if o, err := b.Observe(); err == nil {
		p.Expires = o.At.Add(body.MaxAhead)
	}
	return b.Send(p)
}

// creep moves the first joint a little behind the caller's back.
func creep(b body.Stepper) {
	if o, err := b.Observe(); err == nil {
		q := append([]float64(nil), o.GoalRad...)
		q[0] += 0.02
		_, _ = b.Send(body.Setpoint{PositionsRad: q, Over: 100 * time.Millisecond, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number})
	}
}

type sabotage struct {
	name    string
	caught  string // the check that must catch it
	because func(*spoilt)
}

func sabotages() []sabotage { return append(sabotagedSetpoints(), sabotagedRest()...) }

// sabotagedSetpoints break how setpoints are taken.
func sabotagedSetpoints() []sabotage {
	return []sabotage{
		{"no joints", "describes itself before it is open", func(s *spoilt) {
			s.describe = func(d body.Description) body.Description { d.Joints = nil; return d }
		}},
		{"opens again and again", "needs to be open", func(s *spoilt) {
			s.open = func(b body.Stepper) error { _ = b.Open(); return nil }
		}},
		{"opening moves", "opening never moves", func(s *spoilt) {
			s.open = func(b body.Stepper) error { err := b.Open(); creep(b); return err }
		}},
		{"creeps on any setpoint", "a setpoint at the present position does not move", func(s *spoilt) {
			s.send = func(b body.Stepper, p body.Setpoint) (body.Sent, error) {
				p.PositionsRad = append([]float64(nil), p.PositionsRad...)
				p.PositionsRad[0] += 0.01
				return b.Send(p)
			}
		}},
		{"never moves", "follows setpoints", func(s *spoilt) {
			s.send = func(_ body.Stepper, p body.Setpoint) (body.Sent, error) {
				return body.Sent{PositionsRad: p.PositionsRad}, nil
			}
		}},
		{"clips and says nothing", "returns what was sent", func(s *spoilt) {
			s.send = func(b body.Stepper, p body.Setpoint) (body.Sent, error) {
				sent, err := b.Send(p)
				if err == nil {
					sent.PositionsRad[0] = math.Min(sent.PositionsRad[0], 0)
				}
				return sent, err
			}
		}},
		{"takes expired setpoints", "refuses expired and too distant setpoints", func(s *spoilt) { s.send = extend }},
		{"slows down what is too fast", "refuses setpoints that are too fast", func(s *spoilt) {
			s.send = func(b body.Stepper, p body.Setpoint) (body.Sent, error) {
				p.Over = max(p.Over, 300*time.Millisecond)
				return b.Send(p)
			}
		}},
		{"repairs lengths", "refuses malformed setpoints", func(s *spoilt) {
			s.send = func(b body.Stepper, p body.Setpoint) (body.Sent, error) {
				for len(p.PositionsRad) < 6 {
					p.PositionsRad = append(p.PositionsRad, 1)
				}
				return b.Send(p)
			}
		}},
	}
}

// sabotagedRest break observations, halting, time and closing.
func sabotagedRest() []sabotage {
	return []sabotage{
		{"tells NaN", "observations are finite and complete", func(s *spoilt) {
			s.observe = func(o *body.Observation) {
				for i := range o.Readings {
					o.Readings[i].Number = math.NaN()
				}
			}
		}},
		{"tells readings of the future", "observations are finite and complete", func(s *spoilt) {
			s.observe = func(o *body.Observation) {
				for i := range o.Readings {
					o.Readings[i].At = o.At + 1
				}
			}
		}},
		{"time stands still", "time never runs back", func(s *spoilt) {
			s.observe = func(o *body.Observation) { o.At = 0 }
		}},
		{"halt needs an open body", "halt works in every state", func(s *spoilt) {
			s.halt = func(b body.Stepper) error { _, err := b.Observe(); return err }
		}},
		{"halt does nothing", "halt ends a motion", func(s *spoilt) {
			s.halt = func(body.Stepper) error { return nil }
		}},
		{"always tells standstill", "follows setpoints", func(s *spoilt) {
			s.observe = func(o *body.Observation) { o.Standstill = true }
		}},
		{"never tells standstill", "halt ends a motion", func(s *spoilt) {
			s.observe = func(o *body.Observation) { o.Standstill = false }
		}},
		{"never expires", "holds when a setpoint expires", func(s *spoilt) { s.send = extend }},
		{"rounds time", "advances in whole steps", func(s *spoilt) {
			s.advance = func(b body.Stepper, d time.Duration) error {
				return b.Advance(max(d.Round(2*time.Millisecond), 2*time.Millisecond))
			}
		}},
		{"closing twice fails", "closes twice", func(s *spoilt) {
			s.close = func(b body.Stepper) error {
				if _, err := b.Observe(); err != nil {
					return err
				}
				return b.Close()
			}
		}},
	}
}

// Verifies: B02
func TestSuiteCatchesBrokenBodies(t *testing.T) {
	checks := map[string]bodytest.Check{}
	for _, c := range bodytest.Checks() {
		checks[c.Name] = c
	}
	caught := map[string]bool{}
	for _, s := range sabotages() {
		t.Run(s.name, func(t *testing.T) {
			check, ok := checks[s.caught]
			if !ok {
				t.Fatalf("no check is called %q", s.caught)
			}
			b := &spoilt{Stepper: guarded(t, nil)}
			s.because(b)
			if err := check.Run(b); err == nil {
				t.Errorf("%q passes", s.caught)
			}
			caught[s.caught] = true
		})
	}
	for name := range checks {
		if !caught[name] {
			t.Errorf("no broken body shows that %q can fail", name)
		}
	}
}
