package contract

import (
	"time"

	"interlock/units"
	"interlock/world"
)

// Contract is a checked contract file. It does not change after Load and is safe for concurrent use.
type Contract struct {
	Robot            string // one key-expression chunk: [a-z0-9][a-z0-9_-]*
	Frame            string // frame of every pose: x forward, y left, z up; the table plane is z = 0
	Model            string // kinematic model: "so101"
	Solver           string // "dls", "best" or "dls_last"
	Facts            []FactDecl
	Objects          []ObjectDecl
	Places           []PlaceDecl
	VocabularyClosed bool // true: an object outside the vocabulary does not exist
	Predicates       []*Predicate
	Capabilities     []*Capability
	DiscloseBounds   bool // whether refusals, schemas and texts name limits

	hash   string
	index  index
	shared *language
}

// index finds declarations by name.
type index struct {
	facts        map[string]int
	labels       map[string]int // labels and aliases of objects
	places       map[string]int
	predicates   map[string]*Predicate
	capabilities map[string]*Capability
}

// FactDecl is a word that a sensor fills.
type FactDecl struct {
	Name    string
	Kind    world.Kind
	Frame   string // of points and poses
	Witness string // the sensor that measures it
	MaxAge  time.Duration
	Modes   []string // empty: every mode
	Sigma   float64  // standard error, in the unit of the name (mm for points and poses); 0: as the reading says
}

// ObjectDecl is an object of the vocabulary.
type ObjectDecl struct {
	Label   string
	Kind    string     // "cube"
	SizeM   units.Vec3 // full edge lengths
	Aliases []string
}

// PlaceDecl is an axis-aligned region on the table, in metres, in the contract's frame.
type PlaceDecl struct {
	Name       string
	MinM, MaxM [2]float64
}

// Predicate is a named condition with arguments, a macro expanded in place.
type Predicate struct {
	Name    string
	Version int
	That    string

	params       []param
	line, column int
	body         *parsed
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

// What a cancel, a lost client, a false condition or a violated invariant leads to, and who is offered a capability.
type (
	OnCancel     string
	OnDisconnect string
	OnFalse      string
	OnViolation  string
	Audience     string
)

// The closed lists of policies; the first of each is the default.
const (
	CancelHold           OnCancel     = "hold"
	CancelReturnToOrigin OnCancel     = "return_to_origin"
	DisconnectStop       OnDisconnect = "stop"
	DisconnectFinish     OnDisconnect = "finish"
	FalseRefuse          OnFalse      = "refuse"
	FalseAsk             OnFalse      = "ask"
	ViolationStop        OnViolation  = "stop"
	ViolationFail        OnViolation  = "fail"
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
func (cap *Capability) InMode(mode string) bool { return inMode(cap.Modes, mode) }

func inMode(modes []string, mode string) bool {
	for _, m := range modes {
		if m == mode {
			return true
		}
	}
	return len(modes) == 0
}

// ArgValue is one argument of a call.
type ArgValue struct {
	Name  string
	Value world.Value // objects and places are world.KindText
}

// Args are the arguments of a call, bound ones included.
type Args []ArgValue

// Get returns the value of the argument, if it was given.
func (a Args) Get(name string) (world.Value, bool) {
	for i := range a {
		if a[i].Name == name {
			return a[i].Value, true
		}
	}
	return world.Value{}, false
}

// Capability returns the capability of the name; nil if there is none.
func (c *Contract) Capability(name string) *Capability { return c.index.capabilities[name] }

// Fact returns the declaration of the fact.
func (c *Contract) Fact(name string) (FactDecl, bool) {
	i, ok := c.index.facts[name]
	if !ok {
		return FactDecl{}, false
	}
	return c.Facts[i], true
}

// Object returns the declaration of an object by its label or one of its aliases.
func (c *Contract) Object(label string) (ObjectDecl, bool) {
	i, ok := c.index.labels[label]
	if !ok {
		return ObjectDecl{}, false
	}
	return c.Objects[i], true
}

// Label returns the vocabulary's label for a label or alias, and the label itself for one outside the vocabulary.
func (c *Contract) Label(label string) string {
	if o, ok := c.Object(label); ok {
		return o.Label
	}
	return label
}

// Place returns the declaration of a place.
func (c *Contract) Place(name string) (PlaceDecl, bool) {
	i, ok := c.index.places[name]
	if !ok {
		return PlaceDecl{}, false
	}
	return c.Places[i], true
}

// Hash returns the SHA-256 of the file's canonical form, hex: independent of comments, key order and layout.
func (c *Contract) Hash() string { return c.hash }
