package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"interlock/contract/rule"
	"interlock/units"
	"interlock/world"
)

// loader fills a Contract from the node tree.
type loader struct {
	*report
	c     *Contract
	lines []string // of the file, to place problems inside conditions
	at0   map[string]*node
}

var solvers = []string{"best", "dls", "dls_last"}

// contract reads every declaration; conditions are kept as text until all names are known.
func (l *loader) contract(root *node) {
	f := l.fields(root, "", "robot", "frame", "kinematics", "facts", "vocabulary", "predicates", "gestures", "capabilities", "disclose_bounds")
	c := l.c
	if c.Robot = f.text("robot", true); c.Robot != "" && !chunk.MatchString(c.Robot) {
		l.at(root.get("robot"), "bad-name", "robot", "use a-z, 0-9, _ and -", "%q cannot be a robot's name: it must match %s", c.Robot, chunk)
	}
	if c.Frame = f.text("frame", true); c.Frame != "" && !identifier.MatchString(c.Frame) {
		l.at(root.get("frame"), "bad-name", "frame", "", "%q cannot be a frame's name", c.Frame)
	}
	if v, ok := f.value("kinematics", kindMap, true); ok {
		k := l.fields(v, "kinematics", "model", "solver")
		c.Model = k.text("model", true)
		c.Solver = k.choice("solver", solvers...)
	}
	c.DiscloseBounds = f.flag("disclose_bounds", true)
	for _, m := range f.entries("facts", true) {
		l.fact(m)
	}
	if v, ok := f.value("vocabulary", kindMap, false); ok {
		l.vocabulary(v)
	}
	for _, m := range f.entries("predicates", false) {
		l.predicate(m)
	}
	for _, m := range f.entries("gestures", false) {
		l.gesture(m)
	}
	for _, m := range f.entries("capabilities", true) {
		l.capability(m)
	}
	l.chooses()
	if v := root.get("capabilities"); v != nil && v.kind == kindMap && len(v.members) == 0 {
		l.at(v, "missing-key", "capabilities", "", "a robot without a capability")
	}
}

var factKinds = map[string]world.Kind{
	"number": world.KindNumber, "text": world.KindText, "flag": world.KindFlag, "point": world.KindPoint, "poses": world.KindPoses,
}

// fact reads one entry of facts.
func (l *loader) fact(m member) {
	path := join("facts", m.name)
	l.name(m, "facts", "a fact", identifier)
	f := l.fields(m.value, path, "type", "frame", "witness", "max_age_ms", "modes", "sigma", "sigma_mm")
	d := FactDecl{Name: m.name, Witness: f.text("witness", true), MaxAge: f.millis("max_age_ms", true, 0), Modes: f.modes()}
	d.Kind = factKinds[l.typeWord(f, slices.Sorted(maps.Keys(factKinds)))]
	if v := f.n.get("max_age_ms"); v != nil && v.kind == kindNumber && d.MaxAge == 0 {
		l.at(v, "out-of-range", join(path, "max_age_ms"), "", "max_age_ms must be above 0")
	}
	spatial := d.Kind == world.KindPoint || d.Kind == world.KindPoses
	if d.Frame = f.text("frame", spatial); d.Frame != "" && !spatial {
		l.at(f.n.get("frame"), "unknown-key", join(path, "frame"), "", "only points and poses have a frame")
	}
	sigma, other := "sigma", "sigma_mm"
	if spatial {
		sigma, other = other, sigma
	}
	if v := f.n.get(other); v != nil {
		l.at(v, "unknown-key", join(path, other), "use "+sigma, "the standard error of a %s is given as %s", d.Kind, sigma)
	}
	if f.n.get(sigma) != nil {
		d.Sigma = f.positive(sigma, false, 1e6)
	}
	if d.Kind == world.KindNumber && rule.UnitOf(m.name) == "" {
		l.add(m.line, m.column, "no-unit", path, unitHint, "the number %q does not end in a unit", m.name)
	}
	l.c.Facts = append(l.c.Facts, d)
}

// typeWord returns the word under "type" if it is one of the list.
func (l *loader) typeWord(f fields, words []string) string {
	t := f.text("type", true)
	if t != "" && !contains(words, t) {
		l.at(f.n.get("type"), "not-in-list", join(f.path, "type"), rule.Nearest(t, words), "%q is not one of %v", t, words)
	}
	return t
}

// vocabulary reads the words for objects and places.
func (l *loader) vocabulary(n *node) {
	f := l.fields(n, "vocabulary", "objects", "places", "closed")
	l.c.VocabularyClosed = f.flag("closed", false)
	for _, m := range f.entries("objects", false) {
		path := join("vocabulary.objects", m.name)
		l.name(m, "vocabulary.objects", "an object", label)
		g := l.fields(m.value, path, "kind", "size_cm", "aliases")
		o := ObjectDecl{Label: m.name, Kind: g.text("kind", true)}
		o.SizeM = l.size(g)
		o.Aliases, _ = g.texts("aliases")
		l.c.Objects = append(l.c.Objects, o)
	}
	for _, m := range f.entries("places", false) {
		path := join("vocabulary.places", m.name)
		l.name(m, "vocabulary.places", "a place", label)
		g := l.fields(m.value, path, "region_cm")
		p := PlaceDecl{Name: m.name}
		if v, ok := g.value("region_cm", kindList, true); ok {
			p.MinM, p.MaxM = l.region(v, join(path, "region_cm"))
		}
		l.c.Places = append(l.c.Places, p)
	}
}

