package arm

import (
	"math"
	"time"

	"interlock/units"
)

// SpeedLimits bound a motion. Both must be positive and finite.
type SpeedLimits struct {
	JointRadS float64 // of every servo, the jaw included, radians per second
	TipMPS    float64 // of the tip, metres per second
}

// Valid reports whether both limits are positive and finite.
func (l SpeedLimits) Valid() bool {
	return l.JointRadS > 0 && l.TipMPS > 0 && units.Finite(l.JointRadS, l.TipMPS)
}

// Least durations of a motion. At half a second per radian the servos follow without settling time, and the peak of
// 1.875 D/T is 215°/s; shorter than half a second the hand overshoots.
const (
	LeastMove      = 500 * time.Millisecond
	leastSPerRad   = 0.5
	minJerkPeak    = 1.875 // peak speed of a min-jerk motion over its mean speed
	minJerkBrake   = 5.774 // peak acceleration of a min-jerk motion over D/T²: 10/√3
	tipSamples     = 64
	tipMargin      = 1.005 // the fastest instant may lie between two samples
	longestSegment = time.Hour
)

// Segment is one min-jerk motion of all servos between two configurations at rest, a straight line in joint space:
// s = 10τ³ − 15τ⁴ + 6τ⁵ of the way at τ = t/T.
type Segment struct {
	From, To Servos
	T        time.Duration
}

// At returns the configuration at time t since the start. Before the start it is From, from T on it is exactly To.
func (s Segment) At(t time.Duration) Servos {
	if t <= 0 && s.T > 0 {
		return s.From
	}
	if t >= s.T {
		return s.To
	}
	u := float64(t) / float64(s.T)
	done := u * u * u * (10 + u*(-15+6*u))
	q := s.From
	for i := range q {
		low, high := min(s.From[i], s.To[i]), max(s.From[i], s.To[i])
		q[i] = max(low, min(high, q[i]+done*(s.To[i]-s.From[i]))) // rounding must not leave the joint's range
	}
	return q
}

// MinJerk returns the motion from one configuration to another that takes no less than least, half a second per radian
// of the largest joint move, what lets the joints slow down no faster than brakeRadS2, and what the limits on joint and
// tip speed demand, rounded up to a millisecond. It reports false where an angle or a limit is not usable or the motion
// would last longer than an hour.
func (c *Chain) MinJerk(from, to Servos, least time.Duration, limits SpeedLimits) (Segment, bool) {
	if !limits.Valid() || !units.Finite(from[:]...) || !units.Finite(to[:]...) {
		return Segment{}, false
	}
	largest, largestJoint := 0.0, 0.0
	for i := range from {
		d := math.Abs(to[i] - from[i])
		largest = math.Max(largest, d)
		if i != Jaw {
			largestJoint = math.Max(largestJoint, d)
		}
	}
	seconds := math.Max(least.Seconds(), leastSPerRad*largestJoint)
	seconds = math.Max(seconds, math.Sqrt(minJerkBrake*largestJoint/brakeRadS2))
	seconds = math.Max(seconds, minJerkPeak*largest/limits.JointRadS)
	seconds = math.Max(seconds, tipMargin*c.peakTip(from, to)/limits.TipMPS)
	if !(seconds <= longestSegment.Seconds()) {
		return Segment{}, false
	}
	ms := math.Ceil(seconds*1000 - 1e-9)
	return Segment{From: from, To: to, T: time.Duration(ms) * time.Millisecond}, true
}

// PeakTipMPS returns the largest tip speed of the motion as sampled, metres per second; 0 for one without duration.
func (c *Chain) PeakTipMPS(s Segment) float64 {
	if s.T <= 0 {
		return 0
	}
	return c.peakTip(s.From, s.To) / s.T.Seconds()
}

// PeakJointRadS returns the largest speed of any servo in the motion, radians per second.
func (s Segment) PeakJointRadS() float64 {
	largest := 0.0
	for i := range s.From {
		largest = math.Max(largest, math.Abs(s.To[i]-s.From[i]))
	}
	if s.T <= 0 {
		return 0
	}
	return minJerkPeak * largest / s.T.Seconds()
}

