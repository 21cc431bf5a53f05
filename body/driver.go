package body

import (
	"time"

	"interlock/units"
)

// Mode says what kind of body a driver moves.
type Mode string

// The two modes a contract's `modes` may name.
const (
	ModeSim      Mode = "sim"
	ModeHardware Mode = "hardware"
)

// Driver is one robot body. Methods are called from one goroutine at a time, except Halt, which may come from any.
//
// Errors are I/O errors or misuse; a refused setpoint is a reject.Rejection (errors.As finds it) and moves nothing.
type Driver interface {
	// Describe says what the body is. It is valid before Open and never changes.
	Describe() Description
	// Open touches the hardware. The goal is set to the present position before torque comes on: opening never moves.
	Open() error
	// Send takes one setpoint. It returns what was really sent, or a rejection.
	Send(Setpoint) (Sent, error)
	// Halt stops the motion and holds the position with torque on. It is idempotent and works in every state.
	Halt() error
	// Observe returns the latest readings. Times never run backwards.
	Observe() (Observation, error)
	// Close releases the body. Closing twice is no error.
	Close() error
}

// Stepper is a driver whose time is moved by its owner: simulators on virtual time. Advance runs the body for d,
// in whole driver steps; d that is no multiple of Description.Step is refused with an error.
type Stepper interface {
	Driver
	Advance(d time.Duration) error
}

// Description says what a body is and what it can witness.
type Description struct {
	Name      string        // driver name: "sim"
	Mode      Mode          // sim or hardware
	Step      time.Duration // the driver's own step, 2 ms for the simulator
	Joints    []Joint       // in the order of Setpoint.PositionsRad
	Witnesses []Witness     // sensors and the facts each can provide
}

// Joint is one actuated joint.
type Joint struct {
	Name       string
	MinRad     float64
	MaxRad     float64
	MaxVelRadS float64 // what the servo can do, not what the contract allows
}

// Witness is one sensor of the body.
type Witness struct {
	Name  string   // "encoders", "camera"
	Facts []string // fact names it can provide: "tip", "jaw_gap_mm"
}

// Setpoint is one commanded joint configuration.
type Setpoint struct {
	PositionsRad []float64     // one per joint, radians
	Over         time.Duration // reach it in a straight line over this long; 0: at the next driver step
	Expires      units.Instant // after this the driver holds; more than MaxAhead in the future is refused
	Stop         uint64        // the stop number the sender knew; an older one than the latch's is refused
	Epoch        uint64        // of the sender's lease; 0 where the robot and its driver are one process and no lease is used
}

// Sent is what a driver really commanded, and how many setpoints it has applied since it was opened.
type Sent struct {
	PositionsRad []float64
	Applied      uint64
}

// Timing that every driver keeps (DESIGN section 6).
const (
	Expiry   = units.SetpointExpiry   // how far ahead a sender sets Expires
	MaxAhead = units.SetpointMaxAhead // an expiry further ahead than this is refused
)
