package guard

import "interlock/body"

// action is a rung of the safety ladder; the worst active one wins.
type action uint8

const (
	actNone  action = iota
	actHold         // decelerate and hold; a new setpoint goes on
	actHalt         // the same, asked for
	actLatch        // the same, and refuse everything until a person resets
)

// hazard is one line of the ladder: what is wrong, what is done, why the body then says it holds, and what ends it.
type hazard struct {
	code   string
	act    action
	reason body.HoldReason
	clears string
}

// The hazards. The fault codes appear in body.Health.FaultCode.
const (
	hazardExpired = iota
	hazardSilence
	hazardLink
	hazardHalted
	hazardStopped
	hazardNotFinite
	hazardTimeBack
	hazardUnasked
	hazardDriverLost
	numHazards
)

var ladder = [numHazards]hazard{
	hazardExpired:    {"expired", actHold, body.HoldExpired, "a new setpoint"},
	hazardSilence:    {"silence", actHold, body.HoldSilence, "a new setpoint"},
	hazardLink:       {"link_lost", actHold, body.HoldSilence, "the body answering, then a new setpoint"},
	hazardHalted:     {"halted", actHalt, body.HoldHalted, "a new setpoint"},
	hazardStopped:    {"stopped", actLatch, body.HoldStopped, "a person's reset of the stop's number"},
	hazardNotFinite:  {"not_finite", actLatch, body.HoldStopped, "finite readings, then a person's reset"},
	hazardTimeBack:   {"time_back", actLatch, body.HoldStopped, "a person's reset"},
	hazardUnasked:    {"unasked_motion", actLatch, body.HoldStopped, "a person's reset"},
	hazardDriverLost: {"driver_lost", actLatch, body.HoldStopped, "the driver answering, then a person's reset"},
}

// worst returns the active hazard of the highest rung, the later line of equals, or −1.
func worst(active *[numHazards]bool) int {
	found := -1
	for i, on := range active {
		if on && (found < 0 || ladder[i].act >= ladder[found].act) {
			found = i
		}
	}
	return found
}
