package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"interlock/brain/action"
	"interlock/eval"
)

// maxCorpusLine bounds one line of a corpus.
const maxCorpusLine = 4 << 20

// corpusLine is one output of a model in a corpus.
type corpusLine struct {
	Model       string          `json:"model"`
	Constrained json.RawMessage `json:"constrained"` // false, or the grammar's name
	Raw         *string         `json:"raw"`
	Finish      string          `json:"finish_reason"`
}

// grammar names the constraint that the output was made under.
func (l *corpusLine) grammar() string {
	var name string
	if json.Unmarshal(l.Constrained, &name) == nil && name != "" {
		return name
	}
	return "none"
}

// rates counts the readings of one group of outputs.
type rates struct {
	Model   string         `json:"model"`
	Grammar string         `json:"grammar"`
	N       int            `json:"n"`
	Kinds   map[string]int `json:"kinds"`
	// Decoded are the outputs that could be read: as calls, or as no call.
	Decoded    int        `json:"decoded"`
	DecodeRate float64    `json:"decode_rate"`
	Interval   [2]float64 `json:"decode_interval_95"`
	// Normalised are the outputs of which something was set aside, by code.
	Normalised map[string]int `json:"normalised"`
}

// kinds lists all readings in the order tables show them.
func kinds() []action.Kind {
	return []action.Kind{action.Calls, action.NoCall, action.Truncated, action.Malformed, action.DuplicateKey, action.Ambiguous, action.UnknownTool, action.TooLarge}
}

// readCorpus reads every output of a corpus and prints the rates.
func readCorpus(out io.Writer, name string, offer action.Offer, asJSON bool) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return badInput(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	groups, err := corpusRates(f, offer)
	if err != nil {
		return badInput(fmt.Errorf("%s: %w", name, err))
	}
	if !asJSON {
		_, err = fmt.Fprintln(out, ratesTable(groups))
		return err
	}
	enc := json.NewEncoder(out)
	for _, g := range groups {
		if err := enc.Encode(g); err != nil {
			return err
		}
	}
	return nil
}

// corpusRates groups the outputs by model and grammar, in the order in which they first come.
func corpusRates(from io.Reader, offer action.Offer) ([]*rates, error) {
	var groups []*rates
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxCorpusLine)
	for n := 1; lines.Scan(); n++ {
		var l corpusLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if l.Raw == nil {
			return nil, fmt.Errorf("line %d holds no field \"raw\"", n)
		}
		at := slices.IndexFunc(groups, func(g *rates) bool { return g.Model == l.Model && g.Grammar == l.grammar() })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &rates{Model: l.Model, Grammar: l.grammar(), Kinds: map[string]int{}, Normalised: map[string]int{}})
		}
		groups[at].count(action.Read(action.Output{Raw: []byte(*l.Raw), StopReason: l.Finish}, offer))
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return nil, errors.New("the corpus holds no output")
	}
	return groups, nil
}

// count adds one reading.
func (g *rates) count(r action.Reading) {
	g.N++
	g.Kinds[r.Kind.String()]++
	if r.Kind == action.Calls || r.Kind == action.NoCall {
		g.Decoded++
	}
	seen := map[string]bool{}
	for _, c := range r.Changes {
		if !seen[c.Code] {
			g.Normalised[c.Code]++
		}
		seen[c.Code] = true
	}
	p := eval.NewProportion(g.Decoded, g.N)
	g.DecodeRate, g.Interval = float64(g.Decoded)/float64(g.N), [2]float64{p.Low, p.High}
}

func ratesTable(groups []*rates) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	header := table.Row{"model", "grammar", "n", "decoded (95 %)"}
	for _, k := range kinds() {
		header = append(header, k.String())
	}
	t.AppendHeader(header)
	for _, g := range groups {
		row := table.Row{g.Model, g.Grammar, g.N, eval.NewProportion(g.Decoded, g.N)}
		for _, k := range kinds() {
			row = append(row, g.Kinds[k.String()])
		}
		t.AppendRow(row)
	}
	return t.Render()
}
