package contract

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"interlock/contract/rule"
	"interlock/units"
)

// toleranceMaxM is the bound on a distance from which on it is no tolerance any more: the arm's workspace.
const toleranceMaxM = 0.5

// reserved are the words no capability may take: they belong to the stop, to persons, and to the brain's own tools.
var reserved = []string{"stop", "reset", "operator", "report_result", "mission_status", "wait_mission", "cancel_mission"}

// celWords cannot be names in conditions.
var celWords = []string{"in", "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "let", "loop", "package",
	"namespace", "null", "return", "true", "var", "void", "while", "args"}

// names checks the rules about names, list by list.
func (l *loader) names(root *node) {
	facts, predicates, capabilities := root.get("facts"), root.get("predicates"), root.get("capabilities")
	vocabulary := root.get("vocabulary")
	words := slices.Concat(facts.entries(), predicates.entries())
	l.distinct("facts and predicates", words)
	l.distinct("capabilities", capabilities.entries())
	l.distinct("vocabulary.places", vocabulary.get("places").entries())
	l.labels(vocabulary.get("objects").entries())
	for _, m := range words {
		l.word(m)
	}
	for _, p := range predicates.entries() {
		l.formals(p)
	}
	for _, k := range capabilities.entries() {
		l.capabilityName(k, capabilities.entries())
		args := slices.Concat(k.value.get("target").entries(), k.value.get("params").entries(), k.value.get("binds").entries())
		l.distinct("capabilities."+k.name, args)
	}
}

// entries returns the members of a map, or nil.
func (n *node) entries() []member {
	if n == nil {
		return nil
	}
	return n.members
}

// distinct refuses names that differ only by case, or not at all, within one list.
func (l *loader) distinct(path string, list []member) {
	seen := map[string]string{}
	for _, m := range list {
		lower := strings.ToLower(m.name)
		first, taken := seen[lower]
		switch {
		case taken && first != m.name:
			l.add(m.line, m.column, "case-collision", join(path, m.name), "", "%q and %q differ only by case", first, m.name)
		case taken:
			l.add(m.line, m.column, "duplicate-name", join(path, m.name), "", "the name %q is already taken", m.name)
		default:
			seen[lower] = m.name
		}
	}
}

// labels checks objects and their aliases as one list.
func (l *loader) labels(list []member) {
	var all []member
	for _, m := range list {
		all = append(all, m)
		if aliases := m.value.get("aliases"); aliases != nil {
			for _, a := range aliases.items {
				if a.kind == kindText {
					all = append(all, member{name: a.text, line: a.line, column: a.column})
					l.name(member{name: a.text, line: a.line, column: a.column}, "vocabulary.objects."+m.name, "an alias", label)
				}
			}
		}
	}
	l.distinct("vocabulary.objects", all)
}

// word refuses a fact or predicate whose name conditions could not use.
func (l *loader) word(m member) {
	if contains(rule.FunctionNames(), m.name) {
		l.add(m.line, m.column, "reserved-name", m.name, "", "%q is a function of every contract", m.name)
	}
	if contains(celWords, m.name) {
		l.add(m.line, m.column, "reserved-name", m.name, "", "%q is a word of the condition language", m.name)
	}
}

// formals checks the arguments of a predicate: they must not hide a fact.
func (l *loader) formals(p member) {
	args := p.value.get("args").entries()
	l.distinct("predicates."+p.name, args)
	for _, a := range args {
		if slices.ContainsFunc(l.c.Facts, func(f FactDecl) bool { return f.Name == a.name }) {
			l.add(a.line, a.column, "duplicate-name", join("predicates."+p.name, a.name), "", "the argument %q hides a fact", a.name)
		}
		if contains(celWords, a.name) {
			l.add(a.line, a.column, "reserved-name", join("predicates."+p.name, a.name), "", "%q is a word of the condition language", a.name)
		}
	}
}

