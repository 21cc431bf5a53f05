package skill

import (
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/units"
	"interlock/world"
)

// Least durations of the phases of pick and place. With these every cube of the published grid is lifted and nothing
// touches the table; shorter travel overshoots, a shorter descent hits the table.
const (
	leastAbove = 800 * time.Millisecond
	leastDown  = 800 * time.Millisecond
	leastJaw   = 300 * time.Millisecond
	leastHold  = 100 * time.Millisecond
	leastLift  = 500 * time.Millisecond
)

// A hand lower than lowM goes straight up to clearM first, so that it sweeps nothing off the table on its way.
const (
	lowM   = 0.06
	clearM = 0.08
)

// pick takes the object named by the call: above it, down, close, hold, lift.
func (d *draft) pick() *reject.Rejection {
	field, label, given := d.argOf(contract.ArgObject)
	if !given {
		return refuse(reject.MissingArgument, "name", Pick+" needs the name of an object")
	}
	seen, refusal := d.objects()
	if refusal != nil {
		return refusal
	}
	o, refusal := object(seen, field, label)
	if refusal != nil {
		return refusal
	}
	dz, _ := d.request.Args.Get(approachArg)
	g, ok := d.graspOf(o, units.MetresFromCm(dz.Number))
	if !ok {
		return refuse(reject.Unreachable, field, "no posture of the hand takes "+label)
	}
	d.raise()
	d.to("above", leastAbove, g.Above.With(g.JawOpenRad))
	d.to("down", leastDown, g.At.With(g.JawOpenRad))
	d.to("close", leastJaw, g.At.With(arm.JawClosedRad))
	d.to("hold", leastHold, d.at)
	d.to("lift", leastLift, g.Lift.With(arm.JawClosedRad))
	return nil
}

// graspOf returns the grasp of the object; in the lab the last iterates of the position solver where there is none.
func (d *draft) graspOf(o world.Object, approachDzM float64) (arm.Grasp, bool) {
	box := arm.BoxOf(o.Pose, o.SizeM)
	g, ok := d.memo.grasp(box, approachDzM)
	if ok || d.planner.solver != DLSLast {
		return g, ok
	}
	above, at, lift := box.GraspPoints(approachDzM)
	a, b, c := d.memo.solve(above), d.memo.solve(at), d.memo.solve(lift)
	return arm.Grasp{Above: a.Joints, At: b.Joints, Lift: c.Joints, JawOpenRad: arm.JawGraspRad},
		units.Finite(a.MissM, b.MissM, c.MissM)
}

// raise adds a phase that lifts a low hand where it stands.
func (d *draft) raise() {
	tip := d.planner.chain.Tip(d.at.Joints())
	if tip[2] >= lowM {
		return
	}
	tip[2] = clearM
	s := arm.Near(d.planner.chain, tip, d.at.Joints())
	d.to("raise", arm.LeastMove, s.Joints.With(d.at[arm.Jaw]))
}
