package verify

import (
	"errors"
	"slices"

	"interlock/contract"
	"interlock/units"
	"interlock/world"
)

// Motion is what is being judged.
type Motion struct {
	Capability *contract.Capability
	Args       contract.Args
	ArgsJSON   string // canonical, for the failure record
	Mode       string // of the driver: "sim" or "hardware"
	StartedAt  units.Instant
	EndedAt    units.Instant // when the skill had no more setpoints; readings from before it do not count
	Phase      string        // the last one the skill named
	Attempt    int           // how often this call was tried in its task, this time included
	BudgetLeft int           // missions the task may still start

	DriverError string               // what the driver said went wrong, if anything
	Before      *world.FailureRecord // the failure of the same call before this one, if there was one
}

// ErrMotion says that a Motion cannot be judged: no capability, or an end before its start.
var ErrMotion = errors.New("verify: a motion needs a capability, and an end that is not before its start")

// State is what a Watch knows so far.
type State uint8

// The states of a watch. All but Pending are final.
const (
	Pending State = iota
	Succeeded
	Failed
	Unverified
)

// String returns the word for the state.
func (s State) String() string {
	switch s {
	case Pending:
		return "pending"
	case Succeeded:
		return "succeeded"
	case Failed:
		return "failed"
	case Unverified:
		return "unverified"
	}
	return "invalid"
}

// Result is a verdict and what it rests on.
type Result struct {
	State    State
	Evidence []world.Evidence     // one for each fact of each postcondition, as last read
	Failure  *world.FailureRecord // of a failed one
	Missing  []string             // of an unverified one: facts that were missing, stale or from before the end, sorted
	Unclear  []string             // of an unverified one: postconditions that were not decided, in the contract's order
}

// Watch judges one motion. It is used by one goroutine.
type Watch struct {
	motion Motion
	checks []check
	result Result
}

// check is one postcondition over time.
type check struct {
	condition *contract.Condition
	dwell     world.Dwell
	inputs    contract.Inputs
	outcome   contract.Outcome
	counted   world.Truth // the latest answer as far as its evidence is worth something

	falseInputs  contract.Inputs // what was last measured false, for the failure record
	falseOutcome contract.Outcome
}

// New returns the watch of a motion that has ended. A capability without a postcondition in this mode is unverified
// at once: nothing was measured.
func New(m Motion) (*Watch, error) {
	if m.Capability == nil || m.EndedAt.Before(m.StartedAt) {
		return nil, ErrMotion
	}
	w := &Watch{motion: m}
	for _, c := range m.Capability.Ensures {
		if c.InMode(m.Mode) {
			w.checks = append(w.checks, check{condition: c, dwell: world.Dwell{Start: m.EndedAt, Within: c.Within, Hold: c.Hold}})
		}
	}
	if len(w.checks) == 0 {
		w.result.State = Unverified
	}
	return w, nil
}

// Result returns what is known so far.
func (w *Watch) Result() Result { return w.result }

// Observe takes what is known now. Once the result is not pending it stays as it is.
func (w *Watch) Observe(s *world.Snapshot) Result {
	if w.result.State != Pending {
		return w.result
	}
	inputs := contract.Inputs{Args: w.motion.Args, World: s.Since(w.motion.StartedAt)}
	for i := range w.checks {
		w.checks[i].observe(inputs, w.motion.StartedAt)
	}
	w.decide(s.Now)
	return w.result
}

// observe evaluates one postcondition. True and false count only with evidence that is complete; the age that matters
// is that of the oldest reading.
func (c *check) observe(in contract.Inputs, startedAt units.Instant) {
	c.inputs, c.outcome, c.counted = in, c.condition.Eval(in), world.Unknown
	oldest := in.World.Now
	for i := range c.outcome.Evidence {
		e := &c.outcome.Evidence[i]
		e.StartedAtMS = startedAt.Millis()
		if e.Threshold == "" { // a flag or a region is held against no number: the condition itself is the bound
			e.Threshold = c.condition.That
		}
		f, ok := in.World.Fact(e.Fact)
		if !ok || !complete(*e) {
			c.dwell.Observe(in.World.Now, in.World.Now, world.Unknown)
			return
		}
		oldest = min(oldest, f.At)
	}
	if len(c.outcome.Evidence) > 0 && c.outcome.Err == nil {
		c.counted = c.outcome.Truth
	}
	if c.counted == world.False {
		c.falseInputs, c.falseOutcome = in, c.outcome
	}
	c.dwell.Observe(in.World.Now, oldest, c.counted)
}

// complete reports whether the evidence says who measured what, when, and against which bound of which condition.
func complete(e world.Evidence) bool {
	return e.Condition != "" && e.Fact != "" && e.Witness != "" && e.Observed != "" && e.Threshold != "" && e.AgeMS >= 0
}

// decide looks at all postconditions together.
func (w *Watch) decide(now units.Instant) {
	held, closed := 0, 0
	for i := range w.checks {
		switch w.checks[i].dwell.State() {
		case world.Held:
			held++
		case world.Refuted:
			w.conclude(Failed)
			w.result.Failure = w.failure(&w.checks[i], now)
			return
		case world.Undecided:
			closed++
		case world.Pending:
		}
	}
	switch {
	case held == len(w.checks):
		w.conclude(Succeeded)
	case held+closed == len(w.checks):
		w.conclude(Unverified)
		w.unclear()
	}
}

func (w *Watch) conclude(s State) {
	w.result.State = s
	for i := range w.checks {
		w.result.Evidence = append(w.result.Evidence, w.checks[i].outcome.Evidence...)
	}
}

// unclear names the postconditions nobody could decide, and the facts they lacked.
func (w *Watch) unclear() {
	for i := range w.checks {
		c := &w.checks[i]
		if c.dwell.State() == world.Held {
			continue
		}
		w.result.Unclear = append(w.result.Unclear, c.condition.ID)
		w.result.Missing = append(w.result.Missing, c.missing()...)
	}
	slices.Sort(w.result.Missing)
	w.result.Missing = slices.Compact(w.result.Missing)
}

// missing lists facts without a reading that counts: none, a stale one, or one from before the end of the motion.
func (c *check) missing() []string {
	names := slices.Clone(c.outcome.Missing)
	for _, e := range c.outcome.Evidence {
		if f, ok := c.inputs.World.Fact(e.Fact); ok && f.At.Before(c.dwell.Start) {
			names = append(names, e.Fact)
		}
	}
	return names
}
