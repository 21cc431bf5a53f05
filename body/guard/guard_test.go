package guard_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	"interlock/reject"
	"interlock/units"
)

// Verifies: P01, B18
func TestStopEndsAMotion(t *testing.T) {
	r := newRig(t)
	r.moving()
	at, n := r.plant.at[0], len(r.plant.writes)
	if got := r.Stop("test"); got != 1 {
		t.Errorf("the first stop has number %d", got)
	}
	r.quiet("stop")
	speed := 0.5
	last := at
	for i, w := range r.plant.writes[n:] {
		v := (w[0] - last) / step.Seconds()
		if !(v >= 0 && v < speed) {
			t.Fatalf("write %d after the stop commands %v rad/s after %v", i, v, speed)
		}
		speed, last = v, w[0]
	}
	if most := int(guard.RampTime / step); len(r.plant.writes)-n > most {
		t.Errorf("%d commands after the stop", len(r.plant.writes)-n)
	}
	if went := r.plant.at[0] - at; !(went > 0 && went <= 0.5*guard.RampTime.Seconds()/2+1e-9) {
		t.Errorf("the command went on by %v rad", went)
	}
	o := r.observe()
	if !o.Latch.Stopped || o.Latch.Number != 1 || o.Latch.Reason != "test" || o.Holding != body.HoldStopped || o.Health.MotionAllowed {
		t.Errorf("observed %+v, holding %q, health %+v", o.Latch, o.Holding, o.Health)
	}
	_, err := r.Send(r.setpoint(0.1, time.Second))
	wantRejection(t, err, reject.Stopped, "", "stop")
}

// Verifies: P03
func TestResetPermitsAndNeverRestarts(t *testing.T) {
	r := newRig(t)
	r.moving()
	old := r.setpoint(0.4, 800*time.Millisecond)
	number := r.Stop("test")
	r.advance(20 * time.Millisecond)
	for _, wrong := range []uint64{0, number - 1, number + 1} {
		wantRejection(t, r.Reset(wrong), reject.Conflict, "", "number")
	}
	if err := r.Reset(number); err != nil {
		t.Fatal(err)
	}
	r.quiet("reset")
	if o := r.observe(); o.Latch.Stopped || o.Latch.Number != number || o.Holding != body.HoldHalted {
		t.Errorf("after a reset: %+v, holding %q", o.Latch, o.Holding)
	}
	old.Expires = r.now().Add(body.Expiry)
	_, err := r.Send(old)
	wantRejection(t, err, reject.Stopped, "", "stop")
	r.quiet("an older motion's setpoint")
	wantRejection(t, r.Reset(number), reject.Conflict, "", "number")
	before := r.plant.at[0]
	r.send(r.setpoint(before+0.1, time.Second))
	r.advance(time.Second)
	if got := r.plant.at[0]; got != before+0.1 {
		t.Errorf("a new motion ends at %v, not %v", got, before+0.1)
	}
}

// A stop and its reset between two steps: the motion from before ends all the same.
func TestStopAndResetBetweenSteps(t *testing.T) {
	r := newRig(t)
	r.moving()
	if err := r.Reset(r.Stop("test")); err != nil {
		t.Fatal(err)
	}
	r.quiet("stop and reset at once")
	if !(r.plant.at[0] < 0.1) {
		t.Errorf("the motion went on to %v", r.plant.at[0])
	}
}

// Verifies: B18
func TestStopInEveryState(t *testing.T) {
	p := newPlant()
	g := guard.New(p, config())
	if g.Stop("before open") != 1 {
		t.Error("a stop before open has no number")
	}
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	r := &rig{g, t, p}
	if o := r.observe(); !o.Latch.Stopped || o.Latch.Reason != "before open" {
		t.Errorf("opening forgot the stop: %+v", o.Latch)
	}
	if r.Stop("twice") != 2 {
		t.Error("a second stop has no number of its own")
	}
	wantRejection(t, r.Reset(1), reject.Conflict, "", "number")
	if err := r.Reset(2); err != nil {
		t.Fatal(err)
	}
	r.moving()
	if err := r.Halt(); err != nil {
		t.Fatal(err)
	}
	r.advance(20 * time.Millisecond)
	if r.Stop("while it decelerates") != 3 {
		t.Error("a stop while it decelerates has no number")
	}
	r.quiet("stop while it decelerates")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if r.Stop("after close") != 4 || !r.Latch().Stopped {
		t.Error("a stop after close is lost")
	}
}

