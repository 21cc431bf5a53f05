package guard

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"interlock/body"
	"interlock/reject"
	"interlock/units"
)

// Limits bound how fast a motion may be.
type Limits struct {
	TipSpeedMPS    float64 // of the tip, metres a second
	JointSpeedRadS float64 // of every joint, radians a second; a joint's own MaxVelRadS holds as well
}

// speedSlack allows for rounding in a sender's arithmetic.
const speedSlack = 1 + 1e-6

// tipSampleRad is the largest joint step between two samples of the tip's path.
const tipSampleRad = 0.05

func (l Limits) validate(ceiling Limits) error {
	switch {
	case !(l.TipSpeedMPS > 0 && l.TipSpeedMPS <= ceiling.TipSpeedMPS):
		return refuseSpeed("limits.tip_speed_mps", l.TipSpeedMPS, ceiling.TipSpeedMPS, "m/s", "the tip's speed limit must be above zero and within the ceiling")
	case !(l.JointSpeedRadS > 0 && l.JointSpeedRadS <= ceiling.JointSpeedRadS):
		return refuseSpeed("limits.joint_speed_rad_s", l.JointSpeedRadS, ceiling.JointSpeedRadS, "rad/s", "the joints' speed limit must be above zero and within the ceiling")
	}
	return nil
}