// peakTip returns the largest tip speed if the motion took one second.
func (c *Chain) peakTip(from, to Servos) float64 {
	m := c.tipMotion(from, to)
	peak := 0.0
	for k := range tipSamples {
		u := (float64(k) + 0.5) / tipSamples
		rate := u * u * (30 + u*(-60+30*u))
		peak = math.Max(peak, rate*m.speed(u*u*u*(10+u*(-15+6*u))))
	}
	return peak
}

// tipMotion is a straight line in joint space as the arm's plane sees it: where it starts, and how far each angle goes.
type tipMotion struct {
	plane            *plane
	tip              units.Vec3 // in the stretched gripper: along, lateral, normal at no roll
	slopes, turns    [3]float64 // of the two bars and the hand
	roll, rolls, pan float64    // roll at the start; how far roll and pan go
}

func (c *Chain) tipMotion(from, to Servos) tipMotion {
	m := tipMotion{plane: &c.plane, tip: c.stretched.Apply(c.tip), roll: from[WristRoll], rolls: to[WristRoll] - from[WristRoll], pan: to[Pan] - from[Pan]}
	slope, turn := 0.0, 0.0
	for i, j := range [3]int{Lift, Elbow, WristFlex} {
		slope, turn = slope+from[j], turn+to[j]-from[j]
		m.slopes[i], m.turns[i] = slope, turn
	}
	for i := range m.plane.bars {
		m.slopes[i] += m.plane.bars[i].slope
	}
	return m
}

// speed returns how far the tip moves per part of the way, at the part that is done, metres.
func (m *tipMotion) speed(done float64) float64 {
	p := m.plane
	sin, cos := math.Sincos(m.roll + done*m.rolls)
	along, normal, side := p.along+m.tip[0], p.normal+m.tip[2]*cos-m.tip[1]*sin, p.side+m.tip[1]*cos+m.tip[2]*sin
	normalRate, sideRate := -m.rolls*(side-p.side), m.rolls*(normal-p.normal)
	sin, cos = math.Sincos(m.slopes[2] + done*m.turns[2])
	x, z := along*cos+normal*sin, normal*cos-along*sin // of the tip from the wrist axis
	radial := p.lift[0] + x
	xRate, zRate := m.turns[2]*z+normalRate*sin, -m.turns[2]*x+normalRate*cos
	for i := range p.bars {
		sin, cos = math.Sincos(m.slopes[i] + done*m.turns[i])
		x, z = p.bars[i].length*cos, -p.bars[i].length*sin
		radial += x
		xRate += m.turns[i] * z
		zRate -= m.turns[i] * x
	}
	xRate += m.pan * side // the plane turns by -pan
	sideRate -= m.pan * radial
	return math.Sqrt(xRate*xRate + sideRate*sideRate + zRate*zRate)
}

// Phase is one named part of a trajectory.
type Phase struct {
	Name string
	Segment
}

// Trajectory is a sequence of phases, each starting where the one before it ends.
type Trajectory []Phase

// Duration returns how long all phases take.
func (tr Trajectory) Duration() (d time.Duration) {
	for _, p := range tr {
		d += p.T
	}
	return d
}

// At returns the configuration and the name of the phase at time t since the start. From the end on it is exactly the
// end of the last phase. An empty trajectory has no configuration and reports false.
func (tr Trajectory) At(t time.Duration) (Servos, string, bool) {
	for i, p := range tr {
		if t < p.T || i == len(tr)-1 {
			return p.At(t), p.Name, true
		}
		t -= p.T
	}
	return Servos{}, "", false
}

// End returns where the last phase ends; false for an empty trajectory.
func (tr Trajectory) End() (Servos, bool) {
	if len(tr) == 0 {
		return Servos{}, false
	}
	return tr[len(tr)-1].To, true
}
