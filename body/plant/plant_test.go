package plant

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/body"
	"interlock/body/sim"
	"interlock/reject"
	"interlock/units"
)

// A scene arrives as it was written, every field of it; one that cannot be simulated is refused and changes nothing.
//
// Verifies: D22
func TestSceneRoundTrip(t *testing.T) {
	c := sim.DefaultConfig()
	c.StartRad[0], c.Tray, c.Seed = 0.3, true, 7
	c.Objects = []sim.Object{{Label: "red cube", Position: units.Vec3{0.2, 0.1, 0.015}, YawRad: 0.4, EdgeM: 0.03, MassKg: 0.05}}
	c.Boxes = []sim.Box{{Centre: units.Vec3{0.3, 0, -0.02}, Half: units.Vec3{0.1, 0.1, 0.02}}}
	c.Camera = sim.Camera{RateHz: 10, SigmaMM: 2, YawSigma: 0.1}
	c.Faults = []sim.Fault{
		{Kind: sim.Knocked, Object: "red cube", Vector: units.Vec3{0, 0, -100}, For: time.Second, When: sim.WhenNear, NearM: 0.1, After: time.Millisecond},
		{Kind: sim.TrackingError, Joint: "pan", Amount: 0.1},
		{Kind: sim.Swapped, Fact: sim.FactObjects, Object: "red cube", Other: "red cube"},
	}
	got, err := sceneFrom(scenePB(c, "", false))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Error(diff)
	}
	p, err := New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	before := p.Truth()
	r, err := labServer{p}.SetUp(t.Context(), scenePB(c, "", true)) // nothing can be swapped with itself
	if err != nil || r.GetRefused() == "" || p.Truth() != before {
		t.Errorf("refused: %q, %v", r.GetRefused(), err)
	}
}

// A new holder never moves the arm: one that stands keeps its goal, and the goal of one that stands elsewhere becomes
// where it stands.
//
// Verifies: D23
func TestANewHolderNeverMovesTheArm(t *testing.T) {
	for name, jump := range map[string]float64{"at rest": 0, "its goal far away": 0.8} {
		p, err := New(sim.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.SetUp(sim.DefaultConfig(), "", true); err != nil {
			t.Fatal(err)
		}
		advance := func(d time.Duration) {
			if err := p.Advance(d); err != nil {
				t.Fatal(err)
			}
		}
		advance(time.Second)
		first, err := p.Acquire("first")
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.Watch(first)
		if err != nil {
			t.Fatal(err)
		}
		goal := append([]float64(nil), o.GoalRad...)
		goal[0] += jump
		if _, err := p.Send(body.Setpoint{PositionsRad: goal, Epoch: first}); err != nil {
			t.Fatal(err)
		}
		advance(20 * time.Millisecond)
		p.Release(first)
		at := p.Truth().TipInBase()
		if _, err := p.Acquire("second"); err != nil {
			t.Fatal(err)
		}
		var r reject.Rejection
		if _, err := p.Send(body.Setpoint{PositionsRad: goal, Epoch: first}); !errors.As(err, &r) || r.Code != reject.NoLease {
			t.Errorf("%s: the first holder's setpoint was answered by %v", name, err)
		}
		advance(2 * time.Second)
		if moved := p.Truth().TipInBase().Distance(at); !(moved < 0.02 && (jump > 0 || moved < 0.001)) { // it may coast, no further
			t.Errorf("%s: the tip moved by %v m", name, moved)
		}
	}
}

// Whoever halts it, by whatever call, it says so until the next setpoint that it takes, as every body does.
//
// Verifies: Q123
func TestAHaltedPlantSaysSo(t *testing.T) {
	p, err := New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	says := func(want body.HoldReason, when string) body.Observation {
		t.Helper()
		o, err := p.Watch(0)
		if err != nil || o.Holding != want {
			t.Errorf("%s: holding is %q, not %q: %v", when, o.Holding, want, err)
		}
		return o
	}
	goal, epoch := says(body.HoldNone, "at first").GoalRad, uint64(0)
	for name, halt := range map[string]func() error{
		"halted": p.Halt, "stopped": func() error { p.Stop("a test"); return nil }, "closed": func() error { p.Release(epoch); return nil },
	} {
		p.Release(epoch)
		if epoch, err = p.Acquire("a test"); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Send(body.Setpoint{PositionsRad: goal, Epoch: epoch}); err != nil {
			t.Fatal(err)
		}
		says(body.HoldNone, "sent")
		if err := halt(); err != nil {
			t.Fatal(err)
		}
		says(body.HoldHalted, name)
		if _, err := p.Send(body.Setpoint{PositionsRad: goal[1:], Epoch: epoch}); err == nil {
			t.Error("a setpoint that is too short was taken")
		}
		says(body.HoldHalted, name+", and a setpoint refused")
	}
	if err := p.SetUp(sim.DefaultConfig(), "", false); err != nil {
		t.Fatal(err)
	}
	says(body.HoldNone, "set up anew")
}

// A plant whose time moves by itself is not advanced, and one that loses time tells so in its readings.
//
// Verifies: D07
func TestTime(t *testing.T) {
	p, err := New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Advance(sim.Step); err == nil {
		t.Error("it was advanced")
	}
	if err := p.turn(10, 3*time.Second); err != nil {
		t.Fatal(err)
	}
	o, err := p.Watch(0)
	if want := units.Instant(3*time.Second + 10*sim.Step); err != nil || o.At != want || o.Readings[0].At != want {
		t.Errorf("at %v, read at %v, want %v: %v", o.At, o.Readings[0].At, want, err)
	}
}

// A world that is set up begins its time anew, whatever the one before it lost to a busy machine: what is told of it then
// has the times of its truth.
//
// Verifies: E103
func TestASetUpForgetsLostTime(t *testing.T) {
	p, err := New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.turn(10, 3*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.SetUp(sim.DefaultConfig(), "", true), p.Advance(10*sim.Step)); err != nil {
		t.Fatal(err)
	}
	o, err := p.Watch(0)
	if now := p.Truth().Now(); err != nil || o.At != now || o.Readings[0].At != now {
		t.Errorf("at %v, read at %v, and it is %v: %v", o.At, o.Readings[0].At, now, err)
	}
}
