package eval

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault of a suite file. Code is stable; Line and Column count from 1, 0 when unknown.
type Problem struct {
	File         string
	Line, Column int
	Code         string // "unknown-key", "duplicate-id", "unknown-name", …
	Path         string // "scenarios[2].criterion[0].object"
	Message      string
	Hint         string // what to do about it; may be empty
}

// String returns file:line:column: path: message (hint).
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		fmt.Fprintf(&b, " (%s)", p.Hint)
	}
	return b.String()
}

// Problems is every fault found in a file, in the file's order.
type Problems []Problem

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted orders problems by place, keeping the order of those at one place.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return ps
}

// nearest returns the word of the list that is at most two edits from word, or "".
func nearest(word string, list []string) string {
	best, bestDistance := "", 3
	for _, candidate := range list {
		if d := edits(word, candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two short words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for k := range len(b) {
			cost := 1
			if a[i] == b[k] {
				cost = 0
			}
			diagonal, row[k+1] = row[k+1], min(row[k+1]+1, row[k]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
