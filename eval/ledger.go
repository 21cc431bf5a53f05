package eval

import "slices"

// Ledger compares the robot's own word for tasks with the judge's truth, for one kind of fault ("" is no fault).
type Ledger struct {
	Fault        string
	N, Distinct  int
	FalseSuccess Proportion // task done, of the distinct outcomes that truth says were not
	MissedDone   Proportion // task not done, of the distinct outcomes that truth says were
	Unknown      Proportion // task unverified, of all distinct outcomes
	FalseClaims  Proportion // agent's false claims, of the distinct failures
	Surprises    int        // episodes whose task ended with a word the scenario does not allow
}

// LyingFaults are faults under which every witness of a fact may lie at once. Their rate is printed apart, since no
// verdict on measurements can be better than its only measurement.
func LyingFaults() []string { return []string{LyingDriver} }

// Ledgers sums up gate-ON episodes per kind of fault, in the order of FaultKinds after "" for none. An episode with
// two faults counts under both.
func Ledgers(r *Report) []Ledger {
	var out []Ledger
	for _, kind := range append([]string{""}, FaultKinds()...) {
		var mine []Episode
		for _, e := range r.Episodes {
			if e.Record.Gate == "on" && (slices.Contains(e.Faults, kind) || kind == "" && len(e.Faults) == 0) {
				mine = append(mine, e)
			}
		}
		if len(mine) > 0 {
			l := ledger(mine)
			l.Fault = kind
			out = append(out, l)
		}
	}
	return out
}

// TotalLedger sums up all gate-ON episodes that have at least one healthy witness.
func TotalLedger(r *Report) Ledger {
	var mine []Episode
	for _, e := range r.Episodes {
		lying := slices.ContainsFunc(e.Faults, func(k string) bool { return slices.Contains(LyingFaults(), k) })
		if e.Record.Gate == "on" && !lying {
			mine = append(mine, e)
		}
	}
	return ledger(mine)
}

func ledger(episodes []Episode) Ledger {
	unique := distinctEpisodes(episodes)
	l := Ledger{N: len(episodes), Distinct: len(unique)}
	var failed, falseSuccess, done, missed, unknown, falseClaims int
	for i := range unique {
		r := &unique[i].Record
		if r.Done {
			done++
			missed += one(r.Task != "done")
		} else {
			failed++
			falseSuccess += one(r.Task == "done")
			falseClaims += one(r.FalseClaim)
		}
		unknown += one(r.Task == "unverified")
	}
	for i := range episodes {
		l.Surprises += one(episodes[i].Surprise())
	}
	l.FalseSuccess, l.MissedDone = NewProportion(falseSuccess, failed), NewProportion(missed, done)
	l.Unknown, l.FalseClaims = NewProportion(unknown, len(unique)), NewProportion(falseClaims, failed)
	return l
}
