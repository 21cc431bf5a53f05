package gate

import (
	"cmp"
	"slices"
	"strings"

	"interlock/contract"
	"interlock/internal/strictjson"
	"interlock/reject"
	"interlock/world"
)

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
	asks       reject.List // what a person may allow: soft conditions that are false, objects outside the licence
	plan       Plan
	approval   string
}

// arguments is the field of a fault that concerns the arguments as a whole.
const arguments = "arguments"

// decode is stage 1.
func (j *judgement) decode() reject.List {
	node, r := strictjson.Parse(j.call.Args, strictjson.DefaultLimits())
	if r != nil {
		if r.Field = path(r.Field); r.Field == "" {
			r.Field = arguments
		}
		return reject.List{*r}
	}
	if node.Kind != strictjson.Object {
		return reject.List{reject.New(reject.Malformed, "the arguments must be a JSON object, got "+kindWord(node.Kind)).In(arguments).Saw(given(node), "", "")}
	}
	j.node = node
	return nil
}

// known is stage 2.
func (j *judgement) known() (l reject.List) {
	const field = "capability"
	c := j.gate.verbs[j.call.Capability]
	if c == nil {
		name := quote(j.call.Capability)
		return reject.List{reject.New(reject.UnknownCapability, "this robot has no capability named "+name+"; it has "+listed(j.offered())).In(field).Saw(name, "", "")}
	}
	why, gone := j.gate.alignment.Withdrawn[c.Name]
	if !gone && !c.InMode(j.gate.alignment.Mode) {
		why, gone = "it is not declared for this mode", true
	}
	if gone {
		l = append(l, reject.New(reject.NotPermitted, c.Name+" is not available in this configuration: "+why).In(field).Saw(quote(c.Name), "", ""))
	}
	if j.hidden(c) {
		l = append(l, reject.New(reject.NotInScope, c.Name+" is for a person to start").In(field).Saw(quote(c.Name), "", ""))
	}
	j.capability = c
	return l
}

// hidden reports whether the capability is not for this caller.
func (j *judgement) hidden(c *contract.Capability) bool {
	return c.Audience == contract.AudiencePerson && !j.call.Person
}

