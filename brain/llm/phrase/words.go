package phrase

import (
	"math/big"
	"strings"
	"unicode"
)

// Bounds on an utterance that is read at all.
const (
	maxWords  = 64
	maxDigits = 12 // of one number, so that its arithmetic stays small
)

// word is one token: a number as written, a word in lower case, or one other sign.
type word struct {
	text   string
	number bool
}

// split turns an utterance into tokens. A minus sign belongs to a number only where one can begin, so that 5-3 is no pair.
func split(s string) (words []word) {
	s = strings.ToLower(strings.NewReplacer("\u2212", "-", "\u2019", "'").Replace(s))
	runes := []rune(s)
	for i := 0; i < len(runes); {
		n := 1
		switch c := runes[i]; {
		case unicode.IsSpace(c):
			i++
			continue
		case digit(c), c == '-' && i+1 < len(runes) && digit(runes[i+1]) && opens(runes, i):
			n = numberLen(runes[i:])
			words = append(words, word{string(runes[i : i+n]), true})
		case unicode.IsLetter(c):
			for i+n < len(runes) && (unicode.IsLetter(runes[i+n]) || runes[i+n] == '\'') {
				n++
			}
			words = append(words, word{text: string(runes[i : i+n])})
		default:
			words = append(words, word{text: string(c)})
		}
		i += n
	}
	return words
}

func digit(c rune) bool { return c >= '0' && c <= '9' }

// opens reports whether a signed number can begin at i.
func opens(runes []rune, i int) bool {
	return i == 0 || unicode.IsSpace(runes[i-1]) || strings.ContainsRune("(,=:", runes[i-1])
}

// numberLen is the length of the number at the start: sign, digits, and a fraction where digits follow the point.
func numberLen(runes []rune) int {
	n := 1
	for n < len(runes) && digit(runes[n]) {
		n++
	}
	if n+1 < len(runes) && runes[n] == '.' && digit(runes[n+1]) {
		for n++; n < len(runes) && digit(runes[n]); {
			n++
		}
	}
	return n
}

// unitsInCm are the units of length that can be read, and their size in centimetres. Source of the inch: 25.4 mm by
// the international yard and pound agreement of 1959.
var unitsInCm = map[string]*big.Rat{
	"cm": big.NewRat(1, 1), "centimetre": big.NewRat(1, 1), "centimetres": big.NewRat(1, 1), "centimeter": big.NewRat(1, 1), "centimeters": big.NewRat(1, 1),
	"mm": big.NewRat(1, 10), "millimetre": big.NewRat(1, 10), "millimetres": big.NewRat(1, 10), "millimeter": big.NewRat(1, 10), "millimeters": big.NewRat(1, 10),
	"m": big.NewRat(100, 1), "metre": big.NewRat(100, 1), "metres": big.NewRat(100, 1), "meter": big.NewRat(100, 1), "meters": big.NewRat(100, 1),
	"inch": big.NewRat(254, 100), "inches": big.NewRat(254, 100),
}

// quantity is a length: the number as written and its unit.
type quantity struct{ literal, unit string }

// cm is the length in centimetres, exactly.
func (q quantity) cm() *big.Rat {
	v, ok := new(big.Rat).SetString(q.literal)
	if !ok {
		return new(big.Rat)
	}
	return v.Mul(v, unitsInCm[q.unit])
}

// decimal writes a number as JSON, without trailing zeros; at most six decimals.
func decimal(v *big.Rat) string {
	s := strings.TrimRight(strings.TrimRight(v.FloatString(6), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}
