package eval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// newTable returns a table with our look: a rule under the headers, no columns' lines, numbers to the right. It fits a
// terminal of 160 columns.
func newTable(rightFrom int, headers ...string) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header, style.Options.DrawBorder, style.Options.SeparateColumns = text.FormatDefault, false, false
	t.SetStyle(style)
	row := make(table.Row, len(headers))
	var columns []table.ColumnConfig
	for i, h := range headers {
		row[i] = h
		if i >= rightFrom {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.AppendHeader(row)
	t.SetColumnConfigs(columns)
	return t
}

// WriteTable writes the table of a run: one row per agent and gate setting, the pairs ON against OFF, what the robot's
// own word was worth, and what must be known to read the numbers.
func WriteTable(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "suite %s on %s: %d episodes, %d distinct outcomes, %d initial states\n",
		r.Suite, r.Body, len(r.Episodes), distinct(r.Episodes), Starts(r))
	b.WriteString(groupTable(r) + "\n")
	b.WriteString(pairTable(r))
	b.WriteString(ledgerTable(r))
	b.WriteString("\n" + Notes(r))
	last := r.Last()
	fmt.Fprintf(&b, "setup_hash %s\noutcome_signature %s\n", last.SetupHash, last.OutcomeSignature)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("eval: table: %w", err)
	}
	return nil
}

func groupTable(r *Report) string {
	t := newTable(2, "agent", "gate", "n", "dist", "correct", "done", "claimed", "false", "P(done|claimed), 95 %",
		"silent", "looked", "refused", "unsafe", "moved", "peak N", "calls", "ms")
	agent := ""
	for _, g := range Groups(r) {
		if agent != "" && agent != g.Agent {
			t.AppendSeparator()
		}
		agent = g.Agent
		name := g.Agent
		if g.Unpinned {
			name += "†"
		}
		correct := "–"
		if g.CorrectOf > 0 {
			correct = fmt.Sprintf("%d/%d", g.Correct, g.CorrectOf)
		}
		t.AppendRow(table.Row{name, g.Gate, g.N, g.Distinct, correct, g.Done, g.Claimed, fmt.Sprintf("%d/%d", g.FalseClaims, g.Failures),
			g.DoneGivenClaimed, g.NoReport, g.Looked, g.Rejections, g.Unsafe, fmt.Sprintf("%.1f", g.DisplacedCm),
			fmt.Sprintf("%.2f", g.PeakForceN), fmt.Sprintf("%.1f", g.ModelCalls), fmt.Sprintf("%.0f", g.WallMs)})
	}
	return t.Render()
}

func pairTable(r *Report) string {
	pairs := GatePairs(r)
	if len(pairs) == 0 {
		return ""
	}
	t := newTable(1, "gate ON against OFF", "pairs", "done: ON / OFF only", "p", "false claim: ON / OFF only", "p", "unsafe: ON / OFF only", "p")
	var alike []string
	for i := 0; i+len(measures) <= len(pairs); i += len(measures) {
		if !slices.ContainsFunc(pairs[i:i+len(measures)], func(p Pair) bool { return p.OnlyA+p.OnlyB > 0 }) {
			alike = append(alike, pairs[i].Agent)
			continue
		}
		row := table.Row{pairs[i].Agent, pairs[i].Pairs}
		for _, p := range pairs[i : i+len(measures)] {
			row = append(row, fmt.Sprintf("%d / %d", p.OnlyA, p.OnlyB), fmt.Sprintf("%.3f", p.P))
		}
		t.AppendRow(row)
	}
	text := ""
	if t.Length() > 0 {
		text = "\n" + t.Render() + "\n"
	}
	if len(alike) > 0 {
		text += " no difference between ON and OFF: " + strings.Join(alike, ", ") + "\n"
	}
	return text
}

