package main

import (
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
		Args:    takes(contractArgument()),
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

// checked is a contract held against the simulated body, as --json prints it.
type checked struct {
	File      string            `json:"file"`
	Robot     string            `json:"robot"`
	Hash      string            `json:"hash"`
	Rows      []checkedWord     `json:"rows"`
	Withdrawn map[string]string `json:"withdrawn"` // capability → why
}

// checkedWord is one word of the contract.
type checkedWord struct {
	Word   string `json:"word"`
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Why    string `json:"why"`
}

func checkedOf(file string, c *contract.Contract, a contract.Alignment) checked {
	out := checked{file, c.Robot, c.Hash(), []checkedWord{}, a.Withdrawn}
	for _, row := range a.Rows {
		out.Rows = append(out.Rows, checkedWord(row))
	}
	return out
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
		return printJSON(out, checkedOf(file, c, a))
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
