package arm

import (
	"math"

	"interlock/units"
)

// Grasp is a planned grasp: three configurations of one hand posture and how the jaws go.
type Grasp struct {
	Above, At, Lift Joints
	JawOpenRad      float64
	PitchRad        float64 // below the horizontal, at the box
	JawYawRad       float64 // heading of the jaw axis
	// MissM is the largest distance of the tip from its points over the three heights, metres. Where no posture of the
	// hand was found it is what a position alone leaves, so that a caller can say how far away the box is.
	MissM float64
}

// Tolerances of a posture: at the box, and at the two heights above it.
const (
	atMissM       = 0.0008
	atPitchRad    = math.Pi / 180
	atJawRad      = 2 * math.Pi / 180
	heightMissM   = 0.003
	heightErrRad  = 2 * math.Pi / 180
	facesPitchRad = 85 * math.Pi / 180 // from this pitch on the jaws turn to the box's faces
	mostBiasRad   = 20 * math.Pi / 180 // below it they turn towards them at most this far
	mostSpinRad   = 45 * math.Pi / 180 // the hand does not turn further than this between the heights
	nearRadiusM   = 0.175              // nearer than this the hand is turned half round, or its camera mount hits the shoulder
	pitchSlackRad = 0.01 * math.Pi / 180
	// How far the wrist may be out of reach by the closed form for a tolerance to make up for it, metres: what the miss
	// allows and what the pitch does over the 16.5 cm from the wrist to the tip, and the spin between the heights over
	// the 12 mm of the tip beside the roll axis.
	atGapM     = 0.005
	heightGapM = 0.018
)

// pitchesDeg are the pitches tried for a grasp, steepest first; fallsDeg by how much the pitch may fall where a height
// is out of reach.
func pitchesDeg() [16]float64 {
	return [16]float64{90, 85, 80, 75, 70, 65, 60, 55, 50, 45, 40, 35, 30, 20, 10, 0}
}

func fallsDeg() [7]float64 { return [7]float64{0, 5, 10, 15, 20, 30, 40} }

// PlanGrasp plans how to take the box: the hand as steep as the reach allows, the jaws along a pair of faces or, with a
// flatter hand, across the arm turned up to 20° towards one, and the same posture at all three heights. approachDzM
// raises or lowers the height above. It reports false where no posture is found; MissM then says how far off the
// position alone stays.
func PlanGrasp(c *Chain, b Box, approachDzM float64) (Grasp, bool) {
	if !b.finite() || !units.Finite(approachDzM) {
		return Grasp{MissM: math.Inf(1)}, false
	}
	p := posture{chain: c, near: math.Hypot(b.Centre[0], b.Centre[1]) < nearRadiusM, tool: c.tip}
	p.above, p.at, p.lift = b.GraspPoints(approachDzM)
	for _, deg := range pitchesDeg() {
		pitch := units.RadFromDeg(deg)
		sides, n := p.sides(b, pitch)
		g, ok := p.plan(pitch, sides[:n])
		if ok {
			return g, true
		}
	}
	return Grasp{MissM: p.positionMissM()}, false
}

// side is one way to put the jaws: the heading of their axis, the tool point that is aimed at the middle, and the
// jaw's angle.
type side struct {
	jawRad  float64
	tool    units.Vec3
	openRad float64
}

// posture is the search for one hand posture at three points.
type posture struct {
	chain           *Chain
	above, at, lift units.Vec3
	tool            units.Vec3
	near            bool
}

// sides returns the ways the jaws may take the box at the pitch.
func (p *posture) sides(b Box, pitch float64) (sides [2]side, n int) {
	if pitch >= facesPitchRad-pitchSlackRad {
		for i := range 2 {
			s, ok := p.side(b, i, b.YawRad+float64(i)*math.Pi/2)
			if ok {
				sides[n], n = s, n+1
			}
		}
		return sides, n
	}
	across := p.acrossRad()
	turn := math.Remainder(b.YawRad-across, math.Pi/2)
	face := 0 // which level axis of the box the jaws then close along
	if math.Abs(math.Remainder(b.YawRad-across, math.Pi)) > math.Pi/4 {
		face = 1
	}
	s, ok := p.side(b, face, across+math.Max(-mostBiasRad, math.Min(mostBiasRad, turn)))
	if ok {
		sides[0], n = s, 1
	}
	return sides, n
}

