package lab

import (
	"context"
	"fmt"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/eval"
	"interlock/eval/judge"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/transport/inproc"
)

// folded is a world in this process, with its guard and its robot.
type folded struct {
	port   body.Truth
	guard  *guard.Guard
	cancel context.CancelFunc
	ended  chan error
}

func (f *folded) truth() body.Truth                  { return f.port }
func (f *folded) advance(by time.Duration) error     { return f.guard.Advance(by) }
func (f *folded) observe() (body.Observation, error) { return f.guard.Observe() }

func (f *folded) close(context.Context) error {
	f.cancel()
	return <-f.ended
}

// openFolded builds a world in this process and starts its robot.
func (l *Lab) openFolded(ctx context.Context, spec *eval.EpisodeSpec) (*scene, error) {
	driver, err := sim.New(simConfig(spec))
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	var plant body.Stepper = driver
	if lie := lie(spec.Scenario.Faults); lie != "" {
		if plant, err = sim.NewLiar(driver, lie); err != nil {
			return nil, err
		}
	}
	limits := GuardConfig(l.contract)
	if !spec.Gate {
		limits.Geometry = nil // as published: nothing keeps the arm off the table
	}
	f := &folded{port: driver.Truth(), guard: guard.New(plant, limits), ended: make(chan error, 1)}
	g, err := l.gate(spec.Gate, f.port)
	if err != nil {
		return nil, err
	}
	s := &scene{place: f}
	if s.judge, err = judge.New(spec.Scenario.Criteria, f.port); err != nil {
		return nil, err
	}
	r, err := robot.New(robot.Config{
		Contract: l.contract, Alignment: l.alignment, Gate: g, Body: guard.ForRobot{Guard: f.guard},
		Pacer: robot.Lockstep(watched{f.guard, s.tick(l.keepSeries)}), NoInvariants: !spec.Gate, MaxMissions: max(defaultMissions, spec.Scenario.Missions),
	})
	if err != nil {
		return nil, err
	}
	s.client = inproc.New(r)
	ctx, f.cancel = context.WithCancel(ctx)
	go func() { f.ended <- r.Run(ctx) }()
	return s, nil
}

// watched is a body with somebody looking after every tick.
type watched struct {
	body.Stepper
	tick func(time.Duration) error
}

// Advance implements body.Stepper.
func (w watched) Advance(by time.Duration) error { return w.tick(by) }

// gate returns the gate, or in OFF the one that checks nothing and plays the last iterate of the published solver.
func (l *Lab) gate(on bool, truth body.Truth) (*gate.Gate, error) {
	if on {
		p, err := skill.NewPlanner(l.contract, skill.Solver(l.contract.Solver))
		if err != nil {
			return nil, err
		}
		return gate.New(l.contract, l.alignment, p), nil
	}
	p, err := skill.NewPlanner(l.contract, skill.DLSLast)
	if err != nil {
		return nil, err
	}
	return gate.Off(l.contract, l.alignment, p, truth), nil
}
