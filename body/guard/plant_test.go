package guard_test

import (
	"errors"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/reject"
	"interlock/units"
)

// plant is a perfect two-joint body that writes down every command it gets: joints are where they are told to be.
type plant struct {
	mode    body.Mode
	open    bool
	at      []float64
	writes  [][]float64 // every setpoint that reached it
	steps   int64
	still   bool
	bend    func(*body.Observation) // changes what is observed
	sendErr error
	advErr  error
	obsErr  error
	clip    float64       // what it silently adds to the first joint
	block   chan struct{} // Advance waits for it
	entered chan struct{}
}

const step = 2 * time.Millisecond

func newPlant() *plant { return &plant{mode: body.ModeSim, at: []float64{0, 0}, still: true} }

func (p *plant) Describe() body.Description {
	return body.Description{
		Name: "plant", Mode: p.mode, Step: step,
		Joints:    []body.Joint{{Name: "pan", MinRad: -1, MaxRad: 1, MaxVelRadS: 5}, {Name: "jaw", MinRad: -0.5, MaxRad: 1.5, MaxVelRadS: 5}},
		Witnesses: []body.Witness{{Name: "encoders", Facts: []string{"tip"}}},
	}
}

func (p *plant) Open() error {
	if p.obsErr == nil {
		p.open = true
	}
	return nil
}

func (p *plant) Send(s body.Setpoint) (body.Sent, error) {
	if p.sendErr != nil {
		return body.Sent{}, p.sendErr
	}
	q := append([]float64(nil), s.PositionsRad...)
	p.writes = append(p.writes, q)
	copy(p.at, q)
	sent := append([]float64(nil), q...)
	sent[0] += p.clip
	return body.Sent{PositionsRad: sent}, nil
}

func (p *plant) Halt() error { return nil }

func (p *plant) Observe() (body.Observation, error) {
	if p.obsErr != nil {
		return body.Observation{}, p.obsErr
	}
	at := units.Instant(p.steps * int64(step))
	o := body.Observation{
		At:         at,
		Readings:   []body.Reading{{Fact: "tip", Witness: "encoders", Kind: body.Point, Point: tipOf(p.at), At: at}},
		Standstill: p.still,
		JointsRad:  append([]float64(nil), p.at...),
		GoalRad:    append([]float64(nil), p.at...),
		Health:     body.Health{TorqueOn: true, BusOK: true, MotionAllowed: true},
	}
	if p.bend != nil {
		p.bend(&o)
	}
	return o, nil
}

func (p *plant) Close() error { p.open = false; return nil }

func (p *plant) Advance(d time.Duration) error {
	if p.block != nil {
		p.entered <- struct{}{}
		<-p.block
	}
	p.steps += int64(d / step)
	return p.advErr
}

// tipOf is a tip 0.3 m from a single rotating joint; the jaw does not move it.
func tipOf(q []float64) units.Vec3 {
	m := units.YawQuat(q[0]).Mat()
	return m.Apply(units.Vec3{0.3, 0, 0})
}

func config() guard.Config {
	return guard.Config{Ceiling: guard.Limits{TipSpeedMPS: 0.3, JointSpeedRadS: 2}, Tip: tipOf}
}

// rig is an open guard around a plant.
type rig struct {
	*guard.Guard
	t     testing.TB
	plant *plant
}

func newRig(t testing.TB) *rig {
	t.Helper()
	p := newPlant()
	g := guard.New(p, config())
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	return &rig{g, t, p}
}

// advance lets time pass with a sign of life at least every 100 ms, as a robot gives it.
func (r *rig) advance(d time.Duration) {
	r.t.Helper()
	for d > 0 {
		part := min(d, 100*time.Millisecond)
		if err := r.Advance(part); err != nil {
			r.t.Fatal(err)
		}
		r.observe()
		d -= part
	}
}

func (r *rig) observe() body.Observation {
	r.t.Helper()
	o, err := r.Observe()
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// setpoint is a valid setpoint for the first joint, from now.
func (r *rig) setpoint(pan float64, over time.Duration) body.Setpoint {
	return body.Setpoint{
		PositionsRad: []float64{pan, 0},
		Over:         over,
		Expires:      r.now().Add(body.MaxAhead),
		Stop:         r.Latch().Number,
	}
}

func (r *rig) now() units.Instant { return units.Instant(r.plant.steps * int64(step)) }

func (r *rig) send(s body.Setpoint) {
	r.t.Helper()
	if _, err := r.Send(s); err != nil {
		r.t.Fatal(err)
	}
}

// moving starts a motion of the first joint at 0.5 rad/s and lets it run for 100 ms.
func (r *rig) moving() {
	r.t.Helper()
	r.send(r.setpoint(0.4, 800*time.Millisecond))
	r.advance(100 * time.Millisecond)
}

// quiet asks that the command has come to rest and that nothing more reaches the body.
func (r *rig) quiet(why string) {
	r.t.Helper()
	r.advance(guard.RampTime + 2*step)
	n := len(r.plant.writes)
	for range 20 {
		r.advance(50 * time.Millisecond)
		r.observe()
	}
	if len(r.plant.writes) != n {
		r.t.Errorf("%s: %d commands reached the body after it stood", why, len(r.plant.writes)-n)
	}
}

func wantRejection(t testing.TB, err error, code reject.Code, rule, field string) {
	t.Helper()
	var got reject.Rejection
	if !errors.As(err, &got) {
		t.Errorf("answered %v, not by a rejection %s in %q", err, code, field)
		return
	}
	if got.Code != code || got.Rule != rule || got.Field != field {
		t.Errorf("refused as %s by %q in %q, not %s by %q in %q", got.Code, got.Rule, got.Field, code, rule, field)
	}
}

// newGuard is an open guard around a plant, for tests that bring their own.
func newGuard(t interface{ Fatal(...any) }, p *plant) *guard.Guard {
	g := guard.New(p, config())
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	return g
}
