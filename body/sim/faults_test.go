package sim

import (
	"math"
	"testing"
	"time"

	"interlock/body"
	"interlock/units"
)

func withFault(f Fault) func(*Config) { return func(c *Config) { c.Faults = []Fault{f} } }

// Verifies: B14
func TestFaultsAreRefused(t *testing.T) {
	cases := map[string]Fault{
		"no kind":                 {},
		"unknown kind":            {Kind: "gremlins"},
		"unknown fact":            {Kind: FrozenTime, Fact: "mood"},
		"no fact":                 {Kind: NotANumber},
		"needless fact":           {Kind: StuckGripper, Fact: FactTip},
		"unknown joint":           {Kind: TrackingError, Joint: "knee", Amount: 0.1},
		"needless joint":          {Kind: StuckGripper, Joint: "jaw"},
		"unknown object":          {Kind: ObjectMoved, Object: "green cube", Vector: units.Vec3{0.2, 0, 0.015}},
		"needless object":         {Kind: WeakGrip, Object: "red cube", Amount: 1},
		"moved nowhere":           {Kind: ObjectMoved, Object: "red cube"},
		"moved to nan":            {Kind: ObjectMoved, Object: "red cube", Vector: units.Vec3{math.NaN(), 0, 0}},
		"push without end":        {Kind: Knocked, Object: "red cube", Vector: units.Vec3{0, 0, -1}},
		"needless vector":         {Kind: WeakGrip, Amount: 1, Vector: units.Vec3{1, 0, 0}},
		"amount nan":              {Kind: WeakGrip, Amount: math.NaN()},
		"amount too large":        {Kind: WeakGrip, Amount: 10},
		"needless amount":         {Kind: FrozenTime, Fact: FactTip, Amount: 1},
		"probability above one":   {Kind: Dropped, Fact: FactTip, Amount: 1.5},
		"number with a vector":    {Kind: Biased, Fact: FactJawGap, Vector: units.Vec3{1, 0, 0}},
		"point with an amount":    {Kind: Biased, Fact: FactTip, Amount: 1},
		"swap with itself":        {Kind: Swapped, Fact: FactObjects, Object: "red cube", Other: "red cube"},
		"swap of a number":        {Kind: Swapped, Fact: FactJawGap, Object: "red cube", Other: "blue cube"},
		"needless other":          {Kind: StuckGripper, Other: "blue cube"},
		"unknown trigger":         {Kind: StuckGripper, When: "soon"},
		"near without a distance": {Kind: StuckGripper, When: WhenNear, Object: "red cube"},
		"near nothing":            {Kind: StuckGripper, When: WhenNear, NearM: 0.1},
		"distance without near":   {Kind: StuckGripper, NearM: 0.1},
		"negative time":           {Kind: StuckGripper, After: -1},
		"biased, unknown trigger": {Kind: Biased, Fact: FactJawGap, Amount: 1, When: "soon"},
	}
	for name, f := range cases {
		cfg := opened(t, nil).cfg
		cfg.Faults = []Fault{f}
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	cfg := DefaultConfig()
	cfg.Camera = Camera{}
	cfg.Faults = []Fault{{Kind: FrozenTime, Fact: FactObjects}}
	if _, err := New(cfg); err == nil {
		t.Error("a fault of a camera that is not there: accepted")
	}
}

// every is one valid fault of each kind.
func every() []Fault {
	return []Fault{
		{Kind: SlipAfterGrasp, Amount: 0.003, When: WhenHeld, After: 300 * time.Millisecond},
		{Kind: ObjectMoved, Object: "red cube", Vector: units.Vec3{0.25, 0.15, 0.015}, When: WhenNear, NearM: 0.05},
		{Kind: Knocked, Object: "red cube", Vector: units.Vec3{0, 0, -100}, For: 200 * time.Millisecond, When: WhenHeld, After: 700 * time.Millisecond},
		{Kind: WeakGrip, Amount: 1},
		{Kind: StuckGripper},
		{Kind: TrackingError, Joint: "lift", Amount: 0.1},
		{Kind: EncoderError, Joint: "lift", Amount: 0.1},
		{Kind: HeavyObject, Object: "red cube", Amount: 0.4},
		{Kind: FrozenTime, Fact: FactTip},
		{Kind: FrozenValue, Fact: FactTip},
		{Kind: Replayed, Fact: FactTip},
		{Kind: Stale, Fact: FactTip, Amount: 2},
		{Kind: NotANumber, Fact: FactTip},
		{Kind: Biased, Fact: FactTip, Vector: units.Vec3{0.05, 0, 0}},
		{Kind: Swapped, Fact: FactObjects, Object: "red cube", Other: "blue cube"},
		{Kind: Dropped, Fact: FactTip, Amount: 1},
		{Kind: UnitScaled, Fact: FactTip, Amount: 100},
	}
}

func TestEveryKindHasAnExample(t *testing.T) {
	seen := map[FaultKind]bool{}
	for _, f := range every() {
		seen[f.Kind] = true
		opened(t, withFault(f))
	}
	for _, k := range FaultKinds() {
		if !seen[k] {
			t.Errorf("no test arms %s", k)
		}
	}
}

func faultOf(t *testing.T, kind FaultKind) Fault {
	t.Helper()
	for _, f := range every() {
		if f.Kind == kind {
			return f
		}
	}
	t.Fatalf("no example of %s", kind)
	return Fault{}
}

// Verifies: B15
func TestFaultsOfTheWorld(t *testing.T) {
	cases := []struct {
		kind   FaultKind
		lifted bool
	}{
		{SlipAfterGrasp, false}, {ObjectMoved, false}, {Knocked, false}, {StuckGripper, false}, {WeakGrip, true}, {HeavyObject, true},
	}
	for _, c := range cases {
		t.Run(string(c.kind), func(t *testing.T) {
			d := opened(t, withFault(faultOf(t, c.kind)))
			pickRed(t, d)
			advance(t, d, time.Second)
			red, _ := d.Truth().Object("red cube")
			if lifted := red.BottomM > 0.04 && red.JawsTouch == 2; lifted != c.lifted {
				t.Errorf("lifted %v: %+v", lifted, red)
			}
		})
	}
}

func TestFaultAmounts(t *testing.T) {
	d := opened(t, withFault(faultOf(t, WeakGrip)))
	pickRed(t, d)
	advance(t, d, time.Second)
	red, _ := d.Truth().Object("red cube")
	if perJaw := red.RobotForce / 2; !(perJaw > 10 && perJaw < 17) {
		t.Errorf("a grip of 1 N·m presses with %v N", perJaw)
	}
	d = opened(t, withFault(faultOf(t, ObjectMoved)))
	pickRed(t, d)
	red, _ = d.Truth().Object("red cube")
	if !(red.Pose.Position.Distance(units.Vec3{0.25, 0.15, 0.0147}) < 0.002) {
		t.Errorf("moved to %v", red.Pose.Position)
	}
	for kind, tells := range map[FaultKind]bool{TrackingError: true, EncoderError: false} {
		d = opened(t, withFault(faultOf(t, kind)))
		goTo(t, d, HomeRad(), 500*time.Millisecond)
		truth, want := d.Truth().TipInBase(), TipInBase(HomeRad())
		told := reading(t, observe(t, d), FactTip).Point
		if !(truth.Distance(want) > 0.01) {
			t.Errorf("%s: the tip is where it should be", kind)
		}
		if honest := told.Distance(truth) < 0.001; honest != tells {
			t.Errorf("%s: the encoders tell the truth: %v", kind, honest)
		}
	}
}

func TestFaultEnds(t *testing.T) {
	for _, f := range []Fault{
		{Kind: TrackingError, Joint: "pan", Amount: 0.2, After: 100 * time.Millisecond, For: 300 * time.Millisecond},
		{Kind: EncoderError, Joint: "pan", Amount: 0.2, After: 100 * time.Millisecond, For: 300 * time.Millisecond},
	} {
		d := opened(t, withFault(f))
		home := TipInBase(HomeRad())
		off := func() bool { return d.Truth().TipInBase().Distance(home) > 0.005 }
		advance(t, d, 100*time.Millisecond)
		before := off()
		advance(t, d, 300*time.Millisecond)
		during := off()
		advance(t, d, 500*time.Millisecond)
		if after := off(); before || !during || after {
			t.Errorf("%s: off before %v, during %v, after %v", f.Kind, before, during, after)
		}
	}
}

// Verifies: B16
func TestFaultsOfSensors(t *testing.T) {
	far := HomeRad()
	far[0] = 0.5
	move := func(t *testing.T, f *Fault) (first, last body.Observation, d *Driver) {
		change := func(c *Config) {}
		if f != nil {
			change = withFault(*f)
		}
		d = opened(t, change)
		advance(t, d, 20*time.Millisecond)
		first = observe(t, d)
		goTo(t, d, far, time.Second)
		advance(t, d, 200*time.Millisecond)
		return first, observe(t, d), d
	}
	_, healthy, d := move(t, nil)
	want := reading(t, healthy, FactTip)
	if !(want.Point.Distance(d.Truth().TipInBase()) < 1e-9) || want.At != healthy.At {
		t.Fatal("a healthy sensor does not tell the truth")
	}
	check := map[FaultKind]func(first, last body.Reading, o body.Observation) bool{
		FrozenTime:  func(f, l body.Reading, _ body.Observation) bool { return l.At == f.At && l.Point == want.Point },
		FrozenValue: func(f, l body.Reading, _ body.Observation) bool { return l.Point == f.Point && l.At == want.At },
		Replayed:    func(f, l body.Reading, _ body.Observation) bool { return l.Point == f.Point && l.At == f.At },
		Stale: func(_, l body.Reading, _ body.Observation) bool {
			return want.At.Sub(l.At) == 2*time.Second && l.Point == want.Point
		},
		NotANumber: func(_, l body.Reading, _ body.Observation) bool { return math.IsNaN(l.Point[0]) },
		Biased: func(_, l body.Reading, _ body.Observation) bool {
			return l.Point == want.Point.Add(units.Vec3{0.05, 0, 0})
		},
		UnitScaled: func(_, l body.Reading, _ body.Observation) bool { return l.Point == want.Point.Scale(100) },
	}
	for kind, holds := range check {
		f := faultOf(t, kind)
		first, last, d := move(t, &f)
		if !holds(reading(t, first, FactTip), reading(t, last, FactTip), last) {
			t.Errorf("%s tells %+v", kind, reading(t, last, FactTip))
		}
		if d.Truth().TipInBase() != want.Point {
			t.Errorf("%s changes what is so", kind)
		}
	}
}

func TestSwappedAndDropped(t *testing.T) {
	d := opened(t, withFault(faultOf(t, Swapped)))
	advance(t, d, 100*time.Millisecond)
	seen := reading(t, observe(t, d), FactObjects).Objects
	if seen[0].Label != "blue cube" || seen[1].Label != "red cube" || !(seen[0].Pose.Position[0] > 0.2) {
		t.Errorf("swapped: %+v", seen)
	}
	for _, p := range []float64{0.3, 1} {
		f := faultOf(t, Dropped)
		f.Amount = p
		d := opened(t, withFault(f))
		missing := 0
		for range 200 {
			advance(t, d, 20*time.Millisecond)
			missing += 5 - len(observe(t, d).Readings)
		}
		if share := float64(missing) / 200; !(math.Abs(share-p) < 0.12) {
			t.Errorf("dropped with %v: a share of %v is missing", p, share)
		}
	}
}

func TestBiasOfNumbersAndPoses(t *testing.T) {
	d := opened(t, func(c *Config) {
		c.Faults = []Fault{
			{Kind: Biased, Fact: FactTableForce, Amount: 7},
			{Kind: Biased, Fact: FactObjects, Vector: units.Vec3{0, 0.02, 0}},
		}
	})
	advance(t, d, 100*time.Millisecond)
	o := observe(t, d)
	if n := reading(t, o, FactTableForce).Number; n != 7 {
		t.Errorf("a biased force of nothing is %v N", n)
	}
	for _, seen := range reading(t, o, FactObjects).Objects {
		truth, _ := d.Truth().Object(seen.Label)
		if got := seen.Pose.Position.Sub(truth.Pose.Position); !(got.Distance(units.Vec3{0, 0.02, 0}) < 1e-4) {
			t.Errorf("%s is told %v beside the truth", seen.Label, got)
		}
	}
}

// Verifies: B17
func TestLiars(t *testing.T) {
	if _, err := NewLiar(opened(t, nil), "white"); err == nil {
		t.Error("an unknown lie is accepted")
	}
	far := HomeRad()
	far[0] = 0.5
	for lie, echoes := range map[Lie]bool{LieStill: false, LieEcho: true} {
		cfg := DefaultConfig()
		inner, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLiar(inner, lie)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Send(body.Setpoint{PositionsRad: far[:]}); err == nil {
			t.Error("a liar takes setpoints before it is open")
		}
		if err := l.Open(); err != nil {
			t.Fatal(err)
		}
		goTo(t, l, far, time.Second)
		o := observe(t, l)
		if o.Applied != 1 || o.GoalRad[0] != 0.5 {
			t.Errorf("%s: applied %d, goal %v", lie, o.Applied, o.GoalRad)
		}
		if !(inner.Truth().TipInBase().Distance(TipInBase(HomeRad())) < 0.001) {
			t.Errorf("%s moved", lie)
		}
		if echo := reading(t, o, FactTip).Point == TipInBase(far); echo != echoes {
			t.Errorf("%s echoes its goal: %v", lie, echo)
		}
		if _, err := l.Send(body.Setpoint{PositionsRad: far[:3]}); err == nil {
			t.Errorf("%s takes a malformed setpoint", lie)
		}
	}
}
