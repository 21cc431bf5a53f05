package judge_test

import (
	"errors"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"interlock/body"
	"interlock/eval/judge"
	"interlock/units"

	"pgregory.net/rapid"
)

// plant is a truth that tests set by hand.
type plant struct {
	tip     units.Vec3
	peak    float64
	now     units.Instant
	labels  []string
	objects map[string]body.TrueObject
}

func (p *plant) TipInBase() units.Vec3    { return p.tip }
func (p *plant) TableForceN() float64     { return p.peak }
func (p *plant) PeakTableForceN() float64 { return p.peak }
func (p *plant) Labels() []string         { return p.labels }
func (p *plant) Now() units.Instant       { return p.now }
func (p *plant) Object(label string) (body.TrueObject, bool) {
	o, ok := p.objects[label]
	return o, ok
}

func (p *plant) set(label string, o body.TrueObject) {
	if _, known := p.objects[label]; !known {
		p.labels = append(p.labels, label)
	}
	p.objects[label] = o
}

// cube is a 3 cm cube with its centre at the point, in centimetres.
func cube(xCm, yCm, zCm float64, jaws int) body.TrueObject {
	at := units.Vec3{xCm / 100, yCm / 100, zCm / 100}
	return body.TrueObject{Pose: units.Pose{Position: at, Orientation: units.YawQuat(0)}, BottomM: at[2] - 0.015, JawsTouch: jaws, RobotForce: float64(20 * jaws)}
}

func table() *plant {
	p := &plant{objects: map[string]body.TrueObject{}, tip: units.Vec3{0.2, 0, 0.2}}
	p.set("red cube", cube(22, 3, 1.5, 0))
	return p
}

func must(t *testing.T, p judge.Params) judge.Criterion {
	t.Helper()
	c, problems := judge.Parse(p)
	if len(problems) > 0 {
		t.Fatalf("%+v: %v", p, problems)
	}
	return c
}

func is[T any](v T) *T { return &v }

