package eval

import "slices"

// Ledger compares the robot's own word for tasks with the judge's truth, for one kind of fault ("" is none).
type Ledger struct {
	Fault        string
	N, Distinct  int
	FalseSuccess Proportion // task done, of the distinct outcomes that truth says were not
	MissedDone   Proportion // task not done, of the distinct outcomes that truth says were
	Unknown      Proportion // task unverified, of all distinct outcomes
	FalseClaims  Proportion // agent's false claims, of the distinct failures
	Surprises    int        // episodes whose task ended with a word the scenario does not allow
}

// LyingWitness names the ledger of episodes whose only witness lies.
const LyingWitness = "only witness lies"

// Ledgers sums up gate-ON episodes: those without fault first (""), then one ledger per kind of fault, then those whose
// only witness lies, which count nowhere else. An episode with two faults counts under both.
func Ledgers(r *Report) []Ledger {
	var out []Ledger
	add := func(name string, counts func(e *Episode) bool) {
		if mine := ledgered(r, counts); len(mine) > 0 {
			l := ledger(mine)
			l.Fault = name
			out = append(out, l)
		}
	}
	add("", func(e *Episode) bool { return len(e.Faults) == 0 })
	for _, kind := range FaultKinds() {
		add(kind, func(e *Episode) bool { return !e.Lying && slices.Contains(e.Faults, kind) })
	}
	add(LyingWitness, func(e *Episode) bool { return e.Lying })
	return out
}

// TotalLedger sums up all gate-ON episodes that have at least one healthy witness.
func TotalLedger(r *Report) Ledger {
	return ledger(ledgered(r, func(e *Episode) bool { return !e.Lying }))
}

func ledgered(r *Report, counts func(e *Episode) bool) []Episode {
	var out []Episode
	for i := range r.Episodes {
		if e := &r.Episodes[i]; e.Record.Gate == "on" && counts(e) {
			out = append(out, *e)
		}
	}
	return out
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
