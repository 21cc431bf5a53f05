package sim

import (
	"fmt"
	"slices"
	"time"

	"interlock/units"
)

// FaultKind is one of the closed list of things that can go wrong on purpose.
type FaultKind string

// Faults of the world and of the body: they change what is so.
const (
	SlipAfterGrasp FaultKind = "slip_after_grasp" // the jaws' friction becomes Amount (0.003 slips within a second)
	ObjectMoved    FaultKind = "object_moved"     // Object is put at Vector (metres, base frame) by a person, at rest
	Knocked        FaultKind = "knocked"          // Object is pushed with Vector newtons for For (100 N downwards for 0.2 s tears it out of the jaws, 20 N only drags the arm)
	WeakGrip       FaultKind = "weak_grip"        // the jaw's servo saturates at Amount N·m (1.0 still holds a cube)
	StuckGripper   FaultKind = "stuck_gripper"    // the jaw does not hear its setpoints
	TrackingError  FaultKind = "tracking_error"   // Joint stands off its goal by Amount rad; the encoders tell the truth
	EncoderError   FaultKind = "encoder_error"    // Joint's encoder is off by Amount rad, for its servo and for what is reported
	HeavyObject    FaultKind = "heavy_object"     // Object weighs Amount kg
)

// Faults of a sensor: they change what is reported of Fact, never what is so.
const (
	FrozenTime  FaultKind = "frozen_time"  // the source's time stands still, the value goes on
	FrozenValue FaultKind = "frozen_value" // the value stands still, the source's time goes on
	Replayed    FaultKind = "replayed"     // the same reading again and again, value and time
	Stale       FaultKind = "stale"        // the source's time is Amount seconds old
	NotANumber  FaultKind = "nan"          // the value is not a number
	Biased      FaultKind = "biased"       // numbers are off by Amount, points and poses by Vector (metres)
	Swapped     FaultKind = "swapped"      // the labels of Object and Other are exchanged
	Dropped     FaultKind = "dropped"      // the reading is missing with the probability Amount
	UnitScaled  FaultKind = "unit_scaled"  // numbers and positions are multiplied by Amount (100: cm told as m)
)

// Trigger says when a fault begins.
type Trigger string

// The closed list of triggers. After is counted from the trigger.
const (
	WhenAt   Trigger = "at"   // After since the start
	WhenNear Trigger = "near" // the tip is within NearM of the object
	WhenHeld Trigger = "held" // both jaws press the object (any, if none is named) with the jaw's servo pushing
)

// Fault is one thing that goes wrong: data of a scenario. The fields a kind does not use must be zero.
type Fault struct {
	Kind   FaultKind
	Fact   string     // reading faults
	Joint  string     // tracking_error, encoder_error
	Object string     // object faults and triggers
	Other  string     // swapped
	Amount float64    // as the kind says
	Vector units.Vec3 // as the kind says

	When  Trigger // empty: WhenAt
	After time.Duration
	NearM float64       // WhenNear
	For   time.Duration // how long it lasts; 0: to the end
}

// FaultKinds lists every kind, for loaders and their messages.
func FaultKinds() []FaultKind {
	kinds := make([]FaultKind, len(faultRules))
	for i := range faultRules {
		kinds[i] = faultRules[i].kind
	}
	return kinds
}

// faultRule says which fields a kind takes.
type faultRule struct {
	kind                               FaultKind
	fact, joint, object, other, vector bool
	amount                             bool
	minAmount, maxAmount               float64
	bounded                            bool // it must end: For > 0
}

var faultRules = [...]faultRule{
	{kind: SlipAfterGrasp, amount: true, minAmount: 1e-4, maxAmount: 1},
	{kind: ObjectMoved, object: true, vector: true},
	{kind: Knocked, object: true, vector: true, bounded: true},
	{kind: WeakGrip, amount: true, minAmount: 0.01, maxAmount: maxEffortNm},
	{kind: StuckGripper},
	{kind: TrackingError, joint: true, amount: true, minAmount: -0.5, maxAmount: 0.5},
	{kind: EncoderError, joint: true, amount: true, minAmount: -0.5, maxAmount: 0.5},
	{kind: HeavyObject, object: true, amount: true, minAmount: minMassKg, maxAmount: maxMassKg},
	{kind: FrozenTime, fact: true},
	{kind: FrozenValue, fact: true},
	{kind: Replayed, fact: true},
	{kind: Stale, fact: true, amount: true, minAmount: 0.001, maxAmount: 3600},
	{kind: NotANumber, fact: true},
	{kind: Biased, fact: true},
	{kind: Swapped, fact: true, object: true, other: true},
	{kind: Dropped, fact: true, amount: true, minAmount: 0.001, maxAmount: 1},
	{kind: UnitScaled, fact: true, amount: true, minAmount: 1e-6, maxAmount: 1e6},
}

