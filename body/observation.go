package body

import "interlock/units"

// Observation is everything a driver reads at one instant.
type Observation struct {
	At         units.Instant // the driver's clock when this was put together
	Readings   []Reading     // one per fact a witness provides
	Latch      Latch         // filled by body/guard
	Standstill bool          // measured: every joint below 0.02 rad/s and the tip within 2 mm over 100 ms
	Holding    HoldReason    // why the driver holds by itself; empty while it follows setpoints
	Applied    uint64        // setpoints applied since open
	JointsRad  []float64     // measured by the encoders, radians, in the order of Description.Joints
	GoalRad    []float64     // the commanded configuration; an echo of the command, so never evidence
	Health     Health
}

// HoldReason says why a driver holds still by itself.
type HoldReason string

// The closed list of reasons.
const (
	HoldNone    HoldReason = ""
	HoldExpired HoldReason = "expired" // the last setpoint expired
	HoldSilence HoldReason = "silence" // the robot was not heard for too long
	HoldHalted  HoldReason = "halted"  // Halt was called
	HoldStopped HoldReason = "stopped" // the stop latch is closed
)

// Latch is the state of the stop latch. It is a latched software stop, not an emergency stop in the sense of
// ISO 13850.
type Latch struct {
	Stopped bool
	Number  uint64 // grows with every stop; a reset must name the number it resets
	Reason  string
}

// Health is what every driver reports about its bus and motors.
type Health struct {
	TorqueOn      bool
	BusOK         bool
	FaultCode     string // empty: none
	MotionAllowed bool
}

// ReadingKind is the type of a reading's value.
type ReadingKind uint8

// The kinds of readings; they mirror the kinds a contract's facts can have.
const (
	Number ReadingKind = iota + 1
	Text
	Flag
	Point
	Poses
)

// Reading is one measured value with the time of its source. A reading re-sent keeps its old time.
type Reading struct {
	Fact    string // what it measures: "tip"
	Witness string // who measured it: "encoders"
	Kind    ReadingKind
	Number  float64
	Text    string
	Flag    bool
	Point   units.Vec3   // metres, base frame
	Objects []SeenObject // base frame
	At      units.Instant
	Sigma   float64 // standard error in the value's unit (mm for points and poses); 0: exact or not known
}

// SeenObject is one labelled object in a Poses reading.
type SeenObject struct {
	Label string
	Pose  units.Pose
	SizeM units.Vec3 // full edge lengths, metres
}