func ledgerTable(r *Report) string {
	ledgers := Ledgers(r)
	if len(ledgers) == 0 {
		return ""
	}
	t := newTable(1, "robot's word, gate ON", "n", "distinct", "failures", "false success", "missed", "unverified", "false claims", "surprises")
	row := func(name string, l *Ledger) {
		t.AppendRow(table.Row{name, l.N, l.Distinct, l.Failures, l.FalseSuccess, l.MissedDone, l.Unknown, l.FalseClaims, l.Surprises})
	}
	for i := range ledgers {
		name := ledgers[i].Fault
		switch name {
		case "":
			name = "no fault"
		case LyingWitness:
			name += " ‡"
		}
		row(name, &ledgers[i])
	}
	if len(ledgers) > 1 {
		total := TotalLedger(r)
		t.AppendSeparator()
		row("all with a healthy witness", &total)
	}
	return "\n" + t.Render() + "\n"
}

// Notes returns the footnotes a reader of the numbers must know, one a line.
func Notes(r *Report) string {
	var b strings.Builder
	b.WriteString("n counts episodes, dist their distinct outcomes; proportions, intervals (Clopper–Pearson) and pairs (exact McNemar) count distinct ones.\n" +
		"false: false claims of the episodes that were not done. moved: cm, unasked. calls: of the model, mean.\n")
	b.WriteString("false success: task done, of the failures by truth. missed: task not done, of the successes it may confirm.\n")
	if len(r.Bench.Unpinned) > 0 {
		fmt.Fprintf(&b, "† sampling not pinned, not paired: %s\n", strings.Join(r.Bench.Unpinned, ", "))
	}
	if slices.ContainsFunc(Ledgers(r), func(l Ledger) bool { return l.Fault == LyingWitness }) {
		b.WriteString("‡ no verdict can be better than its only measurement; left out of the total.\n")
	}
	for _, id := range slices.Sorted(maps.Keys(r.Surplus)) {
		fmt.Fprintf(&b, "* %s asks more than its goal and words do: %s\n", id, strings.Join(r.Surplus[id], "; "))
	}
	for _, v := range r.Voids {
		fmt.Fprintf(&b, "void (our fault, counts for nobody): %s: %s\n", v.ID, v.Why)
	}
	for _, id := range Diverging(r) {
		fmt.Fprintf(&b, "not deterministic: %s\n", id)
	}
	return b.String()
}

// listed is one distinct outcome and how often it came.
type listed struct {
	*Episode
	times int
}

// WriteScenarios writes a row per scenario, agent and gate setting: what was asked, what the robot said, what was true,
// what was claimed. Identical outcomes share a row.
func WriteScenarios(w io.Writer, r *Report) error {
	t := newTable(3, "request", "agent", "gate", "calls", "refused", "task", "done", "claimed", "peak N", "moved cm", "×")
	scenario := ""
	for _, l := range listEpisodes(r) {
		rec := &l.Record
		request := ""
		if rec.Scenario != scenario {
			if scenario != "" {
				t.AppendSeparator()
			}
			scenario, request = rec.Scenario, shorten(l.Request, 44)
			if len(r.Surplus[scenario]) > 0 {
				request += " *"
			}
		}
		claim := triState(rec.Claimed)
		switch {
		case rec.Claimed == nil:
			claim = "no report"
		case rec.FalseClaim:
			claim = "true (FALSE)"
		}
		t.AppendRow(table.Row{request, rec.Agent, rec.Gate, acts(l.Calls), rec.Rejections, rec.Task, yesNo(rec.Done), claim,
			fmt.Sprintf("%.2f", rec.PeakForceN), fmt.Sprintf("%.1f", rec.DisplacedCm), l.times})
	}
	if _, err := io.WriteString(w, t.Render()+"\n"); err != nil {
		return fmt.Errorf("eval: table: %w", err)
	}
	return nil
}

// listEpisodes returns the distinct outcomes in the report's order. Seeds whose course was alike share a row.
func listEpisodes(r *Report) []listed {
	at := map[string]int{}
	var out []listed
	for i := range r.Episodes {
		e := &r.Episodes[i]
		if k, known := at[e.Signature]; known {
			out[k].times++
			continue
		}
		at[e.Signature] = len(out)
		out = append(out, listed{e, 1})
	}
	return out
}

// acts counts the calls to the robot; a report is none.
func acts(calls []Call) int {
	n := 0
	for i := range calls {
		n += one(calls[i].Tool != ReportTool)
	}
	return n
}

func shorten(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
