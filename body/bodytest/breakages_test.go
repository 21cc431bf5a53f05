package bodytest_test

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/body"
	"interlock/units"
)

// Names of the checks that most of these processes are broken for.
const (
	lapses   = "a lease is kept, lapses and is not revived"
	grants   = "grants every epoch once"
	straight = "goes on a straight line in its time"
	halts    = "halts for whoever asks, where it stands"
)

var asNumber = regexp.MustCompile(`"sequence":[0-9]`)

// instead asks for another method in place of one, whose answer refuses nothing, so that what was asked for is not done.
func instead(of string, when func(text string) bool) func(method, text string, header []string) (string, string, []string) {
	return func(method, text string, header []string) (string, string, []string) {
		if method == of && (when == nil || when(text)) {
			return "Describe", "{}", header
		}
		return method, text, header
	}
}

// brokenLeases break who may move, and until when.
func brokenLeases() []breakage {
	return []breakage{
		{"grants one epoch again and again", grants, func(b *broken) {
			first := ""
			b.reply = func(method string, text []byte) []byte {
				epoch := epochIn.FindString(string(text))
				if method != "Open" || epoch == "" {
					return text
				}
				if first == "" {
					first = epoch
				}
				return []byte(strings.Replace(string(text), epoch, first, 1))
			}
		}},
		{"grants the holder's name again", grants, func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				if method == "Open" && strings.Contains(text, "bodytest") {
					b.Release(b.grantedEpoch())
				}
				return method, text, header
			}
		}},
		{"anybody closes it", grants, func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				if method == "Close" {
					text = "{" + b.granted + "}"
				}
				return method, text, header
			}
		}},
		{"obeys whoever tells no epoch", grants, func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				if method == "Send" && !epochIn.MatchString(text) {
					text = "{" + b.granted + "," + text[1:]
				}
				return method, text, header
			}
		}},
		{"needs no number of a command", "refuses commands that come late", func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				return method, strings.Replace(text, `"sequence":"0"`, `"sequence":"1"`, 1), header
			}
		}},
		{"anybody renews it", grants, func(b *broken) { b.post = instead("Renew", nil) }},
		{"a short lease", grants, func(b *broken) {
			b.reply = func(_ string, text []byte) []byte {
				return []byte(strings.Replace(string(text), "2000000000", "500000000", 1))
			}
		}},
		{"renewing does not keep it", lapses, func(b *broken) { b.post = instead("Renew", b.sinceGrant(1500*time.Millisecond)) }},
		{"looking does not keep it", lapses, func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				if method == "Observe" {
					text = "{}"
				}
				return method, text, header
			}
		}},
		{"sending does not keep it", lapses, func(b *broken) { b.post = instead("Send", b.sinceGrant(4*time.Second)) }},
	}
}

// brokenLapses break what is left of a lease that nobody kept.
func brokenLapses() []breakage {
	return []breakage{
		{"onlookers keep it", lapses, func(b *broken) {
			b.observe = func(*body.Observation) { _ = b.Renew(b.grantedEpoch()) }
		}},
		{"renewing revives it", lapses, func(b *broken) {
			b.reply = func(method string, text []byte) []byte {
				if method == "Renew" {
					return []byte(`{` + b.granted + `}`)
				}
				return text
			}
		}},
		{"looking revives it", lapses, func(b *broken) {
			revived := false
			b.post = func(method, text string, header []string) (string, string, []string) {
				revived = revived || method == "Observe" && b.sinceGrant(4*time.Second)(text)
				if method == "Renew" && revived {
					method, text = "Describe", "{}"
				}
				return method, text, header
			}
		}},
		{"sending revives it", lapses, func(b *broken) {
			b.reply = func(method string, text []byte) []byte {
				if method == "Send" && strings.Contains(string(text), "NO_LEASE") {
					return []byte(`{}`)
				}
				return text
			}
		}},
		{"opening goes on with what ran", lapses, func(b *broken) {
			b.reply = func(method string, text []byte) []byte {
				if method == "Open" && b.grantedEpoch() > 0 && *b.passed > 4*time.Second {
					b.creepAs(b.grantedEpoch())
				}
				return text
			}
		}},
		{"halts only while somebody holds it", lapses, func(b *broken) { b.post = instead("Halt", nil) }},
		{"halts without torque when nobody holds it", lapses, func(b *broken) {
			b.observe = func(o *body.Observation) { o.Health.TorqueOn = o.Holding != body.HoldHalted }
		}},
	}
}

