package rule

import (
	"regexp"
	"slices"
	"time"

	"interlock/units"
	"interlock/world"
)

// Identifier is the form of a name in conditions.
var Identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// Vocabulary is every word conditions may use.
type Vocabulary struct {
	Frame            string // frame of every pose: x forward, y left, z up; the table plane is z = 0
	Facts            []FactDecl
	Objects          []ObjectDecl
	Places           []PlaceDecl
	Predicates       []*Predicate
	VocabularyClosed bool // true: an object outside the vocabulary does not exist
	DiscloseBounds   bool // whether refusals, schemas and texts name limits

	facts, labels, places map[string]int // labels include aliases
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
	Name         string
	Version      int
	That         string
	Params       []Param
	Line, Column int

	body *parsed
}

// build indexes the declarations by name; of two with one name the last counts.
func (v *Vocabulary) build() {
	v.facts, v.labels, v.places = map[string]int{}, map[string]int{}, map[string]int{}
	for i, f := range v.Facts {
		v.facts[f.Name] = i
	}
	for i, o := range v.Objects {
		v.labels[o.Label] = i
		for _, a := range o.Aliases {
			v.labels[a] = i
		}
	}
	for i, p := range v.Places {
		v.places[p.Name] = i
	}
}

// Fact returns the declaration of the fact.
func (v *Vocabulary) Fact(name string) (FactDecl, bool) {
	i, ok := v.facts[name]
	if !ok {
		return FactDecl{}, false
	}
	return v.Facts[i], true
}

// Object returns the declaration of an object by its label or one of its aliases.
func (v *Vocabulary) Object(label string) (ObjectDecl, bool) {
	i, ok := v.labels[label]
	if !ok {
		return ObjectDecl{}, false
	}
	return v.Objects[i], true
}

// Label returns the vocabulary's label for a label or alias, and the label itself for one outside the vocabulary.
func (v *Vocabulary) Label(label string) string {
	if i, ok := v.labels[label]; ok {
		return v.Objects[i].Label
	}
	return label
}

// Place returns the declaration of a place.
func (v *Vocabulary) Place(name string) (PlaceDecl, bool) {
	i, ok := v.places[name]
	if !ok {
		return PlaceDecl{}, false
	}
	return v.Places[i], true
}

// Predicate returns the predicate of the name; nil if there is none.
func (v *Vocabulary) Predicate(name string) *Predicate {
	i := slices.IndexFunc(v.Predicates, func(p *Predicate) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return v.Predicates[i]
}

// Visible returns the labels in the fresh readings of objects, aliases resolved, and whether there is such a reading.
func (v *Vocabulary) Visible(w *world.Snapshot) (labels []string, fresh bool) {
	a := activation{vocabulary: v, in: Inputs{World: w}}
	for _, d := range v.Facts {
		if d.Kind != world.KindPoses {
			continue
		}
		f, ok := a.fresh(d.Name)
		if !ok {
			continue
		}
		fresh = true
		for _, o := range f.Value.Objects {
			if l := v.Label(o.Label); !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
	}
	return labels, fresh
}

// Strangers returns the labels in the fresh readings that the vocabulary does not know.
func (v *Vocabulary) Strangers(w *world.Snapshot) []string {
	var list []string
	labels, _ := v.Visible(w)
	for _, l := range labels {
		if _, ok := v.Object(l); !ok {
			list = append(list, l)
		}
	}
	return list
}

// Args are the arguments of a call, bound ones included.
type Args []ArgValue

// ArgValue is one argument of a call.
type ArgValue struct {
	Name  string
	Value world.Value // objects and places are world.KindText
}

// Get returns the value of the argument, if it was given.
func (a Args) Get(name string) (world.Value, bool) {
	for i := range a {
		if a[i].Name == name {
			return a[i].Value, true
		}
	}
	return world.Value{}, false
}

// InMode reports whether a list of modes holds the mode; an empty list holds every mode.
func InMode(modes []string, mode string) bool {
	return len(modes) == 0 || slices.Contains(modes, mode)
}
