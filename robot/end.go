package robot

import (
	"context"
	"errors"
	"fmt"

	contractv1 "interlock/contract/v1"
	"interlock/robot/mission"
	"interlock/units"
)

// EndError says what a robot that came to its end could not do or see any more because its driver did not answer. What holds
// the arm then is the driver's own: it ends any motion after units.Silence without its robot, and its lease lapses by itself.
type EndError struct {
	NotStill bool  // a motion was ended, and its standstill was not measured
	Halt     error // what came of the last halt; nil: the driver took it
	Close    error // what came of closing the driver; nil: it is closed, and its lease is free
}

// Error implements error.
func (e *EndError) Error() string {
	says := "as the robot ended"
	if e.NotStill {
		says += ", a motion was ended and its standstill was not measured"
	}
	if e.Halt != nil {
		says += fmt.Sprintf(", the driver did not confirm the last halt (%v)", e.Halt)
	}
	if e.Close != nil {
		says += fmt.Sprintf(", the driver was not closed (%v)", e.Close)
	}
	return says + fmt.Sprintf("; a driver ends any motion by itself after %v without its robot, and its lease lapses after %v", units.Silence, units.LeaseTTL)
}

// Unwrap lets errors.Is and errors.As see the causes.
func (e *EndError) Unwrap() (causes []error) {
	for _, err := range []error{e.Halt, e.Close} {
		if err != nil {
			causes = append(causes, err)
		}
	}
	return causes
}

// end ends the robot in order: what moves, then the record.
func (r *Robot) end(ctx context.Context) error {
	notStill, halt := r.giveUp(ctx)
	if r.record.journal != nil {
		r.catchUp()
	}
	r.note(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Closed{Closed: &contractv1.Closed{}}})
	if notStill || halt != nil {
		return &EndError{NotStill: notStill, Halt: halt}
	}
	return nil
}

// closed adds what came of closing the body to why the robot ended; nil: it was asked to.
func closed(why, failed error) error {
	var e *EndError
	switch {
	case failed == nil:
		return why
	case why == nil:
		return &EndError{Close: failed}
	case errors.As(why, &e):
		e.Close = failed
		return why
	}
	return errors.Join(why, failed)
}

// giveUp ends the mission that still moves when the robot is asked to end: halt, and its last word once standstill was
// measured or was not measured in time. The body is halted in any case.
func (r *Robot) giveUp(ctx context.Context) (notStill bool, halt error) {
	if m := r.active; m != nil {
		r.step(m, mission.LeaseLost{At: r.now()})
		for range units.StopUnconfirmed/units.RobotTick + 1 {
			if r.active == nil {
				break
			}
			r.tick(ctx)
		}
		notStill = r.active != nil || m.state.Reason == mission.ReasonStopUnconfirmed
	}
	return notStill, r.cfg.Body.Halt()
}
