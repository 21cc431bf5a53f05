package gate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"interlock/contract"
	"interlock/internal/strictjson"
)

// Bounds on what of a caller's or driver's text comes back in a refusal.
const (
	maxQuoted = 80 // bytes of one text
	maxListed = 16 // texts of one list
)

// quote returns the text as a JSON string of printable ASCII, cut where it is too long: what comes from outside can
// neither break a line nor turn the direction of writing.
func quote(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		if len(b) > maxQuoted {
			b = append(b, "..."...)
			break
		}
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r <= '~':
			b = append(b, byte(r))
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return string(append(b, '"'))
}

// plain reports whether a text can come back as it is.
func plain(s string) bool {
	return len(s) <= maxQuoted && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// given returns a value as the caller wrote it, as JSON: without white space, and as a cut text where it is too long.
func given(n *strictjson.Node) string {
	text := string(n.Raw)
	switch n.Kind {
	case strictjson.String:
		return quote(n.Text)
	case strictjson.Object, strictjson.Array:
		text = string(strictjson.Canonical(n))
	case strictjson.Null, strictjson.Bool, strictjson.Number:
	}
	if plain(text) {
		return text
	}
	return quote(text)
}

// path returns a caller's name as the field of a refusal.
func path(name string) string {
	if plain(name) {
		return name
	}
	return quote(name)
}

func num(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func typeWord(t contract.ArgType) string {
	switch t {
	case contract.ArgNumber:
		return "number"
	case contract.ArgFlag:
		return "boolean"
	case contract.ArgText:
		return "text"
	case contract.ArgObject:
		return "text that names an object"
	case contract.ArgPlace:
		return "text that names a place"
	}
	return "value"
}

func kindWord(k strictjson.Kind) string {
	switch k {
	case strictjson.Object:
		return "an object"
	case strictjson.Array:
		return "an array"
	case strictjson.String:
		return "a text"
	case strictjson.Number:
		return "a number"
	case strictjson.Bool:
		return "a boolean"
	case strictjson.Null:
		return "null"
	}
	return "something else"
}

// mentions reports whether the text holds the name as a whole word.
func mentions(text, name string) bool {
	for {
		_, rest, found := strings.Cut(text, name)
		if !found {
			return false
		}
		if rest == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", rune(rest[0])) {
			return true
		}
		text = rest
	}
}