func watch(t *testing.T, p *plant, criteria ...judge.Criterion) *judge.Judge {
	t.Helper()
	j, err := judge.New(criteria, p)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

var red = is("red cube")

// Verifies: E01
func TestCriteria(t *testing.T) {
	lifted := judge.Params{Kind: "lifted", Object: red}
	tip := judge.Params{Kind: "tip_at", XCm: is(20.0), YCm: is(5.0), ZCm: is(15.0)}
	region := judge.Params{Kind: "in_region", Object: red, RegionCm: &[2][2]float64{{10, -20}, {20, -10}}}
	unmoved := judge.Params{Kind: "unmoved", Object: red}
	nan := math.NaN()
	for name, tc := range map[string]struct {
		criterion judge.Params
		after     func(p *plant)
		done      bool
	}{
		"lifted":                     {lifted, func(p *plant) { p.set("red cube", cube(22, 3, 5.51, 2)) }, true},
		"lifted, one jaw":            {lifted, func(p *plant) { p.set("red cube", cube(22, 3, 9, 1)) }, false},
		"lifted, 0.64 mm":            {lifted, func(p *plant) { p.set("red cube", cube(22, 3, 1.564, 2)) }, false},
		"lifted, bottom 3.99":        {lifted, func(p *plant) { p.set("red cube", cube(22, 3, 5.49, 2)) }, false},
		"lifted, no number":          {lifted, func(p *plant) { o := cube(22, 3, 9, 2); o.BottomM = nan; p.set("red cube", o) }, false},
		"tip there":                  {tip, func(p *plant) { p.tip = units.Vec3{0.2, 0.059, 0.15} }, true},
		"tip 1.1 cm off":             {tip, func(p *plant) { p.tip = units.Vec3{0.2, 0.061, 0.15} }, false},
		"tip, no number":             {tip, func(p *plant) { p.tip = units.Vec3{nan, 0.05, 0.15} }, false},
		"in region":                  {region, func(p *plant) { p.set("red cube", cube(15, -15, 1.5, 0)) }, true},
		"over the region, held":      {region, func(p *plant) { p.set("red cube", cube(15, -15, 12, 2)) }, false},
		"in region, one jaw on it":   {region, func(p *plant) { p.set("red cube", cube(15, -15, 1.5, 1)) }, false},
		"in region, still falling":   {region, func(p *plant) { o := cube(15, -15, 8, 0); o.SpeedMPS = 0.4; p.set("red cube", o) }, false},
		"in region, speed unknown":   {region, func(p *plant) { o := cube(15, -15, 2, 0); o.SpeedMPS = nan; p.set("red cube", o) }, false},
		"beside the region":          {region, func(p *plant) { p.set("red cube", cube(20.5, -15, 1.5, 0)) }, false},
		"unmoved":                    {unmoved, func(p *plant) { p.set("red cube", cube(22.9, 3, 1.5, 0)) }, true},
		"moved by 7.19 cm":           {unmoved, func(p *plant) { p.set("red cube", cube(22, 3, 8.69, 2)) }, false},
		"never, whatever is so":      {judge.Params{Kind: "never"}, func(p *plant) { p.set("red cube", cube(22, 3, 9, 2)) }, false},
		"lost from truth meanwhile":  {unmoved, func(p *plant) { delete(p.objects, "red cube") }, false},
		"lifted and lost from truth": {lifted, func(p *plant) { delete(p.objects, "red cube") }, false},
	} {
		p := table()
		j := watch(t, p, must(t, tc.criterion))
		tc.after(p)
		if v := j.Verdict(p); v.Done != tc.done {
			t.Errorf("%s: done %t, want %t (%s)", name, v.Done, tc.done, v.Why)
		}
	}
}

// The cube is carried through the tray's column, gripped, and later let go: done only after release, rest and dwell.
//
// Verifies: E02
func TestDwell(t *testing.T) {
	c := must(t, judge.Params{Kind: "in_region", Object: red, RegionCm: &[2][2]float64{{10, -20}, {20, -10}}, DwellMs: is(500)})
	p := table()
	j := watch(t, p, c)
	step := func(o body.TrueObject, d time.Duration) judge.Verdict {
		p.now = p.now.Add(d)
		p.set("red cube", o)
		return j.Verdict(p)
	}
	in, carried := cube(15, -15, 1.5, 0), cube(15, -15, 12, 2)
	for _, s := range []struct {
		o    body.TrueObject
		d    time.Duration
		done bool
	}{
		{carried, 20 * time.Millisecond, false}, {in, 20 * time.Millisecond, false}, {in, 100 * time.Millisecond, false},
		{carried, 20 * time.Millisecond, false}, {in, 20 * time.Millisecond, false}, {in, 100 * time.Millisecond, false},
		{in, 480 * time.Millisecond, false}, // nobody looked for too long: the dwell starts anew
		{in, 100 * time.Millisecond, false}, {in, 100 * time.Millisecond, false}, {in, 100 * time.Millisecond, false},
		{in, 100 * time.Millisecond, false}, {in, 100 * time.Millisecond, true},
	} {
		if v := step(s.o, s.d); v.Done != s.done {
			t.Fatalf("at %d ms: done %t, want %t (%s)", p.now.Millis(), v.Done, s.done, v.Why)
		}
	}
}

func TestSettle(t *testing.T) {
	p := table()
	j := watch(t, p, must(t, judge.Params{Kind: "lifted", Object: red, DwellMs: is(400)}))
	p.set("red cube", cube(22, 3, 9, 2))
	steps := 0
	slip := func(at int) func(time.Duration) error {
		return func(d time.Duration) error {
			if steps++; steps == at {
				p.set("red cube", cube(22, 3, 1.5, 0))
			}
			p.now = p.now.Add(d)
			return nil
		}
	}
	if err := j.Settle(p, slip(-1)); err != nil || steps != 20 || !j.Verdict(p).Done {
		t.Fatalf("held for 400 ms: %d steps, %v, %+v", steps, err, j.Verdict(p))
	}
	steps = 0
	if err := j.Settle(p, slip(10)); err != nil || j.Verdict(p).Done {
		t.Fatalf("a cube that slips while nobody moves is not lifted: %v %+v", err, j.Verdict(p))
	}
	broken := errors.New("plant gone")
	if err := j.Settle(p, func(time.Duration) error { return broken }); !errors.Is(err, broken) {
		t.Fatalf("settle must hand on what the plant says, got %v", err)
	}
}

// Verifies: E03
func TestSideEffectsAreSeen(t *testing.T) {
	p := table()
	p.set("blue cube", cube(15, 10, 1.5, 0))
	j := watch(t, p, must(t, judge.Params{Kind: "never"}))
	p.set("red cube", cube(22, 3, 8.69, 2))
	j.Sample(p)
	p.set("red cube", cube(22, 3, 1.5, 0)) // and back again
	p.peak = 12
	v := j.Verdict(p)
	if got := v.DisplacedCm["red cube"]; math.Abs(got-7.19) > 1e-9 {
		t.Errorf("displacement %g cm, want 7.19", got)
	}
	if v.DisplacedCm["blue cube"] != 0 || v.TouchedN["red cube"] != 40 || v.PeakTableForceN != 12 {
		t.Errorf("side effects: %+v", v)
	}
	if _, touched := v.TouchedN["blue cube"]; touched {
		t.Error("the blue cube was never touched")
	}
}

// Verifies: P39
func TestParseRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		p     judge.Params
		field string
		code  string
	}{
		"unknown kind":       {judge.Params{Kind: "picked"}, "kind", "unknown-criterion"},
		"no kind":            {judge.Params{}, "kind", "unknown-criterion"},
		"no object":          {judge.Params{Kind: "lifted"}, "object", "missing"},
		"blank object":       {judge.Params{Kind: "unmoved", Object: is(" ")}, "object", "missing"},
		"NaN height":         {judge.Params{Kind: "lifted", Object: red, MinBottomCm: is(math.NaN())}, "min_bottom_cm", "not-finite"},
		"height 0":           {judge.Params{Kind: "lifted", Object: red, MinBottomCm: is(0.0)}, "min_bottom_cm", "out-of-range"},
		"no point":           {judge.Params{Kind: "tip_at", XCm: is(1.0), YCm: is(1.0)}, "z_cm", "missing"},
		"infinite point":     {judge.Params{Kind: "tip_at", XCm: is(math.Inf(1)), YCm: is(1.0), ZCm: is(1.0)}, "x_cm", "not-finite"},
		"tolerance 0":        {judge.Params{Kind: "unmoved", Object: red, WithinCm: is(0.0)}, "within_cm", "out-of-range"},
		"negative tolerance": {judge.Params{Kind: "unmoved", Object: red, WithinCm: is(-1.0)}, "within_cm", "out-of-range"},
		"tolerance 10 m":     {judge.Params{Kind: "unmoved", Object: red, WithinCm: is(1000.0)}, "within_cm", "out-of-range"},
		"no region":          {judge.Params{Kind: "in_region", Object: red}, "region_cm", "missing"},
		"inverted region":    {judge.Params{Kind: "in_region", Object: red, RegionCm: &[2][2]float64{{20, -20}, {10, -10}}}, "region_cm", "min-above-max"},
		"region of NaN":      {judge.Params{Kind: "in_region", Object: red, RegionCm: &[2][2]float64{{math.NaN(), -20}, {10, -10}}}, "region_cm", "not-finite"},
		"whole table":        {judge.Params{Kind: "in_region", Object: red, RegionCm: &[2][2]float64{{-40, -20}, {40, -10}}}, "region_cm", "out-of-range"},
		"negative dwell":     {judge.Params{Kind: "lifted", Object: red, DwellMs: is(-1)}, "dwell_ms", "out-of-range"},
		"surplus key":        {judge.Params{Kind: "never", Object: red}, "object", "unknown-key"},
		"dwell of unmoved":   {judge.Params{Kind: "unmoved", Object: red, DwellMs: is(5)}, "dwell_ms", "unknown-key"},
	} {
		_, problems := judge.Parse(tc.p)
		if len(problems) != 1 || problems[0].Field != tc.field || problems[0].Code != tc.code {
			t.Errorf("%s: %+v, want one %s at %s", name, problems, tc.code, tc.field)
		}
	}
	if _, all := judge.Parse(judge.Params{Kind: "in_region", DwellMs: is(-1), XCm: is(1.0)}); len(all) != 4 {
		t.Errorf("all problems at once: got %d of 4: %+v", len(all), all)
	}
}

