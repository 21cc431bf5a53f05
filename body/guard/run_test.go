package guard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/reject"
	"interlock/units"
)

// clocked is a plant with a clock of its own: no body.Stepper. It may hang or fail.
type clocked struct {
	mu    sync.Mutex
	plant *plant
	since time.Time
	fail  error
	hang  time.Duration
	once  time.Duration // hangs so long, once
	halts int
	opens int
}

func (c *clocked) enter() (done func(), err error) {
	time.Sleep(c.waits())
	c.mu.Lock()
	c.plant.steps = int64(time.Since(c.since) / step)
	return c.mu.Unlock, c.fail
}

func (c *clocked) waits() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	once := c.once
	c.once = 0
	return c.hang + once
}

func (c *clocked) set(change func(*clocked)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

func (c *clocked) Describe() body.Description { return c.plant.Describe() }
func (c *clocked) Close() error               { return nil }

func (c *clocked) Open() error {
	done, err := c.enter()
	defer done()
	c.opens++
	return err
}

func (c *clocked) Send(s body.Setpoint) (body.Sent, error) {
	done, err := c.enter()
	defer done()
	if err != nil {
		return body.Sent{}, err
	}
	return c.plant.Send(s)
}

func (c *clocked) Halt() error {
	done, err := c.enter()
	defer done()
	c.halts++
	return err
}

func (c *clocked) Observe() (body.Observation, error) {
	done, err := c.enter()
	defer done()
	if err != nil {
		return body.Observation{}, err
	}
	return c.plant.Observe()
}

// running is a leased guard whose Run is under way in a synctest bubble.
type running struct {
	*guard.Guard
	t     *testing.T
	epoch uint64
	end   func()
}

func run(t *testing.T, inner body.Driver, cfg guard.Config) *running {
	t.Helper()
	cfg.Leased = true
	g := guard.New(inner, cfg)
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	r := &running{Guard: g, t: t}
	r.end = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	epoch, err := g.Acquire("test")
	if err != nil {
		t.Fatal(err)
	}
	r.epoch = epoch
	return r
}

func (r *running) watch() body.Observation {
	r.t.Helper()
	o, err := r.Watch(r.epoch)
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// swing sends a motion of one second that outlasts every silence.
func (r *running) swing() {
	r.t.Helper()
	var later reject.Rejection
	for range 1000 { // a disk may be slow
		o := r.watch()
		p := body.Setpoint{PositionsRad: []float64{0.4, 0}, Over: time.Second, Expires: o.At.Add(body.MaxAhead), Stop: o.Latch.Number, Epoch: r.epoch}
		_, err := r.Send(p)
		if err == nil {
			return
		}
		if later = (reject.Rejection{}); !errors.As(err, &later) || later.Retry != reject.Later {
			r.t.Fatal(err)
		}
	}
	r.t.Fatal(later)
}

// pan is the first joint's command, seen by an onlooker, which is no sign of life.
func (r *running) pan() float64 {
	r.t.Helper()
	o, err := r.Watch(0)
	if err != nil {
		r.t.Fatal(err)
	}
	return o.GoalRad[0]
}

func refusedAs(t *testing.T, err error, code reject.Code, field string) {
	t.Helper()
	var r reject.Rejection
	if !errors.As(err, &r) || r.Code != code || r.Field != field {
		t.Errorf("refused by %v; want %s in %q", err, code, field)
	}
}

// In real time, for a body on virtual time and for one with its own clock: a motion follows the clock, and stops within
// the silence and the ramp when nobody is heard, though onlookers watch and the lease is renewed.
//
// Verifies: P07, D08
func TestRealTimeHoldsOnSilence(t *testing.T) {
	for name, build := range map[string]func() body.Driver{
		"virtual time": func() body.Driver { return newPlant() },
		"own clock":    func() body.Driver { return &clocked{plant: newPlant(), since: time.Now()} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, build(), config())
				defer r.end()
				r.swing()
				time.Sleep(250 * time.Millisecond)
				if p := r.pan(); !(p > 0.08 && p < 0.11) {
					t.Errorf("after 250 ms of 1 s the command is at %v of 0.4", p)
				}
				for range 6 { // it may renew and look as often as it likes
					time.Sleep(50 * time.Millisecond)
					if err := r.Renew(r.epoch); err != nil {
						t.Fatal(err)
					}
				}
				at := r.pan()
				time.Sleep(500 * time.Millisecond)
				if r.pan() != at {
					t.Error("the command goes on after the silence")
				}
				if o, _ := r.Watch(0); o.Holding != body.HoldSilence {
					t.Errorf("it holds by %q", o.Holding)
				}
			})
		})
	}
}

