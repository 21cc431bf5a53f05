package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"interlock/body"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

// pace serves the robot's ticks.
func (k *crew) pace() error {
	l, err := remote.Listen(socketIn(k.dir, crewPace))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- remote.Serve(ctx, l, remote.LabHandler(plant.Serve(&k.pacer))) }()
	k.endPacing = func() error { cancel(); return <-ended }
	return nil
}

// pacer is what the robot's process sees of the lab: time passes when it asks for it.
type pacer struct {
	mu   sync.Mutex
	tick func(time.Duration) error // nil: no robot plays
}

var _ plant.World = (*pacer)(nil)

// SetUp implements plant.World: worlds are the evaluation's to set up.
func (p *pacer) SetUp(sim.Config, sim.Lie, bool) error {
	return errors.New("only the evaluation sets up its worlds")
}

// Truth implements plant.World: it is told to no robot.
func (p *pacer) Truth() body.Truth { return nil }

// Advance implements plant.World.
func (p *pacer) Advance(by time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tick == nil {
		return errors.New("no episode is played")
	}
	return p.tick(by)
}

func (p *pacer) set(tick func(time.Duration) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick = tick
}
