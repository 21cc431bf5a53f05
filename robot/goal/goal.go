package goal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"interlock/contract"
	"interlock/reject"
	"interlock/units"
	"interlock/world"
)

// Goal is a condition on the world that decides a task. It does not change; Tighten returns another.
type Goal struct {
	contract  *contract.Contract
	conjuncts []*contract.Condition // the first is the goal as it was fixed
	objects   []string              // named by the first
}

// Fix compiles a goal over the contract's words. No text is no goal: nil and no rejection.
func Fix(c *contract.Contract, text string) (*Goal, reject.List) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	condition, l := compile(c, text)
	if len(l) > 0 {
		return nil, l
	}
	return newGoal(c, []*contract.Condition{condition}), nil
}

func newGoal(c *contract.Contract, conjuncts []*contract.Condition) *Goal {
	g := &Goal{contract: c, conjuncts: conjuncts}
	g.objects = slices.Clone(conjuncts[0].Objects())
	slices.Sort(g.objects)
	g.objects = slices.Compact(g.objects)
	return g
}

// compile refuses what the contract does not understand and what measures nothing.
func compile(c *contract.Contract, text string) (*contract.Condition, reject.List) {
	condition, err := c.Goal(text)
	if err != nil {
		return nil, refusals(err)
	}
	if len(condition.FactNames) == 0 {
		return nil, reject.List{reject.New(reject.Malformed, "the goal reads no fact, so nothing could be measured").In("goal").By("measures_nothing")}
	}
	return condition, nil
}

// refusals turns the problems of a goal into rejections; the rule is the problem's code.
func refusals(err error) (l reject.List) {
	var problems contract.Problems
	if !errors.As(err, &problems) || len(problems) == 0 {
		return reject.List{reject.New(reject.Malformed, err.Error()).In("goal")}
	}
	for _, p := range problems {
		says := p.Message
		if p.Hint != "" {
			says += " (" + p.Hint + ")"
		}
		l = append(l, reject.New(reject.Malformed, says).In("goal").By(p.Code))
	}
	return l
}

// Tighten returns the goal with one more conjunct. The licence stays what the goal as fixed made it.
func (g *Goal) Tighten(text string) (*Goal, reject.List) {
	condition, l := compile(g.contract, text)
	if len(l) > 0 {
		return g, l
	}
	return newGoal(g.contract, append(slices.Clone(g.conjuncts), condition)), nil
}

// Text returns the goal as written; conjuncts that were added follow in parentheses.
func (g *Goal) Text() string {
	if len(g.conjuncts) == 1 {
		return g.conjuncts[0].That
	}
	parts := make([]string, len(g.conjuncts))
	for i, c := range g.conjuncts {
		parts[i] = "(" + c.That + ")"
	}
	return strings.Join(parts, " && ")
}

// Hash returns the SHA-256 over the contract's hash and every conjunct, hex.
func (g *Goal) Hash() string {
	parts := []string{g.contract.Hash()}
	for _, c := range g.conjuncts {
		parts = append(parts, c.That)
	}
	return digest(parts...)
}

// Objects returns the labels the goal as fixed names, aliases resolved, sorted: those that may be manipulated.
func (g *Goal) Objects() []string { return slices.Clone(g.objects) }

// absent lists the objects the goal names that a fresh reading from start on does not show.
func (g *Goal) absent(s *world.Snapshot, start units.Instant) (labels []string) {
	for _, c := range g.conjuncts {
		for _, name := range c.FactNames {
			decl, _ := g.contract.Fact(name)
			f, fresh := s.Fresh(name, decl.MaxAge)
			if !fresh || f.Value.Kind != world.KindPoses || f.Witness != decl.Witness || f.At.Before(start) {
				continue
			}
			for _, label := range c.Objects() {
				shown := slices.ContainsFunc(f.Value.Objects, func(o world.Object) bool { return g.contract.Label(o.Label) == label })
				if !shown && !slices.Contains(labels, label) {
					labels = append(labels, label)
				}
			}
		}
	}
	return labels
}

// digest hashes the parts so that no two lists of parts read the same.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Truth returns whether the goal holds at this instant, with the evidence. It certifies nothing: a Watch does.
func (g *Goal) Truth(s *world.Snapshot) (world.Truth, []world.Evidence) {
	truth, evidence, _ := g.look(s)
	return truth, evidence
}

// look evaluates all conjuncts, and finds the time of the oldest reading. Without evidence there is no answer.
func (g *Goal) look(s *world.Snapshot) (truth world.Truth, evidence []world.Evidence, oldest units.Instant) {
	truth, oldest = world.True, s.Now
	for _, c := range g.conjuncts {
		o := c.Eval(contract.Inputs{World: s})
		if o.Err != nil || len(o.Evidence) == 0 {
			o.Truth = world.Unknown
		}
		truth = truth.And(o.Truth)
		for _, e := range o.Evidence {
			if f, ok := s.Fact(e.Fact); ok {
				oldest = min(oldest, f.At)
			}
			if e.Threshold == "" { // a flag or a region is held against no number: the condition itself is the bound
				e.Threshold = c.That
			}
			evidence = append(evidence, e)
		}
	}
	return truth, evidence, oldest
}

// Watch measures the goal over time, with the same dwell as a postcondition: readings from after its start, true
// within units.Within and then for units.Hold, on readings of different times.
type Watch struct {
	goal     *Goal
	dwell    world.Dwell
	evidence []world.Evidence
	absent   []string
}

// Watch begins to measure the goal at start; readings from before it do not count.
func (g *Goal) Watch(start units.Instant) *Watch {
	return &Watch{goal: g, dwell: world.Dwell{Start: start, Within: units.Within, Hold: units.Hold}}
}

// Observe takes what is known now. It returns the measured truth, and whether that is settled; until then it is unknown.
func (w *Watch) Observe(s *world.Snapshot) (truth world.Truth, settled bool) {
	if truth, settled = w.Truth(); settled {
		return truth, settled
	}
	answer, evidence, oldest := w.goal.look(s)
	w.evidence = evidence
	for i := range w.evidence {
		w.evidence[i].StartedAtMS = w.dwell.Start.Millis()
	}
	w.absent = w.goal.absent(s, w.dwell.Start)
	w.dwell.Observe(s.Now, oldest, answer)
	return w.Truth()
}

// Truth returns what is known so far.
func (w *Watch) Truth() (truth world.Truth, settled bool) {
	switch w.dwell.State() {
	case world.Held:
		return world.True, true
	case world.Refuted:
		return world.False, true
	case world.Undecided:
		return world.Unknown, true
	case world.Pending:
	}
	return world.Unknown, false
}

// Measurement returns what is known so far, with what it rests on.
func (w *Watch) Measurement() Measurement {
	truth, _ := w.Truth()
	return Measurement{Truth: truth, Evidence: slices.Clone(w.evidence), Absent: slices.Clone(w.absent)}
}