// Verifies: P09, D06
func TestOnlyTheHolderMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, newPlant(), config())
		defer r.end()
		send := func(epoch uint64) error {
			o, err := r.Watch(0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Send(body.Setpoint{PositionsRad: []float64{0, 0}, Expires: o.At.Add(body.Expiry), Epoch: epoch})
			return err
		}
		if err := send(r.epoch); err != nil {
			t.Error(err)
		}
		for _, epoch := range []uint64{0, 1, r.epoch - 1, r.epoch + 1} {
			refusedAs(t, send(epoch), reject.NoLease, "epoch")
		}
		_, err := r.Acquire("other")
		refusedAs(t, err, reject.Busy, "holder")
		time.Sleep(units.LeaseTTL + 20*time.Millisecond)
		refusedAs(t, send(r.epoch), reject.NoLease, "epoch")
		_, err = r.Watch(r.epoch)
		refusedAs(t, err, reject.NoLease, "epoch")
		next, err := r.Acquire("other")
		if err != nil || next <= r.epoch {
			t.Fatalf("epoch %d after %d: %v", next, r.epoch, err)
		}
		refusedAs(t, send(r.epoch), reject.NoLease, "epoch")
		if err := send(next); err != nil {
			t.Error(err)
		}
	})
	r := newRig(t)
	p := r.setpoint(0, 0)
	p.Epoch = 7
	_, err := r.Send(p)
	refusedAs(t, err, reject.NoLease, "epoch")
}

// A body that hangs: stop, setpoint and observation answer at once all the same; the motion ends at its first missing
// answer, and a silence of the body latches. It is opened again by itself, and stays stopped.
//
// Verifies: F33, D09
func TestHungBodyHangsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clocked{plant: newPlant(), since: time.Now()}
		r := run(t, c, config())
		defer r.end()
		r.swing()
		time.Sleep(100 * time.Millisecond)
		c.set(func(c *clocked) { c.hang = time.Hour })
		time.Sleep(20 * time.Millisecond)
		begun := time.Now()
		r.Stop("while it hangs")
		if o := r.watch(); !o.Latch.Stopped || o.Health.MotionAllowed {
			t.Errorf("%+v", o)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("a stop and an observation took %v", took)
		}
		c.set(func(c *clocked) { c.hang = 0 })
		time.Sleep(2 * time.Hour)
	})
	synctest.Test(t, func(t *testing.T) {
		c := &clocked{plant: newPlant(), since: time.Now()}
		r := run(t, c, config())
		defer r.end()
		r.swing()
		time.Sleep(100 * time.Millisecond)
		c.set(func(c *clocked) { c.fail = errors.New("no answer") })
		time.Sleep(50 * time.Millisecond)
		at := r.pan()
		if o := r.watch(); o.Latch.Stopped || o.Health.BusOK || o.Holding == body.HoldNone {
			t.Errorf("after 50 ms without an answer: %+v", o)
		}
		time.Sleep(guard.DefaultSilence)
		if o := r.watch(); !o.Latch.Stopped || o.Health.FaultCode != "driver_lost" || o.Standstill || r.pan() != at {
			t.Errorf("after a silence of the body: %+v", o)
		}
		c.set(func(c *clocked) { c.fail = nil })
		time.Sleep(time.Second)
		if o := r.watch(); !o.Latch.Stopped || !o.Health.BusOK || c.opens < 2 {
			t.Errorf("%d opens; %+v", c.opens, o)
		}
		if err := r.Reset(r.Latch().Number); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if o := r.watch(); o.Health.FaultCode != "" || r.pan() != o.JointsRad[0] {
			t.Errorf("after the reset: %+v", o)
		}
	})
}

// A stop of a body with its own clock: it decelerates along the path, and then is told to halt.
//
// Verifies: D10
func TestStopHaltsABodyWithItsOwnClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clocked{plant: newPlant(), since: time.Now()}
		r := run(t, c, config())
		defer r.end()
		r.swing()
		time.Sleep(300 * time.Millisecond)
		r.watch()
		at := r.pan()
		r.Stop("test")
		time.Sleep(guard.RampTime + 50*time.Millisecond)
		if d := r.pan() - at; !(d > 0.005 && d < 0.03) {
			t.Errorf("it went on for %v rad; the ramp at 0.4 rad/s takes 0.016", d)
		}
		if c.halts == 0 {
			t.Error("the body was not told to halt")
		}
	})
}

