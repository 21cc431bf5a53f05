package guard

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/units"
)

// Defaults of DESIGN section 6.
const (
	DefaultSilence = 300 * time.Millisecond // without a sign of the robot while moving, the body holds
	RampTime       = 80 * time.Millisecond  // from full speed to none
)

// Config says what a guard enforces. There is no default for the limits and the kinematics: a guard without them does
// not open.
type Config struct {
	Ceiling Limits                                  // no motion may ask for more
	Tip     func(positionsRad []float64) units.Vec3 // the tip in the base frame, metres, for a joint configuration
	Silence time.Duration                           // 0: DefaultSilence

	// Geometry keeps the line of every setpoint, and the way on after a stop, off what the arm must not meet; nil: only
	// limits are kept. What sends setpoints that no gate has swept needs it.
	Geometry Geometry

	// Leased makes every setpoint carry the epoch of the lease that Acquire grants; without it an epoch is refused.
	Leased bool
	// LatchFile keeps the latch over restarts; empty: it is forgotten.
	LatchFile string
	// Tripped is told of every stop that the guard latches by itself, as for a fault of the body; nil: nobody is. It is called in
	// the middle of things: it must not block, nor call the guard.
	Tripped func(body.Latch)
	// RaisedM is the height of the tip, metres, above which Close refuses: the arm would fall. 0: it may be closed
	// anywhere, as a simulated one that keeps its torque.
	RaisedM float64
}

// Geometry knows what the arm must not meet. It is asked at each setpoint, so it must be quick and must not allocate;
// arm.Space is one. It is asked by one goroutine at a time.
type Geometry interface {
	// JointCount is how many joints a configuration has.
	JointCount() int
	// Line reports where the straight line of the joints, rad, gone through in the time over, comes too near to something,
	// or would beyond its end before the arm rests. A line that starts too near may leave, never go nearer.
	Line(fromRad, toRad []float64, over time.Duration) (arm.Blocked, bool)
}

func (c *Config) validate() error {
	switch {
	case !(c.Ceiling.TipSpeedMPS > 0) || !(c.Ceiling.JointSpeedRadS > 0) || !units.Finite(c.Ceiling.TipSpeedMPS, c.Ceiling.JointSpeedRadS):
		return errors.New("guard: both speed limits must be finite and above zero")
	case c.Tip == nil:
		return errors.New("guard: the tip's speed cannot be limited without kinematics")
	case c.Silence < 0:
		return errors.New("guard: silence cannot be negative")
	case !(c.RaisedM >= 0) || !units.Finite(c.RaisedM):
		return errors.New("guard: the height above which an arm is raised must be finite and not negative")
	}
	return nil
}

// Guard is a body.Stepper around another body. Methods may come from any goroutine; Stop, StopInput, Reset, Latch and
// Halt never wait for the body.
//
// Time moves by Advance, for a body on virtual time, or by Run, on the monotonic clock. A body that is no body.Stepper
// has a clock of its own; it needs Run.
type Guard struct {
	inner   body.Driver
	stepper body.Stepper // inner, where its time is moved from here; else nil: the body has a clock of its own
	cfg     Config
	latch   latch
	keeper  *keeper // of the latch file; nil: none

	halts atomic.Uint64 // that were asked for

	mu       sync.Mutex // the rest: one step, one send, one observation at a time
	open     bool
	opening  bool
	joints   []body.Joint
	step     time.Duration
	now      units.Instant
	limits   Limits
	command  []float64 // what was last sent to the body, rad
	velocity []float64 // of the command over the last step, rad/s
	next     []float64 // room for the command after a step, rad
	motion   motion
	ramp     int // steps left of the deceleration
	hold     int // hazard that made it hold, −1 none
	fault    int // latched fault, −1 none
	heard    units.Instant
	applied  uint64
	lastAt   units.Instant // the latest time the body told, on its own clock
	running  bool          // Run moves the time
	offset   time.Duration // from the body's clock to the guard's
	lease    body.Lease
	halted   uint64        // the halts that are over
	ending   bool          // Run brings the body to rest for the last time, or did
	marked   bool          // the latch file is to say that a motion runs
	markKept bool          // it does
	movedAt  units.Instant // of the last command
	live     live

	sent   bool      // a setpoint was taken since the body was opened
	found  []float64 // the joints as they were first seen, while nothing was sent, rad
	asleep bool      // time passed unseen, longer than the silence, and the robot has not looked since
}

var _ body.Stepper = (*Guard)(nil)

// motion is the setpoint being followed.
type motion struct {
	active   bool
	from, to []float64
	gone     time.Duration // since it began
	over     time.Duration // whole steps
	expires  units.Instant
	stop     uint64
}

// New builds a guard around a body. Open checks the configuration and touches the body.
func New(inner body.Driver, cfg Config) *Guard {
	if cfg.Silence == 0 {
		cfg.Silence = DefaultSilence
	}
	g := &Guard{inner: inner, cfg: cfg, limits: cfg.Ceiling, hold: -1, fault: -1}
	g.stepper, _ = inner.(body.Stepper)
	g.latch.own = cfg.Tripped
	if cfg.LatchFile != "" {
		g.keeper = newKeeper(cfg.LatchFile)
		g.latch.changed = g.keeper.noteLatch
	}
	return g
}

// Describe implements body.Driver.
func (g *Guard) Describe() body.Description { return g.inner.Describe() }

// Open implements body.Driver. Hardware comes up stopped; a simulated body is ready unless it was stopped before, or the
// guard before this one was not ended: it died, in a motion or at rest. A stop does not wait for it, nor does anybody who asks for the state.
func (g *Guard) Open() error {
	if err := g.startOpen(); err != nil {
		return err
	}
	o, err := g.touch()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opening = false
	if err != nil {
		return err
	}
	if g.inner.Describe().Mode == body.ModeHardware {
		g.latch.tripOnce("hardware comes up stopped")
	}
	d := g.inner.Describe()
	g.joints, g.step = d.Joints, d.Step
	g.adopt(o)
	g.open = true
	return nil
}

