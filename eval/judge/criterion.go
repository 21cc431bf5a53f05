package judge

import (
	"fmt"
	"strings"

	"interlock/units"
)

// Kind is one criterion of the closed list.
type Kind string

// The closed list of criteria.
const (
	// Lifted: the object's lowest corner is at least MinBottomCm above the table and both jaws touch it.
	Lifted Kind = "lifted"
	// TipAt: the gripper tip is within WithinCm of PointCm.
	TipAt Kind = "tip_at"
	// InRegion: the object's centre is above the region, no jaw touches it and it is at rest.
	InRegion Kind = "in_region"
	// Unmoved: the object's centre is within WithinCm of where it was at the start.
	Unmoved Kind = "unmoved"
	// Never: nothing satisfies it. It is the criterion of a request that cannot be fulfilled as asked.
	Never Kind = "never"
)

// Kinds returns the closed list in its documented order.
func Kinds() []Kind { return []Kind{Lifted, TipAt, InRegion, Unmoved, Never} }

// Defaults and bounds of parameters. A tolerance beyond MaxToleranceCm would be a success for free on a table-top
// arm with a reach of about 45 cm; a region larger than MaxRegionCm on a side is the whole table.
const (
	DefaultBottomCm = 4.0 // of the published experiment
	DefaultWithinCm = 1.0 // of the published experiment
	MaxToleranceCm  = 5.0
	MaxHeightCm     = 60.0
	MaxReachCm      = 100.0
	MaxRegionCm     = 40.0
	MaxDwellMs      = 60_000
)

// Params is a criterion as a suite writes it; a nil field was not given. Lengths in centimetres, base frame.
type Params struct {
	Kind          string
	Object        *string
	MinBottomCm   *float64
	XCm, YCm, ZCm *float64
	WithinCm      *float64
	RegionCm      *[2][2]float64
	DwellMs       *int
}

// Criterion is one checked criterion. Only Parse makes a valid one; the zero value is never satisfied.
type Criterion struct {
	Kind        Kind
	Object      string
	MinBottomCm float64
	PointCm     [3]float64
	WithinCm    float64
	RegionCm    [2][2]float64 // least corner, greatest corner
	DwellMs     int           // how long it must have held without a gap when the verdict is given
}

// Exempt reports whether the criterion may hold before anything was done.
func (c Criterion) Exempt() bool { return c.Kind == Unmoved || c.Kind == Never }

// Problem is one fault of a criterion's parameters.
type Problem struct {
	Field string // the parameter at fault, as the suite writes it
	Code  string // stable, kebab-case
	Says  string
}

// Parse checks p and fills in defaults. It returns every problem at once; with any, the criterion must not be used.
func Parse(p Params) (Criterion, []Problem) {
	c := Criterion{Kind: Kind(p.Kind)}
	wanted, known := fieldsOf(c.Kind)
	if !known {
		return Criterion{}, []Problem{{"kind", "unknown-criterion", fmt.Sprintf("%q is no criterion; there are %s", p.Kind, list())}}
	}
	problems := p.surplus(c.Kind, wanted)
	fail := func(field, code, format string, args ...any) {
		problems = append(problems, Problem{field, code, fmt.Sprintf(format, args...)})
	}
	if wanted["object"] {
		if p.Object == nil || strings.TrimSpace(*p.Object) == "" {
			fail("object", "missing", "%s needs the label of an object", c.Kind)
		} else {
			c.Object = *p.Object
		}
	}
	if wanted["min_bottom_cm"] {
		c.MinBottomCm = number(fail, "min_bottom_cm", p.MinBottomCm, ptr(DefaultBottomCm), 0.1, MaxHeightCm)
	}
	if wanted["within_cm"] {
		c.WithinCm = number(fail, "within_cm", p.WithinCm, ptr(DefaultWithinCm), 0.01, MaxToleranceCm)
	}
	if wanted["x_cm"] {
		c.PointCm = [3]float64{
			number(fail, "x_cm", p.XCm, nil, -MaxReachCm, MaxReachCm),
			number(fail, "y_cm", p.YCm, nil, -MaxReachCm, MaxReachCm),
			number(fail, "z_cm", p.ZCm, nil, -MaxReachCm, MaxReachCm),
		}
	}
	if wanted["region_cm"] {
		c.RegionCm = region(fail, p.RegionCm)
	}
	if p.DwellMs != nil && wanted["dwell_ms"] {
		c.DwellMs = *p.DwellMs
		if c.DwellMs < 0 || c.DwellMs > MaxDwellMs {
			fail("dwell_ms", "out-of-range", "%d ms is not in 0…%d", c.DwellMs, MaxDwellMs)
		}
	}
	return c, problems
}

