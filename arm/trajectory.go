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
// of the largest joint move, and what the limits on joint and tip speed demand, rounded up to a millisecond. It
// reports false where an angle or a limit is not usable or the motion would last longer than an hour.
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
	peak := 0.0
	var f frames
	for k := range tipSamples {
		u := (float64(k) + 0.5) / tipSamples
		done := u * u * u * (10 + u*(-15+6*u))
		rate := u * u * (30 + u*(-60+30*u))
		var q Joints
		for i := range q {
			q[i] = from[i] + done*(to[i]-from[i])
		}
		c.forward(&q, c.tip, &f)
		var v units.Vec3
		for i := range q {
			v = v.Add(f.velocity(i).Scale(to[i] - from[i]))
		}
		peak = math.Max(peak, rate*v.Norm())
	}
	return peak
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
