package rule

import (
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	late "cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"interlock/reject"
	"interlock/units"
	"interlock/world"
)

// Condition is one compiled rule: a precondition, postcondition, invariant or goal. It is safe for concurrent use.
type Condition struct {
	ID              string
	That            string        // as written
	Code            reject.Code   // of the refusal when a precondition is false
	Within, Hold    time.Duration // of a postcondition: it must hold within, and then for
	OnFalse         OnFalse       // of a precondition
	OnViolation     OnViolation   // of an invariant
	Modes           []string      // empty: every mode
	NeedsKinematics bool
	FactNames       []string // the facts it reads, predicates looked through, sorted
	Line, Column    int

	Says string // what to tell when it is not true; see Words

	vocabulary *Vocabulary
	name       string // ID with the versions of the predicates used: "tip_at_target [at@1]"
	objects    []string
	bounds     []bound // for each of FactNames, what it is held against
	root       *term
}

// bound is the threshold an evidence names, and the unit it is in.
type bound struct{ threshold, unit string }

// InMode reports whether the condition applies in the mode.
func (c *Condition) InMode(mode string) bool { return InMode(c.Modes, mode) }

// Objects returns the labels named as literals where an object is meant, aliases resolved, in order of appearance.
func (c *Condition) Objects() []string { return c.objects }

// OnFalse is what a false precondition leads to, OnViolation what a violated invariant leads to.
type (
	OnFalse     string
	OnViolation string
)

// The closed lists; the first of each is the default.
const (
	FalseRefuse   OnFalse     = "refuse"
	FalseAsk      OnFalse     = "ask" // a person may allow it
	ViolationStop OnViolation = "stop"
	ViolationFail OnViolation = "fail"
)

// Compiled reports whether the condition can be evaluated.
func (c *Condition) Compiled() bool { return c.root != nil }

// Kinematics answers what a point of the workspace costs the arm. Its numbers are computed, never measured.
type Kinematics interface {
	// MissM returns how far the closest solution within the joint limits stays from the target, in metres.
	MissM(targetInFrame units.Vec3) float64
	// GraspMissM returns the largest miss over the heights a grasp of the object passes, in metres.
	GraspMissM(o world.Object) float64
}

// Inputs are what a condition is evaluated on. Without Kinematics the functions that need it are unknown.
type Inputs struct {
	Args       Args
	World      *world.Snapshot
	Kinematics Kinematics
}

// Outcome is what an evaluation found.
type Outcome struct {
	Truth    world.Truth
	Err      error            // an evaluation error; Truth is then unknown
	Missing  []string         // facts that are missing or stale
	Cause    Comparison       // unless true: the comparison that decided
	Evidence []world.Evidence // one for each fact read and fresh
}

// Comparison is one comparison of a condition, the measured side first. Got and Limit are JSON numbers, empty when
// unknown.
type Comparison struct {
	Text, Got, Limit, Unit, Op string
	Fact                       string // the fact compared; empty when only arguments are
}

// Truth evaluates without collecting evidence or causes: the fast path for what is checked every tick.
func (c *Condition) Truth(in Inputs) (world.Truth, error) {
	a := activation{vocabulary: c.vocabulary, in: in}
	return truth(c.root.program, &a)
}

// Always reports whether the condition is true whatever is measured: with no fact and no argument known it is true.
func (c *Condition) Always() bool {
	t, err := c.Truth(Inputs{})
	return err == nil && t == world.True
}

// Eval evaluates the condition on the inputs.
func (c *Condition) Eval(in Inputs) Outcome {
	a := activation{vocabulary: c.vocabulary, in: in}
	var o Outcome
	o.Truth, o.Err = truth(c.root.program, &a)
	c.observe(&a, &o)
	if o.Truth != world.True {
		o.Cause = c.root.cause(&a, o.Truth)
	}
	return o
}

// observe lists the facts read as evidence, or as missing.
func (c *Condition) observe(a *activation, o *Outcome) {
	for i, name := range c.FactNames {
		f, ok := a.fresh(name)
		if !ok {
			o.Missing = append(o.Missing, name)
			continue
		}
		if o.Evidence == nil {
			o.Evidence = make([]world.Evidence, 0, len(c.FactNames))
		}
		o.Evidence = append(o.Evidence, world.Evidence{
			Condition: c.name, Fact: name, Witness: f.Witness, SourceAtMS: f.At.Millis(), AgeMS: f.Age(a.in.World.Now).Milliseconds(),
			Observed: ValueJSON(f.Value), Unit: c.bounds[i].unit, Threshold: c.bounds[i].threshold,
		})
	}
}

// truth runs a program. What is neither true nor false nor unknown is an error.
func truth(p cel.Program, a *activation) (world.Truth, error) {
	v, _, err := p.Eval(a)
	switch b := v.(type) {
	case types.Bool:
		if b {
			return world.True, nil
		}
		return world.False, nil
	case *types.Unknown:
		return world.Unknown, nil
	}
	if err == nil {
		err = errNotABool
	}
	return world.Unknown, err
}

// activation resolves names of one evaluation. What has no fresh value is unknown, never an error.
type activation struct {
	vocabulary *Vocabulary
	in         Inputs
}

// fresh returns the declared fact if its reading is of the declared kind and no older than allowed.
func (a *activation) fresh(name string) (world.Fact, bool) {
	i, ok := a.vocabulary.facts[name]
	if !ok || a.in.World == nil {
		return world.Fact{}, false
	}
	d := &a.vocabulary.Facts[i]
	f, ok := a.in.World.Fresh(name, d.MaxAge)
	if !ok || f.Value.Kind != d.Kind || f.Witness != d.Witness {
		return world.Fact{}, false
	}
	f.Sigma = max(f.Sigma, d.Sigma)
	return f, true
}

// ResolveName implements cel.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	if arg, ok := strings.CutPrefix(name, "args."); ok {
		if v, given := a.in.Args.Get(arg); given {
			return toCEL(v, 0), true
		}
		return notGiven, true
	}
	if f, ok := a.fresh(name); ok {
		return toCEL(f.Value, f.Sigma), true
	}
	if _, declared := a.vocabulary.facts[name]; declared {
		return notMeasured, true
	}
	return nil, false
}

var (
	notGiven    = types.NewUnknown(0, types.NewAttributeTrail("an argument not given"))
	notMeasured = types.NewUnknown(0, types.NewAttributeTrail("a fact missing or stale"))
	noSolver    = types.NewUnknown(0, types.NewAttributeTrail("no kinematics"))
)

// Parent implements cel.Activation.
func (a *activation) Parent() cel.Activation { return nil }

// ResolveFunction implements cel.FunctionActivation for the functions that need kinematics.
func (a *activation) ResolveFunction(name string) (late.LateBoundOp, bool) {
	return func(_ string, args ...ref.Val) ref.Val {
		if a.in.Kinematics == nil {
			return noSolver
		}
		if name == "reach_mm" {
			return number(units.MmFromMetres(a.in.Kinematics.MissM(args[0].(point).at)), 0)
		}
		o, n := a.vocabulary.find(args[0].(poses), string(args[1].(types.String)))
		if n != 1 {
			return unseen
		}
		return number(units.MmFromMetres(a.in.Kinematics.GraspMissM(o)), 0)
	}, true
}
