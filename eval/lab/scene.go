package lab

import (
	"context"
	"fmt"
	"sync"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/eval"
	"interlock/eval/judge"
	"interlock/transport"
	"interlock/units"
	"interlock/world"
)

// defaultMissions is the budget of a task in a scenario that names none.
const defaultMissions = 8

// scene is one simulated table with a robot on it, and the judge who watches.
type scene struct {
	place  place
	client transport.Client

	mu     sync.Mutex // the robot's ticks may come from a goroutine of the line's
	judge  *judge.Judge
	series []eval.Sample
}

// place is where the robot's body and the time are.
type place interface {
	// truth is the port to what is so now.
	truth() body.Truth
	// advance moves the time. Only the robot's ticks and settle do.
	advance(by time.Duration) error
	// observe reads what the robot's sensors read, for the plots.
	observe() (body.Observation, error)
	// close ends the robot and waits for it. The error says what of our own machinery failed since the episode began.
	close(ctx context.Context) error
}

// open builds the world of one episode and starts its robot. giveUp is called when our own machinery fails under it:
// nothing that is still asked of the robot would count.
func (l *Lab) open(ctx context.Context, spec *eval.EpisodeSpec, giveUp func()) (*scene, error) {
	if l.crews != nil {
		return l.openApart(ctx, spec, giveUp)
	}
	return l.openFolded(ctx, spec)
}

// close ends the robot and waits for it. What of our own machinery failed is the reason for err, and is put before it.
func (s *scene) close(ctx context.Context, err error) error {
	failed := s.place.close(ctx)
	switch {
	case failed == nil:
		return err
	case err == nil:
		return failed
	}
	return fmt.Errorf("%w (%w)", failed, err)
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
func (s *scene) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judge.Settle(s.place.truth(), s.place.advance)
}

// verdict is the judge's, of what is so now.
func (s *scene) verdict() judge.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judge.Verdict(s.place.truth())
}

// tick is one tick of the robot: the time moves, the judge looks, and a moment is kept for the plots.
func (s *scene) tick(keep bool) func(by time.Duration) error {
	return func(by time.Duration) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		err := s.place.advance(by)
		s.judge.Sample(s.place.truth())
		if keep {
			s.keep()
		}
		return err
	}
}

// keep keeps a moment for the plots.
func (s *scene) keep() {
	o, err := s.place.observe()
	if err != nil {
		return // the robot sees the same and says so
	}
	t := s.place.truth()
	moment := eval.Sample{AtMs: t.Now().Millis(), TipZCm: units.CmFromMetres(t.TipInBase()[2]), TableForceN: t.TableForceN()}
	for i := range o.Readings {
		if o.Readings[i].Fact == "jaw_gap_mm" {
			moment.JawGapMm = o.Readings[i].Number
		}
	}
	s.series = append(s.series, moment)
}

// GuardConfig is the driver's ceiling: the widest limits that any capability of the contract has, and a geometry that keeps
// the arm off the table and itself.
func GuardConfig(c *contract.Contract) guard.Config {
	chain := arm.SO101()
	space, _ := chain.Space() // without keep-outs it is never refused
	cfg := guard.Config{Tip: func(positionsRad []float64) units.Vec3 {
		s, ok := arm.ServosOf(positionsRad)
		if !ok {
			return units.Vec3{}
		}
		return chain.Tip(s.Joints())
	}, Geometry: space}
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

// lie is what the scenario's driver lies about; empty: it does not.
func lie(faults []eval.Fault) sim.Lie {
	for i := range faults {
		if faults[i].Kind == eval.LyingDriver {
			return sim.Lie(faults[i].Lie)
		}
	}
	return ""
}
