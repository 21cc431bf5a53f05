package contract

import (
	"fmt"
	"os"
	"strings"

	"interlock/contract/rule"
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
	if err := l.compile(); err != nil {
		r.add(1, 1, "malformed", "", "", "the contract's words cannot be declared: %v", err)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	l.c.hash = hashOf(root)
	return l.c, nil
}

// compile compiles predicates, then the conditions of every capability.
func (l *loader) compile() (err error) {
	if l.c.language, err = rule.NewLanguage(&l.c.Vocabulary); err != nil {
		return err
	}
	complaints, err := l.c.language.CheckPredicates()
	for _, one := range complaints {
		path := join("predicates", one.Predicate.Name)
		if one.Whole {
			l.add(one.Predicate.Line, one.Predicate.Column, one.Code, path, one.Hint, "%s", one.Message)
			continue
		}
		l.complain(path+".that", []rule.Complaint{one.Complaint})
	}
	if err != nil || len(complaints) > 0 {
		return err // what uses a broken predicate would only repeat its problems
	}
	for _, k := range l.c.Capabilities {
		for _, p := range l.c.Places {
			k.places = append(k.places, p.Name)
		}
		if err := l.capabilityRules(k); err != nil {
			return err
		}
	}
	return nil
}

var argSorts = map[ArgType]rule.Sort{
	ArgNumber: rule.SortNumber, ArgText: rule.SortText, ArgFlag: rule.SortFlag, ArgObject: rule.SortObject, ArgPlace: rule.SortPlace,
}

// capabilityRules compiles the conditions of one capability and checks them where they stand.
func (l *loader) capabilityRules(k *Capability) error {
	args := map[string]rule.Argument{}
	for _, a := range k.Args {
		if a.Type != 0 && identifier.MatchString(a.Name) {
			args[a.Name] = rule.Argument{Sort: argSorts[a.Type], Unit: a.Unit, Optional: a.Optional}
		}
	}
	for _, b := range k.Binds {
		args[b.Arg] = rule.Argument{Sort: rule.SortObject}
	}
	scope, err := l.c.language.Scope(args)
	if err != nil {
		return err
	}
	path := join("capabilities", k.Name)
	l.each(k, func(c *Condition, kind string, i int) {
		at := indexedPath(join(path, kind), i)
		l.complain(at+".that", scope.Compile(c, true))
		if c.Compiled() {
			l.rules(c, kind, at, k)
		}
	})
	l.binds(k, scope, path)
	return l.changed(k, args, path)
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
func (l *loader) complain(path string, list []rule.Complaint) {
	n := l.at0[path]
	if n == nil {
		n = &node{line: 1, column: 1}
	}
	for _, c := range list {
		line, column := l.inside(n, c.Line, c.Column)
		l.add(line, column, c.Code, path, c.Hint, "%s", c.Message)
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

// Goal compiles a goal over the contract's words. It has no arguments, must read a fact, and may name an object outside
// the vocabulary unless that is closed; an unknown place or fact is refused. The error is Problems.
func (c *Contract) Goal(that string) (*Condition, error) {
	goal := &Condition{ID: "goal", That: that, Code: reject.Condition, Line: 1, Column: 1}
	r := &report{file: "goal"}
	scope, err := c.language.Scope(nil)
	if err != nil {
		return nil, err
	}
	for _, one := range scope.Compile(goal, false) {
		r.add(one.Line, one.Column+1, one.Code, "", one.Hint, "%s", one.Message)
	}
	if goal.Compiled() {
		l := &loader{report: r, c: c, at0: map[string]*node{}}
		l.measured(goal, "")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return goal, nil
}
