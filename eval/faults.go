package eval

import (
	"slices"
	"time"

	"interlock/units"
)

// Fault is one thing that goes wrong on purpose. Kind is of the closed list FaultKinds and decides which parameters it
// takes; Amount and Vector give them in SI, whatever they are called.
type Fault struct {
	Kind    string  `yaml:"kind" json:"kind"`
	When    string  `yaml:"when" json:"when,omitempty"`         // at (default), near or held
	AfterMs int     `yaml:"after_ms" json:"after_ms,omitempty"` // counted from the trigger
	ForMs   int     `yaml:"for_ms" json:"for_ms,omitempty"`     // how long it lasts; 0: to the end
	NearCm  float64 `yaml:"near_cm" json:"near_cm,omitempty"`   // when near: tip and object are closer than this
	Fact    string  `yaml:"fact" json:"fact,omitempty"`         // the reading at fault
	Joint   string  `yaml:"joint" json:"joint,omitempty"`
	Object  string  `yaml:"object" json:"object,omitempty"`
	Other   string  `yaml:"other" json:"other,omitempty"` // the second object of a swap
	Lie     string  `yaml:"lie" json:"lie,omitempty"`     // of a lying driver: still or echo

	Friction float64     `yaml:"friction" json:"friction,omitempty"`   // slip_after_grasp: of the jaws
	TorqueNm float64     `yaml:"torque_nm" json:"torque_nm,omitempty"` // weak_grip
	Rad      float64     `yaml:"rad" json:"rad,omitempty"`             // tracking_error, encoder_error
	MassKg   float64     `yaml:"mass_kg" json:"mass_kg,omitempty"`     // heavy_object
	AgeMs    int         `yaml:"age_ms" json:"age_ms,omitempty"`       // stale
	By       float64     `yaml:"by" json:"by,omitempty"`               // biased number, in the fact's unit
	Factor   float64     `yaml:"factor" json:"factor,omitempty"`       // unit_scaled
	Share    float64     `yaml:"share" json:"share,omitempty"`         // dropped: of the readings
	ToCm     *[3]float64 `yaml:"to_cm" json:"to_cm,omitempty"`         // object_moved
	ByCm     *[3]float64 `yaml:"by_cm" json:"by_cm,omitempty"`         // biased position
	PushN    *[3]float64 `yaml:"push_n" json:"push_n,omitempty"`       // knocked
}

// LyingDriver is the fault of the driver itself, not of the body inside.
const LyingDriver = "lying_driver"

// faultKind says what one kind of fault takes besides when, after_ms and for_ms.
type faultKind struct {
	name   string
	needs  []string
	either []string // one of these, if any are listed
}

// faultKinds is the closed list: first the world and the body, then the sensors, then the driver.
func faultKinds() []faultKind {
	fact := func(more ...string) []string { return append([]string{"fact"}, more...) }
	return []faultKind{
		{name: "slip_after_grasp", needs: []string{"friction"}},
		{name: "object_moved", needs: []string{"object", "to_cm"}},
		{name: "knocked", needs: []string{"object", "push_n", "for_ms"}},
		{name: "weak_grip", needs: []string{"torque_nm"}},
		{name: "stuck_gripper"},
		{name: "tracking_error", needs: []string{"joint", "rad"}},
		{name: "encoder_error", needs: []string{"joint", "rad"}},
		{name: "heavy_object", needs: []string{"object", "mass_kg"}},
		{name: "frozen_time", needs: fact()},
		{name: "frozen_value", needs: fact()},
		{name: "replayed", needs: fact()},
		{name: "stale", needs: fact("age_ms")},
		{name: "nan", needs: fact()},
		{name: "biased", needs: fact(), either: []string{"by", "by_cm"}},
		{name: "swapped", needs: fact("object", "other")},
		{name: "dropped", needs: fact("share")},
		{name: "unit_scaled", needs: fact("factor")},
		{name: LyingDriver, needs: []string{"lie"}},
	}
}

// FaultKinds is the closed list of faults a scenario can switch on.
func FaultKinds() []string {
	var names []string
	for _, k := range faultKinds() {
		names = append(names, k.name)
	}
	return names
}

// Amount is the fault's number in SI or in the fact's own unit; 0 where the kind takes none.
func (f *Fault) Amount() float64 {
	switch f.Kind {
	case "slip_after_grasp":
		return f.Friction
	case "weak_grip":
		return f.TorqueNm
	case "tracking_error", "encoder_error":
		return f.Rad
	case "heavy_object":
		return f.MassKg
	case "stale":
		return (time.Duration(f.AgeMs) * time.Millisecond).Seconds()
	case "biased":
		return f.By
	case "dropped":
		return f.Share
	case "unit_scaled":
		return f.Factor
	}
	return 0
}

