package robot

import (
	"context"
	"errors"
	"fmt"

	"interlock/body"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/robot/gate"
	"interlock/robot/mission"
	"interlock/units"
	"interlock/world"
)

// ErrClosed is what every call gets once the robot's loop has ended.
var ErrClosed = errors.New("robot: closed")

// Body is a driver behind its guard: it has the stop latch.
type Body interface {
	body.Driver
	// Stop closes the latch and halts; it works in every state and from any goroutine.
	Stop(reason string) (number uint64)
}

// Config is what a robot is made of.
type Config struct {
	Contract  *contract.Contract
	Alignment contract.Alignment
	Gate      *gate.Gate
	Body      Body
	Pacer     Pacer
	// NoInvariants drops the invariants, beside gate.Off; eval/lab only.
	NoInvariants bool
	// MaxMissions is the budget of a task that names none.
	MaxMissions int
}

func (c Config) validate() error {
	switch {
	case c.Contract == nil, c.Gate == nil, c.Body == nil, c.Pacer == nil:
		return errors.New("robot: contract, gate, body and pacer are needed")
	case c.MaxMissions <= 0:
		return errors.New("robot: MaxMissions must be at least 1")
	}
	return nil
}

// Robot runs the missions of one body. It implements transport.Server.
type Robot struct {
	cfg      Config
	manifest *contractv1.Manifest
	inbox    chan func()
	closed   chan struct{}

	// what follows belongs to the loop's goroutine
	last     body.Observation
	elapsed  units.Instant // robot's own time: ticks paced since the driver was opened
	seenAt   units.Instant // elapsed when the driver's clock last moved on
	missions map[string]*motion
	active   *motion
	tasks    map[string]*request
	openTask *request
	opened   uint64 // tasks opened so far
}

// New builds a robot. Nothing is touched before Run.
func New(cfg Config) (*Robot, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Robot{
		cfg: cfg, manifest: cfg.Contract.Manifest(cfg.Alignment), inbox: make(chan func()), closed: make(chan struct{}),
		missions: map[string]*motion{}, tasks: map[string]*request{},
	}, nil
}

// Run opens the body and serves until ctx ends, then closes it. It is called once.
func (r *Robot) Run(ctx context.Context) (err error) {
	defer close(r.closed)
	if err := r.cfg.Body.Open(); err != nil {
		return fmt.Errorf("open driver: %w", err)
	}
	defer func() { err = errors.Join(err, r.cfg.Body.Close()) }()
	if err := r.observe(); err != nil {
		return fmt.Errorf("first observation: %w", err)
	}
	for ctx.Err() == nil {
		if err := r.turn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// turn serves waiting requests and, while something moves or is measured, one tick.
func (r *Robot) turn(ctx context.Context) error {
	if !r.ticking() {
		select {
		case f := <-r.inbox:
			f()
		case <-ctx.Done():
		}
		return nil
	}
	if r.active != nil { // a goal being measured is decided before the next request is heard
		select {
		case f := <-r.inbox:
			f()
		default:
		}
	}
	return r.tick(ctx)
}

func (r *Robot) ticking() bool { return r.active != nil || r.openTask != nil && r.openTask.measuring() }

// tick is one robot tick. An error means that the pacer failed, which ends the robot.
func (r *Robot) tick(ctx context.Context) error {
	if r.active != nil {
		r.sendNext()
	}
	if err := r.cfg.Pacer.Tick(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // asked to end: Run closes the body, which halts it
		}
		return fmt.Errorf("pacer: %w", err)
	}
	r.elapsed = r.elapsed.Add(units.RobotTick)
	err := r.observe()
	if r.active != nil {
		r.watchMission(err)
	}
	if r.openTask != nil {
		r.watchGoal()
	}
	return nil
}

// observe reads the driver. A reading whose time stands still keeps its time; what that means is decided elsewhere.
func (r *Robot) observe() error {
	o, err := r.cfg.Body.Observe()
	if err != nil {
		return err
	}
	if o.At.After(r.last.At) {
		r.seenAt = r.elapsed
	}
	r.last = o
	return nil
}

// snapshot turns the last observation into facts: only what the contract declares, from the witness it names.
func (r *Robot) snapshot() *world.Snapshot {
	facts := make([]world.Fact, 0, len(r.last.Readings))
	for i := range r.last.Readings {
		g := &r.last.Readings[i]
		decl, ok := r.cfg.Contract.Fact(g.Fact)
		if !ok || decl.Witness != g.Witness {
			continue
		}
		v, ok := valueOf(g)
		if !ok || v.Kind != decl.Kind {
			continue
		}
		facts = append(facts, world.Fact{Name: g.Fact, Value: v, Witness: g.Witness, At: g.At, Sigma: max(g.Sigma, decl.Sigma)})
	}
	return world.NewSnapshot(r.last.At, facts)
}

func valueOf(g *body.Reading) (world.Value, bool) {
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
			objects[i] = world.Object{Label: o.Label, Pose: o.Pose, SizeM: o.SizeM}
		}
		return world.Value{Kind: world.KindPoses, Objects: objects}, true
	}
	return world.Value{}, false
}

func (r *Robot) mirror() mission.Mirror {
	return mission.Mirror{Stopped: r.last.Latch.Stopped, Number: r.last.Latch.Number}
}

func (r *Robot) standing() gate.Standing {
	st := gate.Standing{Stopped: r.last.Latch.Stopped, StopNumber: r.last.Latch.Number, StartRad: r.last.GoalRad}
	if r.active != nil {
		st.BusyWith = r.active.id
	}
	return st
}

// licenceOf returns the licence of a task; nil where there is none, which allows every object.
func licenceOf(q *request) gate.Licence {
	if q == nil {
		return nil
	}
	return q.task.Licence
}
