package body_test

import (
	"testing"
	"time"

	"interlock/body"
)

// Steps and lost time together are the time that passed, whatever the looks at the clock.
//
// Verifies: D07
func TestPace(t *testing.T) {
	const step, most = 2 * time.Millisecond, 100 * time.Millisecond
	start := time.Now()
	for _, c := range []struct {
		name  string
		at    []time.Duration // since the start
		steps int
		lost  time.Duration
	}{
		{"the first look starts it", []time.Duration{0}, 0, 0},
		{"in time", []time.Duration{0, 2 * time.Millisecond, 4 * time.Millisecond}, 2, 0},
		{"parts of a step are kept", []time.Duration{0, 3 * time.Millisecond, 6 * time.Millisecond}, 3, 0},
		{"late, made up for", []time.Duration{0, 100 * time.Millisecond}, 50, 0},
		{"asleep", []time.Duration{0, 5 * time.Second}, 50, 4900 * time.Millisecond},
		{"asleep, then in time", []time.Duration{0, 5 * time.Second, 5002 * time.Millisecond}, 51, 4900 * time.Millisecond},
		{"a clock that runs back moves nothing", []time.Duration{0, -time.Hour, 2 * time.Millisecond}, 1, 0},
	} {
		p := body.Pace{Step: step, Most: most}
		steps, lost := 0, time.Duration(0)
		for _, d := range c.at {
			n, l := p.Due(start.Add(d))
			steps, lost = steps+n, lost+l
		}
		if steps != c.steps || lost != c.lost {
			t.Errorf("%s: %d steps, %v lost; want %d, %v", c.name, steps, lost, c.steps, c.lost)
		}
	}
}