// acrossRad returns the heading across the arm's plane at the point.
func (p *posture) acrossRad() float64 { return math.Pi/2 - p.chain.panTowards(p.at) }

// side fits the jaws to the edge of the box along one of its level axes: a wide one is taken off the tip's middle so
// that the fixed jaw keeps clear, and the jaw opens further. It reports false for what does not fit between the jaws.
func (p *posture) side(b Box, axis int, jawRad float64) (side, bool) {
	half := b.SizeM[axis] / 2
	s := side{jawRad: jawRad, tool: p.tool}
	s.tool[0] = math.Max(s.tool[0], fixedJawFaceM+fixedClearM+half)
	needM := s.tool[0] - fixedJawFaceM + half + movingClearM
	s.openRad = math.Max(JawGraspRad, jawAngleFor(needM))
	return s, s.openRad <= jawMostRad
}

// plan looks for the posture at one pitch.
func (p *posture) plan(pitch float64, sides []side) (Grasp, bool) {
	var best hand
	var bestSide side
	cost := math.Inf(1)
	for _, s := range sides {
		h, c := p.bestRoll(pitch, s)
		if c < cost {
			best, bestSide, cost = h, s, c
		}
	}
	if math.IsInf(cost, 1) {
		return Grasp{}, false
	}
	above, okAbove := p.keep(p.above, pitch, bestSide, best.joints)
	lift, okLift := p.keep(p.lift, pitch, bestSide, best.joints)
	if !okAbove || !okLift {
		return Grasp{}, false
	}
	return Grasp{Above: above.joints, At: best.joints, Lift: lift.joints, JawOpenRad: bestSide.openRad, PitchRad: pitch,
		JawYawRad: bestSide.jawRad, MissM: math.Max(best.missM, math.Max(above.missM, lift.missM))}, true
}

// bestRoll returns the solution at the box whose roll is nearest to +90°, or to −90° close to the base, and how far
// from it; infinitely far if there is none.
func (p *posture) bestRoll(pitch float64, s side) (best hand, cost float64) {
	cost = math.Inf(1)
	want := math.Pi / 2
	if p.near {
		want = -want
	}
	t := handTarget{point: p.at, tool: s.tool, pitchRad: pitch, jawRad: s.jawRad}
	for _, half := range [2]bool{false, true} {
		seed, gapM := p.chain.handSeed(&t, half)
		if gapM > atGapM {
			continue
		}
		h := p.chain.reachHand(&t, seed)
		if !(h.missM < atMissM && h.pitchErr < atPitchRad && h.jawErr < atJawRad) {
			continue
		}
		if d := math.Abs(h.joints[WristRoll] - want); d < cost {
			best, cost = h, d
		}
	}
	return best, cost
}

// keep returns the posture at another height, the pitch falling where it must.
func (p *posture) keep(point units.Vec3, pitch float64, s side, like Joints) (hand, bool) {
	for _, fall := range fallsDeg() {
		t := handTarget{point: point, tool: s.tool, pitchRad: pitch - units.RadFromDeg(fall), jawRad: s.jawRad}
		seed, gapM := p.chain.handSeed(&t, false)
		if math.Abs(seed[WristRoll]-like[WristRoll]) > math.Pi/2 {
			seed, gapM = p.chain.handSeed(&t, true)
		}
		if gapM > heightGapM {
			continue
		}
		h := p.chain.reachHand(&t, seed)
		if h.missM < heightMissM && h.pitchErr < heightErrRad && math.Abs(h.joints[WristRoll]-like[WristRoll]) <= mostSpinRad {
			return h, true
		}
	}
	return hand{}, false
}

// positionMissM is the largest miss of the position alone over the three points.
func (p *posture) positionMissM() float64 {
	miss := 0.0
	for _, point := range [3]units.Vec3{p.above, p.at, p.lift} {
		miss = math.Max(miss, Best(p.chain, point).MissM)
	}
	return miss
}
