package sim

import (
	"errors"
	"math"
	"testing"
	"time"

	"interlock/body"
	"interlock/reject"
	"interlock/units"
)

// opened is an open body with one red and one blue cube.
func opened(t testing.TB, change func(*Config)) *Driver {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Objects = []Object{
		{Label: "red cube", Position: units.Vec3{0.22, 0.03, 0.015}},
		{Label: "blue cube", Position: units.Vec3{0.15, -0.15, 0.015}, YawRad: 0.3},
	}
	if change != nil {
		change(&cfg)
	}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	return d
}

func advance(t testing.TB, d body.Stepper, by time.Duration) {
	t.Helper()
	if err := d.Advance(by); err != nil {
		t.Fatal(err)
	}
}

func observe(t testing.TB, d body.Stepper) body.Observation {
	t.Helper()
	o, err := d.Observe()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func reading(t testing.TB, o body.Observation, fact string) body.Reading {
	t.Helper()
	for _, r := range o.Readings {
		if r.Fact == fact {
			return r
		}
	}
	t.Fatalf("no reading of %s", fact)
	return body.Reading{}
}

func goTo(t testing.TB, d body.Stepper, q [NumJoints]float64, over time.Duration) {
	t.Helper()
	if _, err := d.Send(body.Setpoint{PositionsRad: q[:], Over: over}); err != nil {
		t.Fatal(err)
	}
	advance(t, d, over)
}

// pickRed runs the pick of the red cube through the driver.
func pickRed(t testing.TB, d body.Stepper) {
	t.Helper()
	above := withJaw(ik(HomeRad(), units.Vec3{0.22, 0.03, 0.08}, down), openRad)
	grasp := withJaw(ik(above, units.Vec3{0.22, 0.03, 0.013}, down), openRad)
	lift := withJaw(ik(above, units.Vec3{0.22, 0.03, 0.12}, down-0.4), shutRad)
	goTo(t, d, above, 1200*time.Millisecond)
	goTo(t, d, grasp, 1200*time.Millisecond)
	goTo(t, d, withJaw(grasp, shutRad), 500*time.Millisecond)
	goTo(t, d, lift, 800*time.Millisecond)
}

// Verifies: B12
func TestDriverRefusesSetpoints(t *testing.T) {
	good := HomeRad()
	cases := []struct {
		name  string
		code  reject.Code
		field string
		spoil func(*body.Setpoint)
	}{
		{"nan", reject.NotFinite, "positions_rad.elbow", func(s *body.Setpoint) { s.PositionsRad[2] = math.NaN() }},
		{"infinite", reject.NotFinite, "positions_rad.jaw", func(s *body.Setpoint) { s.PositionsRad[5] = math.Inf(-1) }},
		{"too far", reject.OutOfRange, "positions_rad.pan", func(s *body.Setpoint) { s.PositionsRad[0] = 1.92 }},
		{"short", reject.WrongType, "positions_rad", func(s *body.Setpoint) { s.PositionsRad = s.PositionsRad[:5] }},
		{"negative time", reject.OutOfRange, "over", func(s *body.Setpoint) { s.Over = -1 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := opened(t, nil)
			s := body.Setpoint{PositionsRad: append([]float64(nil), good[:]...), Over: time.Second}
			s.PositionsRad[0] = 0.5
			c.spoil(&s)
			_, err := d.Send(s)
			var r reject.Rejection
			if !errors.As(err, &r) || r.Code != c.code || r.Field != c.field {
				t.Fatalf("answered %v, not %s in %s", err, c.code, c.field)
			}
			advance(t, d, time.Second)
			if miss := d.Truth().TipInBase().Distance(TipInBase(good)); !(miss < 0.001) {
				t.Errorf("a refused setpoint moved the tip by %v m", miss)
			}
		})
	}
}

func TestAdvanceAllocatesNothing(t *testing.T) {
	d := opened(t, nil)
	q := HomeRad()
	q[0] = 0.3
	goTo(t, d, q, 100*time.Millisecond)
	if n := testing.AllocsPerRun(20, func() { advance(t, d, 20*time.Millisecond) }); n != 0 {
		t.Errorf("Advance allocates %v times", n)
	}
}

func TestReadingsOfAGrip(t *testing.T) {
	d := opened(t, nil)
	before := observe(t, d)
	if gap := reading(t, before, FactJawGap).Number; !(math.Abs(gap-89.55) < 0.01) {
		t.Errorf("a jaw at 1.0 rad is told %v mm wide", gap)
	}
	pickRed(t, d)
	advance(t, d, 400*time.Millisecond)
	o := observe(t, d)
	if load := reading(t, o, FactJawLoad).Number; !(load > 99) {
		t.Errorf("holding loads the jaw with %v %%", load)
	}
	if gap := reading(t, o, FactJawGap).Number; !(gap > 26 && gap < 30) {
		t.Errorf("the jaws hold a 30 mm cube at a gap of %v mm", gap)
	}
	if miss := reading(t, o, FactTip).Point.Distance(d.Truth().TipInBase()); !(miss < 1e-9) {
		t.Errorf("the tip is told %v m beside the truth", miss)
	}
	red, _ := d.Truth().Object("red cube")
	if red.JawsTouch != 2 || !(red.BottomM > 0.04) || !(red.RobotForce > 60) {
		t.Errorf("truth: %+v", red)
	}
	seen := reading(t, o, FactObjects)
	if got := seen.Objects[0]; got.Label != "red cube" || !(got.Pose.Position.Distance(red.Pose.Position) < 0.001) {
		t.Errorf("the camera sees %+v", got)
	}
	if !o.Standstill {
		t.Error("no standstill 400 ms after the lift")
	}
	if _, ok := d.Truth().Object("green cube"); ok {
		t.Error("truth knows a cube that does not exist")
	}
}

func TestJawGap(t *testing.T) {
	for _, c := range []struct{ rad, mm float64 }{{-0.1745, 2.63}, {-1, 2.63}, {0, 14.81}, {0.1, 22.685}, {0.5, 53.77}, {1.7453, 131.86}, {2, 131.86}} {
		if got := JawGapMM(c.rad); !(math.Abs(got-c.mm) < 1e-9) {
			t.Errorf("gap at %v rad is %v mm, not %v", c.rad, got, c.mm)
		}
	}
}

func TestCameraFrames(t *testing.T) {
	d := opened(t, func(c *Config) { c.Camera.SigmaMM, c.Seed = 2, 7 })
	type frame struct {
		at units.Instant
		p  units.Vec3
	}
	var frames []frame
	for range 500 {
		advance(t, d, Step)
		r := reading(t, observe(t, d), FactObjects)
		if r.Sigma != 2 {
			t.Fatalf("the camera tells a sigma of %v mm", r.Sigma)
		}
		if f := (frame{r.At, r.Objects[0].Pose.Position}); len(frames) == 0 || frames[len(frames)-1] != f {
			frames = append(frames, f)
		}
	}
	if len(frames) != 31 { // one at the start
		t.Fatalf("%d frames in a second at 30 Hz", len(frames))
	}
	var sum float64
	for i, f := range frames {
		if i > 0 && f.at.Sub(frames[i-1].at) > 36*time.Millisecond {
			t.Errorf("%v between two frames", f.at.Sub(frames[i-1].at))
		}
		sum += (f.p[0] - 0.22) * (f.p[0] - 0.22)
	}
	if rms := math.Sqrt(sum / float64(len(frames))); !(rms > 0.001 && rms < 0.003) {
		t.Errorf("noise of %v m for a sigma of 2 mm", rms)
	}
	again := opened(t, func(c *Config) { c.Camera.SigmaMM, c.Seed = 2, 7 })
	other := opened(t, func(c *Config) { c.Camera.SigmaMM, c.Seed = 2, 8 })
	advance(t, again, time.Second)
	advance(t, other, time.Second)
	last := frames[len(frames)-1].p
	if p := reading(t, observe(t, again), FactObjects).Objects[0].Pose.Position; p != last {
		t.Errorf("the same seed gives %v and %v", last, p)
	}
	if p := reading(t, observe(t, other), FactObjects).Objects[0].Pose.Position; p == last {
		t.Error("another seed gives the same noise")
	}
}

func TestNoCamera(t *testing.T) {
	d := opened(t, func(c *Config) { c.Camera = Camera{} })
	for _, w := range d.Describe().Witnesses {
		if w.Name == cameraWitness {
			t.Error("a camera that is not there is described")
		}
	}
	if n := len(observe(t, d).Readings); n != 4 {
		t.Errorf("%d readings without a camera", n)
	}
}

// Verifies: B13
func TestStandstillIsMeasured(t *testing.T) {
	d := opened(t, nil)
	if observe(t, d).Standstill {
		t.Error("standstill before anything was measured")
	}
	advance(t, d, 100*time.Millisecond)
	if !observe(t, d).Standstill {
		t.Error("no standstill at rest")
	}
	q := HomeRad()
	q[0] = 0.5
	if _, err := d.Send(body.Setpoint{PositionsRad: q[:]}); err != nil { // the command jumps and then stands still
		t.Fatal(err)
	}
	advance(t, d, 20*time.Millisecond)
	if observe(t, d).Standstill {
		t.Error("standstill while the arm follows a command that stands")
	}
	advance(t, d, time.Second)
	if !observe(t, d).Standstill {
		t.Error("no standstill after a second")
	}
}

func TestHaltHoldsWhereTheCommandIs(t *testing.T) {
	d := opened(t, nil)
	q := HomeRad()
	q[0] = 1
	if _, err := d.Send(body.Setpoint{PositionsRad: q[:], Over: time.Second}); err != nil {
		t.Fatal(err)
	}
	advance(t, d, 500*time.Millisecond)
	if err := d.Halt(); err != nil {
		t.Fatal(err)
	}
	advance(t, d, time.Second)
	if o := observe(t, d); !(math.Abs(o.JointsRad[0]-0.5) < 0.01) || !(math.Abs(o.GoalRad[0]-0.5) < 1e-12) {
		t.Errorf("halted half way: at %v, goal %v", o.JointsRad[0], o.GoalRad[0])
	}
}

func TestConfigIsRefused(t *testing.T) {
	cube := func(label string) Object { return Object{Label: label, Position: units.Vec3{0.2, 0, 0.015}} }
	cases := map[string]func(*Config){
		"start beyond a stop":   func(c *Config) { c.StartRad[1] = 2 },
		"start not a number":    func(c *Config) { c.StartRad[1] = math.NaN() },
		"no label":              func(c *Config) { c.Objects = []Object{cube("")} },
		"one label twice":       func(c *Config) { c.Objects = []Object{cube("a"), cube("a")} },
		"position not finite":   func(c *Config) { c.Objects = []Object{{Label: "a", Position: units.Vec3{math.Inf(1), 0, 0}}} },
		"position not a number": func(c *Config) { c.Objects = []Object{{Label: "a", Position: units.Vec3{math.NaN(), 0, 0}}} },
		"yaw not a number":      func(c *Config) { o := cube("a"); o.YawRad = math.NaN(); c.Objects = []Object{o} },
		"huge":                  func(c *Config) { o := cube("a"); o.EdgeM = 3; c.Objects = []Object{o} },
		"negative mass":         func(c *Config) { o := cube("a"); o.MassKg = -1; c.Objects = []Object{o} },
		"too many cubes":        func(c *Config) { c.Objects = make([]Object, MaxCubes+1) },
		"too many boxes":        func(c *Config) { c.Boxes = make([]Box, 5); c.Tray = true },
		"flat box":              func(c *Config) { c.Boxes = []Box{{Half: units.Vec3{1, 1, 0}}} },
		"camera too fast":       func(c *Config) { c.Camera.RateHz = 1e4 },
		"camera noise nan":      func(c *Config) { c.Camera.SigmaMM = math.NaN() },
		"camera yaw noise":      func(c *Config) { c.Camera.YawSigma = -1 },
	}
	for name, spoil := range cases {
		cfg := DefaultConfig()
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(DefaultConfig()); err != nil {
		t.Errorf("the default configuration: %v", err)
	}
}

// Verifies: B06
func TestDriverRepeatsItself(t *testing.T) {
	run := func() uint64 {
		d := opened(t, func(c *Config) { c.Camera.SigmaMM = 1 })
		pickRed(t, d)
		w := d.World()
		return w.hash()
	}
	if a, b := run(), run(); a != b {
		t.Errorf("two runs end in %x and %x", a, b)
	}
}
