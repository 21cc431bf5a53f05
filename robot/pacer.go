package robot

import (
	"context"
	"time"

	"interlock/body"
	"interlock/units"
)

// Pacer says when the robot's next tick is due. It is the only place where time passes.
type Pacer interface {
	// Tick returns once the next tick is due, or with the context's error.
	Tick(context.Context) error
}

// Lockstep returns the pacer of a robot folded into one process with a stepped driver: every tick moves the driver's
// virtual time by units.RobotTick and waits for nothing.
func Lockstep(d body.Stepper) Pacer { return lockstep{d} }

type lockstep struct{ driver body.Stepper }

func (l lockstep) Tick(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.driver.Advance(units.RobotTick)
}

// Bounds of a real-time pacer that has fallen behind.
const (
	slowAfter  = units.RobotTick / 2 // a tick later than this is told
	closest    = units.RobotTick / 2 // ticks never follow each other faster, so that catching up is no burst
	giveUpPast = 5 * units.RobotTick // what is further behind is not made up for: the schedule begins anew
)

// RealTime returns the pacer of a robot folded into one process with a stepped driver that people watch: every tick waits
// until it is due on the monotonic clock, and moves the driver's virtual time by units.RobotTick. A tick that comes late
// is told to slow (hazard slow_tick, a warning), which must not block; nil: nobody is told. Ticks that were missed are
// made up for at twice the pace at most, and beyond a tenth of a second not at all: the driver's time then falls behind
// the clock, which nothing rests on.
func RealTime(d body.Stepper, slow func(late time.Duration)) Pacer {
	if slow == nil {
		slow = func(time.Duration) {}
	}
	return &realTime{driver: d, slow: slow}
}

type realTime struct {
	driver body.Stepper
	slow   func(late time.Duration)
	due    time.Time // of the next tick; zero: one tick from when it is asked for
	last   time.Time // when the latest tick began to move the driver
}

// Tick implements Pacer.
func (p *realTime) Tick(ctx context.Context) error {
	now := time.Now()
	if p.due.IsZero() {
		p.due = now.Add(units.RobotTick)
	}
	if err := sleep(ctx, max(p.due.Sub(now), p.last.Add(closest).Sub(now))); err != nil {
		return err
	}
	p.last = time.Now()
	late := p.last.Sub(p.due)
	if late > slowAfter {
		p.slow(late)
	}
	if late > giveUpPast {
		p.due = p.last
	}
	p.due = p.due.Add(units.RobotTick)
	return p.driver.Advance(units.RobotTick)
}

// idle says that nothing moves: the schedule begins anew with the next tick, which is not late then.
func (p *realTime) idle() { p.due = time.Time{} }

// Waiting returns the pacer of a robot whose body has a clock of its own: a tick is due units.RobotTick after it is asked
// for, which is when the setpoint before it was taken. Setpoints therefore never follow each other faster than they were
// planned: a line or a machine that is late makes the motion slow, and nothing is ever made up for.
func Waiting() Pacer { return waiting{} }

type waiting struct{}

func (waiting) Tick(ctx context.Context) error { return sleep(ctx, units.RobotTick) }

// sleep waits, for no time at all where d is not positive, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
