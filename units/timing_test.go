package units

import (
	"testing"
	"time"
)

// TestTimeTable holds the constants against what they must be to each other, whatever they are.
//
// Verifies: U01
func TestTimeTable(t *testing.T) {
	if RobotTick%DriverStep != 0 {
		t.Error("a robot tick is no whole number of driver steps")
	}
	shorter := []struct {
		name        string
		short, long time.Duration
	}{
		{"a beat is heard before silence", 2 * Beat, Silence},
		{"a setpoint outlives several ticks", 3 * RobotTick, SetpointExpiry},
		{"a setpoint expires before silence", SetpointExpiry, Silence},
		{"an expiry is not too distant", SetpointExpiry, SetpointMaxAhead},
		{"a lease survives a missed renewal", 2 * LeaseRenew, LeaseTTL},
		{"standstill can be measured in time", 2 * StandstillOver, StopUnconfirmed},
		{"a hold takes several ticks", 2 * RobotTick, Hold},
		{"a hold fits into its time", Hold, Within},
	}
	for _, s := range shorter {
		if s.short >= s.long {
			t.Errorf("%s: %v is not shorter than %v", s.name, s.short, s.long)
		}
	}
	// A joint at the limit of standstill turns this far in a window; the tip of a half-metre arm then moves less than
	// the limit on the tip, so the two limits agree.
	if tip := StandstillRadS * StandstillOver.Seconds() * 0.5; tip >= StandstillM {
		t.Errorf("a joint that counts as still moves the tip %v m", tip)
	}
}