// offered lists the capabilities that this caller could name.
func (j *judgement) offered() (names []string) {
	for _, c := range j.gate.contract.Capabilities {
		if _, gone := j.gate.alignment.Withdrawn[c.Name]; !gone && c.InMode(j.gate.alignment.Mode) && !j.hidden(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// free is stage 3: a stop refuses every motion, and so do a motion that runs and a lease that another holds.
func (j *judgement) free() (l reject.List) {
	if j.capability.ReadOnly {
		return nil
	}
	if j.standing.Stopped {
		l = append(l, reject.New(reject.Stopped, "the robot is stopped; a person must reset it"))
	}
	if busy := j.standing.BusyWith; busy != "" {
		by, says := cmp.Or(j.standing.BusyHolder, busy), "mission "+quote(busy)+" is moving the "+strings.Join(j.capability.Holds, ", ")
		if by != busy {
			says += ", and " + quote(by) + " holds the robot"
		}
		l = append(l, reject.New(reject.Busy, says).In("holds").Saw(quote(by), "", ""))
	}
	return append(l, j.standing.Held...)
}

// compared is stage 5: bound names, objects that must be in sight, and conditions that only compare.
func (j *judgement) compared() reject.List {
	l := j.bind()
	l = append(l, j.objectsSeen()...)
	return j.conditions(l, false)
}

func (j *judgement) bind() reject.List {
	args, r := j.gate.contract.Bind(j.capability, j.args, j.world)
	if r != nil {
		return reject.List{*r}
	}
	j.args = args
	return nil
}

// kinematic is stage 6: conditions that need kinematics, then the plan.
func (j *judgement) kinematic() reject.List {
	if l := j.conditions(nil, true); len(l) > 0 {
		return l
	}
	return j.planned()
}

// planned makes the plan. A planner that finds none is a refusal.
func (j *judgement) planned() reject.List {
	if j.capability.ReadOnly {
		return nil
	}
	p, r := j.gate.planner.Plan(PlanRequest{Capability: j.capability, Args: j.args, World: j.world, StartRad: j.standing.StartRad}, j.solutions())
	switch {
	case r != nil:
		return reject.List{*r}
	case p == nil:
		return reject.List{reject.New(reject.Unreachable, "no plan was found for "+j.capability.Name).In("capability")}
	}
	if limit := j.capability.Timeout; p.Duration() > limit {
		r := reject.New(reject.Unreachable, "the motion takes "+num(p.Duration().Seconds())+" s, longer than "+j.capability.Name+" may take")
		return reject.List{r.By("timeout_s").In("capability").Saw(num(p.Duration().Seconds()), num(limit.Seconds()), "s")}
	}
	j.plan = p
	return nil
}

// solutions returns the kinematics of this judgement, the same for its conditions and its plan.
func (j *judgement) solutions() contract.Kinematics {
	if j.kinematics == nil {
		j.kinematics = j.gate.planner.Fresh()
	}
	return j.kinematics
}

// conditions evaluates the preconditions of one of the two stages and adds what they find to the faults so far. A soft
// one that is false waits for stage 8.
func (j *judgement) conditions(l reject.List, kinematic bool) reject.List {
	in := contract.Inputs{Args: j.args, World: j.world}
	blind := len(l) > 0 // an argument is not known, so that what rests on it is open for a reason already given
	for _, c := range j.capability.Requires {
		if c.NeedsKinematics != kinematic || !c.InMode(j.gate.alignment.Mode) {
			continue
		}
		if kinematic {
			in.Kinematics = j.solutions()
		}
		if t, err := c.Truth(in); t == world.True && err == nil {
			continue
		}
		o := c.Eval(in)
		switch {
		case o.Truth != world.False:
			if r := j.undecided(c, in, o); !blind || r.Code == reject.StaleFact && !names(l, r) {
				l = append(l, r)
			}
		case c.OnFalse == contract.FalseAsk:
			j.asks = append(j.asks, j.broken(reject.NeedsApproval, c, in, o))
		default:
			l = append(l, j.broken(c.Code, c, in, o))
		}
	}
	return l
}

// names reports whether the faults already name what the rejection does.
func names(l reject.List, r reject.Rejection) bool {
	return slices.ContainsFunc(l, func(k reject.Rejection) bool { return k.Code == r.Code && k.Field == r.Field })
}

// broken is a condition that is known to be false.
func (j *judgement) broken(code reject.Code, c *contract.Condition, in contract.Inputs, o contract.Outcome) reject.Rejection {
	return reject.New(code, c.Words(in, o)).By(c.ID).In(fieldOf(c, o, j.capability)).Saw(o.Cause.Got, o.Cause.Limit, o.Cause.Unit)
}

// undecided is a condition that could not be evaluated: a fact is missing or stale, the evaluation failed, or what is
// measured leaves it open.
func (j *judgement) undecided(c *contract.Condition, in contract.Inputs, o contract.Outcome) reject.Rejection {
	field := fieldOf(c, o, j.capability)
	switch {
	case o.Err != nil:
		return reject.New(reject.Condition, c.ID+" could not be evaluated: "+o.Err.Error()).By(c.ID).In(field)
	case len(o.Missing) > 0:
		return reject.New(reject.StaleFact, c.Words(in, o)).By(c.ID).In(o.Missing[0])
	}
	r := reject.New(reject.Condition, c.Words(in, o)).By(c.ID).In(field)
	r.Retry = reject.Later // the next reading may decide it
	return r
}

// fieldOf names what a false condition is about: the first argument in the comparison that decided, else the first in
// the whole condition, else the fact that was compared.
func fieldOf(c *contract.Condition, o contract.Outcome, capability *contract.Capability) string {
	for _, text := range []string{o.Cause.Text, c.That} {
		for _, a := range capability.Args {
			if mentions(text, "args."+a.Name) {
				return a.Name
			}
		}
		for _, b := range capability.Binds {
			if mentions(text, "args."+b.Arg) {
				return b.Arg
			}
		}
	}
	return o.Cause.Fact
}

// approved is stage 8: what a person may allow needs one who did.
func (j *judgement) approved() reject.List {
	if len(j.asks) == 0 {
		return nil
	}
	if j.standing.Approvals == nil {
		for i := range j.asks {
			j.asks[i].Retry = reject.AsChanged // nobody will ever allow this one
		}
		return j.asks
	}
	approval, ok := j.standing.Approvals.Approved(j.capability.Name, strictjson.Canonical(j.node), j.asks)
	if !ok {
		return j.asks
	}
	j.approval = approval
	return nil
}