// failFunc notes one problem.
type failFunc func(field, code, format string, args ...any)

// number returns the parameter or its default; a nil default means that it must be given.
func number(fail failFunc, field string, v, fallback *float64, low, high float64) float64 {
	if v == nil {
		if fallback == nil {
			fail(field, "missing", "%s must be given", field)
			return 0
		}
		return *fallback
	}
	switch {
	case !units.Finite(*v):
		fail(field, "not-finite", "%s must be a finite number", field)
	case !(low <= *v && *v <= high):
		fail(field, "out-of-range", "%g is not in %g…%g", *v, low, high)
	}
	return *v
}

func region(fail failFunc, r *[2][2]float64) [2][2]float64 {
	if r == nil {
		fail("region_cm", "missing", "region_cm must be given: [[x, y], [x, y]], least corner first")
		return [2][2]float64{}
	}
	for axis, name := range []string{"x", "y"} {
		low, high := r[0][axis], r[1][axis]
		switch {
		case !units.Finite(low, high):
			fail("region_cm", "not-finite", "the region's %s must be finite", name)
		case !(low < high):
			fail("region_cm", "min-above-max", "the region's least %s (%g) is not below its greatest (%g)", name, low, high)
		case !(high-low <= MaxRegionCm) || !(low >= -MaxReachCm) || !(high <= MaxReachCm):
			fail("region_cm", "out-of-range", "the region's %s from %g to %g cm is as large as the workspace or outside it", name, low, high)
		}
	}
	return *r
}

// fieldsOf lists the parameters a kind takes.
func fieldsOf(k Kind) (map[string]bool, bool) {
	set := func(names ...string) (map[string]bool, bool) {
		m := make(map[string]bool, len(names))
		for _, n := range names {
			m[n] = true
		}
		return m, true
	}
	switch k {
	case Lifted:
		return set("object", "min_bottom_cm", "dwell_ms")
	case TipAt:
		return set("x_cm", "y_cm", "z_cm", "within_cm", "dwell_ms")
	case InRegion:
		return set("object", "region_cm", "dwell_ms")
	case Unmoved:
		return set("object", "within_cm")
	case Never:
		return set()
	}
	return nil, false
}

// surplus names the parameters that were given but that the kind does not take.
func (p Params) surplus(k Kind, wanted map[string]bool) []Problem {
	given := []struct {
		name string
		set  bool
	}{
		{"object", p.Object != nil}, {"min_bottom_cm", p.MinBottomCm != nil},
		{"x_cm", p.XCm != nil}, {"y_cm", p.YCm != nil}, {"z_cm", p.ZCm != nil},
		{"within_cm", p.WithinCm != nil}, {"region_cm", p.RegionCm != nil}, {"dwell_ms", p.DwellMs != nil},
	}
	var out []Problem
	for _, g := range given {
		if g.set && !wanted[g.name] {
			out = append(out, Problem{g.name, "unknown-key", fmt.Sprintf("%s takes no %s", k, g.name)})
		}
	}
	return out
}

// String returns the criterion in words a person reads, with its thresholds.
func (c Criterion) String() string {
	dwell := ""
	if c.DwellMs > 0 {
		dwell = fmt.Sprintf(" for %d ms", c.DwellMs)
	}
	switch c.Kind {
	case Lifted:
		return fmt.Sprintf("lifted(%s ≥ %g cm, both jaws)%s", c.Object, c.MinBottomCm, dwell)
	case TipAt:
		return fmt.Sprintf("tip_at(%g, %g, %g cm ± %g)%s", c.PointCm[0], c.PointCm[1], c.PointCm[2], c.WithinCm, dwell)
	case InRegion:
		return fmt.Sprintf("in_region(%s, x %g…%g, y %g…%g cm, released)%s",
			c.Object, c.RegionCm[0][0], c.RegionCm[1][0], c.RegionCm[0][1], c.RegionCm[1][1], dwell)
	case Unmoved:
		return fmt.Sprintf("unmoved(%s ± %g cm)", c.Object, c.WithinCm)
	case Never:
		return "never"
	}
	return "no criterion"
}

func list() string {
	names := make([]string, 0, len(Kinds()))
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func ptr[T any](v T) *T { return &v }
