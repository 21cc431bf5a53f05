package verify

import (
	"slices"

	"interlock/contract"
	"interlock/world"
)

// Violation is an invariant measured false.
type Violation struct {
	Rule        string
	OnViolation contract.OnViolation
	Cause       contract.Comparison
	Says        string
	Evidence    []world.Evidence
}

// Unmeasured is an invariant that could not be decided, and on how many ticks.
type Unmeasured struct {
	Rule    string
	Ticks   int
	Missing []string // facts that were missing or stale on the last of them
}

// Invariants checks the invariants of one motion tick by tick. One that is unknown does not stop the motion by itself
// (a camera may miss a frame); it is counted, and a contract that cannot do without a fact requires it fresh.
type Invariants struct {
	args       contract.Args
	conditions []*contract.Condition
	unmeasured []Unmeasured
	ticks      int
}

// NewInvariants returns the invariants of the capability that apply in the mode.
func NewInvariants(c *contract.Capability, args contract.Args, mode string) *Invariants {
	v := &Invariants{args: args}
	for _, condition := range c.Invariants {
		if condition.InMode(mode) {
			v.conditions = append(v.conditions, condition)
			v.unmeasured = append(v.unmeasured, Unmeasured{Rule: condition.ID})
		}
	}
	return v
}

// Observe returns every invariant that is false now, in the contract's order.
func (v *Invariants) Observe(s *world.Snapshot) []Violation {
	v.ticks++
	var found []Violation
	in := contract.Inputs{Args: v.args, World: s}
	for i, c := range v.conditions {
		truth, err := c.Truth(in)
		if truth == world.True && err == nil {
			continue
		}
		o := c.Eval(in)
		if o.Truth == world.False && o.Err == nil {
			found = append(found, Violation{Rule: c.ID, OnViolation: c.OnViolation, Cause: o.Cause, Says: c.Words(in, o), Evidence: o.Evidence})
			continue
		}
		v.unmeasured[i].Ticks++
		v.unmeasured[i].Missing = o.Missing
	}
	return found
}

// Ticks returns how often Observe was called.
func (v *Invariants) Ticks() int { return v.ticks }

// Unmeasured returns the invariants that were unknown at least once, in the contract's order.
func (v *Invariants) Unmeasured() []Unmeasured {
	return slices.DeleteFunc(slices.Clone(v.unmeasured), func(u Unmeasured) bool { return u.Ticks == 0 })
}
