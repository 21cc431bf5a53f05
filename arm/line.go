package arm

import (
	"math"
	"time"

	"interlock/units"
)

// sampleM is how far any point of the arm goes at most between two samples of a line, metres. A capsule that passes
// another, or an edge, between two samples is nearer in the middle by no more than slackM.
const sampleM = 0.01

// slackM is what Line forgives of the least distances, metres: Sweep looks at other samples of the same path, so that
// what it let pass must pass here too. Between two of its samples a point strays strayM from their line.
const slackM = strayM

// Space is what the arm of a chain must not meet, for whoever sees a motion setpoint by setpoint. It does not change and
// may be used by several goroutines at once.
type Space struct {
	chain    *Chain
	keepOuts []KeepOut
}

// Space returns the space of the arm with these keep-outs; false where one of them has no volume.
func (c *Chain) Space(keepOuts ...KeepOut) (*Space, bool) {
	for i := range keepOuts {
		if !keepOuts[i].Valid() {
			return nil, false
		}
	}
	return &Space{chain: c, keepOuts: append([]KeepOut(nil), keepOuts...)}, true
}

// JointCount returns how many angles Line takes.
func (*Space) JointCount() int { return ServoCount }

// Line reports where the straight line of the joints from one configuration to another, gone through in the time over,
// first comes too near to the table, to the arm itself or to a keep-out: by the least distances of Sweep, less slackM. A
// line that starts too near may leave, never go nearer.
//
// It is followed beyond its end as far as the arm needs to come to rest there: what cannot stop at once must not be sent
// where it would have to.
//
// Angles that are not six finite numbers are blocked: nothing can be said about them.
func (s *Space) Line(fromRad, toRad []float64, over time.Duration) (Blocked, bool) {
	from, ok1 := ServosOf(fromRad)
	to, ok2 := ServosOf(toRad)
	if !ok1 || !ok2 {
		return Blocked{Rule: MeetsSelf, Part: "arm", Other: "arm", ClearM: math.NaN()}, true
	}
	w := sweep{chain: s.chain, keepOuts: s.keepOuts, allowed: leastM()}
	w.measure(&from)
	for k, n := range w.nearest {
		w.allowed[k] = min(w.allowed[k]-slackM, n.clearM)
	}
	whole := 1 + brakeShare(&from, &to, over)
	n := lineSamples(&from, &to, whole)
	for k := 1; k <= n; k++ {
		done := whole * float64(k) / float64(n)
		q := between(&from, &to, done)
		w.measure(&q)
		if b, blocked := w.nearer(done > 1); blocked {
			b.At, b.T = q, time.Duration(done*float64(over))
			return b, true
		}
	}
	return Blocked{}, false
}

// brakeRadS2 is how fast the joints can slow down, radians per second squared: what a min-jerk motion asks of a joint that
// goes 1 rad in half a second, which the servos follow without settling time. MinJerk asks no more of any joint, so that a
// path of such motions never needs more room to stop than it has left.
const brakeRadS2 = 4 * minJerkBrake

// brakeFrom is how long before the end of a line braking counts as begun. A setpoint knows only the mean speed over its
// line, which is that of the middle of a robot tick; half of that half is kept, since a servo overshoots.
const brakeFrom = units.RobotTick / 4

// brakeSlackM is what the room to brake is forgiven besides, metres: the mean speed over a line tells the speed at its end
// only roughly. Over the table nothing is forgiven: there a servo that overshoots needs it.
func brakeSlackM() [ruleCount]float64 {
	return [ruleCount]float64{onTable: 0, onSelf: 0.0005, onKeepOut: 0.0005}
}

// brakeShare returns how much further than the line the arm goes until it rests, as a part of the line. The jaw does not
// count: nothing depends on where it stops.
func brakeShare(from, to *Servos, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	speed := 0.0
	for i := range JointCount {
		speed = max(speed, math.Abs(to[i]-from[i])/over.Seconds())
	}
	onward := speed/(2*brakeRadS2) - min(over/2, brakeFrom).Seconds()
	return max(0, onward) / over.Seconds()
}

// lineSamples returns how many samples a line needs, followed for so much of its length, so that no point of the arm goes
// further than sampleM between two.
func lineSamples(from, to *Servos, whole float64) int {
	swing := 0.0
	for i, r := range swingM() {
		swing += math.Abs(to[i]-from[i]) * r
	}
	return min(mostSamples, int(math.Ceil(whole*swing/sampleM)))
}

func between(from, to *Servos, done float64) (q Servos) {
	for i := range q {
		q[i] = from[i] + done*(to[i]-from[i])
	}
	return q
}

// roundM is what rounding may make of a distance that stays the same, metres: so little that a line which ends nearer by
// it than it began, sent again and again, goes nowhere in a day.
const roundM = 1e-10

// nearer compares the nearest approaches with what is allowed, there or in the room to brake, and takes back what was
// granted to a start too near.
func (s *sweep) nearer(braking bool) (Blocked, bool) {
	least, forgiven := leastM(), [ruleCount]float64{}
	if braking {
		forgiven = brakeSlackM()
	}
	for k, n := range s.nearest {
		if !(n.clearM >= s.allowed[k]-forgiven[k]-roundM) {
			return s.blocked(k, n, least[k]), true
		}
		s.allowed[k] = max(s.allowed[k], min(n.clearM, least[k]-slackM))
	}
	return Blocked{}, false
}
