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

// Planner turns a judged call into a plan.
type Planner interface {
	// Fresh returns the kinematics for one judgement. Its solutions are kept and reused by Plan.
	Fresh() contract.Kinematics
	// Plan returns the plan, or why there is none (UNREACHABLE, NO_SUCH_OBJECT).
	Plan(PlanRequest, contract.Kinematics) (Plan, *reject.Rejection)
	// Skills lists the skill names it can plan.
	Skills() []string
}

// Licence says which objects the request allows to be manipulated. A nil Licence allows every object.
type Licence interface {
	Allows(object string) bool
}

// Standing is the robot's state as far as it bears on a call.
type Standing struct {
	Stopped    bool
	StopNumber uint64
	BusyWith   string    // mission that holds the resources; empty: none
	StartRad   []float64 // commanded joints, radians
}

// Call is one request as it came over the line.
type Call struct {
	Capability string
	Args       []byte // JSON as the caller wrote it
}

// Gate judges calls against one contract, as aligned with one opened driver. It is safe for concurrent use.
type Gate struct {
	contract  *contract.Contract
	alignment contract.Alignment
	planner   Planner
	off       bool
}

// New returns the gate of a contract.
func New(c *contract.Contract, a contract.Alignment, p Planner) *Gate {
	return &Gate{contract: c, alignment: a, planner: p}
}

// Cleared is a call that may run. Only Judge makes one; the zero value means "do not move".
type Cleared struct {
	capability *contract.Capability
	args       contract.Args
	argsJSON   []byte
	plan       Plan
	stopNumber uint64
}

// OK reports whether the value was made by Judge.
func (c Cleared) OK() bool { return c.capability != nil }

// Capability returns the verb; nil in the zero value.
func (c Cleared) Capability() *contract.Capability { return c.capability }

// Args returns the decoded arguments, bound names included.
func (c Cleared) Args() contract.Args { return c.args }

// ArgsJSON returns the arguments as canonical JSON: what is decided, logged and executed are these bytes.
func (c Cleared) ArgsJSON() []byte { return c.argsJSON }

// Plan returns the planned motion; nil for a read-only capability.
func (c Cleared) Plan() Plan { return c.plan }

// StopNumber returns the number of the last stop known when the call was judged; a motion captures it.
func (c Cleared) StopNumber() uint64 { return c.stopNumber }

// Judge decides whether the call may run now. Either the list is empty and the Cleared is good, or the list holds
// every fault of the first stage that found one and the Cleared is zero. The canonical arguments come back in both
// cases once the text could be decoded.
func (g *Gate) Judge(call Call, w *world.Snapshot, st Standing, lic Licence) (Cleared, reject.List) {
	j := judgement{gate: g, call: call, world: w, standing: st, licence: lic}
	for _, stage := range j.stages() {
		if l := stage(); len(l) > 0 {
			return Cleared{}, l
		}
	}
	return Cleared{capability: j.capability, args: j.args, argsJSON: strictjson.Canonical(j.node), plan: j.plan, stopNumber: st.StopNumber}, nil
}

// judgement is the state of one call on its way through the stages.
type judgement struct {
	gate       *Gate
	call       Call
	world      *world.Snapshot
	standing   Standing
	licence    Licence
	node       *strictjson.Node
	capability *contract.Capability
	args       contract.Args
	kinematics contract.Kinematics
	plan       Plan
}

func (j *judgement) stages() []func() reject.List {
	if j.gate.off {
		return []func() reject.List{j.decode, j.known, j.free, j.shape, j.bind, j.planned}
	}
	return []func() reject.List{j.decode, j.known, j.free, j.shape, j.compared, j.kinematic, j.licensed, j.approved}
}

// decode is stage 1.
func (j *judgement) decode() reject.List {
	src := j.call.Args
	node, r := strictjson.Parse(src, strictjson.DefaultLimits())
	if r != nil {
		return reject.List{*r}
	}
	if node.Kind != strictjson.Object {
		return reject.List{reject.New(reject.Malformed, "arguments must be a JSON object").In("arguments")}
	}
	j.node = node
	return nil
}

// known is stage 2.
func (j *judgement) known() reject.List {
	c := j.gate.contract.Capability(j.call.Capability)
	if c == nil {
		return reject.List{reject.New(reject.UnknownCapability, "this robot has no capability named "+quote(j.call.Capability)).In("capability")}
	}
	if why, gone := j.gate.alignment.Withdrawn[c.Name]; gone {
		return reject.List{reject.New(reject.NotPermitted, c.Name+" is not available in this configuration: "+why).In("capability")}
	}
	j.capability = c
	return nil
}

// free is stage 3: a stop refuses every motion; a running mission refuses a second one of the same resource.
func (j *judgement) free() reject.List {
	if j.capability.ReadOnly {
		return nil
	}
	if j.standing.Stopped {
		return reject.List{reject.New(reject.Stopped, "the robot is stopped; a person must reset it")}
	}
	if j.standing.BusyWith != "" && len(j.capability.Holds) > 0 {
		return reject.List{reject.New(reject.Busy, "mission "+j.standing.BusyWith+" is moving "+j.capability.Holds[0]).In("holds")}
	}
	return nil
}

