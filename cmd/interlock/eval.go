package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interlock/brain/llm/scripted"
	"interlock/eval"
	"interlock/eval/lab"
)

// evalFlags are what eval and demo share.
type evalFlags struct {
	contract, body, gate, out string
	agents                    []string
	repeats, workers          int
	asJSON                    bool
	processes                 bool // eval only
}

func (f *evalFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.contract, "contract", "", "contract file (default: the one the suite names)")
	c.Flags().StringVar(&f.body, "body", "sim", "body to run on: sim")
	c.Flags().StringVar(&f.gate, "gate", f.gate, "on, off or both; off exists in the simulator's lab only")
	c.Flags().StringVar(&f.out, "out", "", "folder to save the run in, with a trace of every episode")
	c.Flags().StringSliceVar(&f.agents, "agents", f.agents, "agents to run: "+strings.Join(agentNames(), ", ")+"; or a model: "+modelForms)
	c.Flags().IntVar(&f.repeats, "repeats", f.repeats, "repeats of every seed")
	c.Flags().IntVar(&f.workers, "workers", runtime.NumCPU(), "episodes at one time")
	c.Flags().BoolVar(&f.asJSON, "json", false, "one JSON object per episode and a last line with the signature")
	_ = c.RegisterFlagCompletionFunc("agents", cobra.FixedCompletions(agentNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("gate", cobra.FixedCompletions([]string{"on", "off", "both"}, cobra.ShellCompDirectiveNoFileComp))
}

// agentNames lists every agent a run can have: the scripted personas and the lab's ceiling.
func agentNames() []string { return append(scripted.Names(), lab.TruthReader) }

func (f *evalFlags) plan() (eval.Plan, error) {
	p := eval.Plan{Agents: f.agents, Repeats: f.repeats, Body: f.body, Workers: f.workers}
	switch f.gate {
	case "on":
		p.Gates = []bool{true}
	case "off":
		p.Gates = []bool{false}
	case "both":
		p.Gates = []bool{false, true}
	default:
		return p, badInput(fmt.Errorf("--gate is on, off or both, not %q", f.gate))
	}
	if f.body != "sim" {
		return p, badInput(fmt.Errorf("--body is sim, not %q", f.body))
	}
	if f.processes && f.gate != "on" {
		return p, badInput(fmt.Errorf("--processes needs --gate on: the gate can be off in the simulator's lab only, where robot and simulator are one process"))
	}
	if f.repeats < 1 || f.workers < 1 || len(f.agents) == 0 {
		return p, badInput(fmt.Errorf("--repeats and --workers count from 1, and there must be an agent"))
	}
	for _, a := range f.agents {
		if !isModel(a) && !slices.Contains(agentNames(), a) {
			return p, badInput(fmt.Errorf("there is no agent %q; the agents are %s; a model is %s", a, strings.Join(agentNames(), ", "), modelForms))
		}
	}
	return p, nil
}

func newEval() *cobra.Command {
	f := evalFlags{gate: "both", repeats: 1, agents: agentNames()}
	c := &cobra.Command{
		Use:   "eval SUITE",
		Short: "Run an evaluation suite and print claims beside facts",
		Long: `Eval plays every scenario of a suite with every agent, judges each episode on
the simulator's truth, and prints what was claimed beside what was so.

With --processes the robot, its driver and their plant are processes, as they are
outside an evaluation, and the agents reach the robot over a socket. Time is the
plant's and moves as the robot asks for it, so the same suite has the same table
and outcome_signature as in one process. They end with eval, however it ends.`,
		Example: "  interlock eval suites/moves.yaml --agents careful,overclaimer --gate both\n  interlock eval suites/seven.yaml --gate on --processes",
		Args:    takes(argument{name: "SUITE", says: "a suite file, such as suites/moves.yaml"}),
		RunE: func(cmd *cobra.Command, a []string) error {
			r, err := f.run(cmd.Context(), cmd.ErrOrStderr(), a[0])
			return printRun(cmd.OutOrStdout(), &r, f.asJSON, eval.WriteTable, err)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.processes, "processes", false, "run robot, driver and plant of every worker as processes; needs --gate on")
	return c
}

// run plays the suite and saves the run where asked.
func (f *evalFlags) run(ctx context.Context, progressTo io.Writer, suiteName string) (r eval.Report, err error) {
	plan, err := f.plan()
	if err != nil {
		return eval.Report{}, err
	}
	t, err := loadTrial(suiteName, f.contract)
	if err != nil {
		return eval.Report{}, err
	}
	brains, err := brainsOf(f.agents, os.LookupEnv)
	if err != nil {
		return eval.Report{}, err
	}
	options := lab.Options{Code: version(), Series: f.out != "", Brains: brains}
	if f.out != "" {
		options.TraceDir = filepath.Join(f.out, tracesFolder)
		if err := t.keep(f.out); err != nil {
			return eval.Report{}, err
		}
	}
	if f.processes {
		processes := &crews{contract: t.contractTxt}
		defer func() { err = errors.Join(err, processes.end()) }()
		options.Crews = processes
	}
	l, err := lab.New(t.contract, options)
	if err != nil {
		return eval.Report{}, err
	}
	bar := newBar(progressTo, t.suite.Name)
	plan.Progress = bar.show
	r, err = eval.Run(ctx, t.suite, plan, l)
	if errors.Is(err, eval.ErrHoldsBefore) || errors.Is(err, eval.ErrTwice) {
		err = badInput(err)
	}
	bar.end()
	if f.out != "" && len(r.Episodes) > 0 {
		if saveErr := eval.Save(f.out, &r); saveErr != nil {
			return r, saveErr
		}
	}
	return r, err
}

// printRun prints what was played, also when the run as a whole does not count, and then says why.
func printRun(out io.Writer, r *eval.Report, asJSON bool, table func(io.Writer, *eval.Report) error, runErr error) error {
	if len(r.Episodes) == 0 {
		return runErr
	}
	write := table
	if asJSON {
		write = eval.WriteJSON
	}
	if err := write(out, r); err != nil {
		return err
	}
	return runErr
}
