package bodytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"interlock/body"
	"interlock/units"
)

// motionChecks are how the motions of a process go and end, as an onlooker sees them too.
func motionChecks() []Check {
	return []Check{
		{"opening again moves nothing", opensWhereItStands},
		{"goes on a straight line in its time", straightLine},
		{"keeps its goal when nobody asks", keepsGoal},
		{"halts for whoever asks, where it stands", haltsForAnyone},
		{"closing ends a motion", closingHalts},
		{"measures every fact anew", measuresAnew},
		{"answers within its time", answersInTime},
	}
}

// keepsGoal: servos that go limp when nobody speaks to them let the arm fall.
func keepsGoal(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	if err := s.drive(s.nudge(), 400*time.Millisecond, nil); err != nil {
		return err
	}
	if err := s.run(200 * time.Millisecond); err != nil {
		return err
	}
	before := slices.Clone(s.last.JointsRad)
	if err := s.Advance(700 * time.Millisecond); err != nil { // without a look
		return err
	}
	if err := s.watch(l); err != nil {
		return err
	}
	if m := s.moved(before); !(m <= stayRad) {
		return fmt.Errorf("while nobody asked a joint moved by %v rad", m)
	}
	return nil
}

// sagRad is how far a servo stands off its goal under load; further is no sag.
const sagRad = 0.05

// opensWhereItStands: an arm is rarely at home when somebody opens it.
func opensWhereItStands(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	if err := s.drive(s.nudge(), 400*time.Millisecond, nil); err != nil {
		return err
	}
	if err := errors.Join(s.run(200*time.Millisecond), s.Close(), s.watch(l)); err != nil {
		return err
	}
	before := slices.Clone(s.last.JointsRad)
	if s, err = start(l); err != nil {
		return err
	}
	if m := s.moved(before); !(m <= stayRad) {
		return fmt.Errorf("opening moved a joint by %v rad", m)
	}
	if err := s.stays(before, 300*time.Millisecond, "opening"); err != nil {
		return err
	}
	if !s.last.Health.TorqueOn {
		return errors.New("it is open without torque")
	}
	return s.agrees()
}

// agrees holds what is told of each joint of a body at rest against each other.
func (s *session) agrees() error {
	for i, j := range s.Describe().Joints {
		if d := math.Abs(s.last.GoalRad[i] - s.last.JointsRad[i]); !(d <= sagRad) {
			return fmt.Errorf("at rest the goal of %s is %v rad away from where it is", j.Name, d)
		}
		for _, r := range s.last.Readings { // a fact is told in the unit that ends its name
			if d := math.Abs(r.Number - s.last.JointsRad[i]); r.Fact == j.Name+"_rad" && !(d <= sagRad) {
				return fmt.Errorf("%s is told as %v, which is not where the joint is, %v rad", r.Fact, r.Number, s.last.JointsRad[i])
			}
		}
	}
	return nil
}

// often asks a question about times again, since a busy machine may spoil it: a body at fault fails each time.
func often(ask func() error) (err error) {
	for range mostTries {
		if err = ask(); err == nil {
			return nil
		}
	}
	return err
}

// straightLine holds a motion against the line that it was asked for, on the body's own clock.
func straightLine(b body.Stepper) error {
	_, s, err := startLine(b)
	if err != nil {
		return err
	}
	if err := often(s.takesItsTime); err != nil {
		return err
	}
	return often(s.turnsWhereItIs)
}

const (
	lineOver = 800 * time.Millisecond // of a motion that is watched
	aheadRad = 0.008                  // a joint may be this far ahead of its line
)

// leg is a motion of the first joint that was sent.
type leg struct {
	from  float64       // where the joint was, rad
	by    float64       // how far it was sent, rad
	begun units.Instant // not before
}

// ahead is how far a joint at q is ahead of a line that is not behind the motion's at the time, rad.
func (g *leg) ahead(q float64, at units.Instant) float64 {
	share := math.Min(1, at.Sub(g.begun).Seconds()/lineOver.Seconds())
	return (q-g.from)*math.Copysign(1, g.by) - math.Abs(g.by)*share
}

func (s *session) leg(to []float64) (*leg, error) {
	g := &leg{s.last.JointsRad[0], to[0] - s.last.GoalRad[0], s.last.At}
	p := s.setpoint()
	copy(p.PositionsRad, to)
	p.Over, p.Expires = lineOver, s.last.At.Add(body.MaxAhead)
	if _, err := s.Send(p); err != nil {
		return nil, err
	}
	return g, s.look()
}

// rest waits for the end of whatever an earlier try left moving.
func (s *session) rest() error {
	for range 2 * int(lineOver/tick) {
		if err := s.run(tick); err != nil {
			return err
		}
		if s.last.Standstill && math.Abs(s.last.GoalRad[0]-s.last.JointsRad[0]) <= arriveRad {
			return nil
		}
	}
	return errors.New("it does not come to rest")
}