func (g *Guard) startOpen() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open || g.opening {
		return body.ErrOpen
	}
	if err := g.cfg.validate(); err != nil {
		return err
	}
	if err := g.recall(); err != nil {
		return err
	}
	if err := g.noteRunning(true); err != nil {
		return err
	}
	g.opening = true
	return nil
}

// touch opens the body inside and reads where it stands. It waits for the body, so it holds no lock.
func (g *Guard) touch() (body.Observation, error) {
	d := g.inner.Describe()
	if d.Step <= 0 || len(d.Joints) == 0 {
		return body.Observation{}, fmt.Errorf("guard: body %q describes no step or no joints", d.Name)
	}
	if n := len(d.Joints); g.cfg.Geometry != nil && g.cfg.Geometry.JointCount() != n {
		return body.Observation{}, fmt.Errorf("guard: the geometry is of an arm with %d joints; body %q has %d", g.cfg.Geometry.JointCount(), d.Name, n)
	}
	if err := g.inner.Open(); err != nil {
		return body.Observation{}, err
	}
	o, err := g.inner.Observe()
	if err == nil && (len(o.GoalRad) != len(d.Joints) || !units.Finite(o.GoalRad...)) {
		err = fmt.Errorf("guard: body %q does not tell the goal it holds", d.Name)
	}
	if err != nil {
		return body.Observation{}, errors.Join(err, g.inner.Close())
	}
	return o, nil
}

// adopt takes over from where the body stands.
func (g *Guard) adopt(o body.Observation) {
	g.lastAt = o.At
	if g.stepper != nil {
		g.now = o.At.Add(g.offset)
	}
	g.heard = g.now
	g.command, g.velocity = append([]float64(nil), o.GoalRad...), make([]float64, len(g.joints))
	g.next = make([]float64, len(g.joints))
	g.motion = motion{from: make([]float64, len(g.joints)), to: make([]float64, len(g.joints))}
	g.ramp, g.hold, g.applied = 0, -1, 0
	g.halted = g.halts.Load()
	g.live = live{}
	g.sent, g.found, g.asleep, g.ending = false, g.found[:0], false, false
	g.takeLive(o)
}

// SetLimits sets the limits of the next motion, within the ceiling. A refusal changes nothing.
func (g *Guard) SetLimits(l Limits) error {
	if err := l.validate(g.cfg.Ceiling); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limits = l
	return nil
}

// Stop closes the latch and returns the stop's number. The body decelerates from its next step on.
func (g *Guard) Stop(reason string) uint64 { return g.latch.trip(reason) }

// StopByRobot is the stop of a robot, which may follow up another one: while the latch is closed it is a further cause of the stop
// that is latched, and keeps its number, so that what a person was told to reset stays true. A person's is Stop.
func (g *Guard) StopByRobot(reason string) (number uint64) { return g.latch.tripAgain(reason) }

// ForRobot is a guard as a robot in the same process reaches it: its Stop is StopByRobot, as over the line between processes.
type ForRobot struct{ *Guard }

// Stop implements body.Driver.
func (f ForRobot) Stop(reason string) (number uint64) { return f.StopByRobot(reason) }

// StopInput presses (held) or releases a named stop input. Pressing is a stop; while one is held, Reset is refused.
func (g *Guard) StopInput(name string, held bool) uint64 { return g.latch.input(name, held) }

// Reset permits new motions if number is exactly the latched stop's; it restarts nothing. It is a person's act. The
// error is a reject.Rejection: CONFLICT for another number, STOPPED while a stop input is held.
func (g *Guard) Reset(number uint64) error { return g.latch.reset(number) }

// Latch tells the state of the latch.
func (g *Guard) Latch() body.Latch { return g.latch.read() }

// Send implements body.Driver: the setpoint is refused whole, with every reason, or followed from the next step on.
func (g *Guard) Send(s body.Setpoint) (body.Sent, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return body.Sent{}, body.ErrNotOpen
	}
	if !g.cfg.Leased || g.lease.Renew(g.now, s.Epoch) == nil {
		g.heard = g.now
	}
	halts := g.halts.Load()
	if err := g.check(s); err != nil {
		return body.Sent{}, err
	}
	if g.keeper != nil && !g.markKept {
		if err := g.markMoving(); err != nil {
			return body.Sent{}, err
		}
		if err := g.check(s); err != nil { // that may have taken long
			return body.Sent{}, err
		}
	}
	g.halted = halts // one that came since ends this motion before its first step
	g.start(s)
	return body.Sent{PositionsRad: append([]float64(nil), s.PositionsRad...), Applied: g.applied}, nil
}

// start makes the setpoint the motion that is followed. Until its first step what moves is what is left of the ramp before it:
// whoever ends it by then ends that, no more.
func (g *Guard) start(s body.Setpoint) {
	m := &g.motion
	if !m.active {
		left := float64(g.ramp) / float64(RampTime/g.step)
		for i := range g.velocity {
			g.velocity[i] *= left
		}
	}
	copy(m.from, g.command)
	copy(m.to, s.PositionsRad)
	m.active, m.gone, m.over, m.expires, m.stop = true, 0, g.span(s.Over), s.Expires, s.Stop
	g.ramp, g.hold, g.sent = 0, -1, true
	g.applied++
}

// Halt implements body.Driver: from the next step on the body decelerates and holds. A later Send moves it again.
func (g *Guard) Halt() error {
	g.halts.Add(1)
	return nil
}
