package strictjson

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the value with its keys sorted byte by byte, without white space, each number in its shortest form
// and each string with the fewest escapes: two texts that mean the same have one canonical form, whatever was written.
// A number that Node.Number does not take keeps its literal.
func Canonical(n *Node) []byte {
	if n == nil {
		return appendCanonical(nil, n)
	}
	return appendCanonical(make([]byte, 0, len(n.Raw)), n)
}

func appendCanonical(b []byte, n *Node) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	switch n.Kind {
	case Number:
		if v, ok := n.Number(); ok {
			return appendNumber(b, v)
		}
	case String:
		return appendQuoted(b, n.Text)
	case Object:
		return appendObject(b, n)
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, item)
		}
		return append(b, ']')
	case Null, Bool:
	}
	return append(b, n.Raw...)
}

func appendObject(b []byte, n *Node) []byte {
	members, byName := n.Members, func(x, y Member) int { return strings.Compare(x.Name, y.Name) }
	if !slices.IsSortedFunc(members, byName) {
		var few [8]Member // on the stack
		members = append(few[:0], members...)
		slices.SortFunc(members, byName)
	}
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, m.Name), ':')
		b = appendCanonical(b, m.Value)
	}
	return append(b, '}')
}

// appendNumber appends the shortest form, as ECMAScript writes it: between these two bounds that is without an exponent.
func appendNumber(b []byte, v float64) []byte {
	if i := int64(v); float64(i) == v && i > -1e15 && i < 1e15 {
		return strconv.AppendInt(b, i, 10)
	}
	if size := math.Abs(v); size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return append(b, jsontext.Float(v).String()...)
}

func appendQuoted(b []byte, text string) []byte {
	if plain(text) {
		b = append(append(b, '"'), text...)
		return append(b, '"')
	}
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return append(b, `""`...) // unreachable: a parsed text is valid UTF-8
	}
	return quoted
}

// plain reports whether every byte of the text stands for itself in a JSON string.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
