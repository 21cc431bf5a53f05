package guard_test

import (
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/reject"
	"interlock/units"
)

// An arm that rests does not move by a stop or a halt that comes before the first step of its next motion: what it once had of
// speed is over. In the middle of a ramp it goes on with what is left of that ramp.
//
// Verifies: P01, D42
func TestWhatRestsHasNoSpeedLeft(t *testing.T) {
	ends := map[string]func(*rig){
		"a stop":                func(r *rig) { r.Stop("test") },
		"a halt":                func(r *rig) { check(t, r.Halt()) },
		"a stop that was reset": func(r *rig) { check(t, r.Reset(r.Stop("test"))) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.moving()
			check(t, r.Halt())
			r.quiet("the first motion")
			at := r.plant.at[0]
			r.send(r.setpoint(at-0.1, time.Second))
			end(r)
			r.advance(200 * time.Millisecond)
			if d := r.plant.at[0] - at; d != 0 {
				t.Errorf("after %s it moved by %v rad", name, d)
			}
		})
		t.Run(name+" in a ramp", func(t *testing.T) {
			r := newRig(t)
			r.moving()
			check(t, r.Halt())
			r.advance(60 * time.Millisecond)
			before := r.plant.at[0]
			r.advance(2 * step)
			at := r.plant.at[0]
			speed := math.Abs(at-before) / (2 * step).Seconds()
			r.send(r.setpoint(at, 20*time.Millisecond))
			end(r)
			r.advance(2 * step)
			if now := math.Abs(r.plant.at[0]-at) / (2 * step).Seconds(); !(now <= speed) {
				t.Errorf("late in a ramp it went at %v rad/s, and after %s at %v", speed, name, now)
			}
		})
	}
}

// A stop and a halt that come while a setpoint is judged, or waits for the latch file, are in force when it goes on: nothing
// moves by it.
//
// Verifies: P01, P10, D43
func TestNothingComesOfASetpointThatWasOvertaken(t *testing.T) {
	for _, file := range []bool{false, true} {
		for name, end := range map[string]func(*guard.Guard){
			"stop":           func(g *guard.Guard) { g.Stop("test") },
			"halt":           func(g *guard.Guard) { check(t, g.Halt()) },
			"stop and reset": func(g *guard.Guard) { check(t, g.Reset(g.Stop("test"))) },
		} {
			cfg, p := config(), newPlant()
			if file {
				cfg, _ = latched(t)
			}
			var g *guard.Guard
			var once func()
			cfg.Tip = func(q []float64) units.Vec3 { // which is asked while a setpoint is judged
				if now := once; now != nil {
					once = nil
					now()
				}
				return tipOf(q)
			}
			g = guard.New(p, cfg)
			check(t, g.Open())
			once = func() { end(g) }
			_, err := g.Send(body.Setpoint{PositionsRad: []float64{0.1, 0}, Over: time.Second, Expires: units.Instant(body.MaxAhead)})
			var refusal reject.Rejection
			if err != nil && (!errors.As(err, &refusal) || refusal.Code != reject.Stopped) {
				t.Errorf("%s: %v", name, err)
			}
			check(t, g.Advance(200*time.Millisecond))
			if len(p.writes) > 0 {
				t.Errorf("a %s came while a setpoint was judged, and %d commands reached the body", name, len(p.writes))
			}
			check(t, g.Close())
		}
	}
}

// A guard that is ending takes nothing from anybody any more.
//
// Verifies: D44
func TestAnEndIsNotUndone(t *testing.T) {
	r := run(t, newPlant(), config())
	r.swing()
	ended := make(chan struct{})
	go func() { r.end(); close(ended) }()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		default:
		}
		o, err := r.Watch(r.epoch)
		if err != nil {
			break
		}
		_, _ = r.Send(body.Setpoint{PositionsRad: []float64{0.4, 0}, Over: 2 * time.Second, Expires: o.At.Add(body.MaxAhead), Stop: 0, Epoch: r.epoch})
	}
	at := r.pan()
	if err := r.Advance(200 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if d := r.pan() - at; d != 0 {
		t.Errorf("once it had ended it moved by %v rad", d)
	}
}

// A guard that was closed and opened again notes its next motion anew: a process that dies in it comes up stopped.
//
// Verifies: D03
func TestAMotionAfterReopeningIsNoted(t *testing.T) {
	cfg, _ := latched(t)
	g := guard.New(newPlant(), cfg)
	for range 2 {
		check(t, g.Open())
		o, err := g.Observe()
		check(t, err)
		_, err = g.Send(body.Setpoint{PositionsRad: []float64{0.1, 0}, Over: time.Second, Expires: o.At.Add(body.Expiry)})
		check(t, err)
		next := guard.New(newPlant(), cfg) // as if this process died here
		was, err := os.ReadFile(cfg.LatchFile)
		check(t, err)
		check(t, next.Recall())
		if !next.Latch().Stopped {
			t.Error("the next process comes up ready")
		}
		check(t, os.WriteFile(cfg.LatchFile, was, 0o600))
		check(t, g.Close())
	}
}
