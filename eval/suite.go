package eval

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"interlock/eval/judge"
)

// Suite is a checked suite file. Only Load makes one that Run accepts.
type Suite struct {
	Name      string
	About     string
	Contract  string                // path of the contract file, as the suite writes it
	Points    map[string][3]float64 // named tip positions in cm that words may ask for: "home"
	Scenarios []Scenario
	Hash      string // SHA-256 of the file, hex
	File      string
}

// Scenario is one request with everything that is needed to play and judge it.
type Scenario struct {
	ID       string
	Request  string // the person's words
	Feasible bool   // whether it can be fulfilled as asked
	Setup    Setup
	Goal     string            // a condition over the contract's words (CEL) that the robot measures; empty: none
	Criteria []judge.Criterion // all must hold on truth
	Expect   *Expect           // the one right call; nil: several would do
	Seeds    []int64
	Faults   []Fault
	// LyingWitness says that what the verdict rests on has one witness only, and that one lies. No verdict can be better
	// than its only measurement, so such episodes are counted apart.
	LyingWitness bool
	// MayChange are objects that may be manipulated besides those the goal names.
	MayChange  []string
	Variation  Variation
	ModelCalls int // budget of model calls
	Missions   int // budget of missions
	// ExpectTask is the robot's words for the task that are right here; empty: any word is possible.
	ExpectTask []string
	// Surplus are criteria that ask more than goal and words do, in words; the table marks such a scenario.
	Surplus []string
}

// Setup is the world before the request. Lengths in centimetres, base frame.
type Setup struct {
	Objects []ObjectSetup `yaml:"objects" json:"objects,omitempty"`
	JawRad  *float64      `yaml:"jaw_rad" json:"jaw_rad,omitempty"` // nil: the body's default, open
	Tray    bool          `yaml:"tray" json:"tray,omitempty"`       // a tray stands at the contract's place "tray"
	// CameraSigmaMm is the standard deviation of the camera's noise on each axis of each position; 0: exact.
	CameraSigmaMm float64 `yaml:"camera_sigma_mm" json:"camera_sigma_mm,omitempty"`
}

// ObjectSetup is one cube. Zero size and mass mean the published cube of 3 cm and 27 g; zero z means resting on the
// table.
type ObjectSetup struct {
	Label  string  `yaml:"label" json:"label"`
	XCm    float64 `yaml:"x_cm" json:"x_cm"` // of its centre
	YCm    float64 `yaml:"y_cm" json:"y_cm"`
	ZCm    float64 `yaml:"z_cm" json:"z_cm"`
	YawDeg float64 `yaml:"yaw_deg" json:"yaw_deg,omitempty"`
	SizeCm float64 `yaml:"size_cm" json:"size_cm"`
	MassKg float64 `yaml:"mass_kg" json:"mass_kg"`
}

// Published cube (reference: the seven-request experiment and its simulator).
const (
	DefaultSizeCm = 3.0
	DefaultMassKg = 0.027
)

// Variation is how far a seed may move each object from its nominal place; the draw is uniform.
type Variation struct {
	XYCm   float64 `yaml:"xy_cm" json:"xy_cm"`
	YawDeg float64 `yaml:"yaw_deg" json:"yaw_deg"`
}

// Expect is the one right call of a scenario. Numbers may differ by CallToleranceCm; texts must be equal.
type Expect struct {
	Tool string         `yaml:"tool" json:"tool"`
	Args map[string]any `yaml:"args" json:"args"` // float64, string or bool
}

// CallToleranceCm is how far a number of a call may lie from the expected one (published experiment).
const CallToleranceCm = 0.5

// Varied returns the set-up as the seed has it: every object moved and turned within the scenario's variation, sizes
// and masses filled in. The same scenario and seed always give the same set-up.
func (s *Scenario) Varied(seed int64) Setup {
	out := s.Setup
	out.Objects = slices.Clone(s.Setup.Objects)
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.ID))
	rng := rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
	draw := func(reach float64) float64 { return reach * (2*rng.Float64() - 1) }
	for i := range out.Objects {
		o := &out.Objects[i]
		o.XCm += draw(s.Variation.XYCm)
		o.YCm += draw(s.Variation.XYCm)
		o.YawDeg += draw(s.Variation.YawDeg)
		if o.SizeCm == 0 {
			o.SizeCm = DefaultSizeCm
		}
		if o.MassKg == 0 {
			o.MassKg = DefaultMassKg
		}
		if o.ZCm == 0 {
			o.ZCm = o.SizeCm / 2
		}
	}
	return out
}

// holds reports whether the set-up has an object of the label.
func (s *Scenario) holds(label string) bool {
	return slices.ContainsFunc(s.Setup.Objects, func(o ObjectSetup) bool { return o.Label == label })
}
