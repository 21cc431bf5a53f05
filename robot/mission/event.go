package mission

import (
	"interlock/reject"
	"interlock/units"
)

// Event is something that happened, with its time on the driver's clock. Times never run backwards.
type Event interface {
	when() units.Instant
}

type (
	// Start begins the mission of a cleared call. It is taken once.
	Start struct {
		At     units.Instant
		Policy Policy
	}
	// Started says that the driver took the first setpoint.
	Started struct{ At units.Instant }
	// Phase says which part of the motion runs. The same name again is no news.
	Phase struct {
		At   units.Instant
		Name string
	}
	// MotionEnded says that the motion, or the way back, has no more setpoints. It says nothing about success.
	MotionEnded struct{ At units.Instant }
	// Tick is the passing of time with what the driver observed.
	Tick struct {
		At         units.Instant
		ObservedAt units.Instant // when the observation behind Standstill was made; an old one confirms nothing
		Standstill bool          // measured over units.StandstillOver up to ObservedAt
		Latch      Mirror
	}
	// Verdict is the result of verification: Succeeded, Failed or Unverified.
	Verdict struct {
		At      units.Instant
		Outcome Status
	}
	// Cancel asks to end the mission.
	Cancel struct{ At units.Instant }
	// Stop says that a stop was latched. Whatever number it names, it ends the mission.
	Stop struct {
		At     units.Instant
		Number uint64
	}
	// Fault says that the robot or the world is wrong. Code is one of Hazards; an unknown one latches.
	Fault struct {
		At     units.Instant
		Code   string
		Detail string // what the fault says beside its code; empty: the code says it all
	}
	// InvariantViolated says that an invariant of the capability was measured false.
	InvariantViolated struct {
		At          units.Instant
		Rule        string
		OnViolation OnViolation
	}
	// SetpointRefused says that the driver refused a setpoint of this motion.
	SetpointRefused struct {
		At   units.Instant
		Code reject.Code
	}
	// LeaseLost says that the caller does not hold what it moves any more.
	LeaseLost struct{ At units.Instant }
	// Disconnected says that the caller's line is lost; Policy.OnDisconnect decides. Where that is FinishMotion,
	// the lease that lapses with the line is not reported as LeaseLost.
	Disconnected struct{ At units.Instant }
	// Restarted says that the robot's process began anew and found this mission open. It is never taken up again.
	Restarted struct{ At units.Instant }
)

func (e Start) when() units.Instant             { return e.At }
func (e Started) when() units.Instant           { return e.At }
func (e Phase) when() units.Instant             { return e.At }
func (e MotionEnded) when() units.Instant       { return e.At }
func (e Tick) when() units.Instant              { return e.At }
func (e Verdict) when() units.Instant           { return e.At }
func (e Cancel) when() units.Instant            { return e.At }
func (e Stop) when() units.Instant              { return e.At }
func (e Fault) when() units.Instant             { return e.At }
func (e InvariantViolated) when() units.Instant { return e.At }
func (e SetpointRefused) when() units.Instant   { return e.At }
func (e LeaseLost) when() units.Instant         { return e.At }
func (e Disconnected) when() units.Instant      { return e.At }
func (e Restarted) when() units.Instant         { return e.At }
