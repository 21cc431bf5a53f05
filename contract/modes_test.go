package contract_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/brain/tool"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/units"
)

// claims is a simulated body that says what kind of body it is.
type claims struct {
	*sim.Driver
	mode body.Mode
}

// Describe implements body.Driver.
func (c claims) Describe() body.Description {
	d := c.Driver.Describe()
	d.Mode = c.mode
	return d
}

// folded is a robot on a body of the mode: what it was made from, and its line.
type folded struct {
	robot   *robot.Robot
	client  transport.Client
	align   func(body.Mode) (contract.Alignment, *gate.Gate)
	aligned contract.Alignment
}

func fold(t *testing.T, c *contract.Contract, mode body.Mode) *folded {
	t.Helper()
	plant, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	planner, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	if err != nil {
		t.Fatal(err)
	}
	f := &folded{align: func(m body.Mode) (contract.Alignment, *gate.Gate) {
		a := robot.Align(c, claims{plant, m}.Describe(), planner)
		return a, gate.New(c, a, planner)
	}}
	chain := arm.SO101()
	g := guard.New(claims{plant, mode}, guard.Config{
		Ceiling: guard.Limits{TipSpeedMPS: 1, JointSpeedRadS: 4.2}, Tip: func(q []float64) units.Vec3 { return chain.Tip(arm.Joints(q[:arm.JointCount])) },
	})
	a, judge := f.align(mode)
	f.aligned = a
	f.robot, err = robot.New(robot.Config{Contract: c, Alignment: a, Gate: judge, Body: g, Pacer: robot.Lockstep(g), MaxMissions: 8})
	if err != nil {
		t.Fatal(err)
	}
	f.client = inproc.New(f.robot)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.robot.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return f
}

// offered is what a model is offered: the tools that a brain makes of the manifest, and the manifest.
func (f *folded) offered(t *testing.T) (*tool.Registry, *contractv1.Manifest) {
	t.Helper()
	m, err := f.client.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.New(m, f.client, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// A verb marked `modes: [sim]` is not there on a body that says it is hardware: withdrawn with the reason, out of the
// manifest, out of a model's tools and of the words about what the robot can do, and refused to whoever calls it all the
// same. So it is when the body comes back as another one. Nobody edits a prompt.
//
// Verifies: W108
func TestAVerbForSimulationVanishesOnHardware(t *testing.T) {
	src, err := os.ReadFile(robotFile)
	if err != nil {
		t.Fatal(err)
	}
	const there = "    description: Wave the hand at a person,"
	if strings.Count(string(src), there) != 1 {
		t.Fatal("the contract's wave is not what it was")
	}
	c, err := contract.Load("x.yaml", []byte(strings.Replace(string(src), there, "    modes: [sim]\n"+there, 1)))
	if err != nil {
		t.Fatal(err)
	}
	simulated, hardware := fold(t, c, body.ModeSim), fold(t, c, body.ModeHardware)
	with, all := simulated.offered(t)
	without, fewer := hardware.offered(t)
	if want := slices.DeleteFunc(with.Names(), func(n string) bool { return n == "wave" }); !slices.Contains(with.Names(), "wave") || !slices.Equal(without.Names(), want) {
		t.Errorf("tools in simulation %v, on hardware %v", with.Names(), without.Names())
	}
	if w := fewer.GetWithdrawn(); len(w) != 1 || w[0].GetCapability() != "wave" || w[0].GetWhy() != "declared only in sim" || len(all.GetWithdrawn()) != 0 {
		t.Errorf("withdrawn: %v, in simulation %v", w, all.GetWithdrawn())
	}
	if strings.Contains(fewer.GetCannot(), "wave") || !strings.Contains(all.GetCannot(), "wave") {
		t.Errorf("what it cannot do: %s", fewer.GetCannot())
	}
	for f, want := range map[*folded]string{simulated: "ok|only in sim", hardware: "withdrawn|declared only in sim"} {
		i := slices.IndexFunc(c.Table(f.aligned), func(row []string) bool { return row[0] == "wave" })
		if row := c.Table(f.aligned)[i]; strings.Join(row[4:], "|") != want {
			t.Errorf("the table says %v, want %s", row, want)
		}
	}
	if r := without.Call(t.Context(), "wave", []byte("{}")); len(r.Rejections) != 1 || r.Rejections[0].Code != "UNKNOWN_CAPABILITY" {
		t.Errorf("a model that calls it gets %+v", r)
	}
	ack, err := hardware.client.Start(t.Context(), &contractv1.StartRequest{MissionId: "m", Capability: "wave", ArgsJson: []byte("{}")})
	if err != nil || ack.GetAccepted() || len(ack.GetRejections()) != 1 || ack.GetRejections()[0].GetCode() != "NOT_PERMITTED" {
		t.Errorf("a client that starts it gets %v, %v", ack, err)
	}
	a, g := simulated.align(body.ModeHardware)
	if err := simulated.robot.Realign(t.Context(), a, g); err != nil {
		t.Fatal(err)
	}
	later, changed := simulated.offered(t)
	if !slices.Equal(later.Names(), without.Names()) || changed.GetManifestHash() == all.GetManifestHash() {
		t.Errorf("after the body came back as hardware: %v", later.Names())
	}
}
