package robot

import (
	"context"

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
