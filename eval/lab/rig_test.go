package lab_test

import (
	"context"
	"math"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/eval/judge"
	"interlock/eval/lab"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/robots"
	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/units"
)

// rig is the shipped robot on a simulated table, driven call by call, with the judge looking after every tick.
type rig struct {
	t      testing.TB
	client transport.Client
	truth  body.Truth
	guard  *guard.Guard
	judge  *judge.Judge
	task   string
	calls  int
}

// shipped is the contract and a planner for it; both serve many rigs.
func shipped(t testing.TB) (*contract.Contract, *skill.Planner) {
	t.Helper()
	src, err := robots.Files.ReadFile("so101-tabletop.yaml")
	ok(t, err)
	c, err := contract.Load("so101-tabletop.yaml", src)
	ok(t, err)
	p, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	ok(t, err)
	return c, p
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// on plays a test on a rig of its own with a task open: the goal, and what the judge holds against it.
func on(t testing.TB, c *contract.Contract, p *skill.Planner, cfg sim.Config, goal string, criterion judge.Criterion, play func(*rig)) {
	t.Helper()
	driver, err := sim.New(cfg)
	ok(t, err)
	r := &rig{t: t, truth: driver.Truth(), guard: guard.New(driver, lab.GuardConfig(c))}
	r.judge, err = judge.New([]judge.Criterion{criterion}, r.truth)
	ok(t, err)
	alignment := robot.Align(c, driver.Describe(), p)
	inside, err := robot.New(robot.Config{
		Contract: c, Alignment: alignment, Gate: gate.New(c, alignment, p), Body: r.guard, MaxMissions: 16,
		Pacer: watching{robot.Lockstep(r.guard), func() { r.judge.Sample(r.truth) }},
	})
	ok(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- inside.Run(ctx) }()
	defer func() { cancel(); ok(t, <-ended) }()
	r.client = inproc.New(inside)
	task, err := r.client.OpenTask(ctx, &contractv1.OpenTaskRequest{Words: "a test", Provenance: "person", Goal: goal})
	ok(t, err)
	r.task = task.GetTaskId()
	play(r)
}

// watching is a pacer with somebody looking after every tick.
type watching struct {
	robot.Pacer
	look func()
}

// Tick implements robot.Pacer.
func (p watching) Tick(ctx context.Context) error {
	err := p.Pacer.Tick(ctx)
	p.look()
	return err
}

// do makes one call and waits for its end; it returns the code of a refusal, or "".
func (r *rig) do(verb, args string) string {
	r.t.Helper()
	r.calls++
	id := string(rune('a' + r.calls))
	ack, err := r.client.Start(r.t.Context(), &contractv1.StartRequest{MissionId: id, Capability: verb, ArgsJson: []byte(args), TaskId: r.task})
	ok(r.t, err)
	if !ack.GetAccepted() {
		return ack.GetRejections()[0].GetCode()
	}
	for _, err := range r.client.Events(r.t.Context(), &contractv1.EventsRequest{MissionId: id}) {
		ok(r.t, err)
	}
	return ""
}

// claim claims success, and lets the world come to rest under the judge's eyes.
func (r *rig) claim() (*contractv1.Task, judge.Verdict) {
	r.t.Helper()
	task, err := r.client.Claim(r.t.Context(), &contractv1.ClaimRequest{TaskId: r.task, Claim: &contractv1.Claim{Reported: true, Success: true}})
	ok(r.t, err)
	for range 10 {
		ok(r.t, r.guard.Advance(20*time.Millisecond))
		r.judge.Sample(r.truth)
	}
	return task, r.judge.Verdict(r.truth)
}

// table is the simulated table with cubes on it.
func table(cubes ...sim.Object) sim.Config {
	cfg := sim.DefaultConfig()
	cfg.Objects = cubes
	return cfg
}

func cube(label string, xCm, yCm, yawDeg float64) sim.Object {
	return sim.Object{Label: label, Position: units.Vec3{units.MetresFromCm(xCm), units.MetresFromCm(yCm), 0.015}, YawRad: units.RadFromDeg(yawDeg)}
}

// round is the point so many centimetres from another in a direction.
func round(xCm, yCm, awayCm, deg float64) (x, y float64) {
	return xCm + awayCm*math.Cos(units.RadFromDeg(deg)), yCm + awayCm*math.Sin(units.RadFromDeg(deg))
}