// capabilityName refuses reserved names and names that contain one another: a model or a log must not mistake them.
func (l *loader) capabilityName(m member, all []member) {
	path := join("capabilities", m.name)
	if contains(reserved, strings.ToLower(m.name)) {
		l.add(m.line, m.column, "reserved-name", path, "", "%q is reserved", m.name)
	}
	for _, other := range all {
		if other.name != m.name && strings.Contains(strings.ToLower(m.name), strings.ToLower(other.name)) && len(other.name) < len(m.name) {
			l.add(m.line, m.column, "name-contains-name", path, "", "%q contains the name of another capability, %q", m.name, other.name)
		}
	}
}

// conditions returns the three lists by the key of the file.
func (cap *Capability) conditions() map[string][]*Condition {
	return map[string][]*Condition{"requires": cap.Requires, "ensures": cap.Ensures, "invariants": cap.Invariants}
}

// rules checks what a compiled condition may be where it stands.
func (l *loader) rules(c *Condition, kind, path string, k *Capability) {
	if kind != "requires" {
		l.measured(c, path)
	}
	if kind == "ensures" {
		l.tolerance(c, path)
	}
	for _, earlier := range k.conditions()[kind] {
		if earlier == c {
			break
		}
		if earlier.ID == c.ID {
			l.add(c.Line, c.Column, "duplicate-name", path+".id", "", "the id %q is already taken", c.ID)
		}
	}
	var args []string
	for _, a := range k.Args {
		args = append(args, a.Name)
	}
	for _, b := range k.Binds {
		args = append(args, b.Arg)
	}
	if name := c.UnknownPlaceholder(args); name != "" {
		n := l.at0[path+".says"]
		l.at(n, "unknown-name", path+".says", rule.Nearest(name, append(args, "got", "limit", "unit", "got_cm", "limit_cm")), "{%s} is no argument and no measured value", name)
	}
	l.modes(c, path, k)
}

// measured demands that a condition rests on a reading, and only on readings.
func (l *loader) measured(c *Condition, path string) {
	if len(c.FactNames) == 0 {
		l.condition(c, path, "no-measurement", "name a fact", "nothing measured decides this condition")
	} else if c.Always() {
		l.condition(c, path, "always-true", "say what must be measured", "this condition is true whatever is measured")
	}
	if c.NeedsKinematics {
		l.condition(c, path, "predicted", "use distance_mm on a measured point", "a computed reach is no measurement")
	}
}

// condition reports a problem at a condition's text.
func (l *loader) condition(c *Condition, path, code, hint, format string, args ...any) {
	n := l.at0[path+".that"]
	if n == nil {
		n = &node{line: max(1, c.Line), column: max(1, c.Column)}
	}
	if path != "" {
		path += ".that"
	}
	l.at(n, code, path, hint, format, args...)
}

// tolerance refuses a bound on a distance that the whole workspace satisfies.
func (l *loader) tolerance(c *Condition, path string) {
	for _, bound := range c.Tolerances() {
		limit, err := strconv.ParseFloat(bound.Limit, 64)
		metres := limit * rule.MetresIn[bound.Unit]
		switch {
		case err != nil || rule.MetresIn[bound.Unit] == 0:
		case !(metres < toleranceMaxM):
			l.condition(c, path, "tolerance-too-wide", "", "%s: a tolerance of %v cm is the size of the workspace", bound.Text, units.CmFromMetres(metres))
		case !(metres >= 0):
			l.condition(c, path, "never-true", "", "%s: a distance is never negative", bound.Text)
		}
	}
}

// modes refuses a condition for a mode its capability does not have.
func (l *loader) modes(c *Condition, path string, k *Capability) {
	for _, m := range c.Modes {
		if !k.InMode(m) {
			l.add(c.Line, c.Column, "never-true", path+".modes", "", "the capability is not offered in the mode %q", m)
		}
	}
}