func refuseSpeed(field string, got, limit float64, unit, says string) reject.Rejection {
	return reject.New(reject.OutOfRange, says).In(field).Saw(number(got), number(limit), unit)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// check returns every reason why the setpoint may not run now, joined, or nil.
func (g *Guard) check(s body.Setpoint) error {
	var faults []error
	refuse := func(r reject.Rejection) { faults = append(faults, r) }
	if state := g.latch.read(); state.Stopped || s.Stop != state.Number {
		refuse(reject.New(reject.Stopped, stoppedSays(state, s.Stop)).In("stop").Saw(decimal(s.Stop), decimal(state.Number), ""))
	}
	if err := g.checkEpoch(s.Epoch); err != nil {
		faults = append(faults, err)
	}
	if g.live.down {
		refuse(unanswering())
	}
	if g.ending {
		refuse(reject.New(reject.NotPermitted, "the driver is ending").By("ending").In("driver"))
	}
	if g.asleep {
		refuse(reject.New(reject.StaleFact, "the driver slept through a silence; look where the arm is first").In("driver"))
	}
	g.checkTime(s, refuse)
	if g.checkPositions(s, refuse) {
		var fast []reject.Rejection
		g.checkSpeeds(g.command, s, func(r reject.Rejection) { fast = append(fast, r) })
		if len(fast) > 0 && g.lags(s) {
			fast = []reject.Rejection{unanswering()}
		}
		for _, r := range fast {
			refuse(r)
		}
		g.checkLine(s, refuse)
	}
	return errors.Join(faults...)
}

func unanswering() reject.Rejection {
	return reject.New(reject.NotPermitted, "the body does not answer").By("bus_ok").In("driver")
}

// lags reports whether a setpoint is too fast only because the body lets a call wait, over which the command stands still: from
// where the command would be by now, it is not.
func (g *Guard) lags(s body.Setpoint) bool {
	late := g.late()
	if late < g.step || !g.motion.active {
		return false
	}
	m := &g.motion
	part := 1.0
	if gone := m.gone + late; gone < m.over {
		part = gone.Seconds() / m.over.Seconds()
	}
	due := make([]float64, len(g.command))
	for i := range due {
		due[i] = m.from[i] + (m.to[i]-m.from[i])*part
	}
	good := true
	g.checkSpeeds(due, s, func(reject.Rejection) { good = false })
	return good
}

func stoppedSays(l body.Latch, sent uint64) string {
	if l.Stopped {
		return fmt.Sprintf("stop %d is latched (%s)", l.Number, l.Reason)
	}
	return fmt.Sprintf("the setpoint belongs to a motion from before stop %d (it carries %d)", l.Number, sent)
}

func (g *Guard) checkTime(s body.Setpoint, refuse func(reject.Rejection)) {
	ahead := s.Expires.Sub(g.now)
	switch {
	case !s.Expires.After(g.now):
		refuse(reject.New(reject.OutOfRange, "the setpoint has expired").In("expires").Saw(millis(ahead), "0", "ms"))
	case ahead > body.MaxAhead:
		refuse(reject.New(reject.OutOfRange, "the setpoint expires too far ahead").In("expires").Saw(millis(ahead), millis(body.MaxAhead), "ms"))
	}
	if s.Over < 0 {
		refuse(reject.New(reject.OutOfRange, "a motion cannot take negative time").In("over").Saw(millis(s.Over), "0", "ms"))
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// checkPositions checks length, finiteness and joint ranges; false: the speeds cannot be judged.
func (g *Guard) checkPositions(s body.Setpoint, refuse func(reject.Rejection)) bool {
	if len(s.PositionsRad) != len(g.joints) {
		says := fmt.Sprintf("%d joint positions are needed", len(g.joints))
		refuse(reject.New(reject.WrongType, says).In("positions_rad").Saw(strconv.Itoa(len(s.PositionsRad)), strconv.Itoa(len(g.joints)), ""))
		return false
	}
	good := true
	for i, q := range s.PositionsRad {
		j := g.joints[i]
		switch {
		case !units.Finite(q):
			refuse(reject.New(reject.NotFinite, "the position of "+j.Name+" is not finite").In(field(j)))
		case q < j.MinRad:
			refuse(reject.New(reject.OutOfRange, j.Name+" does not go that far").In(field(j)).Saw(number(q), number(j.MinRad), "rad"))
		case q > j.MaxRad:
			refuse(reject.New(reject.OutOfRange, j.Name+" does not go that far").In(field(j)).Saw(number(q), number(j.MaxRad), "rad"))
		default:
			continue
		}
		good = false
	}
	return good
}

func field(j body.Joint) string { return "positions_rad." + j.Name }

// checkSpeeds checks the straight line from where the command is to the setpoint.
func (g *Guard) checkSpeeds(from []float64, s body.Setpoint, refuse func(reject.Rejection)) {
	over := g.span(s.Over).Seconds()
	for i, q := range s.PositionsRad {
		j := g.joints[i]
		limit := math.Min(g.limits.JointSpeedRadS, j.MaxVelRadS)
		speed := math.Abs(q-from[i]) / over
		if !(speed <= limit*speedSlack) {
			refuse(refuseSpeed(field(j), speed, limit, "rad/s", j.Name+" would move too fast").By("joint_speed"))
		}
	}
	speed := g.tipSpeed(from, s.PositionsRad, over)
	if !(speed <= g.limits.TipSpeedMPS*speedSlack) {
		refuse(refuseSpeed("positions_rad", speed, g.limits.TipSpeedMPS, "m/s", "the tip would move too fast").By("tip_speed"))
	}
}

// span is over in whole driver steps, at least one: how long the line really takes.
func (g *Guard) span(over time.Duration) time.Duration {
	return g.step * max(1, (over+g.step-1)/g.step)
}

// tipSpeed is the largest speed of the tip along the line, from samples of its path, m/s. No piece of it is shorter than a
// robot tick: within one the joints go at the mean speed of a path that is smooth, and the tip with them a little faster at
// one end of the tick than it ever was planned to go.
func (g *Guard) tipSpeed(from, to []float64, over float64) float64 {
	widest := 0.0
	for i := range to {
		widest = math.Max(widest, math.Abs(to[i]-from[i]))
	}
	n := max(1, min(int(math.Ceil(widest/tipSampleRad)), int(over/units.RobotTick.Seconds())))
	q := make([]float64, len(to))
	last, fastest := g.cfg.Tip(from), 0.0
	for k := 1; k <= n; k++ {
		for i := range q {
			q[i] = from[i] + (to[i]-from[i])*float64(k)/float64(n)
		}
		tip := g.cfg.Tip(q)
		speed := tip.Distance(last) * float64(n) / over
		if !(speed <= fastest) { // a NaN stays and is refused
			fastest = speed
		}
		last = tip
	}
	return fastest
}