// Vector is where an object is put or how far a position is off, metres, or the push on an object, newtons.
func (f *Fault) Vector() units.Vec3 {
	metres := func(cm *[3]float64) (v units.Vec3) {
		for i := range v {
			v[i] = units.MetresFromCm(cm[i])
		}
		return v
	}
	switch {
	case f.ToCm != nil:
		return metres(f.ToCm)
	case f.ByCm != nil:
		return metres(f.ByCm)
	case f.PushN != nil:
		return units.Vec3(*f.PushN)
	}
	return units.Vec3{}
}

// given names the parameters that were set.
func (f *Fault) given() []string {
	var out []string
	for _, p := range []struct {
		name string
		set  bool
	}{
		{"fact", f.Fact != ""}, {"joint", f.Joint != ""}, {"object", f.Object != ""}, {"other", f.Other != ""}, {"lie", f.Lie != ""},
		{"friction", f.Friction != 0}, {"torque_nm", f.TorqueNm != 0}, {"rad", f.Rad != 0}, {"mass_kg", f.MassKg != 0},
		{"age_ms", f.AgeMs != 0}, {"by", f.By != 0}, {"factor", f.Factor != 0}, {"share", f.Share != 0}, {"for_ms", f.ForMs != 0},
		{"to_cm", f.ToCm != nil}, {"by_cm", f.ByCm != nil}, {"push_n", f.PushN != nil}, {"near_cm", f.NearCm != 0},
	} {
		if p.set {
			out = append(out, p.name)
		}
	}
	return out
}

// checkFault notes what is wrong with one fault of a scenario.
func (c *checker) checkFault(s *Scenario, f *Fault, path string) {
	at := slices.IndexFunc(faultKinds(), func(k faultKind) bool { return k.name == f.Kind })
	if at < 0 {
		c.fail(path+".kind", "unknown-name", hintNear(f.Kind, FaultKinds()), "%q is no fault", f.Kind)
		return
	}
	kind, given := faultKinds()[at], f.given()
	for _, need := range kind.needs {
		if !slices.Contains(given, need) {
			c.fail(path, "missing", "", "%s needs %s", f.Kind, need)
		}
	}
	if either := intersect(kind.either, given); len(kind.either) > 0 && len(either) != 1 {
		c.fail(path, "missing", "", "%s needs one of %v", f.Kind, kind.either)
	}
	allowed := append(append(f.triggerTakes(), kind.needs...), kind.either...)
	for _, name := range given {
		if !slices.Contains(allowed, name) {
			c.fail(join(path, name), "unknown-key", "", "%s takes no %s here", f.Kind, name)
		}
	}
	c.checkFaultNames(s, f, path)
	c.checkFaultNumbers(f, path)
}

// triggerTakes lists the parameters that come with when.
func (f *Fault) triggerTakes() []string {
	switch f.When {
	case "near":
		return []string{"for_ms", "near_cm", "object"}
	case "held":
		return []string{"for_ms", "object"}
	}
	return []string{"for_ms"}
}

func (c *checker) checkFaultNames(s *Scenario, f *Fault, path string) {
	for _, named := range []struct{ name, label string }{{"object", f.Object}, {"other", f.Other}} {
		if named.label != "" && !s.holds(named.label) {
			c.fail(join(path, named.name), "unknown-name", "", "the set-up holds no %q", named.label)
		}
	}
	if f.Fact != "" && c.checks.Fact != nil && !c.checks.Fact(f.Fact) {
		c.fail(join(path, "fact"), "unknown-name", "", "the contract declares no fact %q", f.Fact)
	}
	for _, word := range []struct {
		name, value string
		known       []string
	}{{"when", f.When, []string{"at", "near", "held"}}, {"lie", f.Lie, []string{"still", "echo"}}} {
		if word.value != "" && !slices.Contains(word.known, word.value) {
			c.fail(join(path, word.name), "unknown-name", hintNear(word.value, word.known), "%q is no %s", word.value, word.name)
		}
	}
	if f.When == "near" && (f.Object == "" || !(f.NearCm > 0)) {
		c.fail(path, "missing", "", "when: near needs object and near_cm")
	}
}

func (c *checker) checkFaultNumbers(f *Fault, path string) {
	if f.AfterMs < 0 || f.ForMs < 0 || f.AgeMs < 0 {
		c.fail(path, "out-of-range", "", "times count from 0 up")
	}
	if !(0 <= f.Share && f.Share <= 1) {
		c.fail(join(path, "share"), "out-of-range", "", "a share lies in 0…1")
	}
}

func intersect(a, b []string) []string {
	var out []string
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
