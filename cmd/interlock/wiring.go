package main

import (
	"context"

	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	"interlock/eval/lab"
	"interlock/robot"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/units"
)

// missionBudget is how many missions a task may start where nobody says otherwise.
const missionBudget = 8

// folded is a robot with its driver and simulator in this process.
type folded struct {
	client transport.Client
	end    func() error // stops the robot and waits for it
}

// fold starts a robot on the embedded simulator. The table holds the contract's first object at (22, 3) cm, as in the
// published experiment.
func fold(ctx context.Context, c *contract.Contract) (*folded, error) {
	cfg := sim.DefaultConfig()
	if len(c.Objects) > 0 {
		o := c.Objects[0]
		cfg.Objects = []sim.Object{{Label: o.Label, Position: units.Vec3{0.22, 0.03, o.SizeM[2] / 2}, EdgeM: o.SizeM[2]}}
	}
	plant, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	planner, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	if err != nil {
		return nil, badInput(err)
	}
	alignment := robot.Align(c, plant.Describe(), planner)
	driver := guard.New(plant, lab.GuardConfig(c))
	r, err := robot.New(robot.Config{
		Contract: c, Alignment: alignment, Gate: gate.New(c, alignment, planner), Body: driver,
		Pacer: robot.Lockstep(driver), MaxMissions: missionBudget,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return &folded{client: inproc.New(r), end: func() error { cancel(); return <-ended }}, nil
}
