package lab_test

import (
	"context"
	"math"
	"testing"

	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/eval/lab"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/robots"
	"interlock/transport/inproc"
	"interlock/units"
)

type pp struct {
	robot.Pacer
	look func()
}

func (p pp) Tick(ctx context.Context) error { err := p.Pacer.Tick(ctx); p.look(); return err }

func TestProbe(t *testing.T) {
	src, _ := robots.Files.ReadFile("so101-tabletop.yaml")
	c, err := contract.Load("x", src)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := skill.NewPlanner(c, skill.Solver(c.Solver))
	n, missed := 0, 0
	for ang := 0.0; ang < 360; ang += 20 {
		for _, sig := range []float64{0, 2} {
			for _, d := range []float64{3.4, 3.6, 3.9, 4.2, 4.6} {
				cfg := sim.DefaultConfig()
				cfg.Camera.SigmaMM = sig
				bx, by := 22+d*math.Cos(ang*math.Pi/180), 3+d*math.Sin(ang*math.Pi/180)
				cfg.Objects = []sim.Object{{Label: "red cube", Position: units.Vec3{.22, .03, .015}, YawRad: math.Pi / 4}, {Label: "blue cube", YawRad: math.Pi / 4, Position: units.Vec3{bx / 100, by / 100, 0.015}}}
				dr, _ := sim.New(cfg)
				g := guard.New(dr, lab.GuardConfig(c))
				al := robot.Align(c, dr.Describe(), p)
				was, _ := dr.Truth().Object("blue cube")
				peak := 0.0
				moved := func() float64 {
					o, _ := dr.Truth().Object("blue cube")
					return o.Pose.Position.Distance(was.Pose.Position) * 1000
				}
				r, _ := robot.New(robot.Config{Contract: c, Alignment: al, Gate: gate.New(c, al, p), Body: g, Pacer: pp{robot.Lockstep(g), func() { peak = max(peak, moved()) }}, MaxMissions: 8})
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- r.Run(ctx) }()
				cl := inproc.New(r)
				tk, _ := cl.OpenTask(ctx, &contractv1.OpenTaskRequest{Provenance: "person", Goal: `held("red cube")`})
				a, _ := cl.Start(ctx, &contractv1.StartRequest{MissionId: "a", Capability: "pick", ArgsJson: []byte(`{"name":"red cube"}`), TaskId: tk.GetTaskId()})
				word := ""
				for e := range cl.Events(ctx, &contractv1.EventsRequest{MissionId: "a"}) {
					word = e.GetKind().String()
				}
				tk, _ = cl.Claim(ctx, &contractv1.ClaimRequest{TaskId: tk.GetTaskId(), Claim: &contractv1.Claim{Reported: true, Success: true}})
				n++
				if peak > 10 && len(tk.GetSideEffects())+len(tk.GetUnclear()) == 0 {
					missed++
					t.Logf("ang %g sig %g d %g acc %v %s %s: peak %.1f end %.1f; %v unclear %v", ang, sig, d, a.GetAccepted(), word, tk.GetState(), peak, moved(), tk.GetSideEffects(), tk.GetUnclear())
				}
				cancel()
				<-done
			}
		}
	}
	t.Logf("%d episodes, %d missed", n, missed)
}