func ruleOf(kind FaultKind) (faultRule, bool) {
	for _, r := range faultRules {
		if r.kind == kind {
			return r, true
		}
	}
	return faultRule{}, false
}

// validate refuses an unknown kind, a name that does not exist, a missing or a needless field.
func (f *Fault) validate(c *Config) error {
	r, ok := ruleOf(f.Kind)
	if !ok {
		return fmt.Errorf("unknown kind; known are %v", FaultKinds())
	}
	if err := f.validateNames(r, c); err != nil {
		return err
	}
	switch {
	case r.amount && !(f.Amount >= r.minAmount && f.Amount <= r.maxAmount):
		return fmt.Errorf("amount %v is not within %v to %v", f.Amount, r.minAmount, r.maxAmount)
	case f.Kind == Biased:
		return f.validateBias()
	case !r.amount && f.Amount != 0:
		return fmt.Errorf("takes no amount")
	case r.vector && (f.Vector == (units.Vec3{}) || !(f.Vector.Norm() <= 100)):
		return fmt.Errorf("vector %v must be finite, not zero and at most 100 long", f.Vector)
	case !r.vector && f.Vector != (units.Vec3{}):
		return fmt.Errorf("takes no vector")
	case r.bounded && f.For <= 0:
		return fmt.Errorf("must say how long it lasts")
	}
	return f.validateTrigger()
}

func (f *Fault) validateBias() error {
	point := f.Fact == FactTip || f.Fact == FactObjects
	switch {
	case point && (f.Amount != 0 || f.Vector == (units.Vec3{}) || !f.Vector.Finite()):
		return fmt.Errorf("%s is biased by a finite vector, in metres", f.Fact)
	case !point && (f.Vector != (units.Vec3{}) || f.Amount == 0 || !units.Finite(f.Amount)):
		return fmt.Errorf("%s is biased by a finite amount", f.Fact)
	}
	return f.validateTrigger()
}

func (f *Fault) validateNames(r faultRule, c *Config) error {
	_, isObject := c.indexOf(f.Object)
	_, isOther := c.indexOf(f.Other)
	triggered := f.When == WhenNear || f.When == WhenHeld
	switch {
	case r.fact && !slices.Contains([]string{FactTip, FactJawGap, FactJawLoad, FactTableForce, FactObjects}, f.Fact):
		return fmt.Errorf("no witness reads the fact %q", f.Fact)
	case f.Fact == FactObjects && c.Camera.RateHz == 0:
		return fmt.Errorf("no camera reads %q", f.Fact)
	case !r.fact && f.Fact != "":
		return fmt.Errorf("takes no fact")
	case r.joint && jointNumber(f.Joint) < 0:
		return fmt.Errorf("no joint is called %q", f.Joint)
	case !r.joint && f.Joint != "":
		return fmt.Errorf("takes no joint")
	case (r.object || f.Object != "") && !isObject:
		return fmt.Errorf("no object is called %q", f.Object)
	case !r.object && !triggered && f.Object != "":
		return fmt.Errorf("takes no object")
	case r.other && (!isOther || f.Other == f.Object):
		return fmt.Errorf("swapping needs another object, not %q", f.Other)
	case !r.other && f.Other != "":
		return fmt.Errorf("takes no other object")
	case f.Kind == Swapped && f.Fact != FactObjects:
		return fmt.Errorf("only %q has labels to swap", FactObjects)
	}
	return nil
}

func (f *Fault) validateTrigger() error {
	switch f.When {
	case "", WhenAt, WhenHeld:
		if f.NearM != 0 {
			return fmt.Errorf("only the trigger %q takes a distance", WhenNear)
		}
	case WhenNear:
		if f.Object == "" || !(f.NearM > 0 && f.NearM <= farM) {
			return fmt.Errorf("the trigger %q needs an object and a distance above zero", WhenNear)
		}
	default:
		return fmt.Errorf("unknown trigger %q", f.When)
	}
	if f.After < 0 || f.For < 0 {
		return fmt.Errorf("times cannot be negative")
	}
	return nil
}

// indexOf returns the number of the labelled object.
func (c *Config) indexOf(label string) (int, bool) {
	for i := range c.Objects {
		if label != "" && c.Objects[i].Label == label {
			return i, true
		}
	}
	return -1, false
}

// jointNumber returns the number of the named joint, or −1.
func jointNumber(name string) int {
	for i := range joints {
		if joints[i].name == name {
			return i
		}
	}
	return -1
}
