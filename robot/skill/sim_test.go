package skill_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/sim"
	"interlock/contract"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/units"
	"interlock/world"
)

const tick = 20 * time.Millisecond

// bench is one simulated arm with a planner, driven the way the shell does it but without its checks.
type bench struct {
	t       *testing.T
	planner *skill.Planner
	calls   *contract.Contract
	driver  *sim.Driver
	goal    arm.Servos
}

func newBench(t *testing.T, cfg sim.Config) *bench {
	t.Helper()
	c, err := contract.LoadFile("testdata/arm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := skill.NewPlanner(c, skill.Best)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, planner: p, calls: c}
	b.reset(cfg)
	return b
}

func (b *bench) reset(cfg sim.Config) {
	b.t.Helper()
	d, err := sim.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := d.Open(); err != nil {
		b.t.Fatal(err)
	}
	b.driver, b.goal = d, cfg.StartRad
}

// do plans the verb on what is seen, plays it and half a second more; false if there is no plan.
func (b *bench) do(verb string, seen []world.Object, args ...contract.ArgValue) bool {
	b.t.Helper()
	now := units.Instant(time.Second)
	w := world.NewSnapshot(now, []world.Fact{{Name: "objects", Witness: "camera", At: now, Value: world.Value{Kind: world.KindPoses, Objects: seen}}})
	plan, r := b.planner.Plan(gate.PlanRequest{Capability: b.calls.Capability(verb), Args: args, World: w, StartRad: b.goal[:]}, b.planner.Fresh())
	if r != nil {
		return false
	}
	path := plan.(*skill.Plan).Path()
	for at := tick; at <= path.Duration()+500*time.Millisecond; at += tick {
		q, _, _ := path.At(at)
		if _, err := b.driver.Send(body.Setpoint{PositionsRad: q[:], Over: tick}); err != nil {
			b.t.Fatal(err)
		}
		if err := b.driver.Advance(tick); err != nil {
			b.t.Fatal(err)
		}
		b.goal = q
	}
	return true
}

func (b *bench) lifted(label string) bool {
	o, ok := b.driver.Truth().Object(label)
	return ok && o.BottomM >= 0.04 && o.JawsTouch == 2
}

func word(name, v string) contract.ArgValue {
	return contract.ArgValue{Name: name, Value: world.Value{Kind: world.KindText, Text: v}}
}

func oneCube(xM, yM, yawRad float64) sim.Config {
	cfg := sim.DefaultConfig()
	cfg.Objects = []sim.Object{{Label: "red cube", Position: units.Vec3{xM, yM, 0.015}, YawRad: yawRad}}
	return cfg
}

func seen(label string, xM, yM, zM, yawRad float64) world.Object {
	return world.Object{Label: label, SizeM: units.Vec3{0.03, 0.03, 0.03},
		Pose: units.Pose{Position: units.Vec3{xM, yM, zM}, Orientation: units.YawQuat(yawRad)}}
}

// Verifies: K20
func TestPickLiftsTheGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 385 picks")
	}
	b := newBench(t, sim.DefaultConfig())
	n, lifted := 0, 0
	for r := 0.15; r <= 0.3501; r += 0.02 {
		for azDeg := -60.0; azDeg <= 60; azDeg += 20 {
			for yawDeg := 0.0; yawDeg <= 80; yawDeg += 20 {
				sin, cos := math.Sincos(units.RadFromDeg(azDeg))
				x, y, yaw := r*cos, r*sin, units.RadFromDeg(yawDeg)
				b.reset(oneCube(x, y, yaw))
				n++
				if b.do("pick", []world.Object{seen("red cube", x, y, 0.015, yaw)}, word("name", "red cube")) && b.lifted("red cube") {
					lifted++
				} else {
					t.Logf("not lifted: r %.2f, %g°, yaw %g°", r, azDeg, yawDeg)
				}
				if f := b.driver.Truth().PeakTableForceN(); f != 0 {
					t.Errorf("r %.2f, %g°, yaw %g°: the table is pressed with %g N", r, azDeg, yawDeg, f)
				}
			}
		}
	}
	t.Logf("lifted %d of %d", lifted, n)
	if n != 385 || lifted*1000 < n*995 {
		t.Errorf("lifted %d of %d", lifted, n)
	}
}

