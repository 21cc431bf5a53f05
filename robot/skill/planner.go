package skill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/units"
)

// Solver says how positions are solved.
type Solver string

// The closed list of solvers.
const (
	// Best looks for the closest position there is, and judges a grasp by the posture that will be used.
	Best Solver = "best"
	// DLS is the published damped least squares; it judges a grasp by position alone at the published heights.
	DLS Solver = "dls"
	// DLSLast is DLS for the lab, where no condition refuses a miss: an object that no posture can take is
	// approached with the last iterates of the position solver.
	DLSLast Solver = "dls_last"
)

// Names of the skills, as a contract's `skill` spells them.
const (
	MoveTo       = "move_to"
	Home         = "home"
	Pick         = "pick"
	Place        = "place"
	OpenGripper  = "open_gripper"
	CloseGripper = "close_gripper"
)

// Names of arguments with a meaning of their own.
const (
	speedArg    = "speed_mps"      // may only tighten the capability's tip speed
	approachArg = "approach_dz_cm" // shifts the height above an object
)

// Planner plans the skills of one arm under one contract. It never changes and is safe for concurrent use; what one
// judgement solves is kept in the kinematics that Fresh returns.
type Planner struct {
	chain    *arm.Chain
	contract *contract.Contract
	solver   Solver
	keepOuts []arm.KeepOut
	gestures map[string]gesture // by skill
	sources  map[string]*registered
}

var _ gate.Planner = (*Planner)(nil)

// NewPlanner returns the planner of an SO-101 under the contract, whose paths keep out of the spaces given. An unknown
// solver, another model and a space without a volume are errors; a gesture that the servos cannot track is
// contract.Problems.
func NewPlanner(c *contract.Contract, solver Solver, keepOuts ...arm.KeepOut) (*Planner, error) {
	switch solver {
	case Best, DLS, DLSLast:
	default:
		return nil, fmt.Errorf("skill: unknown solver %q; known: %s, %s, %s", solver, Best, DLS, DLSLast)
	}
	if c.Model != "so101" {
		return nil, fmt.Errorf("skill: no kinematics for model %q; known: so101", c.Model)
	}
	for i := range keepOuts {
		if !keepOuts[i].Valid() {
			return nil, fmt.Errorf("skill: the keep-out %q needs finite corners, the first below the second", keepOuts[i].Name)
		}
	}
	p := &Planner{chain: arm.SO101(), contract: c, solver: solver, keepOuts: slices.Clone(keepOuts), gestures: map[string]gesture{}}
	if err := p.readGestures(); err != nil {
		return nil, err
	}
	return p, nil
}

// Skills lists the skills it can plan; gestures are those that the contract has a table for, policies those of its sources.
func (p *Planner) Skills() []string {
	list := []string{MoveTo, Home, Pick, Place, OpenGripper, CloseGripper}
	for _, g := range p.contract.Gestures {
		list = append(list, g.Skill)
	}
	return append(list, p.policies()...)
}

// Fresh returns the kinematics for one judgement, which remember what they solved.
func (p *Planner) Fresh() contract.Kinematics { return p.fresh() }

// Plan plans the request from the commanded joints in it. Solutions of the kinematics are used again where they come
// from Fresh; others are ignored.
func (p *Planner) Plan(r gate.PlanRequest, k contract.Kinematics) (gate.Plan, *reject.Rejection) {
	m, ok := k.(*memo)
	if !ok || m.planner != p {
		m = p.fresh()
	}
	d, refusal := p.draft(r, m)
	if refusal != nil {
		return nil, refusal
	}
	switch r.Capability.Skill {
	case MoveTo:
		refusal = d.moveTo()
	case Home:
		d.to("home", arm.LeastMove, arm.Home().With(d.at[arm.Jaw]))
	case Pick:
		refusal = d.pick()
	case Place:
		refusal = d.place()
	case OpenGripper:
		d.to("open", leastJaw, d.at.Joints().With(arm.JawOpenRad))
	case CloseGripper:
		d.to("close", leastJaw, d.at.Joints().With(arm.JawClosedRad))
	default:
		if g, known := p.gestures[r.Capability.Skill]; known {
			refusal = d.gesture(g)
			break
		}
		if name, policy := strings.CutPrefix(r.Capability.Skill, contract.PolicyPrefix); policy {
			refusal = d.policy(name)
			break
		}
		refusal = refuse(reject.NotPermitted, "skill", "no planner plays the skill "+strconv.Quote(r.Capability.Skill))
	}
	if refusal == nil && d.broken {
		refusal = refuse(reject.Unreachable, "limits", "no motion there within the speed limits can be made")
	}
	if refusal == nil {
		refusal = d.sweep()
	}
	if refusal != nil {
		return nil, refusal
	}
	plan := &Plan{path: d.path, chain: p.chain, limits: d.limits, source: d.source}
	if p.solver != DLSLast {
		plan.swept = p.swept
	}
	return plan, nil
}

// draft is a plan in the making.
type draft struct {
	planner *Planner
	request gate.PlanRequest
	memo    *memo
	limits  arm.SpeedLimits
	at      arm.Servos // where the plan so far ends
	path    arm.Trajectory
	broken  bool       // a segment could not be made
	target  units.Vec3 // of the tip, for a move
	source  *registered
}

// draft starts a plan at the commanded joints, within the capability's limits tightened by the call.
func (p *Planner) draft(r gate.PlanRequest, m *memo) (*draft, *reject.Rejection) {
	start, ok := arm.ServosOf(r.StartRad)
	if !ok {
		return nil, refuse(reject.StaleFact, "joints", "the commanded joints are not known")
	}
	limits := arm.SpeedLimits{JointRadS: r.Capability.Limits.JointSpeedRadS, TipMPS: r.Capability.Limits.TipSpeedMPS}
	if v, given := r.Args.Get(speedArg); given {
		if !(v.Number > 0) {
			got := strconv.FormatFloat(v.Number, 'g', -1, 64)
			refusal := reject.New(reject.OutOfRange, speedArg+" = "+got+" is no speed to move with").In(speedArg).Saw(got, "", "m/s")
			return nil, &refusal
		}
		limits.TipMPS = min(limits.TipMPS, v.Number)
	}
	return &draft{planner: p, request: r, memo: m, limits: limits, at: start}, nil
}

// to adds a phase that ends at the configuration and takes no less than least.
func (d *draft) to(phase string, least time.Duration, end arm.Servos) {
	s, ok := d.planner.chain.MinJerk(d.at, end, least, d.limits)
	d.broken = d.broken || !ok
	d.path = append(d.path, arm.Phase{Name: phase, Segment: s})
	d.at = end
}

// moveTo brings the tip to the point in the arguments; the jaw stays as commanded.
func (d *draft) moveTo() *reject.Rejection {
	for i, name := range [3]string{"x_cm", "y_cm", "z_cm"} {
		v, given := d.request.Args.Get(name)
		if !given {
			return refuse(reject.MissingArgument, name, MoveTo+" needs "+name)
		}
		d.target[i] = units.MetresFromCm(v.Number)
	}
	s := d.memo.solve(d.target)
	if !units.Finite(s.MissM) {
		return refuse(reject.Unreachable, "x_cm", "no joints bring the tip anywhere near the target")
	}
	d.to("move", arm.LeastMove, s.Joints.With(d.at[arm.Jaw]))
	return nil
}

func refuse(code reject.Code, field, says string) *reject.Rejection {
	r := reject.New(code, says).In(field)
	return &r
}
