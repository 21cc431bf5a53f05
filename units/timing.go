package units

import "time"

// The time table of the machine, in one place. Source: DESIGN section 6. A contract file may set its own within_ms and
// hold_ms per condition; everything else is the same for every robot.
const (
	// DriverStep is how often a driver moves its body on.
	DriverStep = 2 * time.Millisecond
	// RobotTick is how often the robot reads, checks and sends.
	RobotTick = 20 * time.Millisecond
	// SetpointExpiry is how far ahead the robot lets a setpoint live; after it the driver holds.
	SetpointExpiry = 250 * time.Millisecond
	// SetpointMaxAhead is the furthest expiry a driver takes; beyond it a setpoint is refused as too distant.
	SetpointMaxAhead = time.Second
	// Within is how long after the motion a postcondition may take to become true, where the contract says nothing.
	Within = 1500 * time.Millisecond
	// Hold is how long it must then stay true, where the contract says nothing.
	Hold = 200 * time.Millisecond
	// Silence is how long a driver that hears nothing from its robot goes on before it holds.
	Silence = 300 * time.Millisecond
	// Beat is how often the robot says that it is alive.
	Beat = 100 * time.Millisecond
	// LeaseTTL is how long a lease lives without a renewal.
	LeaseTTL = 2 * time.Second
	// LeaseRenew is how often its holder renews it.
	LeaseRenew = 600 * time.Millisecond
	// StopUnconfirmed is how long a halt may take to show as measured standstill before it counts as unconfirmed.
	StopUnconfirmed = time.Second
	// StandstillOver is the window over which standstill is measured.
	StandstillOver = 100 * time.Millisecond
)

// What standstill is: every joint slower than StandstillRadS and the tip moved less than StandstillM, both over
// StandstillOver.
const (
	StandstillRadS = 0.02  // radians per second
	StandstillM    = 0.002 // metres
)
