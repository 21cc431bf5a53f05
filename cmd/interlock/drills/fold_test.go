package drills_test

import (
	"context"
	"os"
	"testing"

	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	"interlock/eval/lab"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/transport"
	"interlock/transport/connect"
)

// folded serves a robot with its driver and simulator in this process, in real time, at the address until the test ends, and
// returns a line to it.
func folded(t testing.TB, addr string) transport.Client {
	t.Helper()
	text, err := os.ReadFile(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	k, err := contract.Load(contractFile, text)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	planner, err := skill.NewPlanner(k, skill.Solver(k.Solver))
	if err != nil {
		t.Fatal(err)
	}
	driver := guard.New(inner, lab.GuardConfig(k))
	a := robot.Align(k, inner.Describe(), planner)
	r, err := robot.New(robot.Config{
		Contract: k, Alignment: a, Gate: gate.New(k, a, planner), Body: driver, Pacer: robot.RealTime(driver, nil), MaxMissions: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := connect.Listen(t.Context(), addr, connect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- r.Run(ctx) }()
	go func() { ended <- connect.Serve(ctx, l, r, connect.Options{}) }()
	c, closer, err := connect.Dial(addr, connect.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = closer.Close()
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	ready(t, c)
	return c
}