// takesItsTime: neither sooner than it was sent for, nor much later.
func (s *session) takesItsTime() error {
	if err := s.rest(); err != nil {
		return err
	}
	to := s.nudge()
	g, err := s.leg(to)
	if err != nil {
		return err
	}
	for sent := s.last.At; s.last.At.Sub(sent) < lineOver+200*time.Millisecond; {
		if d := g.ahead(s.last.JointsRad[0], s.last.At); !(d <= aheadRad) {
			return fmt.Errorf("%v after it was sent for %v the first joint is %v rad ahead of its line", s.last.At.Sub(g.begun), lineOver, d)
		}
		if err := s.run(tick); err != nil {
			return err
		}
	}
	if d := math.Abs(s.last.JointsRad[0] - to[0]); !(d <= arriveRad) {
		return fmt.Errorf("200 ms after its time the first joint is %v rad away from its setpoint", d)
	}
	return nil
}

// turnsWhereItIs: a setpoint in a motion begins where the joint is, not where it was going.
func (s *session) turnsWhereItIs() error {
	if err := s.rest(); err != nil {
		return err
	}
	back := slices.Clone(s.last.GoalRad)
	g, err := s.leg(s.nudge())
	if err != nil {
		return err
	}
	if err := s.run(lineOver / 2); err != nil {
		return err
	}
	if _, err := s.leg(back); err != nil {
		return err
	}
	turned := s.last.At
	for s.last.At.Sub(turned) < lineOver+100*time.Millisecond {
		if d := g.ahead(s.last.JointsRad[0], turned); !(d <= aheadRad) {
			return fmt.Errorf("sent back in a motion, the first joint jumps %v rad ahead of it", d)
		}
		if err := s.run(tick); err != nil {
			return err
		}
	}
	return nil
}

// anewWithin is how long a body at rest may take to measure each of its facts again.
const anewWithin = 5 * time.Second

// measuresAnew: a fact whose time stands is one that nobody measures, and one that is never young is told on another clock.
func measuresAnew(b body.Stepper) error {
	l, s, err := startLine(b)
	if err != nil {
		return err
	}
	first, latest := map[string]units.Instant{}, map[string]units.Instant{}
	for begun := l.Passed(); ; {
		anew := 0
		for _, r := range s.last.Readings {
			if r.At.Before(latest[r.Fact]) {
				return fmt.Errorf("the time of %s ran back by %v", r.Fact, latest[r.Fact].Sub(r.At))
			}
			if _, known := first[r.Fact]; !known {
				first[r.Fact] = r.At
			}
			if latest[r.Fact] = r.At; r.At.After(first[r.Fact]) && s.last.At.Sub(r.At) <= anewWithin {
				anew++
			}
		}
		switch {
		case anew == len(s.last.Readings) && len(first) == anew:
			return nil
		case l.Passed()-begun > anewWithin:
			return fmt.Errorf("of %d facts %d were measured again within %v", len(first), anew, anewWithin)
		}
		if err := s.run(5 * tick); err != nil {
			return err
		}
	}
}

// answerWithin is the deadline of a call of the driver.
const answerWithin = 250 * time.Millisecond

// answersInTime: a body that waits for its bus is lost to its driver. The quickest of some answers counts, so that a busy
// machine is no fault of it.
func answersInTime(b body.Stepper) error {
	c, err := callerOf(b)
	if err != nil {
		return err
	}
	seen, err := c.Watch()
	if err != nil {
		return errors.Join(err, c.end())
	}
	sequence := 0
	for _, ask := range []struct {
		method string
		call   func() error
	}{
		{"Describe", func() error { _, err := c.call("Describe", map[string]any{}); return err }},
		{"Observe", func() error { _, err := c.call("Observe", map[string]any{"epoch": c.epoch}); return err }},
		{"Renew", func() error { _, err := c.call("Renew", map[string]any{"epoch": c.epoch}); return err }},
		{"Send", func() error {
			sequence++
			_, err := c.post(&seen, seen.GoalRad, tick, c.epoch, fmt.Sprint(sequence))
			return err
		}},
		{"Halt", func() error { _, err := c.call("Halt", map[string]any{"epoch": c.epoch}); return err }},
	} {
		if quickest, err := c.quickest(ask.call); err != nil || !(quickest <= answerWithin) {
			return errors.Join(err, fmt.Errorf("the quickest of %d answers to %s took %v", answersAsked, ask.method, quickest), c.end())
		}
	}
	return c.end()
}

const answersAsked = 4

func (c *caller) quickest(call func() error) (least time.Duration, err error) {
	least = math.MaxInt64
	for range answersAsked {
		begun := c.Passed()
		if err := call(); err != nil {
			return least, err
		}
		if least = min(least, c.Passed()-begun); least <= answerWithin {
			break
		}
	}
	return least, nil
}
