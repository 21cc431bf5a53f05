package skill

import (
	"errors"
	"fmt"
	"time"

	"interlock/arm"
	"interlock/robot/gate"
)

// Plan is a planned motion of the arm.
type Plan struct {
	path   arm.Trajectory
	chain  *arm.Chain
	limits arm.SpeedLimits
	swept  func(arm.Trajectory) (arm.Blocked, bool) // nil in the lab
}

var _ gate.Plan = (*Plan)(nil)

// Duration returns how long the motion takes.
func (p *Plan) Duration() time.Duration { return p.path.Duration() }

// Path returns a copy of the plan's phases.
func (p *Plan) Path() arm.Trajectory { return append(arm.Trajectory(nil), p.path...) }

// Limits returns the speed limits that the plan keeps.
func (p *Plan) Limits() arm.SpeedLimits { return p.limits }

// Errors of Play and Back.
var (
	ErrNotCleared = errors.New("skill: nothing moves that the gate has not cleared")
	ErrNoWayBack  = errors.New("skill: no way back from there")
)

// Player plays one plan. It holds no time of its own: the caller says how long ago the motion started.
type Player struct {
	plan *Plan
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
func (p *Player) Next(elapsed time.Duration) (positionsRad []float64, phase string, done bool) {
	q, phase, _ := p.plan.path.At(elapsed)
	return q[:], phase, elapsed >= p.plan.Duration()
}

// Duration returns how long the motion takes.
func (p *Player) Duration() time.Duration { return p.plan.Duration() }

// Back returns a player that brings the arm from the commanded joints fromRad to where this motion started, within the
// same limits: what on_cancel: return_to_origin asks for. The jaw keeps its commanded angle. A way that is blocked is
// none.
func (p *Player) Back(fromRad []float64) (*Player, error) {
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
