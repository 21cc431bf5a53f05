package skill

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/units"
)

// Source is where the setpoints of a verb come from when nothing here plans them: a learned policy, a recording, another
// arm in a person's hand. A capability names it as `skill: policy:NAME`; everything else about the verb stays: its tool,
// its conditions, its mission and how its effect is measured.
//
// A source is asked from a goroutine of its own, one question at a time, never from the robot's loop. It may take its
// time: until it answers, the arm holds its last setpoint. It is not asked any more once the motion has ended, however it
// ended; then ctx ends, and a source that computes should give up. It is never asked for two motions at once.
//
// What it answers is not trusted. Each setpoint passes the limits and the geometry of the driver's guard, and the first one
// that does not ends the mission.
type Source interface {
	// Describe says from where it plays, and for how long at most. It never changes.
	Describe() SourceDescription
	// Begin starts a new motion, with the arm sent to where Describe says. observedRad is what the encoders read, radians
	// in the driver's order; empty where nothing was read.
	Begin(ctx context.Context, observedRad []float64) error
	// Next answers for the setpoint that is to be reached elapsed after the beginning. An error ends the mission.
	Next(ctx context.Context, elapsed time.Duration, observedRad []float64) (Answer, error)
}

// SourceDescription is what a planner must know of a source before the arm moves.
type SourceDescription struct {
	// Start is the configuration from which it plays; nil: from wherever the arm is. Going there is the first phase of the
	// mission, through the gate like any path. The jaw stays as it was.
	Start *arm.Joints
	// Bound is the longest it plays, from its beginning to its end. One that has not ended by then ends the mission.
	Bound time.Duration
}

// Answer is what a source says to one question.
type Answer struct {
	Does Does
	// PositionsRad is where the joints are to be, radians in the driver's order; ignored where it waits. Where it ends they
	// may be left out: the arm stays.
	PositionsRad []float64
	// Phase names the part of the motion, in small letters, digits and _; empty: the one before, at first the source's name.
	Phase string
}

// Does is what a source does next.
type Does uint8

// The closed list; the zero Does is no answer and ends the mission.
const (
	Goes  Does = iota + 1 // to the positions
	Waits                 // where it is; the motion goes on
	Ends                  // its motion, at the positions
)

// Bounds of sources.
const (
	// SourceSilence is how long a source may take for one answer before its mission ends.
	SourceSilence = 500 * time.Millisecond
	// answerWithin is how long the robot's loop waits for an answer before the arm holds for one tick more: half a tick, so
	// that the tick is kept. It is the clock of the machine, also where the robot's time is virtual.
	answerWithin = units.RobotTick / 2

	longestSource = 10 * time.Minute // no capability may take longer
	longestPhase  = 32               // bytes of a phase's name
)

// Sources are the sources that a planner may hand a verb to, by the NAME of `skill: policy:NAME`.
type Sources map[string]Source

// registered is a source that plays one motion at a time.
type registered struct {
	name    string
	source  Source
	is      SourceDescription
	playing chan struct{} // holds one while a motion is played, until the source has returned from its last question
}

// WithSources returns a planner that also plays these sources. A source without a name or a bound, and one that starts
// where the arm cannot be, are errors.
func (p *Planner) WithSources(list Sources) (*Planner, error) {
	with := *p
	with.sources = map[string]*registered{}
	for name, s := range list {
		if name == "" || s == nil {
			return nil, fmt.Errorf("skill: source %q needs a name and something that answers", name)
		}
		r := &registered{name: name, source: s, is: s.Describe(), playing: make(chan struct{}, 1)}
		if !(r.is.Bound > 0 && r.is.Bound <= longestSource) {
			return nil, fmt.Errorf("skill: source %q plays for %v at most; possible are more than 0 and up to %v", name, r.is.Bound, longestSource)
		}
		if limits := p.chain.Limits(); r.is.Start != nil && !limits.Hold(r.is.Start.With(0)) {
			return nil, fmt.Errorf("skill: source %q starts at %v rad, where the arm cannot be", name, *r.is.Start)
		}
		with.sources[name] = r
	}
	return &with, nil
}

// policies lists the skills that sources play.
func (p *Planner) policies() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(p.sources)) {
		list = append(list, contract.PolicyPrefix+name)
	}
	return list
}

// policy goes to where the source starts; what comes then only the source knows.
func (d *draft) policy(name string) *reject.Rejection {
	s, known := d.planner.sources[name]
	if !known {
		return refuse(reject.NotPermitted, "skill", "no source of setpoints is called "+strconv.Quote(name))
	}
	d.source = s
	if s.is.Start != nil {
		d.to("begin", arm.LeastMove, s.is.Start.With(d.at[arm.Jaw]))
		return nil
	}
	d.path = arm.Trajectory{{Name: "begin", Segment: arm.Segment{From: d.at, To: d.at}}}
	return nil
}
