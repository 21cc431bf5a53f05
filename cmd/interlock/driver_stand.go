package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

// stand is the guard that a driver process serves. It is the same guard for the life of the process, except that an
// evaluation may set up another world on the lab line, which brings a guard of its own.
type stand struct {
	cfg  guard.Config
	pace *paced // the plant in another process whose time an evaluation moves; nil: there is none

	say      func(words string) // tells a person at the process, where there is one; it never waits
	operator string             // address of the person's line
	own      chan body.Latch    // stops of the guard's own that nobody was told of yet

	mu     sync.Mutex
	now    *guard.Guard
	inside *sim.Driver   // the simulator, where it is in this process
	owing  func() error  // lets the time pass that the plant is owed; nil: none ever is
	step   bool          // lockstep: Run does not move the time
	swap   chan struct{} // closed when the guard is another one
	ran    bool
}

var (
	_ remote.Line  = (*stand)(nil)
	_ remote.Latch = (*stand)(nil)
	_ plant.World  = (*stand)(nil)
)

// mostUntold is how many stops wait to be told; a person resets each before there can be another.
const mostUntold = 16

// newStand is one whose guard is not there yet: its configuration is the stand's.
func newStand(inside *sim.Driver, cfg guard.Config) *stand {
	s := &stand{cfg: cfg, inside: inside, swap: make(chan struct{}), own: make(chan body.Latch, mostUntold)}
	s.cfg.Tripped = func(l body.Latch) {
		select {
		case s.own <- l:
		default:
		}
	}
	return s
}

// newPacedStand is a driver in front of a plant whose time an evaluation moves. There is no body before it set one up.
func newPacedStand(p *paced, cfg guard.Config) *stand {
	return &stand{cfg: cfg, pace: p, now: guard.New(p.body(), cfg), step: true, swap: make(chan struct{})}
}

func (s *stand) guard() *guard.Guard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *stand) present() (g *guard.Guard, lockstep bool, swap <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.step, s.swap
}

// run opens the body when it is there and moves its time until ctx ends.
func (s *stand) run(ctx context.Context, errOut io.Writer) error {
	s.mu.Lock()
	s.ran = true
	s.mu.Unlock()
	if s.pace == nil {
		if err := whenThere(ctx, errOut, s.guard().Open); err != nil {
			return errors.Join(ignoreEnd(ctx, err), s.guard().Close())
		}
		ctx, end := context.WithCancel(ctx)
		var telling sync.WaitGroup
		s.tellThere()
		telling.Go(func() { s.tellStops(ctx) })
		defer func() { end(); telling.Wait() }() // say keeps nobody
	}
	for {
		g, lockstep, swap := s.present()
		err := until(ctx, swap, func(ctx context.Context) error {
			if lockstep {
				<-ctx.Done()
				return nil
			}
			return g.Run(ctx)
		})
		err = errors.Join(err, g.Close())
		if _, _, later := s.present(); err != nil || later == swap {
			return err
		}
	}
}

// began reports whether run was begun, which then ends the guard too.
func (s *stand) began() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ran
}

// tellThere says that the body of another process is there, and how the latch stands since: hardware comes up stopped, and the
// first line of the process was before that.
func (s *stand) tellThere() {
	if s.inside == nil {
		s.untold()
		s.say("the body is there; " + latchWords(s.Latch(), s.operator))
	}
}

// untold forgets the stops that wait to be told.
func (s *stand) untold() {
	for {
		select {
		case <-s.own:
		default:
			return
		}
	}
}

// tellStops says each stop of the guard's own, with the command that resets it, until ctx ends.
func (s *stand) tellStops(ctx context.Context) {
	for {
		select {
		case l := <-s.own:
			s.say(latchWords(l, s.operator))
		case <-ctx.Done():
			return
		}
	}
}

// until does the work until ctx or the channel ends it.
func until(ctx context.Context, end <-chan struct{}, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- work(ctx) }()
	select {
	case <-end:
		cancel()
	case err := <-ended:
		return err
	}
	return <-ended
}

func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// SetUp implements plant.World: a new world with a new guard. Its latch is open and is not kept.
func (s *stand) SetUp(cfg sim.Config, lie sim.Lie, lockstep bool) error {
	var driver *sim.Driver
	var inner body.Stepper
	var owing func() error
	if s.pace != nil {
		b, err := s.pace.setUp(cfg, lie, lockstep)
		if err != nil {
			return err
		}
		inner, owing = b, b.CatchUp
	} else {
		d, b, err := simulated(cfg, lie)
		if err != nil {
			return err
		}
		driver, inner = d, b
	}
	fresh := s.cfg
	fresh.LatchFile, fresh.Tripped = "", nil
	g := guard.New(inner, fresh)
	if err := g.Open(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.inside, s.owing, s.step = g, driver, owing, lockstep
	close(s.swap)
	s.swap = make(chan struct{})
	return nil
}

// simulated builds a simulator, and the body that lies about it where one is asked for.
func simulated(cfg sim.Config, lie sim.Lie) (*sim.Driver, body.Stepper, error) {
	d, err := sim.New(cfg)
	if err != nil || lie == "" {
		return d, d, err
	}
	liar, err := sim.NewLiar(d, lie)
	return d, liar, err
}

// Advance implements plant.World.
func (s *stand) Advance(by time.Duration) error {
	s.mu.Lock()
	g, lockstep, owing := s.now, s.step, s.owing
	s.mu.Unlock()
	if !lockstep {
		return errors.New("the time of this body moves by itself; set it up in lockstep")
	}
	if err := g.Advance(by); err != nil || owing == nil {
		return err
	}
	return owing()
}

// Truth implements plant.World; nil where the plant is another process.
func (s *stand) Truth() body.Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside == nil {
		return nil
	}
	return s.inside.Truth()
}

// What follows forwards to the present guard: remote.Line and remote.Latch.

func (s *stand) Describe() body.Description                   { return s.guard().Describe() }
func (s *stand) Acquire(holder string) (uint64, error)        { return s.guard().Acquire(holder) }
func (s *stand) Renew(epoch uint64) error                     { return s.guard().Renew(epoch) }
func (s *stand) Release(epoch uint64)                         { s.guard().Release(epoch) }
func (s *stand) Send(p body.Setpoint) (body.Sent, error)      { return s.guard().Send(p) }
func (s *stand) Halt() error                                  { return s.guard().Halt() }
func (s *stand) Watch(epoch uint64) (body.Observation, error) { return s.guard().Watch(epoch) }
func (s *stand) Stop(reason string) uint64                    { return s.guard().Stop(reason) }
func (s *stand) StopByRobot(reason string) uint64             { return s.guard().StopByRobot(reason) }
func (s *stand) Reset(number uint64) error                    { return s.guard().Reset(number) }
func (s *stand) Latch() body.Latch                            { return s.guard().Latch() }
func (s *stand) Holder() string                               { return s.guard().Holder() }
func (s *stand) Kept(within time.Duration) bool               { return s.guard().Kept(within) }
