package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"interlock/body/sim"
	"interlock/contract"
	"interlock/robot"
)

func newCheck() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a contract file and hold its words against the simulated body",
		Long: `Check loads a contract file as a robot would and prints every problem with its
line and column. A file that is good is held against the simulated body: the
table says for each word who witnesses it, and why a capability is withdrawn.`,
		Example: "  interlock check robots/so101-tabletop.yaml",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			c, _, err := loadContract(a[0])
			if err != nil {
				return err
			}
			return check(cmd.OutOrStdout(), a[0], c, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return c
}

func check(out io.Writer, file string, c *contract.Contract, asJSON bool) error {
	plant, err := sim.New(sim.DefaultConfig())
	if err != nil {
		return err
	}
	p, err := plannerFor(c)
	if err != nil {
		return badInput(inFile(file, err))
	}
	a := robot.Align(c, plant.Describe(), p)
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]any{"file": file, "robot": c.Robot, "hash": c.Hash(), "rows": a.Rows, "withdrawn": a.Withdrawn})
	}
	t := table.NewWriter()
	style := table.StyleLight
	t.SetStyle(style)
	for i, row := range c.Table(a) {
		cells := make(table.Row, len(row))
		for j, cell := range row {
			cells[j] = cell
		}
		if i == 0 {
			t.AppendHeader(cells)
		} else {
			t.AppendRow(cells)
		}
	}
	_, err = fmt.Fprintf(out, "%s: robot %s, contract %s\n%s\n%d capabilities offered, %d withdrawn\n", file, c.Robot, c.Hash()[:16],
		t.Render(), len(c.Capabilities)-len(a.Withdrawn), len(a.Withdrawn))
	return err
}

// inFile names the file in problems that whoever found them did not know it of.
func inFile(file string, err error) error {
	var found contract.Problems
	if !errors.As(err, &found) {
		return err
	}
	for i := range found {
		if found[i].File == "" {
			found[i].File = file
		}
	}
	return found
}
