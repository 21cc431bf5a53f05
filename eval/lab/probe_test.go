package lab_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

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

func TestProbe(t *testing.T) {
	src, _ := robots.Files.ReadFile("so101-tabletop.yaml")
	c, err := contract.Load("x", src)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := skill.NewPlanner(c, skill.Solver(c.Solver))
	for _, verb := range []string{"close_gripper", "open_gripper"} {
		for _, z := range []float64{2, 4, 6} {
			worst := 0.0
			for ang := 0.0; ang < 360; ang += 30 {
				for d := 3.0; d <= 12; d += 1 {
					cfg := sim.DefaultConfig()
					bx, by := 22+d*math.Cos(ang*math.Pi/180), 0+d*math.Sin(ang*math.Pi/180)
					cfg.Objects = []sim.Object{{Label: "blue cube", Position: units.Vec3{bx / 100, by / 100, 0.015}}}
					if verb == "open_gripper" {
						cfg.StartRad[5] = -0.1
					} else {
						cfg.StartRad[5] = 1.0
					}
					dr, _ := sim.New(cfg)
					g := guard.New(dr, lab.GuardConfig(c))
					al := robot.Align(c, dr.Describe(), p)
					r, _ := robot.New(robot.Config{Contract: c, Alignment: al, Gate: gate.New(c, al, p), Body: g, Pacer: robot.Lockstep(g), MaxMissions: 8})
					ctx, cancel := context.WithCancel(context.Background())
					done := make(chan error, 1)
					go func() { done <- r.Run(ctx) }()
					cl := inproc.New(r)
					do := func(id, verb, args string) bool {
						a, _ := cl.Start(ctx, &contractv1.StartRequest{MissionId: id, Capability: verb, ArgsJson: []byte(args)})
						if !a.GetAccepted() {
							return false
						}
						for range cl.Events(ctx, &contractv1.EventsRequest{MissionId: id}) {
						}
						return true
					}
					do("a", "move_to", `{"x_cm":22,"y_cm":0,"z_cm":14}`)
					do("b", "move_to", fmt.Sprintf(`{"x_cm":22,"y_cm":0,"z_cm":%g}`, z))
					was, _ := dr.Truth().Object("blue cube")
					tip := dr.Truth().TipInBase()
					dist := was.Pose.Position.Distance(tip)
					do("c", verb, `{}`)
					g.Advance(200 * time.Millisecond)
					is, _ := dr.Truth().Object("blue cube")
					if m := is.Pose.Position.Distance(was.Pose.Position); m > 0.01 {
						if dist > worst {
							worst = dist
						}
						if dist > 0.05 {
							t.Logf("%s z %g ang %g d %g dist %.1f mm moved %.1f mm", verb, z, ang, d, dist*1000, m*1000)
						}
					}
					cancel()
					<-done
				}
			}
			t.Logf("== %s z %g worst %.1f mm", verb, z, worst*1000)
		}
	}
}
