package main

import (
	"io"

	"github.com/spf13/cobra"

	"interlock/eval"
)

// demoAgents are the habits that four requests to move can show.
func demoAgents() []string {
	return []string{"careful", "overclaimer", "repairer", "metres", "silent", "no-op"}
}

func newDemo() *cobra.Command {
	f := evalFlags{gate: "both", repeats: 1, agents: demoAgents()}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Four requests, six agents, the gate OFF and ON: claims beside facts",
		Long: `Demo plays four requests to move the arm (one that can be made, one below the
table, one out of reach, one in metres) with six scripted agents on the embedded
simulator, once without checks and once with them. It needs nothing installed.`,
		Example: "  interlock demo\n  interlock demo --agents overclaimer --json",
		Args:    takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.run(cmd.Context(), cmd.ErrOrStderr(), "suites/moves.yaml")
			return printRun(cmd.OutOrStdout(), &r, f.asJSON, demoTable, err)
		},
	}
	f.add(c)
	return c
}

// demoTable prints every episode and then the table over them.
func demoTable(w io.Writer, r *eval.Report) error {
	if err := eval.WriteScenarios(w, r); err != nil {
		return err
	}
	return eval.WriteTable(w, r)
}