// compared is stage 5: bound names, objects that must be in sight, and conditions that only compare.
func (j *judgement) compared() reject.List {
	l := j.bind()
	l = append(l, j.objectsSeen()...)
	if len(l) > 0 {
		return l
	}
	return j.conditions(false)
}

func (j *judgement) bind() reject.List {
	args, r := j.gate.contract.Bind(j.capability, j.args, j.world)
	if r != nil {
		return reject.List{*r}
	}
	j.args = args
	return nil
}

// objectsSeen refuses an object argument that the fresh reading of objects does not hold.
func (j *judgement) objectsSeen() (l reject.List) {
	for _, a := range j.capability.Args {
		v, given := j.args.Get(a.Name)
		if a.Type != contract.ArgObject || !given {
			continue
		}
		if r := j.seen(a.Name, v.Text); r != nil {
			l = append(l, *r)
		}
	}
	return l
}

func (j *judgement) seen(field, label string) *reject.Rejection {
	i := slices.IndexFunc(j.gate.contract.Facts, func(f contract.FactDecl) bool { return f.Kind == world.KindPoses })
	if i < 0 {
		r := reject.New(reject.StaleFact, "no sensor of this robot sees objects").In(field)
		return &r
	}
	decl := j.gate.contract.Facts[i]
	f, fresh := j.world.Fresh(decl.Name, decl.MaxAge)
	if !fresh {
		r := reject.New(reject.StaleFact, "the reading of "+decl.Name+" is missing or too old").In(decl.Name)
		return &r
	}
	labels := make([]string, 0, len(f.Value.Objects))
	for _, o := range f.Value.Objects {
		if o.Label == label {
			return nil
		}
		labels = append(labels, o.Label)
	}
	r := reject.New(reject.NoSuchObject, "no object named "+quote(label)+" found; visible objects: "+listed(labels)).In(field).Saw(quote(label), "", "")
	return &r
}

// kinematic is stage 6: conditions that need kinematics, then the plan.
func (j *judgement) kinematic() reject.List {
	if j.capability.ReadOnly {
		return nil
	}
	j.kinematics = j.gate.planner.Fresh()
	if l := j.conditions(true); len(l) > 0 {
		return l
	}
	return j.planned()
}

// planned makes the plan. A planner that finds none is a refusal.
func (j *judgement) planned() reject.List {
	if j.capability.ReadOnly {
		return nil
	}
	if j.kinematics == nil {
		j.kinematics = j.gate.planner.Fresh()
	}
	p, r := j.gate.planner.Plan(PlanRequest{Capability: j.capability, Args: j.args, World: j.world, StartRad: j.standing.StartRad}, j.kinematics)
	if r != nil {
		return reject.List{*r}
	}
	j.plan = p
	return nil
}

// conditions evaluates the hard preconditions of one of the two stages; soft ones wait for stage 8.
func (j *judgement) conditions(kinematic bool) (l reject.List) {
	for _, c := range j.capability.Requires {
		if c.NeedsKinematics != kinematic || !c.InMode(j.gate.alignment.Mode) {
			continue
		}
		if r := j.condition(c); r != nil && c.OnFalse != contract.FalseAsk {
			l = append(l, *r)
		}
	}
	return l
}

func (j *judgement) condition(c *contract.Condition) *reject.Rejection {
	in := contract.Inputs{Args: j.args, World: j.world, Kinematics: j.kinematics}
	o := c.Eval(in)
	switch o.Truth {
	case world.True:
		return nil
	case world.False:
		r := reject.New(c.Code, c.Words(in, o)).By(c.ID).In(fieldOf(c, j.capability)).Saw(o.Cause.Got, o.Cause.Limit, o.Cause.Unit)
		if !j.gate.contract.DiscloseBounds {
			r.Limit = ""
		}
		return &r
	case world.Unknown:
	}
	return undecided(c, o)
}

// undecided is a condition that could not be evaluated: a fact is missing or stale, or the evaluation failed.
func undecided(c *contract.Condition, o contract.Outcome) *reject.Rejection {
	if o.Err != nil {
		r := reject.New(reject.Condition, "condition "+c.ID+" could not be evaluated: "+o.Err.Error()).By(c.ID)
		return &r
	}
	r := reject.New(reject.StaleFact, "condition "+c.ID+" needs a fresh reading of "+listed(o.Missing)).By(c.ID)
	if len(o.Missing) > 0 {
		r = r.In(o.Missing[0])
	}
	return &r
}

// licensed is stage 7: an object the request does not name may not be changed.
func (j *judgement) licensed() (l reject.List) {
	if j.licence == nil {
		return nil
	}
	for _, name := range j.capability.Changes {
		if v, ok := j.args.Get(name); ok && !j.licence.Allows(v.Text) {
			l = append(l, reject.New(reject.NotLicensed, "the request does not allow "+quote(v.Text)+" to be changed").In(name).Saw(quote(v.Text), "", ""))
		}
	}
	return l
}

// approved is stage 8: a soft condition that does not hold needs a person.
func (j *judgement) approved() (l reject.List) {
	for _, c := range j.capability.Requires {
		if c.OnFalse != contract.FalseAsk || !c.InMode(j.gate.alignment.Mode) {
			continue
		}
		if r := j.condition(c); r != nil {
			l = append(l, reject.New(reject.NeedsApproval, r.Says).By(c.ID).In(r.Field).Saw(r.Got, r.Limit, r.Unit))
		}
	}
	return l
}
