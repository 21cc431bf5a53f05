package contract

import (
	"strings"

	"cel.dev/cel-go/cel"

	"interlock/world"
)

// sort is what a value is to the contract: finer than a CEL type, since an object's label and a place's name are both
// strings to CEL.
type sort uint8

const (
	sortNone sort = iota
	sortNumber
	sortText
	sortFlag
	sortPoint
	sortPoses
	sortObject
	sortPlace
	sortTexts // a list of texts, only to the right of `in`
)

// String returns the word a person reads in a problem.
func (s sort) String() string {
	return [...]string{"nothing", "a number", "text", "a flag", "a point", "poses", "an object's label", "a place's name", "a list of texts"}[s]
}

// cel returns the CEL type that carries the sort.
func (s sort) cel() *cel.Type {
	switch s {
	case sortNumber:
		return cel.DoubleType
	case sortFlag:
		return cel.BoolType
	case sortPoint:
		return pointType
	case sortPoses:
		return posesType
	case sortTexts:
		return cel.ListType(cel.StringType)
	case sortText, sortObject, sortPlace, sortNone:
	}
	return cel.StringType
}

var factSorts = map[world.Kind]sort{
	world.KindNumber: sortNumber, world.KindText: sortText, world.KindFlag: sortFlag, world.KindPoint: sortPoint, world.KindPoses: sortPoses,
}

var argSorts = map[ArgType]sort{ArgNumber: sortNumber, ArgText: sortText, ArgFlag: sortFlag, ArgObject: sortObject, ArgPlace: sortPlace}

// unitNames are the suffixes a number's name may end in. Units of one dimension are still different units: 2 cm is
// never compared with 2 mm.
var unitNames = []string{
	"m", "cm", "mm", "rad", "deg", "m_s", "mps", "cm_s", "mm_s", "rad_s", "deg_s", "dps", "n", "nm", "kg", "g", "s", "ms", "hz",
	"v", "a", "ma", "w", "c", "pct", "frac", "ratio", "count", "code", "raw",
}

// unitOf returns the unit in which the name ends, the longest that fits; "" when it ends in none.
func unitOf(name string) string {
	best := ""
	for _, u := range unitNames {
		if len(u) > len(best) && strings.HasSuffix(name, "_"+u) {
			best = u
		}
	}
	return best
}

// param is an argument of a function or predicate.
type param struct {
	name string
	sort sort
	unit string
}

// signature is what a call of a function or predicate must look like.
type signature struct {
	name       string
	params     []param
	result     sort
	kinematics bool // needs Inputs.Kinematics
	tolerance  bool // a distance: a large bound on it says nothing
	predicate  *Predicate
}

func (s *signature) unit() string {
	if s.result != sortNumber {
		return ""
	}
	return unitOf(s.name)
}

// functions are the words every contract has. Those that read a fact take it as an argument, so that unknown travels.
var functions = []signature{
	{name: "point_cm", params: []param{{"x_cm", sortNumber, "cm"}, {"y_cm", sortNumber, "cm"}, {"z_cm", sortNumber, "cm"}}, result: sortPoint},
	{name: "distance_mm", params: []param{{"a", sortPoint, ""}, {"b", sortPoint, ""}}, result: sortNumber, tolerance: true},
	{name: "reach_mm", params: []param{{"target", sortPoint, ""}}, result: sortNumber, kinematics: true, tolerance: true},
	{name: "grasp_reach_mm", params: []param{{"objects", sortPoses, ""}, {"name", sortObject, ""}}, result: sortNumber, kinematics: true, tolerance: true},
	{name: "x_cm", params: []param{{"point", sortPoint, ""}}, result: sortNumber},
	{name: "y_cm", params: []param{{"point", sortPoint, ""}}, result: sortNumber},
	{name: "z_cm", params: []param{{"point", sortPoint, ""}}, result: sortNumber},
	{name: "centre", params: []param{{"objects", sortPoses, ""}, {"name", sortObject, ""}}, result: sortPoint},
	{name: "bottom_cm", params: []param{{"objects", sortPoses, ""}, {"name", sortObject, ""}}, result: sortNumber},
	{name: "in_region", params: []param{{"objects", sortPoses, ""}, {"name", sortObject, ""}, {"place", sortPlace, ""}}, result: sortFlag},
	{name: "seen", params: []param{{"objects", sortPoses, ""}, {"name", sortObject, ""}}, result: sortFlag},
}

// language is what conditions of one contract are written in.
type language struct {
	env        *cel.Env
	signatures map[string]*signature
	words      []string // every name, for suggestions
}

// language declares the contract's facts, functions and predicates.
func (c *Contract) language() (*language, error) {
	l := &language{signatures: map[string]*signature{}}
	for i := range functions {
		l.signatures[functions[i].name] = &functions[i]
		l.words = append(l.words, functions[i].name)
	}
	for _, p := range c.Predicates {
		if _, taken := l.signatures[p.Name]; !taken {
			l.signatures[p.Name] = &signature{name: p.Name, params: p.params, result: sortFlag, predicate: p}
			l.words = append(l.words, p.Name)
		}
	}
	options := append(operatorOptions(), functionOptions(c)...)
	seen := map[string]bool{}
	for _, f := range c.Facts {
		if identifier.MatchString(f.Name) && !seen[f.Name] && factSorts[f.Kind] != sortNone {
			options = append(options, cel.Variable(f.Name, factSorts[f.Kind].cel()))
			l.words = append(l.words, f.Name)
		}
		seen[f.Name] = true
	}
	env, err := cel.NewCustomEnv(options...)
	l.env = env
	return l, err
}

// scope is the language with the arguments of one capability.
type scope struct {
	*language
	env  *cel.Env
	args map[string]argument
}

// argument is how a condition sees an argument.
type argument struct {
	sort     sort
	unit     string
	optional bool
}

// with returns the scope of a capability; nil means none (predicates and goals).
func (l *language) with(k *Capability) (*scope, error) {
	s := &scope{language: l, env: l.env, args: map[string]argument{}}
	if k == nil {
		return s, nil
	}
	var options []cel.EnvOption
	for _, a := range k.Args {
		if a.Type != 0 && identifier.MatchString(a.Name) {
			s.args[a.Name] = argument{argSorts[a.Type], a.Unit, a.Optional}
		}
	}
	for _, b := range k.Binds {
		s.args[b.Arg] = argument{sort: sortObject}
	}
	for name, a := range s.args {
		options = append(options, cel.Variable("args."+name, a.sort.cel()))
	}
	env, err := l.env.Extend(options...)
	s.env = env
	return s, err
}
