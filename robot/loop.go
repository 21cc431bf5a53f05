package robot

import (
	"context"
	"errors"
	"time"

	"interlock/units"
)

// firstWithin is how long a body may keep its first observation waiting, where time passes by itself.
const firstWithin = 3 * time.Second

// firstLook reads the body, again and again where its process may only be late.
func (r *Robot) firstLook(ctx context.Context) error {
	err := r.look()
	for begun := time.Now(); err != nil && r.cfg.Beat > 0 && time.Since(begun) < firstWithin; err = r.look() {
		if sleep(ctx, r.cfg.Beat) != nil {
			break
		}
	}
	return err
}

// turn serves waiting requests and, while something moves or is measured, one tick.
func (r *Robot) turn(ctx context.Context) {
	if !r.ticking() {
		if p, ok := r.cfg.Pacer.(interface{ idle() }); ok {
			p.idle()
		}
		r.rest(ctx)
		return
	}
	r.heed()
	r.hear()
	r.tick(ctx)
}

// mostHeard is how many requests are heard in a tick while something moves: enough that a cancel is not kept waiting by those
// who only look, and so few that who floods the robot takes little of the time in which a setpoint is due.
const mostHeard = 8

// hear serves the requests that wait, between two ticks. A goal being measured is decided before anything else begins.
func (r *Robot) hear() {
	for range mostHeard {
		inbox := r.inbox
		if r.active == nil {
			inbox = nil
		}
		select {
		case f := <-inbox:
			f()
		case f := <-r.asides:
			f()
		default:
			return
		}
	}
}

// rest waits for a request, and reads the body after each beat.
func (r *Robot) rest(ctx context.Context) {
	var beat <-chan time.Time
	if r.cfg.Beat > 0 {
		if late := time.Since(r.beatAt); late > r.cfg.Beat { // something moved, or this is the first
			r.beatAt = time.Now()
		}
		t := time.NewTimer(time.Until(r.beatAt.Add(r.cfg.Beat))) // requests, however many, do not put it off
		defer t.Stop()
		beat = t.C
	}
	select {
	case f := <-r.inbox:
		f()
	case f := <-r.asides:
		f()
	case <-r.record.durable.wake:
		r.heed()
	case <-beat:
		r.beatAt = time.Now()
		if r.look() != nil { // a driver that does not answer is told to whoever asks for something
			r.senses.pass(r.cfg.Beat)
			r.expire()
		}
	case <-ctx.Done():
	}
}

// heed does what waited for its record.
func (r *Robot) heed() {
	for _, f := range r.record.durable.take() {
		r.seen.Store(nil)
		f()
	}
}

// expire ends what lasts only for a while: leases, and what waits for a person.
func (r *Robot) expire() {
	r.lapse()
	r.expireDesk()
}

func (r *Robot) ticking() bool { return r.active != nil || r.openTask != nil && r.openTask.measuring() }

// tick is one robot tick. A pacer that fails moves no driver, so it is told as a driver that is lost.
func (r *Robot) tick(ctx context.Context) {
	r.seen.Store(nil)
	begun := time.Now()
	if r.active != nil {
		r.sendNext()
	}
	paced := r.cfg.Pacer.Tick(ctx)
	if paced != nil && ctx.Err() != nil {
		return // asked to end; giveUp takes it from here
	}
	r.senses.tick()
	err := errors.Join(paced, r.look())
	r.watchSideEffects()
	if r.active != nil {
		r.watchMission(err)
	}
	if r.openTask != nil {
		r.watchGoal()
	}
	if more := time.Since(begun) - units.RobotTick; err != nil && r.cfg.Beat > 0 && more > 0 {
		r.senses.pass(more) // what is asked of a driver that does not answer takes its time, and a halt is given up by it
	}
}

// look reads the driver, and writes down what is owed to the record. A stop that came since a task was opened ends the task, also
// where nothing moves.
func (r *Robot) look() error {
	r.seen.Store(nil)
	if r.record.journal != nil {
		r.catchUp()
	}
	o, err := r.cfg.Body.Observe()
	if err != nil {
		r.lookedAt = time.Time{}
		return err
	}
	r.senses.take(r.cfg.Contract, o)
	r.lookedAt = time.Now()
	r.noteLatch()
	r.expire()
	if q := r.openTask; q != nil && r.stoppedSince(q) && !r.moves(q) {
		r.stopTask(q)
	}
	return nil
}

// lookLately is look, unless the driver was read within a tick. A robot whose time a pacer makes always looks.
func (r *Robot) lookLately() error {
	if r.cfg.Beat > 0 && time.Since(r.lookedAt) < units.RobotTick {
		return nil
	}
	return r.look()
}
