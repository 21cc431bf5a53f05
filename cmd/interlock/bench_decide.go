package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"interlock/bench"
)

const mostRuns = 1_000_000

func newBenchDecide() *cobra.Command {
	var n int
	var asJSON bool
	c := &cobra.Command{
		Use:   "decide",
		Short: "Measure decisions, from a model's raw text to the verdict",
		Long: `Each text is read as a model's output and the call in it judged by the gate of the
shipped tabletop robot: conditions, kinematics, plan and path sweep included. Reading
and shape alone is measured on a contract that demands nothing else, with the call
that the peers of make bench-peers check; the cost of a call on contracts of 10 to
10,000 capabilities, whose last one is called. Every run checks its answer. The cases
take turns. Times are of one run each on one core, so that what the system does
meanwhile counts: compare medians. A limit is what the median promises to stay under.`,
		Example: "  interlock bench decide\n  interlock bench decide --n 20000 --json",
		Args:    takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > mostRuns {
				return badInput(fmt.Errorf("--n is %d; it can be 1 to %d", n, mostRuns))
			}
			rows, err := benchDecide(n)
			if err != nil {
				return err
			}
			if asJSON {
				return printRows(c.OutOrStdout(), rows)
			}
			return printDecide(c.OutOrStdout(), n, rows)
		},
	}
	c.Flags().IntVar(&n, "n", 2_000, "runs of each case")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per case")
	return c
}

// decideRow is what one case took.
type decideRow struct {
	Case    string  `json:"case"`
	Answer  string  `json:"answer"`
	LimitUS float64 `json:"limit_us,omitempty"`
	bench.Spread
}

func benchDecide(n int) ([]decideRow, error) {
	cases, err := bench.Cases()
	if err != nil {
		return nil, err
	}
	works := make([]func() error, len(cases))
	for i := range cases {
		works[i] = cases[i].Do
	}
	spreads, err := bench.Measure(n, works...)
	if err != nil {
		return nil, err
	}
	rows := make([]decideRow, len(cases))
	for i, c := range cases {
		rows[i] = decideRow{c.Name, c.Answer, c.LimitUS, spreads[i]}
	}
	return rows, nil
}

func printDecide(out io.Writer, n int, rows []decideRow) error {
	t := benchTable(table.Row{"from raw text to verdict", "answer", "limit µs"}, 3)
	median := map[string]float64{}
	for _, r := range rows {
		limit := ""
		if r.LimitUS > 0 {
			limit = fmt.Sprintf("%.0f", r.LimitUS)
		}
		t.AppendRow(append(table.Row{r.Case, r.Answer, limit}, spreadCells(r.Spread)...))
		median[r.Case] = r.MedianUS
	}
	crowds := bench.Crowds()
	few, many := crowds[0], crowds[len(crowds)-1]
	_, err := fmt.Fprintf(out, "Tabletop SO-101, %d runs of each; %s %s/%s\n%s\nfrom %d to %d capabilities the median of a call changes by a factor of %.2f\n",
		n, runtime.Version(), runtime.GOOS, runtime.GOARCH, t.Render(), few, many, median[bench.CrowdName(many)]/median[bench.CrowdName(few)])
	return err
}
