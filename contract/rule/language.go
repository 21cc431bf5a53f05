package rule

import (
	"strings"

	"cel.dev/cel-go/cel"

	"interlock/world"
)

// Sort is what a value is to the contract: finer than a CEL type, since an object's label and a place's name are both
// strings to CEL.
type Sort uint8

// The sorts of values.
const (
	SortNone Sort = iota
	SortNumber
	SortText
	SortFlag
	SortPoint
	SortPoses
	SortObject
	SortPlace
	SortTexts // a list of texts, only to the right of `in`
)

// String returns the word a person reads in a problem.
func (s Sort) String() string {
	return [...]string{"nothing", "a number", "text", "a flag", "a point", "poses", "an object's label", "a place's name", "a list of texts"}[s]
}

// cel returns the CEL type that carries the sort.
func (s Sort) cel() *cel.Type {
	switch s {
	case SortNumber:
		return cel.DoubleType
	case SortFlag:
		return cel.BoolType
	case SortPoint:
		return pointType
	case SortPoses:
		return posesType
	case SortTexts:
		return cel.ListType(cel.StringType)
	case SortText, SortObject, SortPlace, SortNone:
	}
	return cel.StringType
}

var factSorts = map[world.Kind]Sort{
	world.KindNumber: SortNumber, world.KindText: SortText, world.KindFlag: SortFlag, world.KindPoint: SortPoint, world.KindPoses: SortPoses,
}

// UnitNames are the suffixes a number's name may end in. Units of one dimension are still different units: 2 cm is
// never compared with 2 mm.
var UnitNames = []string{
	"m", "cm", "mm", "rad", "deg", "m_s", "mps", "cm_s", "mm_s", "rad_s", "deg_s", "dps", "n", "nm", "kg", "g", "s", "ms", "hz",
	"v", "a", "ma", "w", "c", "pct", "frac", "ratio", "count", "code", "raw",
}

// UnitOf returns the unit in which the name ends, the longest that fits; "" when it ends in none.
func UnitOf(name string) string {
	best := ""
	for _, u := range UnitNames {
		if len(u) > len(best) && strings.HasSuffix(name, "_"+u) {
			best = u
		}
	}
	return best
}

// Param is an argument of a function or predicate.
type Param struct {
	Name string
	Sort Sort
	Unit string // of a number
}

// signature is what a call of a function or predicate must look like.
type signature struct {
	name       string
	params     []Param
	result     Sort
	kinematics bool // needs Inputs.Kinematics
	tolerance  bool // a distance: a large bound on it says nothing
	predicate  *Predicate
}

func (s *signature) unit() string {
	if s.result != SortNumber {
		return ""
	}
	return UnitOf(s.name)
}

// functions are the words every contract has. Those that read a fact take it as an argument, so that unknown travels.
var functions = []signature{
	{name: "point_cm", params: []Param{{"x_cm", SortNumber, "cm"}, {"y_cm", SortNumber, "cm"}, {"z_cm", SortNumber, "cm"}}, result: SortPoint},
	{name: "distance_mm", params: []Param{{"a", SortPoint, ""}, {"b", SortPoint, ""}}, result: SortNumber, tolerance: true},
	{name: "reach_mm", params: []Param{{"target", SortPoint, ""}}, result: SortNumber, kinematics: true, tolerance: true},
	{name: "grasp_reach_mm", params: []Param{{"objects", SortPoses, ""}, {"name", SortObject, ""}}, result: SortNumber, kinematics: true, tolerance: true},
	{name: "x_cm", params: []Param{{"point", SortPoint, ""}}, result: SortNumber},
	{name: "y_cm", params: []Param{{"point", SortPoint, ""}}, result: SortNumber},
	{name: "z_cm", params: []Param{{"point", SortPoint, ""}}, result: SortNumber},
	{name: "centre", params: []Param{{"objects", SortPoses, ""}, {"name", SortObject, ""}}, result: SortPoint},
	{name: "bottom_cm", params: []Param{{"objects", SortPoses, ""}, {"name", SortObject, ""}}, result: SortNumber},
	{name: "in_region", params: []Param{{"objects", SortPoses, ""}, {"name", SortObject, ""}, {"place", SortPlace, ""}}, result: SortFlag},
	{name: "seen", params: []Param{{"objects", SortPoses, ""}, {"name", SortObject, ""}}, result: SortFlag},
}

// FunctionNames returns the words every contract has.
func FunctionNames() []string {
	var names []string
	for _, f := range functions {
		names = append(names, f.name)
	}
	return names
}

// Language is what conditions of one contract are written in.
type Language struct {
	vocabulary *Vocabulary
	env        *cel.Env
	signatures map[string]*signature
	words      []string // every name, for suggestions
}

// NewLanguage declares the vocabulary's facts and predicates, and the functions. Predicates are usable once checked.
func NewLanguage(v *Vocabulary) (*Language, error) {
	v.build()
	l := &Language{vocabulary: v, signatures: map[string]*signature{}, words: FunctionNames()}
	for i := range functions {
		l.signatures[functions[i].name] = &functions[i]
	}
	for _, p := range v.Predicates {
		if _, taken := l.signatures[p.Name]; !taken {
			l.signatures[p.Name] = &signature{name: p.Name, params: p.Params, result: SortFlag, predicate: p}
			l.words = append(l.words, p.Name)
		}
	}
	options := append(operatorOptions(), functionOptions(v)...)
	seen := map[string]bool{}
	for _, f := range v.Facts {
		if Identifier.MatchString(f.Name) && !seen[f.Name] && factSorts[f.Kind] != SortNone {
			options = append(options, cel.Variable(f.Name, factSorts[f.Kind].cel()))
			l.words = append(l.words, f.Name)
		}
		seen[f.Name] = true
	}
	env, err := cel.NewCustomEnv(options...)
	l.env = env
	return l, err
}

// Argument is how a condition sees an argument of its capability, as args.NAME.
type Argument struct {
	Sort     Sort
	Unit     string // of a number
	Optional bool   // a condition cannot rest on it
}

// Scope is the language with the arguments of one capability.
type Scope struct {
	*Language
	env  *cel.Env
	args map[string]Argument
}

// Scope returns the language with arguments; nil for goals.
func (l *Language) Scope(args map[string]Argument) (*Scope, error) {
	s := &Scope{Language: l, env: l.env, args: args}
	if len(args) == 0 {
		return s, nil
	}
	var options []cel.EnvOption
	for name, a := range args {
		options = append(options, cel.Variable("args."+name, a.Sort.cel()))
	}
	env, err := l.env.Extend(options...)
	s.env = env
	return s, err
}
