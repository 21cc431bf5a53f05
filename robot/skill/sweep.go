package skill

import (
	"encoding/json"
	"fmt"
	"math"

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
	return blockedBy(b)
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

// obstruction is what a PATH_BLOCKED got: where the path first comes too near to something.
type obstruction struct {
	Part      string    `json:"part"`
	Other     string    `json:"other"`
	ClearMM   float64   `json:"clear_mm"` // negative: they overlap
	AfterS    float64   `json:"after_s"`  // since the start of the motion
	JointsRad []float64 `json:"joints_rad"`
}

func blockedBy(b arm.Blocked) *reject.Rejection {
	o := obstruction{Part: b.Part, Other: b.Other, ClearMM: rounded(units.MmFromMetres(b.ClearM), 10), AfterS: rounded(b.T.Seconds(), 1000)}
	for _, rad := range b.At {
		o.JointsRad = append(o.JointsRad, rounded(rad, 1e4))
	}
	got, _ := json.Marshal(o) // finite numbers and text always do
	near := fmt.Sprintf("comes within %.1f mm of", o.ClearMM)
	if o.ClearMM < 0 {
		near = fmt.Sprintf("goes %.1f mm into", -o.ClearMM)
	}
	says := fmt.Sprintf("on this path the %s %s %s after %.2f s, with the joints at %s rad", b.Part, near, named(b), o.AfterS, fmt.Sprint(o.JointsRad))
	r := reject.New(reject.PathBlocked, says).By(b.Rule).In("path").Saw(string(got), fmt.Sprint(units.MmFromMetres(b.LeastM)), "mm")
	return &r
}

func named(b arm.Blocked) string {
	if b.Rule == arm.MeetsKeepOut {
		return "the keep-out " + b.Other
	}
	return "the " + b.Other
}

func rounded(v, steps float64) float64 { return math.Round(v*steps) / steps }
