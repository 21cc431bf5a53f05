package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock/body"
	"interlock/body/sim"
	"interlock/eval"
	"interlock/eval/judge"
	"interlock/transport"
	"interlock/units"
)

// Crews has robots whose driver and plant are processes of their own, as the robot is, for one episode at a time. It is
// safe for concurrent use.
type Crews interface {
	// Take returns a crew that nobody else has, once it is ready.
	Take(ctx context.Context) (Crew, error)
	// Give takes it back, whatever became of it.
	Give(Crew) error
}

// Crew is one robot, its driver and their plant. Between SetUp and the next it is one episode's, and nothing of it is
// left afterwards: world, guard, latch, robot and its memory are made anew.
type Crew interface {
	// SetUp builds the plant's world and the driver's guard. Time stands still, and moves by Advance only.
	SetUp(cfg sim.Config, lie sim.Lie) error
	// Play makes the robot and returns the brain's line to it. Tick is called for every tick of the robot, from one
	// goroutine at a time, and must move the time by Advance.
	Play(ctx context.Context, tick func(by time.Duration) error) (transport.Client, error)
	// Advance moves the driver's time, and with it the plant's.
	Advance(by time.Duration) error
	// Look reads what is so at this moment.
	Look() (body.Truth, error)
	// Watch reads what the driver reads, as an onlooker.
	Watch() (body.Observation, error)
	// Rest ends the robot and waits for it. The error is the first thing that failed since Take, so that an episode in
	// which a process died does not count.
	Rest(ctx context.Context) error
}

// errGateOn is returned for an episode without the gate.
var errGateOn = errors.New("lab: the gate can be off only where robot and simulator are one process")

// apart is a world in other processes, as it was looked at last. It moves only when it is advanced here, so what was seen
// then is what is so.
type apart struct {
	crew  Crew
	crews Crews
	now   body.Truth
}

func (a *apart) truth() body.Truth                  { return latest{a} }
func (a *apart) observe() (body.Observation, error) { return a.crew.Watch() }

func (a *apart) advance(by time.Duration) error {
	moved := a.crew.Advance(by)
	return errors.Join(moved, a.look())
}

func (a *apart) look() error {
	t, err := a.crew.Look()
	if err == nil {
		a.now = t
	}
	return err
}

func (a *apart) close(ctx context.Context) error {
	return errors.Join(a.crew.Rest(ctx), a.crews.Give(a.crew))
}

// openApart sets up a world in other processes and starts its robot.
func (l *Lab) openApart(ctx context.Context, spec *eval.EpisodeSpec, giveUp func()) (*scene, error) {
	if !spec.Gate {
		return nil, errGateOn
	}
	crew, err := l.crews.Take(ctx)
	if err != nil {
		return nil, err
	}
	a := &apart{crew: crew, crews: l.crews}
	s, err := l.begin(ctx, spec, a, giveUp)
	if err != nil {
		_ = a.close(ctx) // whatever fails now follows from err
		return nil, err
	}
	return s, nil
}

func (l *Lab) begin(ctx context.Context, spec *eval.EpisodeSpec, a *apart, giveUp func()) (*scene, error) {
	if err := a.crew.SetUp(simConfig(spec), lie(spec.Scenario.Faults)); err != nil {
		return nil, fmt.Errorf("set up: %w", err)
	}
	if err := a.look(); err != nil {
		return nil, err
	}
	s := &scene{place: a}
	var err error
	if s.judge, err = judge.New(spec.Scenario.Criteria, a.truth()); err != nil {
		return nil, err
	}
	tick := s.tick(l.keepSeries)
	s.client, err = a.crew.Play(ctx, func(by time.Duration) error {
		err := tick(by)
		if err != nil {
			giveUp()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m, err := s.client.Describe(ctx)
	if err != nil {
		return nil, fmt.Errorf("describe: %w", err)
	}
	if ours := l.contract.Manifest(l.alignment).GetManifestHash(); m.GetManifestHash() != ours {
		return nil, fmt.Errorf("lab: the robot's process offers another manifest, %.12s, not %.12s", m.GetManifestHash(), ours)
	}
	return s, nil
}

// latest is the port to what was seen last.
type latest struct{ of *apart }

func (t latest) TipInBase() units.Vec3                       { return t.of.now.TipInBase() }
func (t latest) TableForceN() float64                        { return t.of.now.TableForceN() }
func (t latest) PeakTableForceN() float64                    { return t.of.now.PeakTableForceN() }
func (t latest) Object(label string) (body.TrueObject, bool) { return t.of.now.Object(label) }
func (t latest) Labels() []string                            { return t.of.now.Labels() }
func (t latest) Now() units.Instant                          { return t.of.now.Now() }
