package arm

import (
	"math"

	"interlock/units"
)

// Placement is a planned release of a held box: over the place, at the height where the jaws open, and back up.
type Placement struct {
	Above, At, Retreat Joints
	JawOpenRad         float64 // wide enough to let go, narrow enough not to sweep neighbours
	PitchRad           float64
	MissM              float64 // largest miss over the three heights, metres; infinite where no posture was found
}

const (
	dropM         = 0.004 // the box falls this far when the jaws open, so that it is never pressed down
	releaseClearM = 0.016 // by how much more than the box the jaws open
)

// PlanPlace plans how to set down a held box, of which sizeM are the full edges (along the jaw axis, across it, up),
// with its middle over the point and its bottom on it. The heading of the box is free: the jaws close across the arm.
// The box is taken to lie against the fixed jaw, where closing has dragged it, and to be held 2 mm below its centre.
func PlanPlace(c *Chain, onto, sizeM units.Vec3) (Placement, bool) {
	b := Box{Centre: onto.Add(units.Vec3{0, 0, sizeM[2] / 2}), SizeM: sizeM}
	openRad := jawAngleFor(sizeM[0] + releaseClearM)
	if !b.finite() || !(openRad <= jawMostRad) {
		return Placement{MissM: math.Inf(1)}, false
	}
	p := posture{chain: c, near: math.Hypot(onto[0], onto[1]) < nearRadiusM}
	p.tool = units.Vec3{fixedJawFaceM + sizeM[0]/2, c.tip[1], c.tip[2] + belowCentreM}
	p.at = b.Centre.Add(units.Vec3{0, 0, dropM})
	p.above = p.at.Add(units.Vec3{0, 0, aboveGraspM})
	p.lift = p.above
	for _, deg := range pitchesDeg() {
		s := [1]side{{jawRad: p.acrossRad(), tool: p.tool, openRad: openRad}}
		if g, ok := p.plan(units.RadFromDeg(deg), s[:]); ok {
			return Placement{Above: g.Above, At: g.At, Retreat: g.Lift, JawOpenRad: openRad, PitchRad: g.PitchRad, MissM: g.MissM}, true
		}
	}
	return Placement{MissM: math.Inf(1)}, false
}
