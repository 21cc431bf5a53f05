package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"interlock/bench"
)

func printStop(out io.Writer, rows []stopRow) error {
	t := plainTable()
	t.AppendHeader(table.Row{"clients", "a stop is", "n", "min ms", "p50 ms", "p99 ms", "max ms"})
	for _, r := range rows {
		for i, part := range []struct {
			what string
			s    bench.Spread
		}{{"in force", r.InForce}, {"confirmed", r.Confirmed}, {"on disk", r.OnDisk}, {"the arm stands", r.Stands}} {
			who := any("")
			if i == 0 {
				who = r.Clients
			}
			ms := func(us float64) string { return fmt.Sprintf("%.1f", us/1000) }
			t.AppendRow(table.Row{who, part.what, part.s.N, ms(part.s.MinUS), ms(part.s.MedianUS), ms(part.s.P99US), ms(part.s.MaxUS)})
		}
	}
	if _, err := fmt.Fprintf(out, "Stops of a robot that is three processes; %s %s/%s, %d cores\n%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), t.Render()); err != nil {
		return err
	}
	for i := range rows {
		if err := rows[i].print(out); err != nil {
			return err
		}
	}
	return nil
}

// print tells one load: what came of the aim, of the flood, and how the confirmations are distributed.
func (r *stopRow) print(out io.Writer) error {
	met := "within"
	if !(r.Confirmed.P99US <= r.AimUS) {
		met = "BEYOND"
	}
	if _, err := fmt.Fprintf(out, "\n%d clients: confirmed with a p99 of %.1f ms, %.1f times that of the first load, %s the aim of %.0f ms; %d of %d were on disk by then; %d of %d arms moved\n",
		r.Clients, r.Confirmed.P99US/1000, r.P99Ratio, met, r.AimUS/1000, r.Durable, r.Confirmed.N, r.Stands.N, r.Asked); err != nil {
		return err
	}
	if r.Clients > 0 {
		if _, err := fmt.Fprintf(out, "the robot was asked %.0f times a second meanwhile; %.0f %% were shed, %d failed otherwise\n", r.Calls, 100*r.Shed, r.Failed); err != nil {
			return err
		}
	}
	return printHistogram(out, r.Took)
}

// stopHistogram is how many stops took less than so long, and no less than the line before says.
type stopHistogram struct {
	BelowUS float64 `json:"below_us"` // 0: the rest
	Stops   int     `json:"stops"`
}

// histogramEdges double: 0.25 ms to 512 ms.
const (
	histogramFirst = 250 * time.Microsecond
	histogramEdges = 12
)

func histogramOf(took []time.Duration) []stopHistogram {
	list := make([]stopHistogram, histogramEdges+1)
	for i := range histogramEdges {
		list[i].BelowUS = float64((histogramFirst << i).Microseconds())
	}
	for _, d := range took {
		i := 0
		for i < histogramEdges && d >= histogramFirst<<i {
			i++
		}
		list[i].Stops++
	}
	return list
}

const barWidth = 50

func printHistogram(out io.Writer, list []stopHistogram) error {
	most, first, last := 1, -1, 0
	for i, h := range list {
		if h.Stops > 0 {
			most, last = max(most, h.Stops), i
			if first < 0 {
				first = i
			}
		}
	}
	for i := max(first, 0); i <= last; i++ {
		h := list[i]
		below := fmt.Sprintf("< %7.2f ms", h.BelowUS/1000)
		if h.BelowUS == 0 {
			below = "   and more"
		}
		bar := strings.Repeat("█", (h.Stops*barWidth+most-1)/most)
		if _, err := fmt.Fprintf(out, "  %s %6d %s\n", below, h.Stops, bar); err != nil {
			return err
		}
	}
	return nil
}
