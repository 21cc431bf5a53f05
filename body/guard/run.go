package guard

import (
	"context"
	"errors"
	"sync"
	"time"

	"interlock/body"
	"interlock/reject"
)

// Times of the real-time loop.
const (
	stepCycle  = 4 * time.Millisecond   // between two looks at the clock, for a body on virtual time
	liveCycle  = 10 * time.Millisecond  // between two commands to a body with its own clock
	idleCycle  = 20 * time.Millisecond  // between two readings of such a body while it is not commanded
	mostBehind = 100 * time.Millisecond // what a late loop makes up for at once; what is beyond passes without steps
	restAfter  = time.Second            // after the last command the latch file says that nothing moves
	reopenWait = 500 * time.Millisecond // between two attempts to open a body that was lost
	markWithin = 50 * time.Millisecond  // how long a setpoint waits for the latch file; nothing moves meanwhile
)

// Run moves the time of an open guard with the monotonic clock until ctx ends: a body on virtual time is stepped, one
// with its own clock is commanded and read. Time that a late loop cannot make up for passes all the same: setpoints
// expire in it, and a motion that was asleep through a silence is over, not resumed. When ctx ends, what moves is halted
// first. The error says why it did not start.
func (g *Guard) Run(ctx context.Context) error {
	if err := g.startRun(); err != nil {
		return err
	}
	stop := make(chan struct{})
	var beside sync.WaitGroup
	if g.keeper != nil {
		beside.Go(func() { g.keeper.run(stop) })
	}
	if g.stepper == nil {
		beside.Go(func() { g.watchSilence(stop) })
	}
	defer func() { close(stop); beside.Wait() }()
	defer g.endRun()
	cycle := stepCycle
	if g.stepper == nil {
		cycle = liveCycle
	}
	pace := body.Pace{Step: g.step, Most: mostBehind}
	turn := func() { g.turn(g.overslept(pace.Due(time.Now()))) }
	tick := time.NewTicker(cycle)
	defer tick.Stop()
	for turn(); ctx.Err() == nil; {
		select {
		case <-tick.C:
			turn()
		case <-ctx.Done():
		}
	}
	g.end()
	for range 2 * RampTime / cycle {
		<-tick.C
		turn()
	}
	return nil
}

func (g *Guard) startRun() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.open:
		return body.ErrNotOpen
	case g.running:
		return errors.New("guard: it runs already")
	}
	g.running, g.ending = true, false
	if g.keeper != nil {
		g.keeper.noteRunning(true)
	}
	return nil
}

// end halts for the last time: nothing is taken from anybody any more, until Run or Open begins anew.
func (g *Guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ending = true
	_ = g.Halt()
}

func (g *Guard) endRun() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = false
	g.rest(0)
	if g.keeper != nil { // the writer ends after this, and saves it
		g.keeper.noteRunning(false)
	}
}

// turn is one cycle of the loop.
func (g *Guard) turn(steps int, lost time.Duration) {
	if g.stepper == nil {
		g.turnLive(steps, lost)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		return
	}
	g.skip(lost)
	for range steps {
		if err := g.advanceStep(); err != nil {
			g.fail(hazardDriverLost, err.Error())
			return
		}
	}
	g.rest(restAfter)
}

// overslept makes nothing up for a sleep that was a silence: the one step that is left finds the motion over.
func (g *Guard) overslept(steps int, lost time.Duration) (int, time.Duration) {
	if slept := lost + time.Duration(steps)*g.step; slept > g.cfg.Silence+g.step {
		return 1, slept - g.step
	}
	return steps, lost
}

// skip lets time pass without steps. It is lost only beyond mostBehind, which is longer than a ramp: the body has long stood
// where it was last told to be, and there is no velocity left to decelerate from.
func (g *Guard) skip(lost time.Duration) {
	if lost <= 0 {
		return
	}
	g.now = g.now.Add(lost)
	if g.stepper != nil {
		g.offset += lost
	}
	clear(g.velocity)
	g.ramp = 0
	g.asleep = g.asleep || lost > g.cfg.Silence
}

// rest notes in the latch file that nothing moves, once nothing has for so long.
func (g *Guard) rest(after time.Duration) {
	if g.marked && !g.motion.active && g.ramp == 0 && g.now.Sub(g.movedAt) >= after {
		g.keeper.noteMoving(false)
		g.marked, g.markKept = false, false
	}
}

// markMoving makes durable that a motion runs, before it does: after a crash the driver must know that it has to come up
// stopped. What cannot be noted is refused, and so is, for now, what is not noted yet: a slow disk keeps no caller.
func (g *Guard) markMoving() error {
	if g.keeper == nil || g.markKept {
		return nil
	}
	g.keeper.noteMoving(true)
	g.marked, g.movedAt = true, g.now // as long as somebody wants to move
	var err error
	if g.keeper.writing.Load() {
		g.markKept, err = g.keeper.await(markWithin)
	} else { // time does not run here, and nobody else saves
		err = g.keeper.save()
		g.markKept = err == nil
	}
	if g.markKept {
		return nil
	}
	r := reject.New(reject.NotPermitted, "the latch file is still being written").By("latch_file").In("driver")
	r.Retry = reject.Later
	if err != nil {
		r.Says, r.Retry = "the latch file cannot be written: "+err.Error(), reject.AfterOperator
	}
	return r
}
