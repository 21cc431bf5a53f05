package contract

import (
	"math"
	"regexp"
	"time"

	"interlock/contract/rule"
)

// fields reads the members of one map, reporting what is unknown, missing or of another kind.
type fields struct {
	*report
	n    *node
	path string
}

// fields returns a reader of a map whose keys must be among known.
func (r *report) fields(n *node, path string, known ...string) fields {
	f := fields{r, n, path}
	if n == nil {
		f.n = &node{kind: kindMap, line: 1, column: 1}
		return f
	}
	if n.kind != kindMap {
		r.at(n, "wrong-type", path, "", "expected a map, found %s", n.kind)
		f.n = &node{kind: kindMap, line: n.line, column: n.column}
		return f
	}
	for _, m := range n.members {
		if !contains(known, m.name) {
			r.add(m.line, m.column, "unknown-key", join(path, m.name), rule.Nearest(m.name, known), "unknown key %q", m.name)
		}
	}
	return f
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// value returns the member of the kind. A missing one is reported when required.
func (f fields) value(name string, want kind, required bool) (*node, bool) {
	v := f.n.get(name)
	switch {
	case v == nil && required:
		f.at(f.n, "missing-key", join(f.path, name), "", "the key %q is missing", name)
		return nil, false
	case v == nil:
		return nil, false
	case v.kind != want:
		hint := ""
		if want == kindText {
			hint = "put it in quotes if it is meant as text"
		}
		f.at(v, "wrong-type", join(f.path, name), hint, "expected %s, found %s", want, v.kind)
		return nil, false
	}
	return v, true
}

func (f fields) text(name string, required bool) string {
	v, ok := f.value(name, kindText, required)
	if !ok {
		return ""
	}
	if required && v.text == "" {
		f.at(v, "missing-key", join(f.path, name), "", "%q is empty", name)
	}
	return v.text
}

func (f fields) flag(name string, absent bool) bool {
	if v, ok := f.value(name, kindFlag, false); ok {
		return v.flag
	}
	return absent
}

func (f fields) number(name string, required bool) (float64, *node) {
	v, ok := f.value(name, kindNumber, required)
	if !ok {
		return 0, nil
	}
	return v.number, v
}

// positive returns a number above 0 and at most limit.
func (f fields) positive(name string, required bool, limit float64) float64 {
	x, v := f.number(name, required)
	if v != nil && !(x > 0 && x <= limit) {
		f.at(v, "out-of-range", join(f.path, name), "", "%s must be above 0 and at most %v", name, limit)
	}
	return x
}

// millis returns a whole number of milliseconds, or absent.
func (f fields) millis(name string, required bool, absent time.Duration) time.Duration {
	x, v := f.number(name, required)
	if v == nil {
		return absent
	}
	if !(x >= 0 && x <= 600_000 && x == math.Trunc(x)) {
		f.at(v, "out-of-range", join(f.path, name), "", "%s must be a whole number from 0 to 600000", name)
		return absent
	}
	return time.Duration(x) * time.Millisecond
}

// choice returns one of a closed list; the first is the default.
func (f fields) choice(name string, choices ...string) string {
	v, ok := f.value(name, kindText, false)
	if !ok {
		return choices[0]
	}
	if !contains(choices, v.text) {
		f.at(v, "not-in-list", join(f.path, name), rule.Nearest(v.text, choices), "%q is not one of %v", v.text, choices)
	}
	return v.text
}

// texts returns a list of distinct texts.
func (f fields) texts(name string) (list []string, nodes []*node) {
	v, ok := f.value(name, kindList, false)
	if !ok {
		return nil, nil
	}
	for _, item := range v.items {
		switch {
		case item.kind != kindText:
			f.at(item, "wrong-type", join(f.path, name), "", "expected text, found %s", item.kind)
		case contains(list, item.text):
			f.at(item, "duplicate-name", join(f.path, name), "", "%q comes twice", item.text)
		default:
			list, nodes = append(list, item.text), append(nodes, item)
		}
	}
	return list, nodes
}

// modes returns the list of modes, each "sim" or "hardware".
func (f fields) modes() []string {
	list, nodes := f.texts("modes")
	for i, m := range list {
		if m != "sim" && m != "hardware" {
			f.at(nodes[i], "not-in-list", join(f.path, "modes"), rule.Nearest(m, []string{"sim", "hardware"}), "%q is not one of [sim hardware]", m)
		}
	}
	if v := f.n.get("modes"); v != nil && v.kind == kindList && len(v.items) == 0 {
		f.at(v, "missing-key", join(f.path, "modes"), "leave the key out for every mode", "an empty list of modes")
	}
	return list
}

// entries returns the members of a map member, or nil.
func (f fields) entries(name string, required bool) []member {
	if v := f.n.get(name); v != nil && v.kind == kindNull {
		return nil
	}
	v, ok := f.value(name, kindMap, required)
	if !ok {
		return nil
	}
	return v.members
}

// items returns the items of a list member, or nil.
func (f fields) items(name string) []*node {
	v, ok := f.value(name, kindList, false)
	if !ok {
		return nil
	}
	return v.items
}

var (
	identifier = rule.Identifier
	chunk      = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	label      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _-]{0,63}$`)
)

// name checks a declared name against its form.
func (r *report) name(m member, path, what string, form *regexp.Regexp) bool {
	if len(m.name) <= 64 && form.MatchString(m.name) {
		return true
	}
	r.add(m.line, m.column, "bad-name", join(path, m.name), "", "%q is not a name for %s: it must match %s and have at most 64 characters", m.name, what, form)
	return false
}
