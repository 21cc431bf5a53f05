package strictjson

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the value with its keys sorted byte by byte, without white space, each number in its shortest form
// and each string with the fewest escapes: two texts that mean the same have one canonical form, whatever was written.
// A number that Node.Number does not take keeps its literal.
func Canonical(n *Node) []byte { return appendCanonical(nil, n) }

func appendCanonical(b []byte, n *Node) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	switch n.Kind {
	case Number:
		if v, ok := n.Number(); ok {
			return append(b, jsontext.Float(v).String()...)
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
	members := slices.Clone(n.Members)
	slices.SortFunc(members, func(x, y Member) int { return strings.Compare(x.Name, y.Name) })
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

func appendQuoted(b []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return append(b, `""`...) // unreachable: a parsed text is valid UTF-8
	}
	return quoted
}