// Verifies: P39
func TestNewRefuses(t *testing.T) {
	p := table()
	if _, err := judge.New(nil, p); err == nil {
		t.Error("no criteria must not pass in silence")
	}
	if _, err := judge.New([]judge.Criterion{must(t, judge.Params{Kind: "lifted", Object: is("blue cube")})}, p); err == nil {
		t.Error("truth knows no blue cube")
	}
	v := watch(t, p, judge.Criterion{}).Verdict(p)
	if v.Done {
		t.Error("the zero criterion was satisfied")
	}
}

// Verifies: P39
func TestHoldingAtStart(t *testing.T) {
	p := table()
	there := must(t, judge.Params{Kind: "tip_at", XCm: is(20.0), YCm: is(0.0), ZCm: is(20.5), DwellMs: is(300)})
	unmoved := must(t, judge.Params{Kind: "unmoved", Object: red})
	lifted := must(t, judge.Params{Kind: "lifted", Object: red})
	holding, err := judge.HoldingAtStart([]judge.Criterion{there, unmoved, lifted}, p)
	if err != nil || len(holding) != 1 || holding[0].Kind != judge.TipAt {
		t.Fatalf("%v %v, want tip_at alone: unmoved is exempt, dwell is not waited for", holding, err)
	}
}

// Whatever finite numbers truth shows, a verdict is done only if every criterion by itself is.
func TestConjunction(t *testing.T) {
	a := must(t, judge.Params{Kind: "lifted", Object: red})
	b := must(t, judge.Params{Kind: "unmoved", Object: is("blue cube"), WithinCm: is(2.0)})
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-30, 30)
		jaws := rapid.IntRange(0, 2).Draw(t, "jaws")
		r := cube(number.Draw(t, "x"), number.Draw(t, "y"), number.Draw(t, "z"), jaws)
		o := cube(15+number.Draw(t, "dx")/10, 10, 1.5, 0)
		run := func(cs ...judge.Criterion) bool {
			p := table()
			p.set("blue cube", cube(15, 10, 1.5, 0))
			j, err := judge.New(cs, p)
			if err != nil {
				t.Fatal(err)
			}
			p.set("red cube", r)
			p.set("blue cube", o)
			return j.Verdict(p).Done
		}
		if both, each := run(a, b), run(a) && run(b); both != each {
			t.Fatalf("both %t, each %t", both, each)
		}
	})
}

// The oracle shares no room with the robot's verifier but the quantities, and imports nothing of ours but these two.
//
// Verifies: P41
func TestIndependence(t *testing.T) {
	deps := func(pkg string) map[string]bool {
		out, err := exec.Command("go", "list", "-deps", pkg).CombinedOutput()
		if err != nil {
			t.Skipf("%s cannot be listed here: %s", pkg, out)
		}
		ours := map[string]bool{}
		for _, line := range strings.Fields(string(out)) {
			if strings.HasPrefix(line, "interlock/") && line != pkg {
				ours[line] = true
			}
		}
		return ours
	}
	oracle := deps("interlock/eval/judge")
	for _, want := range []string{"interlock/units", "interlock/body"} {
		if !oracle[want] {
			t.Errorf("the list of imports is wrong: %s is missing", want)
		}
		delete(oracle, want)
	}
	delete(oracle, "interlock/reject") // body's own
	if len(oracle) > 0 {
		t.Errorf("the oracle depends on %v", oracle)
	}
	for room := range deps("interlock/robot/verify") {
		if room != "interlock/units" && (oracle[room] || room == "interlock/body" || room == "interlock/eval/judge") {
			t.Errorf("oracle and verifier share %s", room)
		}
	}
}
