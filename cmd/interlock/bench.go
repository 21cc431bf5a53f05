package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"interlock/arm"
	"interlock/bench"
	"interlock/units"
)

func newBench() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure parts of Interlock on this machine",
		Args:  cobra.ArbitraryArgs,
		RunE:  group,
	}
	c.AddCommand(newBenchIK(), newBenchDecide(), newBenchStop(), newBenchLine(), newBenchFlood(), newBenchEcho())
	return c
}

const (
	mostTargets = 10_000_000
	ikSeed      = 2026
)

func newBenchIK() *cobra.Command {
	var n int
	var asJSON bool
	c := &cobra.Command{
		Use:   "ik",
		Short: "Measure the solvers of inverse kinematics on random reachable targets",
		Long: `Each target is where random joints within their limits put the tip of the SO-101.
Solved is a configuration within the limits that comes within 1 mm of it, and
within 1 degree of the rotation for a pose, judged by the kinematics and not by
the solver's own report. The targets are the same in every run. Times are of one
call each on one core, so that what the system does meanwhile counts.`,
		Example: "  interlock bench ik\n  interlock bench ik --n 100000 --json",
		Args:    takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > mostTargets {
				return badInput(fmt.Errorf("--n is %d; it can be 1 to %d", n, mostTargets))
			}
			rows := benchIK(n)
			if asJSON {
				return printRows(c.OutOrStdout(), rows)
			}
			return printIK(c.OutOrStdout(), n, rows)
		},
	}
	c.Flags().IntVar(&n, "n", 10_000, "number of random targets")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per solver")
	return c
}

// printRows prints one JSON object a line.
func printRows[T any](out io.Writer, rows []T) error {
	e := json.NewEncoder(out)
	for i := range rows {
		if err := e.Encode(rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// ikRow is what one solver did.
type ikRow struct {
	Solver     string  `json:"solver"`
	Solved     int     `json:"solved"`
	SuccessPct float64 `json:"success_pct"`
	bench.Spread
}

func benchIK(n int) []ikRow {
	c := arm.SO101()
	targets := reachableTargets(c, n)
	return []ikRow{
		measureIK("dls", c, targets, false, func(t *arm.Pose) arm.Joints { return arm.DLS(c, t.TipInBase, arm.PublishedDLS()).Joints }),
		measureIK("best", c, targets, false, func(t *arm.Pose) arm.Joints { return arm.Best(c, t.TipInBase).Joints }),
		measureIK("best pose", c, targets, true, func(t *arm.Pose) arm.Joints { return arm.BestPose(c, *t).Joints }),
	}
}

func reachableTargets(c *arm.Chain, n int) []arm.Pose {
	r := rand.New(rand.NewPCG(ikSeed, 0))
	limits := c.Limits()
	targets := make([]arm.Pose, n)
	for i := range targets {
		var q arm.Joints
		for j := range q {
			q[j] = limits[j].MinRad + r.Float64()*(limits[j].MaxRad-limits[j].MinRad)
		}
		targets[i].TipInBase, targets[i].GripperInBase = c.TipPose(q)
	}
	return targets
}

// Accuracy that counts as solved.
const (
	solvedM   = 0.001
	solvedRad = math.Pi / 180
)

// measureIK times every target once, after a tenth of them to warm up. The joints are judged afterwards.
func measureIK(name string, c *arm.Chain, targets []arm.Pose, pose bool, solve func(*arm.Pose) arm.Joints) ikRow {
	for i := range len(targets)/10 + 1 {
		solve(&targets[i])
	}
	took := make([]time.Duration, len(targets))
	found := make([]arm.Joints, len(targets))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range targets {
		start := time.Now()
		found[i] = solve(&targets[i])
		took[i] = time.Since(start)
	}
	runtime.ReadMemStats(&after)
	row := ikRow{Solver: name, Spread: bench.Of(took)}
	row.Allocs = math.Floor(float64(after.Mallocs-before.Mallocs) / float64(len(targets)))
	for i := range targets {
		if solvedIK(c, found[i], &targets[i], pose) {
			row.Solved++
		}
	}
	row.SuccessPct = 100 * float64(row.Solved) / float64(row.N)
	return row
}

// solvedIK judges joints by the kinematics alone.
func solvedIK(c *arm.Chain, q arm.Joints, t *arm.Pose, pose bool) bool {
	limits := c.Limits()
	tip, rot := c.TipPose(q)
	if !limits.Hold(q.With(0)) || !(tip.Distance(t.TipInBase) <= solvedM) {
		return false
	}
	if !pose {
		return true
	}
	// The angle between two rotations, from the sines and the cosine that their columns give.
	var sines units.Vec3
	trace := 0.0
	for k := range 3 {
		a, b := rot.Column(k), t.GripperInBase.Column(k)
		sines, trace = sines.Add(a.Cross(b)), trace+a.Dot(b)
	}
	return math.Atan2(sines.Norm()/2, (trace-1)/2) <= solvedRad
}

func printIK(out io.Writer, n int, rows []ikRow) error {
	t := benchTable(table.Row{"solver", "solved %"}, 2)
	for _, r := range rows {
		t.AppendRow(append(table.Row{r.Solver, fmt.Sprintf("%.2f", r.SuccessPct)}, spreadCells(r.Spread)...))
	}
	_, err := fmt.Fprintf(out, "SO-101, %d random reachable targets, within 1 mm (pose: and 1 degree); %s %s/%s\n%s\n",
		n, runtime.Version(), runtime.GOOS, runtime.GOARCH, t.Render())
	return err
}

// plainTable is a table whose header stands as it is written.
func plainTable() table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault // µs is no word to shout
	t.SetStyle(style)
	return t
}

// benchTable is a table whose columns end with those of a spread; from column number `from` on it is of numbers.
func benchTable(columns table.Row, from int) table.Writer {
	t := plainTable()
	columns = append(columns, "min µs", "median µs", "p99 µs", "max µs", "mean µs", "allocs")
	t.AppendHeader(columns)
	var configs []table.ColumnConfig
	for i := from; i <= len(columns); i++ {
		configs = append(configs, table.ColumnConfig{Number: i, Align: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	return t
}

func spreadCells(s bench.Spread) table.Row {
	f := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	return table.Row{f(s.MinUS), f(s.MedianUS), f(s.P99US), fmt.Sprintf("%.1f", s.MaxUS), f(s.MeanUS), fmt.Sprintf("%.0f", s.Allocs)}
}
