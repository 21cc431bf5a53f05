package gate

import (
	"slices"
	"time"

	"interlock/contract"
	"interlock/internal/strictjson"
	"interlock/reject"
	"interlock/world"
)

// Explanation is one judgement told stage by stage. It clears nothing: only Judge makes a Cleared.
type Explanation struct {
	Stages   []Stage
	Refusals reject.List   // as Judge returns them; empty: the call would be cleared
	ArgsJSON []byte        // canonical arguments, aliases resolved; nil before they could be read
	Bound    contract.Args // arguments that nobody passed, bound by their predicates
	Takes    time.Duration // of the planned motion; 0: there is none
}

// StageState is how far a stage came.
type StageState string

// The closed list of states.
const (
	Passed     StageState = "passed"
	Refused    StageState = "refused"
	NotReached StageState = "not_reached" // an earlier stage refused
)

// Stage is one stage of a judgement.
type Stage struct {
	Number   int
	Name     string
	State    StageState
	Rules    []Rule
	Facts    []FactUse   // what the stage reads beside its rules
	Refusals reject.List // why it refused
}

// Rule is one condition that a stage evaluated.
type Rule struct {
	ID, That    string
	Soft        bool // a person may allow it where it is false
	Truth       world.Truth
	Err         string                // the evaluation failed
	Comparisons []contract.Comparison // every comparison with what both sides are now
	Facts       []FactUse
}

// FactUse is a reading that a decision rests on.
type FactUse struct {
	Name, Witness, Observed, Unit string // Observed is JSON
	Age, MaxAge                   time.Duration
	Fresh                         bool // known, and no older than MaxAge
}

// stageNames are the stages of a gate with every check, in order.
func stageNames() []string {
	return []string{
		"strict decode", "known, permitted, in scope", "stop and running motions", "shape and limits", "conditions that compare",
		"conditions that need kinematics, and the plan", "licence", "approval",
	}
}

// Explain judges the call as Judge does, with the same stages, and tells what each of them looked at. It moves nothing.
// Where the contract hides bounds, it names none. A gate without checks explains nothing but its refusals.
func (g *Gate) Explain(call Call, w *world.Snapshot, st Standing, lic Licence) Explanation {
	if w == nil {
		w = world.NewSnapshot(0, nil)
	}
	_, refusals := g.Judge(call, w, st, lic)
	e := Explanation{Refusals: refusals}
	if g.off || len(g.stages) == 0 {
		return e
	}
	j := judgement{gate: g, call: call, world: w, standing: st, licence: lic}
	state := Passed
	for i, stage := range g.stages {
		s := Stage{Number: i + 1, Name: stageNames()[i], State: NotReached}
		if state == Passed {
			given := len(j.args)
			s.Refusals = g.disclosed(stage(&j))
			if len(s.Refusals) > 0 {
				state = Refused
			}
			s.State = state
			j.tell(&s)
			if s.Number == comparingStage {
				e.Bound = slices.Clone(j.args[min(given, len(j.args)):])
			}
		}
		e.Stages = append(e.Stages, s)
	}
	if j.node != nil {
		e.ArgsJSON = strictjson.Canonical(j.node)
	}
	if j.plan != nil {
		e.Takes = j.plan.Duration()
	}
	return e
}

// The stages that evaluate conditions and predicates.
const (
	comparingStage = 5
	kinematicStage = 6
	licenceStage   = 7
)

// tell fills in what the stage evaluated.
func (j *judgement) tell(s *Stage) {
	switch s.Number {
	case comparingStage:
		if j.namesObjects() {
			for _, d := range j.gate.poses {
				s.Facts = append(s.Facts, j.use(d.Name))
			}
		}
		s.Rules = j.rules(false)
	case kinematicStage:
		s.Rules = j.rules(true)
	case licenceStage:
		s.Rules = j.changing()
	}
}

// namesObjects reports whether the capability is about objects, so that the stage looks for them.
func (j *judgement) namesObjects() bool {
	return len(j.capability.Binds) > 0 || slices.ContainsFunc(j.capability.Args, func(a contract.ArgDecl) bool {
		_, given := j.args.Get(a.Name)
		return a.Type == contract.ArgObject && given
	})
}

// rules evaluates the preconditions of one of the two stages once more and keeps everything they are made of.
func (j *judgement) rules(kinematic bool) (rules []Rule) {
	in := contract.Inputs{Args: j.args, World: j.world}
	if kinematic {
		in.Kinematics = j.solutions()
	}
	for _, c := range j.capability.Requires {
		if c.NeedsKinematics != kinematic || !c.InMode(j.gate.alignment.Mode) {
			continue
		}
		o := c.Eval(in)
		r := Rule{ID: c.ID, That: c.That, Soft: c.OnFalse == contract.FalseAsk, Truth: o.Truth, Comparisons: c.Comparisons(in)}
		if o.Err != nil {
			r.Err = o.Err.Error()
		}
		for _, name := range c.FactNames {
			r.Facts = append(r.Facts, j.use(name))
		}
		rules = append(rules, j.gate.undisclosed(r))
	}
	return rules
}

// changing tells which objects the predicates of `changes` may be true of; without a licence nobody asks.
func (j *judgement) changing() (rules []Rule) {
	if j.licence == nil {
		return nil
	}
	list, _ := j.gate.contract.Changing(j.capability, j.world)
	for _, c := range list {
		r := Rule{ID: c.Predicate, That: c.Predicate + "(" + quote(c.Object) + ")", Truth: c.Outcome.Truth}
		if c.Outcome.Err != nil {
			r.Err = c.Outcome.Err.Error()
		}
		for _, e := range c.Outcome.Evidence {
			r.Facts = append(r.Facts, j.use(e.Fact))
		}
		for _, name := range c.Outcome.Missing {
			r.Facts = append(r.Facts, j.use(name))
		}
		rules = append(rules, r)
	}
	return rules
}

// undisclosed takes the bounds out of a rule where the contract hides them.
func (g *Gate) undisclosed(r Rule) Rule {
	if g.contract.DiscloseBounds {
		return r
	}
	r.That, r.Comparisons = "", slices.Clone(r.Comparisons)
	for i := range r.Comparisons {
		r.Comparisons[i].Text, r.Comparisons[i].Limit = "", ""
	}
	return r
}

// use is a fact as it is known now.
func (j *judgement) use(name string) FactUse {
	d, _ := j.gate.contract.Fact(name)
	u := FactUse{Name: name, Witness: d.Witness, MaxAge: d.MaxAge}
	f, known := j.world.Fact(name)
	if !known || f.Witness != d.Witness || f.Value.Kind != d.Kind {
		return u
	}
	u.Age, u.Observed = f.Age(j.world.Now), contract.ValueJSON(f.Value)
	_, u.Fresh = j.world.Fresh(name, d.MaxAge)
	return u
}