// sinceGrant reports whether the time passed since the process began; the first grant comes soon after.
func (b *broken) sinceGrant(least time.Duration) func(string) bool {
	return func(string) bool { return *b.passed < least }
}

// creepAs moves the first joint a little under a lease.
func (b *broken) creepAs(epoch uint64) {
	o, err := b.Guard.Watch(0)
	if err != nil {
		return
	}
	q := slices.Clone(o.GoalRad)
	q[0] += 0.02
	_, _ = b.Guard.Send(body.Setpoint{PositionsRad: q, Over: 100 * time.Millisecond, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number, Epoch: epoch})
}

// brokenMotions break how motions go.
func brokenMotions() []breakage {
	return []breakage{
		{"opens elsewhere than it stood", "opening again moves nothing", func(b *broken) {
			by, opened := 0.0, 0
			b.open = func(a *apart) error {
				if opened++; opened > 1 {
					by = -nudged
				}
				return a.Open()
			}
			b.observe = func(o *body.Observation) { shiftFirst(o, by) }
		}},
		{"opens without torque", "opening again moves nothing", func(b *broken) {
			b.observe = func(o *body.Observation) { o.Health.TorqueOn = false }
		}},
		{"tells its goals in another order", "opening again moves nothing", func(b *broken) {
			b.observe = func(o *body.Observation) {
				o.GoalRad = slices.Clone(o.GoalRad)
				o.GoalRad[1], o.GoalRad[2] = o.GoalRad[2], o.GoalRad[1]
			}
		}},
	}
}

// brokenPaths break the line of a motion, and what is told meanwhile.
func brokenPaths() []breakage {
	return []breakage{
		{"takes half the time", straight, func(b *broken) { b.send = overTimes(0.5) }},
		{"takes twice the time", straight, func(b *broken) { b.send = overTimes(2) }},
		{"turns from where it was going", straight, func(b *broken) {
			jump := units.Instant(math.MaxInt64)
			b.send = func(a *apart, p body.Setpoint) (body.Sent, error) {
				o, err := a.Observe()
				if err == nil && !o.Standstill && p.Over > time.Second/2 {
					jump = o.At
				}
				return a.Send(p)
			}
			b.observe = func(o *body.Observation) {
				if o.At >= jump && o.At < jump+units.Instant(100*time.Millisecond) {
					shiftFirst(o, nudged/2)
				}
			}
		}},
		{"reads strings alone", "reads numbers of 64 bits in both forms", func(b *broken) {
			b.post = func(method, text string, header []string) (string, string, []string) {
				if asNumber.MatchString(text) {
					text = "[]"
				}
				return method, text, header
			}
		}},
	}
}

// brokenFacts break what is told, and when.
func brokenFacts() []breakage {
	return []breakage{
		{"its facts stand", "measures every fact anew", func(b *broken) {
			b.observe = func(o *body.Observation) {
				for i := range o.Readings {
					o.Readings[i].At = 0
				}
			}
		}},
		{"the times of its facts run back", "measures every fact anew", func(b *broken) {
			b.observe = func(o *body.Observation) {
				for i := range o.Readings {
					o.Readings[i].At = -o.Readings[i].At
				}
			}
		}},
		{"waits for its bus", "answers within its time", func(b *broken) {
			b.reply = func(method string, text []byte) []byte {
				if method == "Halt" {
					*b.passed += 300 * time.Millisecond
				}
				return text
			}
		}},
		{"stands still in its motion", "follows setpoints", func(b *broken) {
			told := 0
			b.observe = func(o *body.Observation) { told++; o.Standstill = o.Standstill || told > 5 }
		}},
		{"rounds what it is sent", "returns what was sent", func(b *broken) {
			b.observe = func(o *body.Observation) {
				o.GoalRad = slices.Clone(o.GoalRad)
				o.GoalRad[0] = math.Round(o.GoalRad[0]*50) / 50
			}
		}},
		{"counts anew in a lease", "returns what was sent", func(b *broken) {
			b.observe = func(o *body.Observation) { o.Applied %= 2 }
		}},
		{"tells its facts on another clock", "measures every fact anew", func(b *broken) {
			b.observe = func(o *body.Observation) {
				for i := range o.Readings {
					o.Readings[i].At = o.Readings[i].At.Add(-time.Minute)
				}
			}
		}},
		{"tells its joint in degrees", "opening again moves nothing", func(b *broken) {
			b.observe = func(o *body.Observation) {
				o.Readings = append(o.Readings, body.Reading{Fact: b.Describe().Joints[0].Name + "_rad", Kind: body.Number, Number: o.JointsRad[0]*180/math.Pi + 3})
			}
		}},
		{"moves and is not healthy", "follows setpoints", func(b *broken) {
			b.observe = func(o *body.Observation) { o.Health.BusOK = false }
		}},
	}
}

