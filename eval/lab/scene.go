package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/eval"
	"interlock/eval/judge"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/units"
	"interlock/world"
)

// defaultMissions is the budget of a task in a scenario that names none.
const defaultMissions = 8

// scene is one simulated table with a robot on it.
type scene struct {
	truth  body.Truth
	guard  *guard.Guard
	robot  *robot.Robot
	client transport.Client
	judge  *judge.Judge
	series []eval.Sample

	cancel context.CancelFunc
	ended  chan error
}

// open builds the world of one episode and starts its robot.
func (l *Lab) open(ctx context.Context, spec *eval.EpisodeSpec) (*scene, error) {
	driver, err := sim.New(simConfig(spec))
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	plant, err := lied(driver, spec.Scenario.Faults)
	if err != nil {
		return nil, err
	}
	w := &scene{truth: driver.Truth(), guard: guard.New(plant, GuardConfig(l.contract)), ended: make(chan error, 1)}
	g, err := l.gate(spec.Gate, w.truth)
	if err != nil {
		return nil, err
	}
	if w.judge, err = judge.New(spec.Scenario.Criteria, w.truth); err != nil {
		return nil, err
	}
	w.robot, err = robot.New(robot.Config{
		Contract: l.contract, Alignment: l.alignment, Gate: g, Body: w.guard,
		Pacer: watched{robot.Lockstep(w.guard), w.sample(l.keepSeries)}, NoInvariants: !spec.Gate, MaxMissions: max(defaultMissions, spec.Scenario.Missions),
	})
	if err != nil {
		return nil, err
	}
	w.client = inproc.New(w.robot)
	ctx, w.cancel = context.WithCancel(ctx)
	go func() { w.ended <- w.robot.Run(ctx) }()
	return w, nil
}

// close ends the robot and waits for it.
func (s *scene) close() error {
	s.cancel()
	return <-s.ended
}

// claimNothing opens a task with the goal and closes it in silence: what the robot measures of it before anything moved.
func (s *scene) claimNothing(ctx context.Context, goal string) (world.Truth, error) {
	t, err := s.client.OpenTask(ctx, &contractv1.OpenTaskRequest{Provenance: "absent", Goal: goal})
	if err != nil {
		return world.Unknown, err
	}
	if len(t.GetRefusals()) > 0 {
		return world.Unknown, fmt.Errorf("goal %q: %s", goal, t.GetRefusals()[0].GetSays())
	}
	t, err = s.client.Claim(ctx, &contractv1.ClaimRequest{TaskId: t.GetTaskId(), Claim: &contractv1.Claim{}})
	truth := map[contractv1.TaskState]world.Truth{contractv1.TaskState_DONE: world.True, contractv1.TaskState_NOT_DONE: world.False}
	return truth[t.GetState()], err
}

// settle lets the world come to rest under the judge's eyes. The robot must be idle.
func (s *scene) settle() error { return s.judge.Settle(s.truth, s.guard.Advance) }

// sample is called after every tick: the judge looks, and a moment is kept for the plots.
func (s *scene) sample(keep bool) func() {
	return func() {
		s.judge.Sample(s.truth)
		if !keep {
			return
		}
		o, err := s.guard.Observe()
		if err != nil {
			return // the robot sees the same and says so
		}
		moment := eval.Sample{AtMs: s.truth.Now().Millis(), TipZCm: units.CmFromMetres(s.truth.TipInBase()[2]), TableForceN: s.truth.TableForceN()}
		for i := range o.Readings {
			if o.Readings[i].Fact == "jaw_gap_mm" {
				moment.JawGapMm = o.Readings[i].Number
			}
		}
		s.series = append(s.series, moment)
	}
}

// watched is a pacer with somebody looking after every tick.
type watched struct {
	inner robot.Pacer
	look  func()
}

func (p watched) Tick(ctx context.Context) error {
	err := p.inner.Tick(ctx)
	p.look()
	return err
}

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

// GuardConfig is the driver's ceiling: the widest limits that any capability of the contract has.
func GuardConfig(c *contract.Contract) guard.Config {
	chain := arm.SO101()
	cfg := guard.Config{Tip: func(positionsRad []float64) units.Vec3 {
		s, ok := arm.ServosOf(positionsRad)
		if !ok {
			return units.Vec3{}
		}
		return chain.Tip(s.Joints())
	}}
	for _, k := range c.Capabilities {
		cfg.Ceiling.TipSpeedMPS = max(cfg.Ceiling.TipSpeedMPS, k.Limits.TipSpeedMPS)
		cfg.Ceiling.JointSpeedRadS = max(cfg.Ceiling.JointSpeedRadS, k.Limits.JointSpeedRadS)
	}
	return cfg
}

// simConfig turns a scenario's set-up and faults into the simulator's configuration.
func simConfig(spec *eval.EpisodeSpec) sim.Config {
	cfg := sim.DefaultConfig()
	cfg.Seed = uint64(spec.Seed)
	cfg.Tray = spec.Setup.Tray
	cfg.Camera.SigmaMM = spec.Setup.CameraSigmaMm
	if spec.Setup.JawRad != nil {
		cfg.StartRad[sim.NumJoints-1] = *spec.Setup.JawRad
	}
	for _, o := range spec.Setup.Objects {
		cfg.Objects = append(cfg.Objects, sim.Object{
			Label:    o.Label,
			Position: units.Vec3{units.MetresFromCm(o.XCm), units.MetresFromCm(o.YCm), units.MetresFromCm(o.ZCm)},
			YawRad:   units.RadFromDeg(o.YawDeg), EdgeM: units.MetresFromCm(o.SizeCm), MassKg: o.MassKg,
		})
	}
	for i := range spec.Scenario.Faults {
		f := &spec.Scenario.Faults[i]
		if f.Kind == eval.LyingDriver {
			continue
		}
		cfg.Faults = append(cfg.Faults, sim.Fault{
			Kind: sim.FaultKind(f.Kind), Fact: f.Fact, Joint: f.Joint, Object: f.Object, Other: f.Other, Amount: f.Amount(),
			Vector: f.Vector(), When: sim.Trigger(f.When), After: time.Duration(f.AfterMs) * time.Millisecond,
			NearM: units.MetresFromCm(f.NearCm), For: time.Duration(f.ForMs) * time.Millisecond,
		})
	}
	return cfg
}

// lied wraps the simulator in a lying driver where the scenario asks for one.
func lied(d *sim.Driver, faults []eval.Fault) (body.Stepper, error) {
	for i := range faults {
		if faults[i].Kind == eval.LyingDriver {
			liar, err := sim.NewLiar(d, sim.Lie(faults[i].Lie))
			return liar, errors.Join(err)
		}
	}
	return d, nil
}
