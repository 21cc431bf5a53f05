package mission

// Action is a rung of the ladder; the worst active one wins.
type Action uint8

// The rungs, mildest first.
const (
	ActNone  Action = iota
	ActWarn         // told, nothing changes
	ActHold         // the driver holds by itself; a motion cannot be taken up again and ends, without one nothing changes
	ActHalt         // halted; the motion ends
	ActLatch        // halted and latched; a person must reset it
)

// Clears says how a hazard goes away.
type Clears string

// The closed list of ways.
const (
	ByItself      Clears = "by_itself"       // when its cause is gone
	ByNextMission Clears = "by_next_mission" // when a new mission is started
	ByOperator    Clears = "by_operator"     // when a person acted
)

// Hazard is one thing that can be wrong, and what it leads to.
type Hazard struct {
	Code   string
	Action Action
	Clears Clears
	Means  string
}

// Hazards returns the table of all hazards. One line is one hazard; there are no rules between them.
func Hazards() []Hazard {
	return []Hazard{
		{"driver_lost", ActLatch, ByOperator, "the driver does not answer"},
		{"bus_dead", ActLatch, ByOperator, "the driver's bus does not answer"},
		{"torque_off", ActLatch, ByOperator, "the motors are without torque"},
		{"motor_fault", ActLatch, ByOperator, "a motor reports a fault"},
		{"not_finite", ActLatch, ByOperator, "a reading or a setpoint is not a number"},
		{"halt_failed", ActLatch, ByOperator, "the driver could not be told to halt"},
		{"tracking", ActHalt, ByNextMission, "the body does not follow its setpoints"},
		{"setpoint_refused", ActHalt, ByNextMission, "the driver refused a setpoint"},
		{"audit_unavailable", ActHalt, ByItself, "a record could not be made durable"},
		{"plan_failed", ActHalt, ByNextMission, "the motion or the way back could not be played"},
		{"setpoint_expired", ActHold, ByNextMission, "no setpoint arrived in time and the driver holds"},
		{"silence", ActHold, ByNextMission, "the driver did not hear the robot in time and holds"},
		{"stale_reading", ActHold, ByItself, "a reading the motion needs is too old"},
		{"slow_tick", ActWarn, ByItself, "a tick came late"},
	}
}

// HazardOf returns the hazard of the code. One that the table does not know latches.
func HazardOf(code string) Hazard {
	for _, h := range Hazards() {
		if h.Code == code {
			return h
		}
	}
	return Hazard{Code: code, Action: ActLatch, Clears: ByOperator, Means: "unknown hazard"}
}
