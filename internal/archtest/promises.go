package archtest

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// requirements is the table of promises that the tests are held to.
const requirements = "docs/requirements.md"

var (
	requirementRow = regexp.MustCompile(`^\| *([A-Z][0-9]{2,3}) *\|`)
	requirementID  = regexp.MustCompile(`^[A-Z][0-9]{2,3}$`)
)

// CheckPromises holds the table of promises and the tests to each other: every id in it is named by the comment
// "Verifies: ID" of some test, every id so named is in it, and no id stands in it twice.
func CheckPromises(t *Tree) (found []Finding) {
	const why = "a promise without a test is a wish, and a test of no promise proves nothing anyone was told"
	promised := map[string]string{}
	n := 0
	for l := range strings.Lines(string(t.Texts[requirements])) {
		n++
		m := requirementRow.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		where := fmt.Sprintf("%s:%d", requirements, n)
		if promised[m[1]] != "" {
			found = append(found, Finding{where, m[1] + " is listed twice", "an id names one promise"})
		}
		promised[m[1]] = where
	}
	if len(promised) == 0 {
		found = append(found, Finding{requirements, "lists no promise", "nothing passes silently"})
	}
	named, bad := verified(t)
	found = append(found, bad...)
	for _, id := range slices.Sorted(maps.Keys(promised)) {
		if named[id] == "" {
			found = append(found, Finding{promised[id], `no test says "Verifies: ` + id + `"`, why})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		if promised[id] == "" {
			found = append(found, Finding{named[id], id + " is not in " + requirements, why})
		}
	}
	return found
}

// verified returns where each id is first named by a test's comment.
func verified(t *Tree) (named map[string]string, bad []Finding) {
	named = map[string]string{}
	for _, f := range t.Files {
		if !f.Test {
			continue
		}
		for _, g := range f.AST.Comments {
			for _, c := range g.List {
				list, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "Verifies:")
				if !ok {
					continue
				}
				for _, id := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
					if !requirementID.MatchString(id) {
						bad = append(bad, Finding{t.at(c), fmt.Sprintf("%q is no id", id), "the comment is read by a test: ids only, such as P13, M01"})
						continue
					}
					if named[id] == "" {
						named[id] = t.at(c)
					}
				}
			}
		}
	}
	return named, bad
}

// CheckTexts refuses machine paths and package registries in any text file.
func CheckTexts(t *Tree) (found []Finding) {
	for _, p := range slices.Sorted(maps.Keys(t.Texts)) {
		for _, bad := range forbiddenText {
			if at := bytes.Index(t.Texts[p], []byte(bad.text)); at >= 0 {
				line := 1 + bytes.Count(t.Texts[p][:at], []byte("\n"))
				found = append(found, Finding{fmt.Sprintf("%s:%d", p, line), "holds " + bad.text, bad.why})
			}
		}
	}
	return found
}
