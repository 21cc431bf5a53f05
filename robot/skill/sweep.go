package skill

import (
	"interlock/arm"
	"interlock/reject"
	"interlock/units"
)

// sweep follows the drafted path past the table, the keep-outs and the arm itself. A move that is blocked is tried with
// the hand rolled otherwise, where the solver may choose. In the lab, where no condition refuses, nothing does here.
func (d *draft) sweep() *reject.Rejection {
	if d.planner.solver == DLSLast || d.broken {
		return nil
	}
	b, blocked := d.planner.swept(d.path)
	if !blocked || d.rolledFree() {
		return nil
	}
	r := b.Refusal()
	return &r
}

// swept follows a path past the table, the keep-outs and the arm.
func (p *Planner) swept(path arm.Trajectory) (arm.Blocked, bool) {
	return p.chain.Sweep(path, p.keepOuts)
}

// rolledFree draws the move again with another roll of the hand and keeps the first that is free.
func (d *draft) rolledFree() bool {
	if d.request.Capability.Skill != MoveTo || d.planner.solver != Best {
		return false
	}
	target, jaw, start := d.target, d.at[arm.Jaw], d.path[0].From
	for _, deg := range [...]float64{-90, 0, 45, 135, -45, -135} {
		s, ok := arm.AtRoll(d.planner.chain, target, units.RadFromDeg(deg))
		if !ok {
			continue
		}
		other := draft{planner: d.planner, request: d.request, memo: d.memo, limits: d.limits, at: start}
		other.to("move", arm.LeastMove, s.Joints.With(jaw))
		if other.broken {
			continue
		}
		if _, blocked := d.planner.swept(other.path); !blocked {
			d.at, d.path = other.at, other.path
			return true
		}
	}
	return false
}
