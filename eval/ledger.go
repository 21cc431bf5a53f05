package eval

import "slices"

// Ledger compares the robot's own word for tasks with the judge's truth, for one kind of fault ("" is none). Counts are
// of episodes; proportions are of distinct courses of events, whichever agent caused them.
type Ledger struct {
	Fault        string
	N, Distinct  int
	Failures     int        // episodes that truth says were not done
	FalseSuccess Proportion // task done, of the distinct failures
	MissedDone   Proportion // task not done, of the distinct successes that the scenario lets a robot confirm
	Unknown      Proportion // task unverified, of all distinct courses
	FalseClaims  int        // episodes in which an agent claimed what was not so: the same failures as an agent tells them
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
	unique := distinctBy(episodes, signCourse)
	l := Ledger{N: len(episodes), Distinct: len(unique)}
	var failed, falseSuccess, done, missed, unknown int
	for i := range unique {
		e := &unique[i]
		says := e.Record.Task
		switch {
		case !e.Record.Done:
			failed++
			falseSuccess += one(says == "done")
		case len(e.ExpectTask) == 0 || slices.Contains(e.ExpectTask, "done"):
			done++
			missed += one(says != "done")
		}
		unknown += one(says == "unverified")
	}
	for i := range episodes {
		e := &episodes[i]
		l.Failures += one(!e.Record.Done)
		l.FalseClaims += one(e.Record.FalseClaim)
		l.Surprises += one(e.Surprise())
	}
	l.FalseSuccess, l.MissedDone = NewProportion(falseSuccess, failed), NewProportion(missed, done)
	l.Unknown = NewProportion(unknown, len(unique))
	return l
}
