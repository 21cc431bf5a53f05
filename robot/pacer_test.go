package robot_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body"
	"interlock/robot"
	"interlock/units"
)

// stamps is a driver that notes when it was moved on.
type stamps struct {
	body.Stepper
	at   []time.Duration
	from time.Time
	work time.Duration // how long moving on takes, for the next tick only
}

func (s *stamps) Advance(d time.Duration) error {
	if d != units.RobotTick {
		return errors.New("not one tick")
	}
	s.at = append(s.at, time.Since(s.from))
	time.Sleep(s.work)
	s.work = 0
	return nil
}

func ticks(t *testing.T, p robot.Pacer, n int) {
	t.Helper()
	for range n {
		if err := p.Tick(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// In real time a tick comes every 20 ms, whatever the work in between takes.
//
// Verifies: Y08
func TestRealTimeKeepsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stamps{from: time.Now()}
		p := robot.RealTime(s, func(late time.Duration) { t.Errorf("late by %v", late) })
		for i := range 50 {
			s.work = time.Duration(i%10) * time.Millisecond
			ticks(t, p, 1)
			time.Sleep(3 * time.Millisecond)
		}
		for i, at := range s.at {
			if want := time.Duration(i+1) * units.RobotTick; at != want {
				t.Fatalf("tick %d at %v, want %v", i, at, want)
			}
		}
	})
}

// A late tick is told, once; what was missed is made up for without a burst, and not at all where it was long.
//
// Verifies: Y09
func TestRealTimeCatchesUpWithoutABurst(t *testing.T) {
	for name, c := range map[string]struct {
		pause    time.Duration
		warnings int
		caughtUp bool
	}{
		"a little":  {25 * time.Millisecond, 0, true},
		"some":      {75 * time.Millisecond, 5, true}, // late by 55, 45, 35, 25 and 15 ms: each tick makes up 10 ms
		"very long": {10 * time.Second, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				warned := 0
				s := &stamps{from: time.Now()}
				p := robot.RealTime(s, func(time.Duration) { warned++ })
				ticks(t, p, 5)
				time.Sleep(c.pause)
				ticks(t, p, 20)
				for i := 1; i < len(s.at); i++ {
					if gap := s.at[i] - s.at[i-1]; gap < units.RobotTick/2 {
						t.Errorf("ticks %d and %d are %v apart", i-1, i, gap)
					}
				}
				if on := s.at[len(s.at)-1] == time.Duration(len(s.at))*units.RobotTick; on != c.caughtUp {
					t.Errorf("caught up: %v, at %v", on, s.at)
				}
				if warned != c.warnings {
					t.Errorf("%d warnings, want %d", warned, c.warnings)
				}
			})
		})
	}
}

// A pacer that waits gives up with its context.
//
// Verifies: Y10
func TestRealTimeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		s := &stamps{}
		p := robot.RealTime(s, nil)
		go func() { time.Sleep(time.Millisecond); cancel() }()
		if err := p.Tick(ctx); !errors.Is(err, context.Canceled) || len(s.at) > 0 {
			t.Errorf("%v after %d ticks", err, len(s.at))
		}
	})
}