// size reads size_cm: one edge of a cube, or three.
func (l *loader) size(f fields) units.Vec3 {
	v := f.n.get("size_cm")
	path := join(f.path, "size_cm")
	var edges []float64
	switch {
	case v == nil:
		return units.Vec3{}
	case v.kind == kindNumber:
		edges = []float64{v.number, v.number, v.number}
	case v.kind == kindList:
		edges = l.numbers(v, path, 3)
	default:
		l.at(v, "wrong-type", path, "", "expected a number or three, found %s", v.kind)
		return units.Vec3{}
	}
	if edges == nil {
		return units.Vec3{}
	}
	for _, e := range edges {
		if !(e > 0 && e <= 100) {
			l.at(v, "out-of-range", path, "", "an edge must be above 0 and at most 100 cm")
			break
		}
	}
	return units.Vec3{units.MetresFromCm(edges[0]), units.MetresFromCm(edges[1]), units.MetresFromCm(edges[2])}
}

// numbers reads a list of exactly n numbers.
func (l *loader) numbers(v *node, path string, n int) []float64 {
	var list []float64
	for _, item := range v.items {
		if item.kind != kindNumber {
			l.at(item, "wrong-type", path, "", "expected a number, found %s", item.kind)
			return nil
		}
		list = append(list, item.number)
	}
	if v.kind != kindList || len(list) != n {
		l.at(v, "wrong-type", path, "", "expected a list of %d numbers", n)
		return nil
	}
	return list
}

// placeMaxM bounds a side of a place, metres: a table that two arms could share.
const placeMaxM = 2.0

// region reads two corners, the lower first on each axis.
func (l *loader) region(v *node, path string) (minM, maxM [2]float64) {
	if len(v.items) != 2 {
		l.at(v, "wrong-type", path, "", "expected two corners [[x, y], [x, y]]")
		return
	}
	a, b := l.numbers(v.items[0], path, 2), l.numbers(v.items[1], path, 2)
	if a == nil || b == nil {
		return
	}
	for i := range 2 {
		if !(a[i] < b[i]) {
			l.at(v, "min-above-max", path, "give the corner with the smaller x and y first", "the first corner must be below the second on both axes")
			break
		}
		if !(units.MetresFromCm(b[i])-units.MetresFromCm(a[i]) <= placeMaxM) {
			l.at(v, "out-of-range", path, "", "a place has at most %v m a side: a larger one is everywhere", placeMaxM)
			break
		}
		minM[i], maxM[i] = units.MetresFromCm(a[i]), units.MetresFromCm(b[i])
	}
	return
}

// predicate reads one entry of predicates.
func (l *loader) predicate(m member) {
	path := join("predicates", m.name)
	l.name(m, "predicates", "a predicate", identifier)
	f := l.fields(m.value, path, "version", "args", "that")
	p := &Predicate{Name: m.name, Version: 1, That: f.text("that", true), Line: m.line, Column: m.column}
	if v, n := f.number("version", true); n != nil {
		if p.Version = int(v); float64(p.Version) != v || p.Version < 1 {
			l.at(n, "out-of-range", join(path, "version"), "", "version must be a whole number from 1")
		}
	}
	for _, a := range f.entries("args", false) {
		l.name(a, path+".args", "an argument", identifier)
		s := rule.SortNone
		if a.value.kind == kindText {
			s = predicateSorts[a.value.text]
		}
		if s == rule.SortNone {
			words := slices.Sorted(maps.Keys(predicateSorts))
			l.at(a.value, "not-in-list", join(path+".args", a.name), rule.Nearest(a.value.text, words), "the type must be one of %v", words)
		}
		unit := ""
		if s == rule.SortNumber {
			if unit = rule.UnitOf(a.name); unit == "" {
				l.add(a.line, a.column, "no-unit", join(path+".args", a.name), unitHint, "the number %q does not end in a unit", a.name)
			}
		}
		p.Params = append(p.Params, rule.Param{Name: a.name, Sort: s, Unit: unit})
	}
	l.remember(path+".that", f.n.get("that"))
	l.c.Predicates = append(l.c.Predicates, p)
}

// remember keeps the node of a condition's text, for positions.
func (l *loader) remember(path string, n *node) {
	if n != nil {
		l.at0[path] = n
	}
}

var predicateSorts = map[string]rule.Sort{
	"number": rule.SortNumber, "text": rule.SortText, "flag": rule.SortFlag, "point": rule.SortPoint, "object": rule.SortObject, "place": rule.SortPlace,
}

// unitHint is told with every name that lacks a unit.
var unitHint = fmt.Sprintf("end it in one of _%s", strings.Join(rule.UnitNames, ", _"))
