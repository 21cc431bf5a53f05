package robot

import (
	"strconv"
	"time"

	"interlock/body"
	"interlock/contract"
	"interlock/robot/mission"
	"interlock/units"
	"interlock/world"
)

// senses is what was last read of the driver, and the robot's own time beside the driver's.
//
// Three times are kept apart: what was paced (elapsed), the driver's clock (last.At) and the times of the sources of
// its readings (sourceAt). The robot's own time is the driver's clock as last read plus what was paced since it moved,
// so it goes on when a driver falls silent or sends the same observation again, and it never runs back. A driver is
// alive only while some source of its readings tells a newer time.
type senses struct {
	last     body.Observation
	known    *world.Snapshot // the latest reading of every fact; one that was dropped stays, with its age
	elapsed  time.Duration   // paced since the driver was opened
	clock    units.Instant   // the robot's own time
	readAt   time.Duration   // elapsed when the driver's clock last moved on
	sourceAt units.Instant   // the newest time of any source
	aliveAt  time.Duration   // elapsed when sourceAt last moved on
	aliveOn  units.Instant   // the driver's clock then
}

// tick lets the time of one robot tick pass.
func (s *senses) tick() {
	s.elapsed += units.RobotTick
	s.follow()
}

func (s *senses) follow() { s.clock = max(s.clock, s.last.At.Add(s.elapsed-s.readAt)) }

// take takes one observation.
func (s *senses) take(c *contract.Contract, o body.Observation) {
	if o.At.After(s.last.At) {
		s.readAt = s.elapsed
	}
	if at := newest(&o); at.After(s.sourceAt) {
		s.sourceAt, s.aliveAt, s.aliveOn = at, s.elapsed, o.At
	}
	s.last = o
	s.follow()
	s.known = world.NewSnapshot(s.clock, facts(c, o.Readings)).Keep(s.known)
}

// newest is the latest time of a source; the driver's own where it reads nothing.
func newest(o *body.Observation) units.Instant {
	if len(o.Readings) == 0 {
		return o.At
	}
	var at units.Instant
	for i := range o.Readings {
		if t := o.Readings[i].At; !t.After(o.At) {
			at = max(at, t)
		}
	}
	return at
}

// silence is how long no source has told a newer time: by what was paced, or by the driver's clock where that went on for
// longer, since a driver that is slow to answer makes ticks long.
func (s *senses) silence() time.Duration {
	return max(s.elapsed-s.aliveAt, s.last.At.Sub(s.aliveOn))
}

// standing is how long the driver's clock has told no newer time.
func (s *senses) standing() time.Duration { return s.elapsed - s.readAt }

// still reports whether standstill is measured, by sources that are alive.
func (s *senses) still() bool { return s.last.Standstill && s.silence() < units.Silence }

// snapshot is every fact known now.
func (s *senses) snapshot() *world.Snapshot { return world.NewSnapshot(s.clock, nil).Keep(s.known) }

// tickEvent tells a mission of the time that passed. Standstill is as old as the sources, not as the sending of it.
func (s *senses) tickEvent() mission.Tick {
	return mission.Tick{
		At: s.clock, ObservedAt: min(s.last.At, s.sourceAt), Standstill: s.last.Standstill,
		Latch: mission.Mirror{Stopped: s.last.Latch.Stopped, Number: s.last.Latch.Number},
	}
}

// faults lists what is wrong with the driver now, what says most first. unread is why it could not be paced or read; its last
// words about itself are old then.
func (s *senses) faults(unread error) (found []mission.Fault) {
	fault := func(code, detail string) {
		found = append(found, mission.Fault{At: s.clock, Code: code, Detail: detail})
	}
	if unread != nil {
		fault("driver_lost", unread.Error())
	}
	health := s.last.Health
	if unread == nil && !health.BusOK { // of a body that does not answer nothing else is known
		fault("bus_dead", "")
	}
	if unread == nil && health.FaultCode != "" {
		fault(hazard(health.FaultCode))
	}
	if unread == nil && !health.TorqueOn {
		fault("torque_off", "")
	}
	if age := s.silence(); age >= units.Silence {
		fault("stale_reading", "no reading has had a newer time for "+strconv.FormatInt(age.Milliseconds(), 10)+" ms")
	}
	return found
}

// hazard finds the hazard of a driver's fault code: its own where the table has one, else that of a motor.
func hazard(code string) (hazardCode, detail string) {
	for _, h := range mission.Hazards() {
		if h.Code == code {
			return code, ""
		}
	}
	return "motor_fault", code
}

// facts takes from readings what the contract declares, from the witness it names, under the vocabulary's labels.
func facts(c *contract.Contract, readings []body.Reading) []world.Fact {
	out := make([]world.Fact, 0, len(readings))
	for i := range readings {
		g := &readings[i]
		decl, ok := c.Fact(g.Fact)
		if !ok || decl.Witness != g.Witness {
			continue
		}
		v, ok := valueOf(c, g)
		if !ok || v.Kind != decl.Kind {
			continue
		}
		out = append(out, world.Fact{Name: g.Fact, Value: v, Witness: g.Witness, At: g.At, Sigma: max(g.Sigma, decl.Sigma)})
	}
	return out
}

func valueOf(c *contract.Contract, g *body.Reading) (world.Value, bool) {
	switch g.Kind {
	case body.Number:
		return world.Value{Kind: world.KindNumber, Number: g.Number}, true
	case body.Text:
		return world.Value{Kind: world.KindText, Text: g.Text}, true
	case body.Flag:
		return world.Value{Kind: world.KindFlag, Flag: g.Flag}, true
	case body.Point:
		return world.Value{Kind: world.KindPoint, Point: g.Point}, true
	case body.Poses:
		objects := make([]world.Object, len(g.Objects))
		for i, o := range g.Objects {
			objects[i] = world.Object{Label: c.Label(o.Label), Pose: o.Pose, SizeM: o.SizeM}
		}
		return world.Value{Kind: world.KindPoses, Objects: objects}, true
	}
	return world.Value{}, false
}
