package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"interlock/body"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
	"interlock/eval/lab"
	"interlock/transport"
	"interlock/transport/connect"
)

// crews are the robots that an evaluation runs as processes: as many as play at one time. They are started when they are
// needed and used again; one in which anything went wrong is not.
type crews struct {
	contract []byte // the contract file's text

	mu   sync.Mutex
	free []*crew
}

var _ lab.Crews = (*crews)(nil)

// Take implements lab.Crews.
func (c *crews) Take(ctx context.Context) (lab.Crew, error) {
	c.mu.Lock()
	if n := len(c.free); n > 0 {
		defer c.mu.Unlock()
		free := c.free[n-1]
		c.free = c.free[:n-1]
		return free, nil
	}
	c.mu.Unlock()
	return newCrew(ctx, c.contract)
}

// Give implements lab.Crews.
func (c *crews) Give(back lab.Crew) error {
	k, ours := back.(*crew)
	if !ours {
		return fmt.Errorf("%T was not taken here", back)
	}
	if k.cause() != nil {
		_ = k.end() // why it broke was said
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = append(c.free, k)
	return nil
}

// end ends every process. Whoever took a crew has given it back.
func (c *crews) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := make([]error, len(c.free))
	var all sync.WaitGroup
	for i, k := range c.free {
		all.Go(func() { errs[i] = k.end() })
	}
	all.Wait()
	c.free = nil
	return errors.Join(errs...)
}

// crew is one robot, its driver and their plant, each a process, with the evaluation's lines to them. The robot asks for
// its ticks here, so that no process but the evaluation's sees more of the lab than the time that passes.
type crew struct {
	dir                  string
	plant, driver, robot *child
	world                *plant.Lab // the plant's line: truth
	time                 *plant.Lab // the driver's line: set-up and time
	brain                transport.Client
	closers              []io.Closer
	pacer                pacer
	endPacing            func() error
	onlooker             *remote.Driver // nil before the first reading

	mu     sync.Mutex
	broken error // the first thing that went wrong; what comes after may be only its consequence
}

var _ lab.Crew = (*crew)(nil)

// Times of the brain's line. A claim waits until the goal is measured, which is some hundred ticks; a robot that hangs is
// noticed after twice the quiet.
const (
	brainCall  = 2 * time.Minute
	brainQuiet = 5 * time.Second
)

// newCrew starts the processes. What was started of a crew that cannot be had whole is ended.
func newCrew(ctx context.Context, contractText []byte) (*crew, error) {
	k := &crew{}
	if err := k.start(ctx, contractText); err != nil {
		_ = k.note(err)
		_ = k.end() // why it cannot be had is said
		return nil, err
	}
	return k, nil
}

func (k *crew) start(ctx context.Context, contractText []byte) (err error) {
	if k.robot, err = startChild("robot", "lab-robot"); err != nil {
		return err
	}
	if k.dir, err = k.robot.line(ctx); err != nil {
		return err
	}
	contractFile := filepath.Join(k.dir, crewContract)
	if err := os.WriteFile(contractFile, contractText, 0o600); err != nil {
		return err
	}
	if err := k.pace(); err != nil {
		return err
	}
	at := func(name string) string { return socketIn(k.dir, name) }
	if k.plant, err = startChild("plant", "plant", "--owned", "--listen", at(crewPlant), "--lab-socket", at(crewPlantLab)); err != nil {
		return err
	}
	k.driver, err = startChild("driver", "driver", "sim", "--owned", "--contract", contractFile, "--plant", at(crewPlant), "--plant-lab", at(crewPlantLab),
		"--listen", at(crewDriver), "--operator", at(crewOperator), "--lab-socket", at(crewDriverLab))
	if err != nil {
		return err
	}
	for _, c := range []*child{k.plant, k.driver} { // each says where it listens
		if _, err := c.line(ctx); err != nil {
			return err
		}
	}
	k.world, k.time = plant.DialLab(at(crewPlantLab)), plant.DialLab(at(crewDriverLab))
	client, closer, err := connect.Dial(at(crewRobot), connect.DialOptions{Call: brainCall, Quiet: brainQuiet})
	if err != nil {
		return err
	}
	k.brain, k.closers = client, append(k.closers, closer)
	return nil
}

// SetUp implements lab.Crew.
func (k *crew) SetUp(cfg sim.Config, lie sim.Lie) error { return k.saw(k.time.SetUp(cfg, lie, true)) }

// Play implements lab.Crew.
func (k *crew) Play(ctx context.Context, tick func(time.Duration) error) (transport.Client, error) {
	k.pacer.set(tick)
	if err := k.robot.ask(ctx, crewPlay, crewReady); err != nil {
		return nil, k.saw(err)
	}
	return k.brain, nil
}

// Rest implements lab.Crew. A process that died during the episode is told of here at the latest.
func (k *crew) Rest(ctx context.Context) error {
	if err := k.cause(); err != nil { // nobody is asked whose answer would not count
		return err
	}
	err := k.robot.ask(context.WithoutCancel(ctx), crewRest, crewRests)
	if err == nil {
		err = k.dead()
	}
	k.pacer.set(nil)
	return k.saw(err)
}

// Advance implements lab.Crew.
func (k *crew) Advance(by time.Duration) error { return k.saw(k.time.Advance(by)) }

// Look implements lab.Crew.
func (k *crew) Look() (body.Truth, error) {
	t, err := k.world.Look()
	return t, k.saw(err)
}

// Watch implements lab.Crew.
func (k *crew) Watch() (body.Observation, error) {
	if k.onlooker == nil {
		d, err := remote.Dial(context.Background(), socketIn(k.dir, crewDriver), remote.Options{CallTimeout: pacedCall})
		if err != nil {
			return body.Observation{}, k.saw(err)
		}
		k.onlooker = d
		k.closers = append(k.closers, closing(d.Close))
	}
	o, err := k.onlooker.Watch()
	return o, k.saw(err)
}

type closing func() error

// Close implements io.Closer.
func (c closing) Close() error { return c() }
