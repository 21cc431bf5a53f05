package lab

import (
	"context"
	"slices"

	"interlock/body/sim"
	"interlock/brain/llm/scripted"
	"interlock/contract"
	"interlock/eval"
	"interlock/robot"
	"interlock/robot/skill"
	"interlock/world"
)

// Lab plays episodes against one contract on the embedded simulator. It is safe for concurrent use.
type Lab struct {
	contract   *contract.Contract
	alignment  contract.Alignment
	code       string
	keepSeries bool
	traces     string // directory for step-by-step traces; empty: none are kept
	brains     map[string]Brain
	replay     *Recording
	crews      Crews
}

// Options say what a lab keeps beside the records.
type Options struct {
	Series   bool   // moments of every episode, for plots
	Code     string // version of the program, for the setup hash
	TraceDir string // where a step-by-step trace of every episode goes; empty: nowhere
	// Brains are agents besides the scripted ones, by the names that a plan gives them.
	Brains map[string]Brain
	// Replay makes every agent say again what one recorded episode holds, whatever its name. nil: none.
	Replay *Recording
	// Crews play the episodes in processes of their own, with the gate ON. nil: every world is folded into this process.
	Crews Crews
}

var _ eval.Builder = (*Lab)(nil)

// New builds a lab for the contract.
func New(c *contract.Contract, o Options) (*Lab, error) {
	plant, err := sim.New(sim.DefaultConfig())
	if err != nil {
		return nil, err
	}
	p, err := skill.NewPlanner(c, skill.Solver(c.Solver))
	if err != nil {
		return nil, err
	}
	return &Lab{
		contract: c, alignment: robot.Align(c, plant.Describe(), p), code: o.Code, keepSeries: o.Series, traces: o.TraceDir,
		brains: o.Brains, replay: o.Replay, crews: o.Crews,
	}, nil
}

// Checks answers the suite loader's questions about a contract.
func Checks(c *contract.Contract) eval.Checks {
	return eval.Checks{
		Goal: func(text string) error { _, err := c.Goal(text); return err },
		Tool: func(name string) bool { return c.Capability(name) != nil },
		Fact: func(name string) bool { _, ok := c.Fact(name); return ok },
		Area: func(name string) bool { _, ok := c.Place(name); return ok },
	}
}

// Start implements eval.Builder.
func (l *Lab) Start(ctx context.Context, spec eval.EpisodeSpec) (start eval.Start, err error) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	s, err := l.open(ctx, &spec, giveUp)
	if err != nil {
		return eval.Start{}, err
	}
	defer func() { err = s.close(ctx, err) }()
	start = eval.Start{Truth: s.place.truth(), Goal: world.Unknown.String()}
	if spec.Scenario.Goal != "" {
		truth, err := s.claimNothing(ctx, spec.Scenario.Goal)
		if err != nil {
			return eval.Start{}, err
		}
		start.Goal = truth.String()
	}
	return start, nil
}

// Bench implements eval.Builder.
func (l *Lab) Bench() eval.Bench {
	agents := map[string]string{TruthReader: "scripted"}
	for _, name := range scripted.Names() {
		agents[name] = "scripted"
	}
	var unpinned []string
	for name, b := range l.brains {
		agents[name] = b.parameters()
		if !b.Pinned() {
			unpinned = append(unpinned, name)
		}
	}
	slices.Sort(unpinned)
	m := l.contract.Manifest(l.alignment)
	bench := eval.Bench{Code: l.code, ContractHash: l.contract.Hash(), ToolsHash: m.GetManifestHash(), Agents: agents, Unpinned: unpinned}
	if l.crews != nil {
		bench.Arrangement = eval.Processes
	}
	return bench
}
