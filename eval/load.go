package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"interlock/eval/judge"
)

// Checks are questions about the contract that the loader asks. A nil one is not asked. The room that owns contracts
// is not this one's to know; whoever loads a suite hands the answers in.
type Checks struct {
	Goal func(goal string) error // whether a goal compiles over the contract's words
	Tool func(name string) bool  // whether a capability of the name exists
	Fact func(name string) bool  // whether a fact of the name is declared
	Area func(name string) bool  // whether a place of the name exists: "tray"
}

// The file as it is written.
type suiteFile struct {
	Suite      string                `yaml:"suite"`
	About      string                `yaml:"about"`
	Contract   string                `yaml:"contract"`
	PointsCm   map[string][3]float64 `yaml:"points_cm"`
	Seeds      []int64               `yaml:"seeds"`
	ModelCalls int                   `yaml:"model_calls"`
	Missions   int                   `yaml:"missions"`
	Scenarios  []scenarioFile        `yaml:"scenarios"`
}

type scenarioFile struct {
	ID         string          `yaml:"id"`
	Request    string          `yaml:"request"`
	Feasible   *bool           `yaml:"feasible"`
	Setup      Setup           `yaml:"setup"`
	Goal       string          `yaml:"goal"`
	Criterion  []criterionFile `yaml:"criterion"`
	Expect     *Expect         `yaml:"expect"`
	Seeds      []int64         `yaml:"seeds"`
	Faults     []Fault         `yaml:"faults"`
	MayChange  []string        `yaml:"may_change"`
	Variation  Variation       `yaml:"variation"`
	ModelCalls int             `yaml:"model_calls"`
	Missions   int             `yaml:"missions"`
	ExpectTask []string        `yaml:"expect_task"`
	Lying      bool            `yaml:"lying_witness"`
}

type criterionFile struct {
	Kind        string         `yaml:"kind"`
	Object      *string        `yaml:"object"`
	MinBottomCm *float64       `yaml:"min_bottom_cm"`
	XCm         *float64       `yaml:"x_cm"`
	YCm         *float64       `yaml:"y_cm"`
	ZCm         *float64       `yaml:"z_cm"`
	WithinCm    *float64       `yaml:"within_cm"`
	RegionCm    *[2][2]float64 `yaml:"region_cm"`
	DwellMs     *int           `yaml:"dwell_ms"`
}

// Budgets where a suite names none.
const (
	DefaultModelCalls = 12
	DefaultMissions   = 8
)

// LoadFile reads and checks a suite file.
func LoadFile(path string, checks Checks) (Suite, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return Suite{}, fmt.Errorf("eval: suite: %w", err)
	}
	return Load(path, src, checks)
}

// Load reads and checks a suite. The error is Problems, every fault at once, when the file is wrong.
func Load(name string, src []byte, checks Checks) (Suite, error) {
	var raw suiteFile
	places, problems := read(name, src, &raw)
	c := &checker{file: name, checks: checks, places: places, problems: problems}
	sum := sha256.Sum256(src)
	suite := Suite{
		Name: raw.Suite, About: strings.TrimSpace(raw.About), Contract: raw.Contract, Points: raw.PointsCm,
		Hash: hex.EncodeToString(sum[:]), File: name,
	}
	if len(problems) > 0 && places["scenarios"] == ([2]int{}) && raw.Suite == "" {
		return Suite{}, c.problems.sorted() // not even a suite: more messages would not help
	}
	c.checkHead(&raw)
	for i := range raw.Scenarios {
		suite.Scenarios = append(suite.Scenarios, c.scenario(&raw, &raw.Scenarios[i], fmt.Sprintf("scenarios[%d]", i)))
	}
	c.checkUnique(suite.Scenarios)
	if len(c.problems) > 0 {
		return Suite{}, c.problems.sorted()
	}
	for i := range suite.Scenarios {
		suite.Scenarios[i].Surplus = surplus(&suite, &suite.Scenarios[i])
	}
	return suite, nil
}

// scenario builds one scenario, noting what is wrong with it.
func (c *checker) scenario(f *suiteFile, raw *scenarioFile, path string) Scenario {
	s := Scenario{
		ID: raw.ID, Request: raw.Request, Setup: raw.Setup, Goal: raw.Goal, Expect: raw.Expect, Seeds: raw.Seeds,
		Faults: raw.Faults, MayChange: raw.MayChange, Variation: raw.Variation,
		ModelCalls: pick(raw.ModelCalls, f.ModelCalls, DefaultModelCalls),
		Missions:   pick(raw.Missions, f.Missions, DefaultMissions), ExpectTask: raw.ExpectTask, LyingWitness: raw.Lying,
	}
	if raw.Feasible == nil {
		c.fail(path, "missing", "feasible: true or false", "say whether the request can be fulfilled as asked")
	} else {
		s.Feasible = *raw.Feasible
	}
	if len(s.Seeds) == 0 {
		s.Seeds = f.Seeds
	}
	for i, k := range raw.Criterion {
		criterion, faults := judge.Parse(k.params())
		for _, p := range faults {
			c.fail(fmt.Sprintf("%s.criterion[%d].%s", path, i, p.Field), p.Code, "", "%s", p.Says)
		}
		s.Criteria = append(s.Criteria, criterion)
	}
	c.checkScenario(&s, path)
	return s
}

func (k *criterionFile) params() judge.Params {
	return judge.Params{
		Kind: k.Kind, Object: k.Object, MinBottomCm: k.MinBottomCm, XCm: k.XCm, YCm: k.YCm, ZCm: k.ZCm,
		WithinCm: k.WithinCm, RegionCm: k.RegionCm, DwellMs: k.DwellMs,
	}
}

// pick returns the first number that is not 0.
func pick(numbers ...int) int {
	for _, n := range numbers {
		if n != 0 {
			return n
		}
	}
	return 0
}

// ContractOf returns the contract file that a suite names, without checking the rest.
func ContractOf(name string, src []byte) (string, error) {
	var f suiteFile
	if _, ps := read(name, src, &f); len(ps) > 0 {
		return "", ps
	}
	return f.Contract, nil
}
