package robot

import (
	"strconv"
	"strings"
	"unicode"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// printable refuses a name that a caller chose and that could not be shown to others as it is: one with a control character,
// a mark that turns the direction of the text around it, or anything else that prints as nothing. Words and goals of a person
// are no names: they are free text, and whoever shows them escapes them.
func printable(field, name string) reject.List {
	if prints(name) {
		return nil
	}
	return reject.List{reject.New(reject.OutOfRange, "a name is of characters that print: no control characters, no marks that turn text around, and a joiner only between two others").
		By(printableRule).In(field).Saw(quoted(name), "", "")}
}

// printableRule is the rule of a name that does not print.
const printableRule = "printable"

// Joiners print as nothing, but say how the characters on both sides of them are drawn: Persian and the scripts of India are
// spelled with them, and many emoji are several in one.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// prints reports whether the name is of letters, marks, digits, punctuation and symbols of any script, the ASCII space, and
// single joiners between two of these that are no space.
func prints(name string) bool {
	between := false // the character before is one that a joiner may follow
	joined := false  // it is a joiner
	for _, c := range name {
		switch joiner := c == zeroWidthNonJoiner || c == zeroWidthJoiner; {
		case joiner && !between, !joiner && !unicode.IsPrint(c), joined && c == ' ':
			return false
		default:
			joined, between = joiner, !joiner && c != ' '
		}
	}
	return !joined
}

// maxHolder is the longest name of a lease's holder, in bytes.
const maxHolder = 64

// holderName refuses a lease for nobody, or under a name that cannot be shown to others.
func holderName(name string) reject.List {
	bad := strings.ContainsFunc(name, notASCII)
	switch {
	case name == "":
		return missing("holder", "")
	case !bad && len(name) <= maxHolder:
		return nil
	}
	no := reject.New(reject.OutOfRange, "a holder has a name of 1 to 64 printable ASCII characters").In("holder").Saw(quoted(name), strconv.Itoa(maxHolder), "")
	if bad {
		no = no.By(printableRule)
	}
	return reject.List{no}
}

// notASCII reports whether the character is none of printable ASCII, which a lease's holder is named in: that name is shown
// to other callers, and one must not look like another.
func notASCII(c rune) bool { return c < ' ' || c > '~' }

// printableObjects refuses names of objects, which a task's licence is made of.
func printableObjects(q *contractv1.OpenTaskRequest) (l reject.List) {
	for _, name := range q.GetMayChange() {
		l = append(l, printable("may_change", name)...)
	}
	for _, name := range q.GetForbidden() {
		l = append(l, printable("forbidden", name)...)
	}
	return l
}