// sleepy is a plant whose next step takes long.
type sleepy struct {
	*plant
	sleep atomic.Int64
}

func (s *sleepy) Advance(d time.Duration) error {
	time.Sleep(time.Duration(s.sleep.Swap(0)))
	return s.plant.Advance(d)
}

// Asleep for longer than the silence in the middle of a motion: it is over, without a ramp, however long it was. What has a
// clock of its own stood all that time, at most a cycle ahead of what was seen.
//
// Verifies: D04
func TestAsleepThroughASilence(t *testing.T) {
	type dozer struct {
		body  body.Driver
		sleep func(time.Duration)
	}
	for name, build := range map[string]func() dozer{
		"virtual time": func() dozer {
			p := &sleepy{plant: newPlant()}
			return dozer{p, func(d time.Duration) { p.sleep.Store(int64(d)) }}
		},
		"own clock": func() dozer {
			c := &clocked{plant: newPlant(), since: time.Now()}
			return dozer{c, func(d time.Duration) { c.set(func(c *clocked) { c.once = d }) }}
		},
	} {
		for _, slept := range []time.Duration{310, 320, 350, 399, 401, 450, 700, 5000} {
			t.Run(fmt.Sprintf("%s for %d ms", name, slept), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := build()
					r := run(t, d.body, config())
					defer r.end()
					r.swing()
					time.Sleep(200 * time.Millisecond)
					r.watch()
					at := r.pan()
					d.sleep(slept * time.Millisecond)
					time.Sleep(slept*time.Millisecond + time.Second)
					if d := r.pan() - at; !(d >= 0 && d < 0.4*0.022) {
						t.Errorf("the command went on for %v rad: more than the steps of two cycles", d)
					}
					if o, _ := r.Watch(0); o.At.Sub(0) < (slept+1150)*time.Millisecond || o.Holding != body.HoldSilence {
						t.Errorf("at %v it holds by %q", o.At, o.Holding)
					}
				})
			})
		}
	}
}

func latched(t *testing.T) (cfg guard.Config, path string) {
	t.Helper()
	cfg = config()
	cfg.LatchFile = filepath.Join(t.TempDir(), "latch")
	return cfg, cfg.LatchFile
}

// The latch file: what an earlier process left decides how the next one comes up.
//
// Verifies: D03
func TestLatchFile(t *testing.T) {
	cfg, path := latched(t)
	first := run(t, newPlant(), cfg)
	if first.Latch().Stopped {
		t.Error("a new body comes up stopped")
	}
	first.swing()
	if err := os.Link(path, path+".moving"); err != nil { // as a kill in the motion would leave it
		t.Fatal(err)
	}
	n := first.Stop("by hand")
	if !first.Kept(time.Minute) {
		t.Error("the stop is not durable")
	}
	first.end()

	second := guard.New(newPlant(), cfg)
	if err := second.Open(); err != nil {
		t.Fatal(err)
	}
	if l := second.Latch(); !l.Stopped || l.Number != n || l.Reason != "by hand" {
		t.Errorf("the second process comes up with %+v", l)
	}
	if err := errors.Join(second.Reset(n), second.Close()); err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		file    string
		stopped bool
	}{
		"as the second left it":       {path, false},
		"killed in the motion":        {path + ".moving", true},
		"empty":                       {write(t, ""), true},
		"another format":              {write(t, `{"format":2}`), true},
		"no file: the first start":    {filepath.Join(t.TempDir(), "none"), false},
		"a folder: it cannot be read": {t.TempDir(), true},
	} {
		cfg.LatchFile = c.file
		g := guard.New(newPlant(), cfg)
		err := g.Recall()
		if (err != nil) != (name == "a folder: it cannot be read") || g.Latch().Stopped != c.stopped {
			t.Errorf("%s: %+v, %v", name, g.Latch(), err)
		}
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "latch")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// moves sends a setpoint, and again where the machine let it wait since the guard was looked at. Its zero value: it was taken.
func (r *running) moves(t *testing.T, pan float64) (refusal reject.Rejection) {
	t.Helper()
	for range 100 {
		o := r.watch()
		_, err := r.Send(body.Setpoint{PositionsRad: []float64{pan, 0}, Over: time.Second, Expires: o.At.Add(body.Expiry), Epoch: r.epoch})
		if refusal = (reject.Rejection{}); err != nil && !errors.As(err, &refusal) {
			t.Fatal(err)
		}
		if refusal.Field != "expires" && refusal.Code != reject.StaleFact {
			break
		}
	}
	return refusal
}

