package gate

import (
	"slices"
	"time"

	"interlock/contract"
	"interlock/internal/strictjson"
	"interlock/reject"
	"interlock/world"
)

// Plan is a planned motion. What it holds is the planner's own affair.
type Plan interface {
	// Duration is how long the motion takes.
	Duration() time.Duration
}

// PlanRequest is what a planner plans from.
type PlanRequest struct {
	Capability *contract.Capability
	Args       contract.Args
	World      *world.Snapshot
	StartRad   []float64 // the commanded joints now, radians
}

// Planner turns a judged call into a plan. It is safe for concurrent use.
type Planner interface {
	// Fresh returns the kinematics for one judgement. Its solutions are kept and reused by Plan.
	Fresh() contract.Kinematics
	// Plan returns the plan, or why there is none (UNREACHABLE, NO_SUCH_OBJECT).
	Plan(PlanRequest, contract.Kinematics) (Plan, *reject.Rejection)
	// Skills lists the skill names it can plan.
	Skills() []string
}

// Licence says which objects the request allows to be manipulated. A nil Licence allows every object.
//
// Allows is asked of the empty label too: it stands for whatever may be there and is not seen.
type Licence interface {
	// Allows reports whether the object of this label (the vocabulary's, aliases resolved) may be changed.
	Allows(object string) bool
}

// Standing is the robot's state as far as it bears on a call.
type Standing struct {
	Stopped    bool
	StopNumber uint64
	BusyWith   string      // mission that moves the robot; empty: none
	BusyHolder string      // who holds what it moves, as others may be told; empty: the mission itself
	StartRad   []float64   // commanded joints, radians
	Held       reject.List // why the caller may not move what the capability holds: another's lease, or one that is not good
	Approvals  Approvals   // what persons allowed; nil: there is nobody to ask
}

// Approvals says whether a person let an act pass.
type Approvals interface {
	// Approved is asked of a call that only lacks a person's word, with its canonical arguments and every reason why it
	// needs one. It returns what names the approval.
	Approved(capability string, argsJSON []byte, because reject.List) (approval string, ok bool)
}

// Call is one request as it came over the line.
type Call struct {
	Capability string
	Args       []byte // JSON as the caller wrote it; must not change while it is judged
	Person     bool   // from a person's own surface; what is offered to persons only is out of scope for others
}

// Gate judges calls against one contract, as aligned with one opened driver. It is safe for concurrent use. The zero
// value refuses everything.
type Gate struct {
	contract  *contract.Contract
	alignment contract.Alignment
	planner   Planner
	verbs     map[string]*contract.Capability
	poses     []contract.FactDecl // the facts in which objects are seen, in this mode
	stages    []func(*judgement) reject.List
	off       bool
}

// New returns the gate of a contract, with every check.
func New(c *contract.Contract, a contract.Alignment, p Planner) *Gate {
	g := &Gate{contract: c, alignment: a, planner: p, verbs: make(map[string]*contract.Capability, len(c.Capabilities))}
	for _, k := range c.Capabilities {
		g.verbs[k.Name] = k
	}
	for _, f := range c.Facts {
		if f.Kind == world.KindPoses && (len(f.Modes) == 0 || slices.Contains(f.Modes, a.Mode)) {
			g.poses = append(g.poses, f)
		}
	}
	g.stages = []func(*judgement) reject.List{
		(*judgement).decode, (*judgement).known, (*judgement).free, (*judgement).shape,
		(*judgement).compared, (*judgement).kinematic, (*judgement).licensed, (*judgement).approved,
	}
	return g
}

// Cleared is a call that may run. Only Judge makes one; the zero value means "do not move".
type Cleared struct {
	capability *contract.Capability
	args       contract.Args
	argsJSON   []byte
	plan       Plan
	stopNumber uint64
	approval   string
}

// OK reports whether the value was made by Judge.
func (c Cleared) OK() bool { return c.capability != nil }

// Capability returns the verb; nil in the zero value.
func (c Cleared) Capability() *contract.Capability { return c.capability }

// Args returns the decoded arguments, aliases resolved and bound names included. They must not be changed.
func (c Cleared) Args() contract.Args { return c.args }

// ArgsJSON returns the arguments as canonical JSON, aliases resolved and bound names left out: what is decided, logged
// and executed are these bytes, and judging them again gives the same. They must not be changed.
func (c Cleared) ArgsJSON() []byte { return c.argsJSON }

// Plan returns the planned motion; nil for a read-only capability.
func (c Cleared) Plan() Plan { return c.plan }

// StopNumber returns the number of the last stop known when the call was judged; a motion captures it.
func (c Cleared) StopNumber() uint64 { return c.stopNumber }

// Approval names what a person allowed, without which the call would have been refused; empty: it needed nobody.
func (c Cleared) Approval() string { return c.approval }

// Judge decides whether the call may run now. Either the list is empty and the Cleared is good, or the list holds
// every fault of the first stage that found one and the Cleared is zero. Without a snapshot nothing is known.
func (g *Gate) Judge(call Call, w *world.Snapshot, st Standing, lic Licence) (Cleared, reject.List) {
	if w == nil {
		w = world.NewSnapshot(0, nil)
	}
	j := judgement{gate: g, call: call, world: w, standing: st, licence: lic}
	for _, stage := range g.stages {
		if l := stage(&j); len(l) > 0 {
			return Cleared{}, g.disclosed(l)
		}
	}
	if j.capability == nil {
		return Cleared{}, reject.List{reject.New(reject.NotPermitted, "this gate has no contract").In("capability")}
	}
	return Cleared{
		capability: j.capability, args: j.args, argsJSON: strictjson.Canonical(j.node), plan: j.plan, stopNumber: st.StopNumber, approval: j.approval,
	}, nil
}

// disclosed takes the limits out of refusals where the contract hides bounds, whoever wrote them.
func (g *Gate) disclosed(l reject.List) reject.List {
	if !g.contract.DiscloseBounds {
		for i := range l {
			l[i].Limit = ""
		}
	}
	return l
}
