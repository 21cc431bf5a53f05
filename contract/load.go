package contract

import (
	"fmt"
	"os"
	"strings"

	"interlock/reject"
)

// LoadFile loads the contract file at path.
func LoadFile(path string) (*Contract, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("contract file: %w", err)
	}
	return Load(path, src)
}

// Load reads and checks a contract file; name stands in front of every problem. The error is Problems when the file is
// wrong: all of them, in the file's order.
func Load(name string, src []byte) (*Contract, error) {
	r := &report{file: name}
	root := (&source{report: r}).parse(src)
	if root == nil || len(r.problems) > 0 {
		return nil, r.err()
	}
	l := &loader{report: r, c: &Contract{}, lines: strings.Split(string(src), "\n"), at0: map[string]*node{}}
	l.contract(root)
	l.names(root)
	l.c.build()
	if err := l.compile(); err != nil {
		r.add(1, 1, "malformed", "", "", "the contract's words cannot be declared: %v", err)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	l.c.hash = hashOf(root)
	return l.c, nil
}

// build indexes the declarations by name; of two with one name the first counts, the second was reported.
func (c *Contract) build() {
	c.index = index{map[string]int{}, map[string]int{}, map[string]int{}, map[string]*Predicate{}, map[string]*Capability{}}
	for i, f := range c.Facts {
		c.index.facts[f.Name] = i
	}
	for i, o := range c.Objects {
		c.index.labels[o.Label] = i
		for _, a := range o.Aliases {
			c.index.labels[a] = i
		}
	}
	var places []string
	for i, p := range c.Places {
		c.index.places[p.Name] = i
		places = append(places, p.Name)
	}
	for _, p := range c.Predicates {
		c.index.predicates[p.Name] = p
	}
	for _, k := range c.Capabilities {
		c.index.capabilities[k.Name] = k
		k.places = places
	}
}

// compile compiles predicates, then the conditions of every capability.
func (l *loader) compile() error {
	lang, err := l.c.language()
	if err != nil {
		return err
	}
	l.c.shared = lang
	if !l.predicates(lang) {
		return nil // what uses a broken predicate would only repeat its problems
	}
	for _, k := range l.c.Capabilities {
		scope, err := lang.with(k)
		if err != nil {
			return err
		}
		path := join("capabilities", k.Name)
		l.each(k, func(c *Condition, kind string, i int) {
			at := indexedPath(join(path, kind), i)
			l.complain(at+".that", scope.compile(c, true))
			if c.root != nil {
				l.rules(c, kind, at, k)
			}
		})
		l.binds(k, scope, path)
	}
	return nil
}

// each visits a capability's conditions.
func (l *loader) each(k *Capability, do func(c *Condition, kind string, i int)) {
	lists := k.conditions()
	for _, kind := range []string{"requires", "ensures", "invariants"} {
		for i, c := range lists[kind] {
			do(c, kind, i)
		}
	}
}

// complain places complaints about a condition's text in the file.
func (l *loader) complain(path string, list []complaint) {
	n := l.at0[path]
	if n == nil {
		n = &node{line: 1, column: 1}
	}
	for _, c := range list {
		line, column := l.inside(n, c.line, c.column)
		l.add(line, column, c.code, path, c.hint, "%s", c.message)
	}
}

// inside returns the file position of a place in a text: exact for text written on one line without escapes and for
// block scalars, else the text's start.
func (l *loader) inside(n *node, line, column int) (int, int) {
	if n.block {
		if at := n.line + line; at <= len(l.lines) {
			first := l.lines[n.line] // the block's first line sets its indentation
			return at, len(first) - len(strings.TrimLeft(first, " ")) + column + 1
		}
		return n.line, n.column
	}
	if line != 1 || n.line > len(l.lines) || n.column > len(l.lines[n.line-1]) {
		return n.line, n.column
	}
	rest := l.lines[n.line-1][n.column-1:]
	if i := strings.Index(rest, n.text); i == 0 || i == 1 {
		return n.line, n.column + i + column
	}
	return n.line, n.column
}

// predicates types every predicate's body and refuses recursion. It reports whether all can be used.
func (l *loader) predicates(lang *language) bool {
	before := len(l.problems)
	scope, err := lang.with(nil)
	if err != nil {
		l.add(1, 1, "malformed", "predicates", "", "%v", err)
		return false
	}
	uses := map[*Predicate][]*Predicate{}
	for _, p := range l.c.Predicates {
		body, complaints := lang.parse(p.That)
		if body != nil && len(complaints) == 0 {
			t := scope.typing(l.c, body, p.params, true, &complaints)
			v := t.of(body.root)
			if v.sort != sortFlag && v.sort != sortNone {
				t.problem(body.root, "wrong-type", "compare it with something", "a predicate is true or false, this is %s", v.sort)
			}
			uses[p], p.body = t.calls, body
		}
		l.complain(join("predicates", p.Name)+".that", complaints)
	}
	for _, p := range l.c.Predicates {
		if reaches(p, p, uses, map[*Predicate]bool{}) {
			l.add(p.line, p.column, "recursion", join("predicates", p.Name), "", "the predicate %q uses itself", p.Name)
		}
	}
	return len(l.problems) == before
}

// reaches reports whether from uses target, at any depth.
func reaches(from, target *Predicate, uses map[*Predicate][]*Predicate, seen map[*Predicate]bool) bool {
	for _, p := range uses[from] {
		if p == target {
			return true
		}
		if !seen[p] {
			seen[p] = true
			if reaches(p, target, uses, seen) {
				return true
			}
		}
	}
	return false
}

// Goal compiles a goal over the contract's words. It has no arguments, must read a fact, and may name an object outside
// the vocabulary unless that is closed; an unknown place or fact is refused. The error is Problems.
func (c *Contract) Goal(that string) (*Condition, error) {
	goal := &Condition{ID: "goal", That: that, Code: reject.Condition, Line: 1, Column: 1, contract: c}
	r := &report{file: "goal"}
	scope, err := c.shared.with(nil)
	if err != nil {
		return nil, err
	}
	for _, one := range scope.compile(goal, false) {
		r.add(one.line, one.column+1, one.code, "", one.hint, "%s", one.message)
	}
	if goal.root != nil {
		l := &loader{report: r, c: c, at0: map[string]*node{}}
		l.measured(goal, "")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return goal, nil
}
