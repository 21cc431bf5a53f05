package main

import (
	"context"

	"interlock/body"
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

// folded is a robot with its driver and simulator in this process; for a conversation with a robot elsewhere, the line to
// it.
type folded struct {
	client transport.Client
	robot  *robot.Robot // nil: it is another process
	guard  latch        // the driver's stop and its reset: a person's, never a model's
	end    func() error // stops the robot and waits for it; gives the line back
}

// fold starts a robot on the embedded simulator, in virtual time. The table holds the contract's first object at (22, 3)
// cm, as in the published experiment.
func fold(ctx context.Context, c *contract.Contract) (*folded, error) {
	return foldPaced(ctx, c, tableFor(c, [2]float64{0.22, 0.03}), robot.Lockstep)
}

// tableFor is a table with as many of the contract's objects as there are spots, in order; x and y in metres.
func tableFor(c *contract.Contract, spots ...[2]float64) sim.Config {
	cfg := sim.DefaultConfig()
	for i, o := range c.Objects[:min(len(spots), len(c.Objects))] {
		cfg.Objects = append(cfg.Objects, sim.Object{
			Label: o.Label, Position: units.Vec3{spots[i][0], spots[i][1], o.SizeM[2] / 2}, EdgeM: o.SizeM[2],
		})
	}
	return cfg
}

// foldPaced starts a robot on the embedded simulator, in the time that the pacer makes.
func foldPaced(ctx context.Context, c *contract.Contract, cfg sim.Config, pace func(body.Stepper) robot.Pacer) (*folded, error) {
	plant, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	planner, err := plannerFor(c)
	if err != nil {
		return nil, badInput(err)
	}
	alignment := robot.Align(c, plant.Describe(), planner)
	driver := guard.New(plant, lab.GuardConfig(c))
	r, err := robot.New(robot.Config{
		Contract: c, Alignment: alignment, Gate: gate.New(c, alignment, planner), Body: guard.ForRobot{Guard: driver},
		Pacer: pace(driver), MaxMissions: missionBudget,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return &folded{client: inproc.New(r), robot: r, guard: driver, end: func() error { cancel(); return <-ended }}, nil
}

// sources are the policies that may play a verb (`skill: policy:NAME` in a contract), by name. None is shipped; whoever
// brings one builds the program with it here. A verb whose policy is not in the list is withdrawn, and says so.
func sources() skill.Sources { return skill.Sources{} }

// plannerFor is the planner of a contract with every policy there is. Problems of the contract do not name its file.
func plannerFor(c *contract.Contract) (*skill.Planner, error) {
	p, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	if err != nil {
		return nil, err
	}
	return p.WithSources(sources())
}
