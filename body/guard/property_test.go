package guard_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/body"
)

// Verifies: P01, P03, B23
// Whatever is sent, and whenever it is stopped, halted or reset: every command that reaches the body is finite, inside
// the joints' ranges and speeds; and after a stop it comes to rest within the ramp until a setpoint with the new number
// is accepted.
func TestNoSequenceBreaksTheEnvelope(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlant()
		g := newGuard(rt, p)
		m := &monitor{rt: rt, plant: p, last: append([]float64(nil), p.at...)}
		number, stopped := uint64(0), false
		for range rapid.IntRange(1, 60).Draw(rt, "length") {
			switch rapid.IntRange(0, 6).Draw(rt, "act") {
			case 0, 1:
				s := drawSetpoint(rt, p)
				if _, err := g.Send(s); err == nil {
					if stopped || s.Stop != number {
						rt.Fatalf("stop %d (stopped %v): a setpoint with number %d is accepted", number, stopped, s.Stop)
					}
					m.restUntil = -1
				}
			case 2:
				number, stopped = g.Stop("test"), true
				m.stopAt()
			case 3:
				n := number - uint64(rapid.IntRange(0, 1).Draw(rt, "older"))
				if err := g.Reset(n); (err == nil) != (stopped && n == number) {
					rt.Fatalf("reset of %d, stop %d: %v", n, number, err)
				} else if err == nil {
					stopped = false
				}
			case 4:
				_ = g.Halt()
			case 5:
				if _, err := g.Observe(); err != nil {
					rt.Fatal(err)
				}
			case 6:
				for range rapid.IntRange(1, 60).Draw(rt, "steps") {
					if err := g.Advance(step); err != nil {
						rt.Fatal(err)
					}
					m.step()
				}
			}
		}
	})
}

// monitor watches the body independently of the guard's own checks.
type monitor struct {
	rt        *rapid.T
	plant     *plant
	last      []float64
	seen      int
	restUntil int64 // plant step from which nothing may be written; −1: free
	armed     bool
}

func (m *monitor) stopAt() {
	if !m.armed || m.restUntil < 0 {
		m.restUntil = m.plant.steps + 41
	}
	m.armed = true
}

func (m *monitor) step() {
	for _, w := range m.plant.writes[m.seen:] {
		for i, q := range w {
			j := m.plant.Describe().Joints[i]
			v := math.Abs(q-m.last[i]) / step.Seconds()
			if !(q >= j.MinRad && q <= j.MaxRad) || !(v <= 2*1.00001) {
				m.rt.Fatalf("%s is commanded to %v at %v rad/s", j.Name, q, v)
			}
		}
		if v := tipOf(w).Distance(tipOf(m.last)) / step.Seconds(); !(v <= 0.3*1.00001) {
			m.rt.Fatalf("the tip is commanded to move at %v m/s", v)
		}
		m.last = append(m.last[:0], w...)
		if m.armed && m.restUntil >= 0 && m.plant.steps > m.restUntil {
			m.rt.Fatalf("a command reached the body %d steps after its ramp", m.plant.steps-m.restUntil)
		}
	}
	m.seen = len(m.plant.writes)
}

func drawSetpoint(rt *rapid.T, p *plant) body.Setpoint {
	number := func(label string) float64 {
		return rapid.OneOf(
			rapid.Float64Range(-0.1, 0.1), rapid.Float64Range(-2, 2),
			rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), 1, -1, 0}),
		).Draw(rt, label)
	}
	s := body.Setpoint{
		PositionsRad: []float64{p.at[0] + number("pan"), p.at[1] + number("jaw")},
		Over:         time.Duration(rapid.IntRange(-1, 400).Draw(rt, "over")) * time.Millisecond,
		Stop:         uint64(rapid.IntRange(0, 4).Draw(rt, "stop")),
	}
	now := p.steps * int64(step)
	s.Expires += 0
	s.Expires = s.Expires.Add(time.Duration(now) + time.Duration(rapid.IntRange(-10, 1200).Draw(rt, "ahead"))*time.Millisecond)
	if rapid.IntRange(0, 9).Draw(rt, "short") == 0 {
		s.PositionsRad = s.PositionsRad[:1]
	}
	return s
}
