package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a contract file or a goal. Code is stable, kebab-case; the words are not.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1
	Code    string `json:"code"`
	Path    string `json:"path,omitempty"` // "capabilities.move_to.requires[0].that"
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error returns file:line:column: message [code] (hint).
func (p Problem) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s: %s [%s]", p.File, p.Line, p.Column, p.Path, p.Message, p.Code)
	if p.Path == "" {
		s = fmt.Sprintf("%s:%d:%d: %s [%s]", p.File, p.Line, p.Column, p.Message, p.Code)
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Problems are all problems of a file, in the file's order.
type Problems []Problem

// Error returns a line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// problemsMax bounds a report: a file with more is not read by anybody.
const problemsMax = 200

// report collects problems.
type report struct {
	file     string
	problems Problems
}

func (r *report) add(line, column int, code, path, hint, format string, args ...any) {
	if len(r.problems) >= problemsMax {
		return
	}
	p := Problem{File: r.file, Line: line, Column: column, Code: code, Path: path, Hint: hint, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(r.problems, p) {
		r.problems = append(r.problems, p)
	}
}

// at reports a problem at a node.
func (r *report) at(n *node, code, path, hint, format string, args ...any) {
	r.add(n.line, n.column, code, path, hint, format, args...)
}

// err returns the problems in the file's order, or nil.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.problems
}
