package skill

import (
	"errors"
	"fmt"
	"math"
	"time"

	"interlock/arm"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/units"
)

// Plan is a planned motion of the arm: a path, and after it what a source plays, where the verb has one.
type Plan struct {
	path   arm.Trajectory
	chain  *arm.Chain
	limits arm.SpeedLimits
	swept  func(arm.Trajectory) (arm.Blocked, bool) // nil in the lab
	source *registered                              // nil: the path is all
}

var _ gate.Plan = (*Plan)(nil)

// Duration returns how long the motion takes; with a source, how long at most.
func (p *Plan) Duration() time.Duration {
	if p.source != nil {
		return p.path.Duration() + p.source.is.Bound
	}
	return p.path.Duration()
}

// Path returns a copy of the plan's phases: all that is known before the arm moves.
func (p *Plan) Path() arm.Trajectory { return append(arm.Trajectory(nil), p.path...) }

// Limits returns the speed limits that the plan keeps.
func (p *Plan) Limits() arm.SpeedLimits { return p.limits }

// Errors of Play and Back.
var (
	ErrNotCleared = errors.New("skill: nothing moves that the gate has not cleared")
	ErrNoWayBack  = errors.New("skill: no way back from there")
)

// Player plays one plan. It holds no time of its own: the caller says how long ago the motion started. It is for one
// goroutine.
type Player struct {
	plan    *Plan
	playing *performance // of the plan's source, once it began
}

// Play returns the player of a cleared call. The zero Cleared, a call without a motion and a plan of another planner
// are errors, and none of them moves anything.
func Play(c gate.Cleared) (*Player, error) {
	if !c.OK() {
		return nil, ErrNotCleared
	}
	p, ok := c.Plan().(*Plan)
	if !ok {
		return nil, fmt.Errorf("skill: cannot play a plan of type %T", c.Plan())
	}
	if len(p.path) == 0 {
		return nil, errors.New("skill: the plan has no phases")
	}
	return &Player{plan: p}, nil
}

// Next returns where the joints should be at the time since the start, in radians in the driver's order, the phase
// that instant belongs to, and whether the motion has ended. From the end on the positions are exactly the plan's end.
// observedRad is what the encoders read now, for a source; it may be empty.
//
// While a source says nothing the positions stay, and Next takes no longer than a part of a tick. The error ends the
// motion: a reject.Rejection of a setpoint beyond the verb's limits, or a source that failed, fell silent or went past its
// bound.
func (p *Player) Next(elapsed time.Duration, observedRad []float64) (positionsRad []float64, phase string, done bool, err error) {
	q, phase, _ := p.plan.path.At(elapsed)
	after := elapsed - p.plan.path.Duration()
	if after < 0 || p.plan.source == nil {
		return q[:], phase, after >= 0, nil
	}
	if p.playing == nil {
		p.playing = p.plan.source.perform(q[:], p.plan.tooFast)
	}
	return p.playing.next(after, observedRad)
}

// speedSlack allows for rounding in a source's arithmetic.
const speedSlack = 1 + 1e-6

// tooFast refuses a source's setpoint that a tick cannot bring the arm to within the limits of the verb: the driver knows
// only the widest limits of all verbs. What are no six numbers is the driver's to refuse.
func (p *Plan) tooFast(fromRad, toRad []float64) error {
	from, ok1 := arm.ServosOf(fromRad)
	to, ok2 := arm.ServosOf(toRad)
	if !ok1 || !ok2 {
		return nil
	}
	for i := range to {
		if speed := math.Abs(to[i]-from[i]) / units.RobotTick.Seconds(); !(speed <= p.limits.JointRadS*speedSlack) {
			says := fmt.Sprintf("servo %d would move at %.3g rad/s, faster than this verb may", i, speed)
			return reject.New(reject.OutOfRange, says).By("joint_speed").In("positions_rad")
		}
	}
	speed := p.chain.Tip(to.Joints()).Distance(p.chain.Tip(from.Joints())) / units.RobotTick.Seconds()
	if !(speed <= p.limits.TipMPS*speedSlack) {
		says := fmt.Sprintf("the tip would move at %.3g m/s, faster than this verb may", speed)
		return reject.New(reject.OutOfRange, says).By("tip_speed").In("positions_rad")
	}
	return nil
}

// End ends what a source still does for this motion. It waits for nothing and may be called more than once.
func (p *Player) End() {
	if p.playing != nil {
		p.playing.end()
	}
}

// Duration returns how long the motion takes; with a source, how long at most.
func (p *Player) Duration() time.Duration { return p.plan.Duration() }

// Back ends this motion and returns a player that brings the arm from the commanded joints fromRad to where it started,
// within the same limits: what on_cancel: return_to_origin asks for. The jaw keeps its commanded angle. A way that is
// blocked is none.
func (p *Player) Back(fromRad []float64) (*Player, error) {
	p.End()
	from, ok := arm.ServosOf(fromRad)
	if !ok {
		return nil, ErrNoWayBack
	}
	origin := p.plan.path[0].From.Joints().With(from[arm.Jaw])
	s, ok := p.plan.chain.MinJerk(from, origin, arm.LeastMove, p.plan.limits)
	if !ok {
		return nil, ErrNoWayBack
	}
	back := &Plan{path: arm.Trajectory{{Name: "return", Segment: s}}, chain: p.plan.chain, limits: p.plan.limits, swept: p.plan.swept}
	if back.swept != nil {
		if _, blocked := back.swept(back.path); blocked {
			return nil, ErrNoWayBack
		}
	}
	return &Player{plan: back}, nil
}