// binds compiles the predicates that supply arguments, and checks the speed limit.
func (l *loader) binds(k *Capability, s *rule.Scope, path string) {
	for i := range k.Binds {
		b := &k.Binds[i]
		b.condition = l.ofOneObject(b.Predicate, b.Arg, s, join(path+".binds", b.Arg))
	}
	if a, ok := k.Arg("speed_mps"); ok && k.Limits.TipSpeedMPS > 0 && (a.Max == nil || !(*a.Max <= k.Limits.TipSpeedMPS)) {
		l.at(l.at0[path], "loosens-limit", join(path, "speed_mps"), "", "the argument speed_mps must have a max of at most tip_speed_mps %v: a call may only tighten a limit", k.Limits.TipSpeedMPS)
	}
}

// ofOneObject compiles a predicate over the argument arg; nil where it is not one of a single object. The place at is
// where the file names it.
func (l *loader) ofOneObject(predicate, arg string, s *rule.Scope, at string) *Condition {
	n := l.at0[at]
	p := l.c.Predicate(predicate)
	switch {
	case p == nil:
		l.at(n, "unknown-name", at, rule.Nearest(predicate, l.predicateNames()), "there is no predicate %q", predicate)
		return nil
	case len(p.Params) != 1 || p.Params[0].Sort != rule.SortObject:
		l.at(n, "wrong-type", at, "", "%q must take one object and nothing else", predicate)
		return nil
	}
	c := &Condition{ID: predicate, That: predicate + "(args." + arg + ")"}
	l.complain(at, s.Compile(c, true))
	if !c.Compiled() {
		return nil
	}
	return c
}

func (l *loader) predicateNames() (names []string) {
	for _, p := range l.c.Predicates {
		names = append(names, p.Name)
	}
	return names
}

// changedName is the argument under which a predicate of `changes` sees each object in turn.
const changedName = "changed"

// changed checks what `changes` names. An object that a verb takes or binds is an object it touches, until there is a
// verb that does not.
func (l *loader) changed(k *Capability, args map[string]rule.Argument, path string) error {
	path = join(path, "changes")
	objects := objectArguments(args)
	for _, name := range k.Changes {
		if a, ok := args[name]; !ok || a.Sort != rule.SortObject {
			l.at(l.at0[join(path, "args."+name)], "unknown-name", path, rule.Nearest("args."+name, objects), "changes names args.%s, which is no object argument", name)
		}
	}
	if len(objects) > 0 && len(k.Changes) == 0 && !k.ReadOnly {
		n := l.at0[path]
		if n == nil {
			n = l.at0[join("capabilities", k.Name)]
		}
		l.at(n, "no-changes", path, "changes: ["+strings.Join(objects, ", ")+"]", "%s takes an object and does not say that it changes one", k.Name)
	}
	if len(k.ChangesWhere) == 0 {
		return nil
	}
	scope, err := l.c.language.Scope(map[string]rule.Argument{changedName: {Sort: rule.SortObject}})
	if err != nil {
		return err
	}
	for i := range k.ChangesWhere {
		w := &k.ChangesWhere[i]
		at := join(path, w.Predicate)
		if _, both := args[w.Predicate]; both {
			l.at(l.at0[at], "ambiguous", at, "args."+w.Predicate+" for the argument; give a predicate another name", "%q is an argument here, and changes names arguments as args.NAME", w.Predicate)
			continue
		}
		if w.condition = l.ofOneObject(w.Predicate, changedName, scope, at); w.condition != nil {
			l.witnessed(w.condition, at)
		}
	}
	return nil
}

// witnessed demands that a predicate of `changes` rests on readings.
func (l *loader) witnessed(c *Condition, at string) {
	if len(c.FactNames) == 0 {
		l.at(l.at0[at], "no-measurement", at, "", "nothing measured decides %q", c.ID)
	}
	if c.NeedsKinematics {
		l.at(l.at0[at], "predicted", at, "", "a computed reach is no measurement")
	}
}

// objectArguments lists the arguments that are objects, bound ones included, as conditions spell them.
func objectArguments(args map[string]rule.Argument) (names []string) {
	for _, n := range slices.Sorted(maps.Keys(args)) {
		if args[n].Sort == rule.SortObject {
			names = append(names, "args."+n)
		}
	}
	return names
}
