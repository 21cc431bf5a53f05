package main

import (
	"errors"
	"time"

	"interlock/body"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
)

// paced is a plant in another process whose time an evaluation moves through this driver: the guard's steps are the
// plant's, so that expiry, silence and every age are told by the plant's clock and no other.
type paced struct {
	addr string
	desc body.Description
	lab  *plant.Lab
}

// pacedCall is the deadline of a call to a plant in lockstep. Nothing in it waits for real time: only a process that is
// dead or hangs takes as long.
const pacedCall = 10 * time.Second

func (p *paced) body() *plant.Strides {
	options := remote.Options{Holder: "driver of an evaluation", CallTimeout: pacedCall, OpenWithin: pacedCall}
	return &plant.Strides{Stepped: plant.Stepped{Driver: remote.Expect(p.addr, p.desc, options), Lab: p.lab}}
}

// setUp builds the plant's world anew, and a line to it that knows nothing of the one before.
func (p *paced) setUp(cfg sim.Config, lie sim.Lie, lockstep bool) (*plant.Strides, error) {
	if !lockstep {
		return nil, errors.New("a plant with --plant-lab is set up in lockstep")
	}
	return p.body(), p.lab.SetUp(cfg, lie, true)
}