func TestHeldInputRefusesReset(t *testing.T) {
	r := newRig(t)
	number := r.StopInput("button", true)
	if again := r.StopInput("button", true); again != number {
		t.Errorf("a button that is still held is stop %d after %d", again, number)
	}
	wantRejection(t, r.Reset(number), reject.Stopped, "", "input")
	if r.StopInput("button", false) != number || !r.Latch().Stopped {
		t.Error("letting the button go changes the latch")
	}
	if err := r.Reset(number); err != nil {
		t.Error(err)
	}
}

// Verifies: B19
func TestStopNeverWaitsForTheBody(t *testing.T) {
	r := newRig(t)
	r.plant.block, r.plant.entered = make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() { done <- r.Advance(step) }()
	<-r.plant.entered // the body hangs inside a step
	if r.Stop("while it hangs") != 1 || !r.Latch().Stopped {
		t.Error("no stop while the body hangs")
	}
	if err := r.Halt(); err != nil {
		t.Error(err)
	}
	if err := r.Reset(1); err != nil {
		t.Error(err)
	}
	close(r.plant.block)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Verifies: P08
func TestExpiry(t *testing.T) {
	r := newRig(t)
	r.advance(time.Second)
	for name, ahead := range map[string]time.Duration{"past": -1, "now": 0, "too distant": body.MaxAhead + 1, "an hour": time.Hour, "missing": -r.now().Sub(0)} {
		s := r.setpoint(0.1, time.Second)
		s.Expires = r.now().Add(ahead)
		_, err := r.Send(s)
		wantRejection(t, err, reject.OutOfRange, "", "expires")
		if len(r.plant.writes) != 0 {
			t.Fatalf("%s: a refused setpoint reached the body", name)
		}
	}
	s := r.setpoint(0.4, 800*time.Millisecond)
	s.Expires = r.now().Add(200 * time.Millisecond)
	r.send(s)
	r.advance(200 * time.Millisecond)
	if o := r.observe(); o.Holding != body.HoldNone || !(math.Abs(r.plant.at[0]-0.1) < 1e-9) {
		t.Errorf("before it expires: holding %q at %v", o.Holding, r.plant.at[0])
	}
	r.quiet("expiry")
	if o := r.observe(); o.Holding != body.HoldExpired || !(r.plant.at[0] < 0.1+0.5*guard.RampTime.Seconds()) {
		t.Errorf("after it expired: holding %q at %v", o.Holding, r.plant.at[0])
	}
	r.send(r.setpoint(0.1, time.Second)) // an expiry is no latch
	r.advance(time.Second)
	if r.plant.at[0] != 0.1 || r.observe().Holding != body.HoldNone {
		t.Errorf("after a new setpoint at %v", r.plant.at[0])
	}
}

// Verifies: B20
func TestSilence(t *testing.T) {
	for _, beats := range []bool{false, true} {
		r := newRig(t)
		r.send(r.setpoint(0.4, 800*time.Millisecond))
		for range 8 {
			if err := r.Advance(100 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if beats {
				r.observe()
			}
		}
		arrived := r.plant.at[0] == 0.4
		if arrived != beats {
			t.Errorf("beats %v: at %v", beats, r.plant.at[0])
		}
		want := body.HoldSilence
		if beats {
			want = body.HoldNone
		}
		if o := r.observe(); o.Holding != want {
			t.Errorf("beats %v: holding %q", beats, o.Holding)
		}
	}
}

func TestHaltIsNoLatch(t *testing.T) {
	r := newRig(t)
	r.moving()
	for range 3 {
		if err := r.Halt(); err != nil {
			t.Fatal(err)
		}
	}
	if o := r.observe(); o.Holding != body.HoldHalted {
		t.Errorf("holding %q at once after a halt", o.Holding)
	}
	r.quiet("halt")
	if o := r.observe(); o.Holding != body.HoldHalted || o.Latch.Stopped {
		t.Errorf("holding %q, latch %+v", o.Holding, o.Latch)
	}
	r.send(r.setpoint(0.2, time.Second))
	r.advance(time.Second)
	if r.plant.at[0] != 0.2 {
		t.Errorf("after a halt a new setpoint ends at %v", r.plant.at[0])
	}
}

// Verifies: B21
func TestSpeedLimits(t *testing.T) {
	cases := []struct {
		name        string
		pan, jaw    float64
		over        time.Duration
		rule, field string // empty: accepted
	}{
		{"slow", 0.4, 0, 500 * time.Millisecond, "", ""},
		{"at the joint's limit", 0, 1, 500 * time.Millisecond, "", ""},
		{"joint too fast", 0, 1.1, 500 * time.Millisecond, "joint_speed", "positions_rad.jaw"},
		{"tip at its limit", 0.5, 0, 500 * time.Millisecond, "", ""},
		{"tip too fast", 0.52, 0, 500 * time.Millisecond, "tip_speed", "positions_rad"},
		{"a jump", 0.1, 0, 0, "joint_speed", "positions_rad.pan"},
		{"a small jump", 0.001, 0, 0, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			s := r.setpoint(c.pan, c.over)
			s.PositionsRad[1] = c.jaw
			_, err := r.Send(s)
			r.advance(c.over + step)
			if c.rule == "" {
				if err != nil || r.plant.at[0] != c.pan || r.plant.at[1] != c.jaw {
					t.Errorf("%v, at %v", err, r.plant.at)
				}
				return
			}
			wantRejection(t, err, reject.OutOfRange, c.rule, c.field)
			if len(r.plant.writes) != 0 {
				t.Error("a refused setpoint moved the body")
			}
		})
	}
}

// A long line bends: its chord is short, its path is not.
func TestTipSpeedIsThatOfThePath(t *testing.T) {
	p := newPlant()
	cfg := config()
	cfg.Ceiling.JointSpeedRadS = 100
	cfg.Tip = func(q []float64) units.Vec3 { return tipOf([]float64{q[0] * math.Pi}) } // from −1 to 1 is a whole turn
	p.at = []float64{-1, 0}
	g := guard.New(p, cfg)
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	r := &rig{g, t, p}
	_, err := r.Send(r.setpoint(1, 500*time.Millisecond))
	wantRejection(t, err, reject.OutOfRange, "tip_speed", "positions_rad")
}

func TestLimitsOfAMotion(t *testing.T) {
	r := newRig(t)
	for _, bad := range []guard.Limits{{}, {0.4, 1}, {0.1, 3}, {-1, 1}, {math.NaN(), 1}, {0.1, math.Inf(1)}} {
		var got reject.Rejection
		if err := r.SetLimits(bad); !errors.As(err, &got) || got.Code != reject.OutOfRange {
			t.Errorf("limits %v: %v", bad, err)
		}
	}
	if err := r.SetLimits(guard.Limits{TipSpeedMPS: 0.1, JointSpeedRadS: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Send(r.setpoint(0.4, 500*time.Millisecond))
	wantRejection(t, err, reject.OutOfRange, "tip_speed", "positions_rad")
	if err := r.SetLimits(config().Ceiling); err != nil {
		t.Fatal(err)
	}
	r.send(r.setpoint(0.4, 500*time.Millisecond))
}

func TestEveryReasonAtOnce(t *testing.T) {
	r := newRig(t)
	r.Stop("test")
	s := body.Setpoint{PositionsRad: []float64{math.NaN(), 9}, Over: -1}
	_, err := r.Send(s)
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		t.Fatal(err)
	}
	var codes []reject.Code
	for _, e := range joined.Unwrap() {
		var got reject.Rejection
		if errors.As(e, &got) {
			codes = append(codes, got.Code)
		}
	}
	want := []reject.Code{reject.Stopped, reject.OutOfRange, reject.OutOfRange, reject.NotFinite, reject.OutOfRange}
	if len(codes) != len(want) {
		t.Fatalf("codes %v, want %v", codes, want)
	}
	for i := range want {
		if codes[i] != want[i] {
			t.Errorf("codes %v, want %v", codes, want)
		}
	}
}

// Verifies: F34, B22
func TestFaultsOfTheBodyLatch(t *testing.T) {
	broken := errors.New("bus broken")
	cases := []struct {
		name, code string
		spoil      func(*plant)
		errs       bool // Advance or Observe returns an error
	}{
		{"reading not finite", "not_finite", func(p *plant) {
			p.bend = func(o *body.Observation) { o.Readings[0].Point[1] = math.NaN() }
		}, false},
		{"joint not finite", "not_finite", func(p *plant) {
			p.bend = func(o *body.Observation) { o.JointsRad[0] = math.Inf(1) }
		}, false},
		{"sigma not finite", "not_finite", func(p *plant) {
			p.bend = func(o *body.Observation) { o.Readings[0].Sigma = math.NaN() }
		}, false},
		{"object not finite", "not_finite", func(p *plant) {
			p.bend = func(o *body.Observation) {
				o.Readings[0].Objects = []body.SeenObject{{Pose: units.Pose{Orientation: units.Quat{math.NaN()}}}}
			}
		}, false},
		{"time runs back", "time_back", func(p *plant) {
			p.bend = func(o *body.Observation) { o.At -= units.Instant(time.Second) }
		}, false},
		{"observation fails", "driver_lost", func(p *plant) { p.obsErr = broken }, true},
		{"send fails", "driver_lost", func(p *plant) { p.sendErr = broken }, true},
		{"advance fails", "driver_lost", func(p *plant) { p.advErr = broken }, true},
		{"clips in silence", "driver_lost", func(p *plant) { p.clip = -0.01 }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.moving()
			c.spoil(r.plant)
			o, obsErr := r.Observe()
			advErr := r.Advance(step)
			if errs := obsErr != nil || advErr != nil; errs != c.errs {
				t.Errorf("errors %v, %v", obsErr, advErr)
			}
			if l := r.Latch(); !l.Stopped || l.Number != 1 {
				t.Fatalf("latch %+v", l)
			}
			for range 5 { // a fault that persists is one stop
				_, _ = r.Observe()
				_ = r.Advance(step)
			}
			if l := r.Latch(); l.Number != 1 {
				t.Errorf("the fault stopped %d times", l.Number)
			}
			if !c.errs {
				if !units.Finite(o.JointsRad...) || len(o.Readings) > 1 || o.Health.FaultCode != c.code {
					t.Errorf("observed %+v", o)
				}
				for _, reading := range o.Readings {
					if !reading.Point.Finite() || len(reading.Objects) != 0 {
						t.Error("a reading that is not finite went through")
					}
				}
			}
			r.plant.bend, r.plant.obsErr, r.plant.sendErr, r.plant.advErr, r.plant.clip = nil, nil, nil, nil, 0
			if err := r.Reset(1); err != nil {
				t.Fatal(err)
			}
			r.quiet("a fault")
			if code := r.observe().Health.FaultCode; code != "" {
				t.Errorf("after the reset the fault is %q", code)
			}
		})
	}
}

func TestAFaultThatStaysLatchesAgain(t *testing.T) {
	r := newRig(t)
	r.plant.bend = func(o *body.Observation) { o.Readings[0].Number = math.NaN() }
	r.observe()
	if err := r.Reset(1); err != nil {
		t.Fatal(err)
	}
	r.observe()
	if l := r.Latch(); !l.Stopped || l.Number != 2 {
		t.Errorf("latch %+v", l)
	}
}

// Verifies: B13
func TestStandstillComesFromTheBody(t *testing.T) {
	r := newRig(t)
	r.plant.still = false // the command stands; the body says that it does not
	r.advance(time.Second)
	if r.observe().Standstill {
		t.Error("standstill is told from the command")
	}
	r.moving()
	r.plant.still = true
	if !r.observe().Standstill {
		t.Error("the body's own measurement is not told")
	}
}

// The deceleration ends at a joint's range: nothing beyond is commanded.
func TestDecelerationKeepsTheRange(t *testing.T) {
	r := newRig(t)
	for _, pan := range []float64{0.5, 0.95, 0.99} {
		r.send(r.setpoint(pan, time.Second))
		r.advance(time.Second)
	}
	r.send(r.setpoint(1, 12*time.Millisecond))
	r.advance(12 * time.Millisecond)
	r.Stop("at the end of the range")
	r.quiet("stop at the end of the range")
	for _, w := range r.plant.writes {
		if !(w[0] <= 1) {
			t.Fatalf("commanded %v beyond the range", w[0])
		}
	}
}

func TestOpenRefusesItsConfiguration(t *testing.T) {
	cases := map[string]func(*guard.Config){
		"no tip limit":     func(c *guard.Config) { c.Ceiling.TipSpeedMPS = 0 },
		"no joint limit":   func(c *guard.Config) { c.Ceiling.JointSpeedRadS = 0 },
		"infinite":         func(c *guard.Config) { c.Ceiling.TipSpeedMPS = math.Inf(1) },
		"nan":              func(c *guard.Config) { c.Ceiling.TipSpeedMPS = math.NaN() },
		"no kinematics":    func(c *guard.Config) { c.Tip = nil },
		"negative silence": func(c *guard.Config) { c.Silence = -1 },
	}
	for name, spoil := range cases {
		cfg := config()
		spoil(&cfg)
		p := newPlant()
		if err := guard.New(p, cfg).Open(); err == nil || p.open {
			t.Errorf("%s: opened", name)
		}
	}
	p := newPlant()
	p.bend = func(o *body.Observation) { o.GoalRad = nil }
	if err := guard.New(p, config()).Open(); err == nil || p.open {
		t.Error("a body that does not tell its goal stays open")
	}
}

func TestHardwareComesUpStopped(t *testing.T) {
	p := newPlant()
	p.mode = body.ModeHardware
	g := guard.New(p, config())
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	if !g.Latch().Stopped {
		t.Error("hardware comes up ready")
	}
}