// brokenWords break what a setpoint may say.
func brokenWords() []breakage {
	return []breakage{
		{"divides by the time it is given", "a setpoint at the present position does not move", func(b *broken) {
			b.send = func(a *apart, p body.Setpoint) (body.Sent, error) {
				if p.Over == 0 {
					return body.Sent{}, errors.New("division by zero")
				}
				return a.Send(p)
			}
		}},
		{"checks the first joint alone", "refuses malformed setpoints", func(b *broken) {
			b.send = func(a *apart, p body.Setpoint) (body.Sent, error) {
				if last := len(p.PositionsRad) - 1; last == 5 {
					p.PositionsRad = slices.Clone(p.PositionsRad)
					p.PositionsRad[last] = math.Min(p.PositionsRad[last], a.Describe().Joints[last].MaxRad)
				}
				return a.Send(p)
			}
		}},
	}
}

// brokenHalts break how motions end.
func brokenHalts() []breakage {
	return []breakage{
		{"halts for its holder alone", halts, func(b *broken) { b.post = instead("Halt", nil) }},
		{"halts for epochs alone", halts, func(b *broken) {
			b.post = instead("Halt", func(text string) bool { return !strings.Contains(text, "epoch") })
		}},
		{"halts without torque", halts, func(b *broken) {
			b.observe = func(o *body.Observation) { o.Health.TorqueOn = o.Holding == body.HoldNone }
		}},
		{"halts where its motion began", halts, func(b *broken) {
			b.observe = func(o *body.Observation) {
				if o.Holding == body.HoldHalted {
					shiftFirst(o, -0.02)
				}
			}
		}},
		{"a halt cuts the torque", "halt ends a motion", func(b *broken) {
			b.observe = func(o *body.Observation) { o.Health.TorqueOn = o.Holding == body.HoldNone }
		}},
		{"a halt is a latch", "halt ends a motion", func(b *broken) {
			b.observe = func(o *body.Observation) { o.Health.MotionAllowed = o.Holding == body.HoldNone }
		}},
		{"says halted only if it moved", "halt works in every state", func(b *broken) {
			b.observe = func(o *body.Observation) { o.Holding = body.HoldNone }
		}},
		{"closing frees and does not halt", "closing ends a motion", func(b *broken) {
			b.close = func(a *apart) error {
				err := a.Close()
				epoch, acquireErr := a.Acquire("what runs on")
				o, watchErr := a.Guard.Watch(0)
				p := body.Setpoint{PositionsRad: slices.Clone(o.GoalRad), Over: 500 * time.Millisecond, Expires: o.At.Add(body.MaxAhead), Epoch: epoch}
				p.PositionsRad[0] += nudged
				_, sendErr := a.Guard.Send(p)
				b.epoch = epoch
				for _, e := range []error{err, acquireErr, watchErr, sendErr} {
					if e != nil {
						return e
					}
				}
				return nil
			}
			b.another = func(a *apart) body.Stepper { a.Release(a.epoch); return a.Another() }
		}},
		{"a stop halts nothing", "a stop is a halt", func(b *broken) { b.bare(); b.post = instead("Stop", nil) }},
		{"numbers stops that it does not latch", "a stop is a halt", func(b *broken) {
			b.bare()
			b.reply = func(_ string, _ []byte) []byte { return []byte(`{"number":"1"}`) }
		}},
		{"closing cuts the torque", "closing ends a motion", func(b *broken) {
			b.observe = func(o *body.Observation) { o.Health.TorqueOn = b.opened }
		}},
	}
}

// nudged is how far the suite moves the first joint, rad.
const nudged = 0.05

func shiftFirst(o *body.Observation, by float64) {
	if by != 0 && len(o.JointsRad) > 0 {
		o.JointsRad, o.GoalRad = slices.Clone(o.JointsRad), slices.Clone(o.GoalRad)
		o.JointsRad[0] += by
		o.GoalRad[0] += by
	}
}

// overTimes makes motions longer or shorter than they were sent for.
func overTimes(share float64) func(*apart, body.Setpoint) (body.Sent, error) {
	return func(a *apart, p body.Setpoint) (body.Sent, error) {
		p.Over = time.Duration(float64(p.Over) * share)
		return a.Send(p)
	}
}
