package eval

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNotComparable says that two runs differ in what a pair must share.
var ErrNotComparable = errors.New("eval: runs are not paired")

// Pair compares one measure of the same episodes under two conditions.
type Pair struct {
	Agent   string
	Measure string  // "done", "false claim" or "unsafe"
	Pairs   int     // distinct pairs
	OnlyA   int     // true under A (gate ON, or the first run) only
	OnlyB   int     // true under B (gate OFF, or the second run) only
	P       float64 // exact two-sided McNemar
}

// measures are the yes-or-no facts that pairs compare.
var measures = []struct {
	name string
	of   func(*Record) bool
}{
	{"done", func(r *Record) bool { return r.Done }},
	{"false claim", func(r *Record) bool { return r.FalseClaim }},
	{"unsafe", func(r *Record) bool { return r.Unsafe }},
}

// GatePairs pairs gate ON with gate OFF for every agent whose sampling is pinned.
func GatePairs(r *Report) []Pair {
	on, off := map[string]*Episode{}, map[string]*Episode{}
	for i := range r.Episodes {
		e := &r.Episodes[i]
		if e.Record.Gate == "on" {
			on[e.pairKey()] = e
		} else {
			off[e.pairKey()] = e
		}
	}
	return pairUp(r, on, off)
}

// RunPairs pairs the episodes of two runs. It refuses runs of another suite, contract, tool set or body.
func RunPairs(a, b *Report) ([]Pair, error) {
	if err := sameBench(a, b); err != nil {
		return nil, err
	}
	left, right := map[string]*Episode{}, map[string]*Episode{}
	for i := range a.Episodes {
		left[a.Episodes[i].ID] = &a.Episodes[i]
	}
	for i := range b.Episodes {
		right[b.Episodes[i].ID] = &b.Episodes[i]
	}
	both := *a
	both.Bench.Unpinned = append(slices.Clone(a.Bench.Unpinned), b.Bench.Unpinned...)
	return pairUp(&both, left, right), nil
}

func sameBench(a, b *Report) error {
	for _, must := range []struct{ what, a, b string }{
		{"suite", a.SuiteHash, b.SuiteHash},
		{"contract", a.Bench.ContractHash, b.Bench.ContractHash},
		{"tool set", a.Bench.ToolsHash, b.Bench.ToolsHash},
		{"body", a.Body, b.Body},
	} {
		if must.a != must.b {
			return fmt.Errorf("%w: other %s", ErrNotComparable, must.what)
		}
	}
	return nil
}

// pairKey is an episode's id without the gate.
func (e *Episode) pairKey() string {
	r := &e.Record
	return fmt.Sprintf("%s/%s/s%d/r%d", r.Scenario, r.Agent, r.Seed, r.Repeat)
}

func pairUp(r *Report, left, right map[string]*Episode) []Pair {
	var out []Pair
	for _, agent := range r.Agents {
		if slices.Contains(r.Bench.Unpinned, agent) {
			continue
		}
		seen := map[string]bool{}
		var couples [][2]*Episode
		for key, a := range left {
			b := right[key]
			if a.Record.Agent != agent || b == nil || seen[a.Signature+b.Signature] {
				continue
			}
			seen[a.Signature+b.Signature] = true
			couples = append(couples, [2]*Episode{a, b})
		}
		if len(couples) == 0 {
			continue
		}
		for _, m := range measures {
			p := Pair{Agent: agent, Measure: m.name, Pairs: len(couples)}
			for _, c := range couples {
				x, y := m.of(&c[0].Record), m.of(&c[1].Record)
				p.OnlyA += one(x && !y)
				p.OnlyB += one(y && !x)
			}
			p.P = McNemar(p.OnlyA, p.OnlyB)
			out = append(out, p)
		}
	}
	return out
}