// Verifies: K20
func TestPickBearsPerceptionErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 200 picks")
	}
	b := newBench(t, sim.DefaultConfig())
	rng := rand.New(rand.NewPCG(3, 2026))
	const n, errM = 200, 0.003
	lifted := 0
	for range n {
		r, az := 0.15+0.2*rng.Float64(), units.RadFromDeg(120*rng.Float64()-60)
		yaw, dir := units.RadFromDeg(80*rng.Float64()), 2*math.Pi*rng.Float64()
		x, y := r*math.Cos(az), r*math.Sin(az)
		b.reset(oneCube(x, y, yaw))
		o := seen("red cube", x+errM*math.Cos(dir), y+errM*math.Sin(dir), 0.015, yaw+units.RadFromDeg(20*rng.Float64()-10))
		if b.do("pick", []world.Object{o}, word("name", "red cube")) && b.lifted("red cube") {
			lifted++
		}
	}
	t.Logf("lifted %d of %d at 3 mm", lifted, n)
	if lifted*100 < n*95 {
		t.Errorf("lifted %d of %d at 3 mm", lifted, n)
	}
}

// Verifies: K21
func TestPlaceFillsTheTray(t *testing.T) {
	b := newBench(t, sim.DefaultConfig())
	cfg := sim.DefaultConfig()
	cfg.Tray = true
	labels := []string{"red cube", "blue cube", "green cube"}
	for i, label := range labels {
		cfg.Objects = append(cfg.Objects, sim.Object{Label: label, Position: units.Vec3{0.22, -0.02 + 0.07*float64(i), 0.015}, YawRad: 0.3 * float64(i)})
	}
	b.reset(cfg)
	for _, label := range labels {
		if !b.do("pick", b.truth(labels), word("name", label)) || !b.lifted(label) {
			t.Fatalf("%s was not lifted", label)
		}
		if !b.do("place", b.truth(labels), word("target", "tray"), word("moved", label)) {
			t.Fatalf("no plan to place %s", label)
		}
	}
	for _, label := range labels {
		o, _ := b.driver.Truth().Object(label)
		p := o.Pose.Position
		if !(p[0] >= 0.115 && p[0] <= 0.185 && p[1] >= -0.185 && p[1] <= -0.115 && o.BottomM <= 0.001 && o.SpeedMPS <= 0.002 && o.JawsTouch == 0) {
			t.Errorf("%s ends at %v m, bottom %g m, %g m/s, %d jaws", label, p, o.BottomM, o.SpeedMPS, o.JawsTouch)
		}
	}
	if f := b.driver.Truth().PeakTableForceN(); f != 0 {
		t.Errorf("the table is pressed with %g N", f)
	}
}

// truth returns every object where it really is: an exact camera.
func (b *bench) truth(labels []string) (all []world.Object) {
	for _, label := range labels {
		o, _ := b.driver.Truth().Object(label)
		all = append(all, world.Object{Label: label, Pose: o.Pose, SizeM: o.SizeM})
	}
	return all
}

// Verifies: K30
func TestAcceptedMovesNeverPressTheTable(t *testing.T) {
	b := newBench(t, sim.DefaultConfig())
	rng := rand.New(rand.NewPCG(30, 2026))
	const n = 250
	refused, moved := 0, 0
	for moved < n {
		// As wide as the contract's move_to allows, and again as often close to the table.
		z := 2 + 25*rng.Float64()
		if moved%2 == 0 {
			z = 2 + rng.Float64()
		}
		r, az := 10+35*rng.Float64(), units.RadFromDeg(200*rng.Float64()-100)
		if b.planner.Fresh().MissM(units.Vec3{r / 100 * math.Cos(az), r / 100 * math.Sin(az), z / 100}) > 0.005 {
			continue
		}
		if !b.do("move_to", nil, size("x_cm", r*math.Cos(az)), size("y_cm", r*math.Sin(az)), size("z_cm", z)) {
			refused++
			continue
		}
		moved++
		if f := b.driver.Truth().PeakTableForceN(); f != 0 {
			t.Fatalf("move %d, to r %.1f cm, %.0f°, z %.1f cm: the table is pressed with %g N", moved, r, units.DegFromRad(az), z, f)
		}
	}
	t.Logf("%d moves, %d more refused", moved, refused)
	if refused > moved {
		t.Errorf("%d moves were refused, %d made", refused, moved)
	}
}

func size(name string, v float64) contract.ArgValue {
	return contract.ArgValue{Name: name, Value: world.Value{Kind: world.KindNumber, Number: v}}
}
