package robot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"interlock/body"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/robot/audit"
	"interlock/robot/gate"
	"interlock/robot/operator"
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
	// Memory bounds what is remembered; zero fields take their defaults.
	Memory Memory
	// Beat is how often the body is read while nothing moves, so that the mirror of its latch is true and its driver
	// hears the robot. 0: only when something is asked, which is enough for a body whose time the pacer moves.
	Beat time.Duration
	// Journal keeps the record. A motion's intent is durable before its first setpoint, and what cannot be recorded does
	// not move. Nil: no record is kept.
	Journal Journal
	// Past is what the record says of the processes before this one; nil: nothing.
	Past *audit.History
	// Version of the program, for the record.
	Version string
	// Desk holds what waits for a person. Nil: there is nobody to ask, and what needs a person is refused.
	Desk *operator.Desk
}

func (c Config) validate() error {
	switch {
	case c.Contract == nil, c.Gate == nil, c.Body == nil, c.Pacer == nil:
		return errors.New("robot: contract, gate, body and pacer are needed")
	case c.MaxMissions <= 0:
		return errors.New("robot: MaxMissions must be at least 1")
	case c.Beat < 0:
		return errors.New("robot: Beat cannot be negative")
	}
	return c.Memory.validate()
}

// Robot runs the missions of one body. It implements transport.Server.
type Robot struct {
	cfg      Config
	manifest atomic.Pointer[contractv1.Manifest]
	seen     atomic.Pointer[seen] // nil once anything happened since
	inbox    chan func()          // what may begin something
	asides   chan func()          // what begins nothing
	closed   chan struct{}

	// what follows belongs to the loop's goroutine
	senses   senses
	beatAt   time.Time // of the latest beat
	lookedAt time.Time // when the driver last answered; zero: it did not
	missions missions
	active   *motion
	intended *intent // cleared, and waiting for its intent to be durable
	leases   leases
	record   record
	tasks    tasks
	openTask *request
}

// New builds a robot. Nothing is touched before Run.
func New(cfg Config) (*Robot, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &Robot{
		cfg: cfg, inbox: make(chan func()), asides: make(chan func()), closed: make(chan struct{}),
		missions: newMissions(cfg.Memory), tasks: newTasks(cfg.Memory),
		record: record{
			journal: cfg.Journal, durable: mailbox{wake: make(chan struct{}, 1)}, untaken: map[string]bool{}, budgets: map[string]*budget{},
		},
	}
	r.leases = newLeases(r.resources(), firstEpoch(cfg))
	r.manifest.Store(cfg.Contract.Manifest(cfg.Alignment))
	return r, nil
}

// Run opens the body and serves until ctx ends. Then it halts, waits for standstill at most as long as a stop may take
// to be confirmed, and closes the body; what of that its driver did not answer is an *EndError. It is called once.
func (r *Robot) Run(ctx context.Context) (err error) {
	defer func() { r.seen.Store(nil); close(r.closed) }()
	if err := r.cfg.Body.Open(); err != nil {
		return fmt.Errorf("open driver: %w", err)
	}
	defer func() { err = closed(err, r.cfg.Body.Close()) }()
	if err := r.firstLook(ctx); err != nil {
		return fmt.Errorf("first observation: %w", err)
	}
	r.takeUp(r.cfg.Version)
	for ctx.Err() == nil {
		r.turn(ctx)
	}
	return r.end(context.WithoutCancel(ctx))
}

// now is the robot's own time, on the driver's clock.
func (r *Robot) now() units.Instant { return r.senses.clock }

// snapshot is every fact known now, each with the time of its source.
func (r *Robot) snapshot() *world.Snapshot { return r.senses.snapshot() }

func (r *Robot) standing() gate.Standing {
	last := &r.senses.last
	st := gate.Standing{Stopped: last.Latch.Stopped, StopNumber: last.Latch.Number, StartRad: last.GoalRad}
	if m := r.busy(); m != nil {
		st.BusyWith, st.BusyHolder = m.id, r.holderOf(m)
	}
	return st
}

// busy is the mission that moves the body or is about to; nil: none.
func (r *Robot) busy() *motion {
	if r.active == nil && r.intended != nil {
		return r.intended.motion
	}
	return r.active
}

// licenceFor returns the licence that a call is judged by: that of its task, else that of the task that is open. A
// caller that names no task is bound by what the person allowed all the same. Without any task every object is allowed.
func (r *Robot) licenceFor(q *request) gate.Licence {
	switch {
	case q != nil:
		return q.task.Licence
	case r.openTask != nil:
		return r.openTask.task.Licence
	}
	return nil
}
