package transporttest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/robots"
	"interlock/transport"
	"interlock/units"
)

// scene is a robot at a simulated table with a red and a blue cube. Time is virtual and passes only while a mission
// runs, so two scenes that hear the same calls do the same to the bit.
type scene struct {
	robot *robot.Robot
	guard *guard.Guard
	pacer *grants
}

// newScene builds a scene and runs its robot, which keeps no record, until the test ends.
func newScene(t *testing.T) (*scene, error) { return newSceneOn(t, nil) }

// newSceneOn is newScene with a robot that keeps its record in the journal.
func newSceneOn(t *testing.T, journal robot.Journal) (*scene, error) {
	src, err := robots.Files.ReadFile("so101-tabletop.yaml")
	if err != nil {
		return nil, err
	}
	c, err := contract.Load("so101-tabletop.yaml", src)
	if err != nil {
		return nil, err
	}
	world := sim.DefaultConfig()
	world.Tray = true
	world.Objects = []sim.Object{
		{Label: "red cube", Position: units.Vec3{0.20, 0.05, 0.015}},
		{Label: "blue cube", Position: units.Vec3{0.22, -0.04, 0.015}},
	}
	driver, err := sim.New(world)
	if err != nil {
		return nil, err
	}
	planner, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	if err != nil {
		return nil, err
	}
	s := &scene{guard: guard.New(driver, ceiling(c))}
	s.pacer = &grants{inner: robot.Lockstep(s.guard), next: make(chan struct{}), free: make(chan struct{})}
	alignment := robot.Align(c, driver.Describe(), planner)
	s.robot, err = robot.New(robot.Config{
		Contract: c, Alignment: alignment, Gate: gate.New(c, alignment, planner), Body: s.guard, Pacer: s.pacer, MaxMissions: 8,
		Journal: journal,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.robot.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		s.pacer.all() // a robot that still moves ends with a halt, which takes ticks
		if err := <-ended; err != nil {
			t.Errorf("the robot ended with %v", err)
		}
	})
	return s, nil
}

// running is a scene whose time passes by itself.
func running(t *testing.T) (*scene, error) {
	s, err := newScene(t)
	if err == nil {
		s.pacer.all()
	}
	return s, err
}

// ceiling is the driver's own: the widest limits that any capability of the contract has.
func ceiling(c *contract.Contract) guard.Config {
	chain := arm.SO101()
	cfg := guard.Config{Tip: func(positionsRad []float64) units.Vec3 {
		s, _ := arm.ServosOf(positionsRad)
		return chain.Tip(s.Joints())
	}}
	for _, k := range c.Capabilities {
		cfg.Ceiling.TipSpeedMPS = max(cfg.Ceiling.TipSpeedMPS, k.Limits.TipSpeedMPS)
		cfg.Ceiling.JointSpeedRadS = max(cfg.Ceiling.JointSpeedRadS, k.Limits.JointSpeedRadS)
	}
	return cfg
}

// grants is a pacer whose ticks are granted one by one, until all are.
type grants struct {
	inner robot.Pacer
	next  chan struct{} // grants one
	free  chan struct{} // closed: all are granted
	once  sync.Once
}

// Tick implements robot.Pacer.
func (p *grants) Tick(ctx context.Context) error {
	select {
	case <-p.next:
		return p.inner.Tick(ctx)
	case <-p.free:
		return p.inner.Tick(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// grant lets n ticks pass; the robot has begun the last of them when it returns.
func (p *grants) grant(ctx context.Context, n int) error {
	for i := range n {
		select {
		case p.next <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("tick %d never came: %w", i, ctx.Err())
		}
	}
	return nil
}

// all grants every tick from now on.
func (p *grants) all() { p.once.Do(func() { close(p.free) }) }

// Stopped is a robot whose stop is latched, for tests of a transport's own, and what reads the latch at the driver.
func Stopped(t *testing.T) (server transport.Server, latch func() body.Latch) {
	t.Helper()
	s, err := running(t)
	if err != nil {
		t.Fatal(err)
	}
	s.guard.Stop("a test said stop")
	return s.robot, s.guard.Latch
}
