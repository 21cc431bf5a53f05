package contract

import (
	"time"

	"interlock/contract/rule"
	"interlock/world"
)

// What conditions are made of lives in package rule; other rooms know it by these names.
type (
	Condition   = rule.Condition
	Inputs      = rule.Inputs
	Outcome     = rule.Outcome
	Comparison  = rule.Comparison
	Kinematics  = rule.Kinematics
	Args        = rule.Args
	ArgValue    = rule.ArgValue
	FactDecl    = rule.FactDecl
	ObjectDecl  = rule.ObjectDecl
	PlaceDecl   = rule.PlaceDecl
	Predicate   = rule.Predicate
	OnFalse     = rule.OnFalse
	OnViolation = rule.OnViolation
)

// What a false precondition and a violated invariant lead to.
const (
	FalseRefuse   = rule.FalseRefuse
	FalseAsk      = rule.FalseAsk
	ViolationStop = rule.ViolationStop
	ViolationFail = rule.ViolationFail
)

// ValueJSON returns a fact's or argument's value as JSON: numbers in the unit of their name, points as [x, y, z] in
// centimetres, poses as a list of {label, x_cm, y_cm, z_cm, bottom_cm}.
func ValueJSON(v world.Value) string { return rule.ValueJSON(v) }

// Contract is a checked contract file. It does not change after Load and is safe for concurrent use.
type Contract struct {
	Robot           string    // one key-expression chunk: [a-z0-9][a-z0-9_-]*
	Model           string    // kinematic model: "so101"
	Solver          string    // "dls", "best" or "dls_last"
	rule.Vocabulary           // Frame, Facts, Objects, Places, Predicates, VocabularyClosed, DiscloseBounds
	Gestures        []Gesture // in the file's order
	Capabilities    []*Capability

	hash     string
	language *rule.Language
}

// ArgType is the type of a capability's argument.
type ArgType uint8

// The types an argument can have. Objects and places are labels; their values are of world.KindText.
const (
	ArgNumber ArgType = iota + 1
	ArgText
	ArgFlag
	ArgObject
	ArgPlace
)

// String returns the word of the contract file.
func (t ArgType) String() string {
	switch t {
	case ArgNumber:
		return "number"
	case ArgText:
		return "text"
	case ArgFlag:
		return "flag"
	case ArgObject:
		return "object"
	case ArgPlace:
		return "place"
	}
	return "unknown"
}

// ArgDecl is one argument of a capability.
type ArgDecl struct {
	Name        string
	Type        ArgType
	Min, Max    *float64 // in Unit; nil: no bound of its own
	Enum        []string // of texts; empty: any
	Optional    bool
	Target      bool   // what is acted on; else a constraint, which may only tighten limits
	Unit        string // the suffix of the name: "cm"
	Description string
}

// Bind is an argument that nobody passes: args.Arg is the one object for which Predicate holds when a call is judged.
type Bind struct {
	Arg, Predicate string

	condition *Condition
}

// ChangesWhere says that a verb changes whatever its predicate is true of when a call is judged, named or not: closing
// the jaws changes what is between them.
type ChangesWhere struct {
	Predicate string // takes one object and nothing else

	condition *Condition
}

// What a cancel or a lost client leads to, and who is offered a capability.
type (
	OnCancel     string
	OnDisconnect string
	Audience     string
)

// The closed lists of policies; the first of each is the default.
const (
	CancelHold           OnCancel     = "hold"
	CancelReturnToOrigin OnCancel     = "return_to_origin"
	DisconnectStop       OnDisconnect = "stop"
	DisconnectFinish     OnDisconnect = "finish"
	AudienceBoth         Audience     = "both"
	AudienceModel        Audience     = "model"
	AudiencePerson       Audience     = "person"
)

// Limits bound a motion; the trajectory and the driver keep them.
type Limits struct {
	TipSpeedMPS    float64
	JointSpeedRadS float64
}

// Capability is one verb.
type Capability struct {
	Name, Description             string
	Args                          []ArgDecl // target, then params, in declared order
	Binds                         []Bind
	Requires, Ensures, Invariants []*Condition
	Changes                       []string // arguments (without "args.") whose objects it manipulates
	ChangesWhere                  []ChangesWhere
	Holds                         []string // resources it moves: "arm", "base"
	Interruptible                 bool
	OnCancel                      OnCancel
	OnDisconnect                  OnDisconnect
	Timeout                       time.Duration
	Limits                        Limits
	Skill                         string
	ReadOnly                      bool
	Modes                         []string // empty: every mode
	Audience                      Audience

	disclose bool
	places   []string
}

// Arg returns the declaration of the argument, if there is one.
func (cap *Capability) Arg(name string) (ArgDecl, bool) {
	for _, a := range cap.Args {
		if a.Name == name {
			return a, true
		}
	}
	return ArgDecl{}, false
}

// InMode reports whether the capability is declared for the mode.
func (cap *Capability) InMode(mode string) bool { return rule.InMode(cap.Modes, mode) }

// Capability returns the capability of the name; nil if there is none.
func (c *Contract) Capability(name string) *Capability {
	for _, k := range c.Capabilities {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Hash returns the SHA-256 of the file's canonical form, hex: independent of comments, key order and layout.
func (c *Contract) Hash() string { return c.hash }