// Without a disk: no motion begins, since it could not be known after a crash; a stop works.
//
// Verifies: P04, D11
func TestStopNeedsNoDisk(t *testing.T) {
	cfg, path := latched(t)
	r := run(t, newPlant(), cfg)
	defer r.end()
	if err := os.Mkdir(path+".new", 0o700); err != nil { // the new file cannot be made
		t.Fatal(err)
	}
	if no := r.moves(t, 0.1); no.Rule != "latch_file" {
		t.Errorf("a motion without a disk is answered by %+v", no)
	}
	if n := r.Stop("no disk"); n != 1 || !r.watch().Latch.Stopped {
		t.Errorf("stop %d, %+v", n, r.Latch())
	}
	if r.Kept(50 * time.Millisecond) {
		t.Error("it is told durable and is not")
	}
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) { // until it was tried
		if text, err := os.ReadFile(path); err == nil && len(text) == 0 {
			break
		}
	}
	cfg.LatchFile = path
	next := guard.New(newPlant(), cfg)
	_ = next.Recall()
	if !next.Latch().Stopped {
		t.Error("a process after a stop that could not be kept comes up ready")
	}
}

// A disk that hangs keeps nobody: the setpoint is refused for now, observations go on and a stop works. Once the disk is back
// motions begin again.
//
// Verifies: P04, D25
func TestAHungDiskHangsNobody(t *testing.T) {
	cfg, path := latched(t)
	r := run(t, newPlant(), cfg)
	defer r.end()
	for r.watch().At == 0 || !r.Kept(time.Second) { // until its time moves and its file is written
		time.Sleep(time.Millisecond)
	}
	if err := syscall.Mkfifo(path+".new", 0o600); err != nil { // whoever writes there waits for a reader
		t.Fatal(err)
	}
	send := func() reject.Rejection { return r.moves(t, 0.01) }
	for range 3 {
		if no := send(); no.Rule != "latch_file" || no.Retry != reject.Later {
			t.Errorf("while the disk hangs a motion is answered by %+v", no)
		}
		if r.pan() != 0 {
			t.Error("it moves")
		}
	}
	reader, err := os.OpenFile(path+".new", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	for no := send(); no.Code != ""; no = send() {
		if no.Rule != "latch_file" {
			t.Fatalf("once the disk is back: %+v", no)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n := r.Stop("test"); n != 1 {
		t.Errorf("stop %d", n)
	}
}

// A raised arm is not closed, nor one whose height is not known; a person may abandon it.
//
// Verifies: D12
func TestRaisedArmIsNotClosed(t *testing.T) {
	cfg := config()
	cfg.RaisedM = 0.05
	height := 0.2
	cfg.Tip = func(q []float64) units.Vec3 { return units.Vec3{0.3, 0, height} }
	p := newPlant()
	g := guard.New(p, cfg)
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	var r reject.Rejection
	if err := g.Close(); !errors.As(err, &r) || r.Rule != "arm_raised" || !p.open {
		t.Errorf("closing a raised arm: %v, open %v", err, p.open)
	}
	p.obsErr = errors.New("no answer")
	if err := g.Close(); !errors.As(err, &r) || r.Rule != "arm_raised" || !p.open {
		t.Errorf("closing an arm of unknown height: %v, open %v", err, p.open)
	}
	if err := g.Abandon(); err != nil || p.open {
		t.Errorf("abandoned: %v, open %v", err, p.open)
	}
	p.obsErr, height = nil, 0.01
	if err := errors.Join(g.Open(), g.Close()); err != nil || p.open {
		t.Errorf("a lowered arm: %v, open %v", err, p.open)
	}
}

// A stop during bring-up, before there is any body and anybody moves its time, is kept: the next process comes up stopped.
//
// Verifies: P04, D03, D24
func TestAStopInBringUpIsKept(t *testing.T) {
	cfg, _ := latched(t)
	first := guard.New(newPlant(), cfg)
	if err := first.Recall(); err != nil {
		t.Fatal(err)
	}
	number := first.Stop("bring-up")
	if !first.Kept(time.Minute) {
		t.Error("it is not durable")
	}
	next := guard.New(newPlant(), cfg)
	if err := next.Recall(); err != nil {
		t.Fatal(err)
	}
	if l := next.Latch(); !l.Stopped || l.Number != number {
		t.Errorf("the next process comes up with %+v", l)
	}
}
