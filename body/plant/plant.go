package plant

import (
	"context"
	"errors"
	"sync"
	"time"

	"interlock/body"
	"interlock/body/remote"
	"interlock/body/sim"
	"interlock/units"
)

// Times of the loop.
const (
	cycle      = 4 * time.Millisecond
	mostBehind = 100 * time.Millisecond // what is made up for at once
)

// errLockstep is returned by Advance of a plant whose time moves by itself.
var errLockstep = errors.New("plant: its time moves by itself; set it up in lockstep")

// Plant runs a simulated body in real time. It implements remote.Line. Methods come from any goroutine.
type Plant struct {
	mu       sync.Mutex
	driver   *sim.Driver
	body     body.Stepper  // driver, or a liar around it
	lost     time.Duration // passed without steps
	lease    body.Lease
	lockstep bool
	opened   bool
	sent     bool // something, since the world was set up
	halted   bool // since the last setpoint
}

var _ remote.Line = (*Plant)(nil)

// New builds a plant with the world of the configuration.
func New(cfg sim.Config) (*Plant, error) {
	p := &Plant{}
	p.lease.StartAt(uint64(max(0, time.Now().UnixNano()))) // epochs grow over restarts
	return p, p.SetUp(cfg, "", false)
}

// SetUp builds the world anew. Every lease ends. In lockstep time moves by Advance only.
func (p *Plant) SetUp(cfg sim.Config, lie sim.Lie, lockstep bool) error {
	driver, err := sim.New(cfg)
	if err != nil {
		return err
	}
	var b body.Stepper = driver
	if lie != "" {
		if b, err = sim.NewLiar(driver, lie); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	epoch := p.lease.Epoch()
	p.driver, p.body, p.lockstep, p.opened, p.sent, p.halted, p.lost, p.lease = driver, b, lockstep, false, false, false, 0, body.Lease{}
	p.lease.StartAt(epoch)
	return p.open()
}

// open opens the body, so that gravity and servos act from the start. Its goal is where it stands.
func (p *Plant) open() error {
	if p.opened {
		return nil
	}
	if err := p.body.Open(); err != nil {
		return err
	}
	p.opened = true
	return nil
}

// Run moves the world's time with the monotonic clock until ctx ends.
func (p *Plant) Run(ctx context.Context) error {
	pace := body.Pace{Step: sim.Step, Most: mostBehind}
	pace.Due(time.Now())
	tick := time.NewTicker(cycle)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		steps, lost := pace.Due(time.Now())
		if err := p.turn(steps, lost); err != nil {
			return err
		}
	}
}

func (p *Plant) turn(steps int, lost time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lockstep {
		return nil
	}
	p.lost += lost
	if steps == 0 {
		return nil
	}
	return p.body.Advance(time.Duration(steps) * sim.Step)
}

// Advance moves the world's time in lockstep.
func (p *Plant) Advance(by time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.lockstep {
		return errLockstep
	}
	return p.body.Advance(by)
}

// Truth is the port to what is really so, for evaluation.
func (p *Plant) Truth() body.Truth {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.driver.Truth()
}

// now is the plant's clock.
func (p *Plant) now() units.Instant { return p.driver.Truth().Now().Add(p.lost) }

// Describe implements remote.Line.
func (p *Plant) Describe() body.Description {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.body.Describe()
}

// Acquire implements remote.Line. The servos of an arm that stands keep the goal they have; one that stands elsewhere
// than its goal, as after a driver that died in a motion, gets where it stands as its goal.
func (p *Plant) Acquire(holder string) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	epoch, err := p.lease.Acquire(p.now(), holder)
	if err != nil {
		return 0, err
	}
	return epoch, p.settle()
}

// sagRad is how far a servo stands off its goal under load; further is no sag.
const sagRad = 0.05

// settle leaves a world that nothing was ever sent to alone: it is not even looked at, since a sensor at fault may tell
// something else each time.
func (p *Plant) settle() error {
	if !p.sent {
		return nil
	}
	if err := p.halt(); err != nil {
		return err
	}
	o, err := p.body.Observe()
	if err != nil {
		return err
	}
	for i, q := range o.JointsRad {
		if d := q - o.GoalRad[i]; !(d <= sagRad && d >= -sagRad) {
			_, err := p.body.Send(body.Setpoint{PositionsRad: o.JointsRad})
			return err
		}
	}
	return nil
}

// Renew implements remote.Line.
func (p *Plant) Renew(epoch uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lease.Renew(p.now(), epoch)
}

// Release implements remote.Line.
func (p *Plant) Release(epoch uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lease.Release(p.now(), epoch) {
		_ = p.halt()
	}
}

// Send implements remote.Line: the goal is what was sent, whenever it came.
func (p *Plant) Send(s body.Setpoint) (body.Sent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.lease.Renew(p.now(), s.Epoch); err != nil {
		return body.Sent{}, err
	}
	p.sent = true
	sent, err := p.body.Send(s)
	p.halted = p.halted && err != nil
	return sent, err
}

// Halt implements remote.Line.
func (p *Plant) Halt() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.halt()
}

// halt ends what moves, and says so until the next setpoint: a simulated body has no word for it.
func (p *Plant) halt() error {
	p.halted = true
	return p.body.Halt()
}

// Watch implements remote.Line.
func (p *Plant) Watch(epoch uint64) (body.Observation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if epoch != 0 {
		if err := p.lease.Renew(p.now(), epoch); err != nil {
			return body.Observation{}, err
		}
	}
	o, err := p.body.Observe()
	if err != nil {
		return body.Observation{}, err
	}
	if p.halted {
		o.Holding = body.HoldHalted
	}
	o.At = o.At.Add(p.lost)
	for i := range o.Readings {
		o.Readings[i].At = o.Readings[i].At.Add(p.lost)
	}
	return o, nil
}

// Stop implements remote.Line: a plant has no latch, so it halts, and its number is 0.
func (p *Plant) Stop(string) uint64 {
	_ = p.Halt()
	return 0
}

// Kept implements remote.Line: there is nothing to keep.
func (p *Plant) Kept(time.Duration) bool { return false }
