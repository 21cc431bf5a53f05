package arm

import (
	"math"

	"interlock/units"
)

// plane is the chain as it looks in the arm's own plane. Pan turns that plane about a vertical axis; lift, elbow and
// wrist flex turn three bars in it about parallel axes; roll turns the tool about the third bar. In it, radial counts
// outwards from the pan axis, up from the table, and lateral to the left of the plane. All of it follows from the links
// and is worked out once.
type plane struct {
	pan    [2]float64 // the pan axis in the base frame: x, y
	lift   [2]float64 // the lift axis: radial, up
	bars   [2]bar     // lift to elbow, elbow to wrist
	along  float64    // from the wrist axis to the origin of the roll joint
	normal float64    // of the roll axis: in the plane, up for a level hand
	side   float64    // of the roll axis: lateral
	near   float64    // least distance of the wrist axis from the lift axis within the elbow's range
	far    float64    // largest distance
}

// bar is one link in the plane: its length and by how much it slopes down with all joints at zero.
type bar struct{ length, slope float64 }

func newPlane(c *Chain) (p plane) {
	var f frames
	c.forward(&Joints{}, units.Vec3{}, &f)
	o := &f.origins
	p.pan = [2]float64{o[Pan][0], o[Pan][1]}
	p.lift = [2]float64{o[Lift][0] - p.pan[0], o[Lift][2]}
	for i := range p.bars {
		x, z := o[Elbow+i][0]-o[Lift+i][0], o[Elbow+i][2]-o[Lift+i][2]
		p.bars[i] = bar{math.Hypot(x, z), math.Atan2(-z, x)}
	}
	wrist, roll := o[WristFlex], o[WristRoll]
	p.along, p.normal, p.side = roll[0]-wrist[0], roll[2]-wrist[2], roll[1]-p.pan[1]
	limits := c.limits[Elbow]
	at := func(elbow float64) float64 { return p.span(math.Cos(p.bars[1].slope + elbow - p.bars[0].slope)) }
	p.near, p.far = math.Min(at(limits.MinRad), at(limits.MaxRad)), p.bars[0].length+p.bars[1].length
	return p
}

// span is how far the wrist axis is from the lift axis for the cosine of the angle between the bars.
func (p *plane) span(cos float64) float64 {
	a, b := p.bars[0].length, p.bars[1].length
	return math.Sqrt(a*a + b*b + 2*a*b*cos)
}

// tool is a point of the gripper body as the plane sees it at one roll: along the roll axis from the wrist axis, normal
// to it in the plane, and lateral.
type tool struct{ along, normal, side float64 }

// rolled returns a direction of the gripper body at the roll: its parts along the hand, normal and lateral.
func (c *Chain) rolled(v units.Vec3, roll float64) (along, normal, side float64) {
	t := c.stretched.Apply(v)
	sin, cos := math.Sincos(roll)
	return t[0], t[2]*cos - t[1]*sin, t[1]*cos + t[2]*sin
}

// toolAt returns the point, given in the gripper body, at the roll.
func (c *Chain) toolAt(point units.Vec3, roll float64) tool {
	along, normal, side := c.rolled(point, roll)
	return tool{c.plane.along + along, c.plane.normal + normal, c.plane.side + side}
}

// heading returns the heading of the arm's plane in which a point with the lateral offset lies over (x, y), and the
// radial distance there; over the back it is negative. A point nearer to the pan axis than the offset has none; then
// it is the nearest.
func (p *plane) heading(x, y, side float64, back bool) (headingRad, radial float64) {
	x, y = x-p.pan[0], y-p.pan[1]
	r2 := x*x + y*y
	radial = math.Sqrt(math.Max(0, r2-side*side))
	if back {
		radial = -radial
	}
	return math.Atan2(y, x) - math.Atan2(side, radial), radial
}

// project returns how far outwards (x, y) lies in the plane of the heading.
func (p *plane) project(x, y, headingRad float64) float64 {
	sin, cos := math.Sincos(headingRad)
	return (x-p.pan[0])*cos + (y-p.pan[1])*sin
}

// panRad turns a heading of the plane into the angle of the pan, within half a turn.
func panRad(headingRad float64) float64 { return wrapped(-headingRad) }

// wrapped returns the angle within half a turn of zero.
func wrapped(rad float64) float64 {
	switch {
	case rad > math.Pi:
		rad -= 2 * math.Pi
	case rad <= -math.Pi:
		rad += 2 * math.Pi
	default:
		return rad
	}
	if rad > math.Pi || rad <= -math.Pi {
		return math.Remainder(rad, 2*math.Pi)
	}
	return rad
}

// fold is one way to bring the wrist axis to a place in the plane: the angles of lift, elbow and wrist flex.
type fold struct{ lift, elbow, wrist float64 }

// folds returns both ways to bring the wrist axis to (x, z) from the lift axis with the hand pitched down by pitchRad:
// the elbow up and the elbow down. A place out of reach is approached straight.
func (p *plane) folds(x, z, pitchRad float64) (up, down fold) {
	a, b := p.bars[0].length, p.bars[1].length
	d2 := x*x + z*z
	cos := math.Max(-1, math.Min(1, (d2-a*a-b*b)/(2*a*b)))
	between := math.Acos(cos)
	slope := math.Atan2(-z, x)
	lean := math.Atan2(b*math.Sqrt(1-cos*cos), a+b*cos)
	return p.folded(slope-lean, between, pitchRad), p.folded(slope+lean, -between, pitchRad)
}

// folded returns the joints for the slope of the first bar, the angle from it to the second, and the pitch.
func (p *plane) folded(slope, between, pitchRad float64) (f fold) {
	f.lift = wrapped(slope - p.bars[0].slope)
	f.elbow = wrapped(between + p.bars[0].slope - p.bars[1].slope)
	f.wrist = wrapped(pitchRad - f.lift - f.elbow)
	return f
}
