package operator

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rightToLeft are the blocks of the scripts that run from right to left. One letter of them is enough to reorder the
// digits beside it, without any control character.
var rightToLeft = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x0590, Hi: 0x08FF, Stride: 1}, {Lo: 0xFB1D, Hi: 0xFDFF, Stride: 1}, {Lo: 0xFE70, Hi: 0xFEFF, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x10800, Hi: 0x10FFF, Stride: 1}, {Lo: 0x1E800, Hi: 0x1EFFF, Stride: 1}},
}

// blanks are letters and signs that are drawn as nothing: the Hangul fillers and the empty Braille pattern.
var blanks = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x115F, Hi: 0x1160, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1},
}}

// plain reports whether a rune shows itself, alone, where it stands: not a control, a format, a mark that is drawn over
// its neighbour, a space other than the blank, or a letter that turns the direction of writing.
func plain(r rune) bool {
	if r >= ' ' && r <= '~' {
		return true
	}
	return unicode.IsGraphic(r) && r != utf8.RuneError && !unicode.In(r, unicode.Zs, unicode.Mn, unicode.Me, rightToLeft, blanks)
}

// readable reports whether a text consists of lines that may be shown as they are.
func readable(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !plain(r) }) < 0
}

// escaped writes what is not plain as \u{HEX}, and a byte that is no UTF-8 as \x{HEX}: neither is a way JSON spells
// anything.
func escaped(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := escape(&b, s)
		s = s[n:]
	}
	return b.String()
}

// escape writes the first sign of s and returns its length.
func escape(b *strings.Builder, s string) int {
	switch r, n := utf8.DecodeRuneInString(s); {
	case r == utf8.RuneError && n == 1:
		fmt.Fprintf(b, `\x{%02x}`, s[0])
		return 1
	case plain(r):
		b.WriteString(s[:n])
		return n
	default:
		fmt.Fprintf(b, `\u{%04x}`, r)
		return n
	}
}

// quoted puts a text from outside in quotes, so that where it begins and ends cannot be imitated.
func quoted(s string) string {
	q, _ := quotedTo(math.MaxInt, s)
	return q
}

// quotedTo is quoted for as much of s as fits into so many bytes, and how much of it is left.
func quotedTo(most int, s string) (q string, left int) {
	var b strings.Builder
	b.WriteByte('"')
	for len(s) > 0 {
		var sign strings.Builder
		n := 1
		if s[0] == '"' || s[0] == '\\' {
			sign.WriteString(`\` + s[:1])
		} else {
			n = escape(&sign, s)
		}
		if b.Len()+sign.Len()+1 > most {
			break
		}
		b.WriteString(sign.String())
		s = s[n:]
	}
	b.WriteByte('"')
	return b.String(), len(s)
}

// cutTo is quoted for what is not part of the act: at most so many bytes, and it says that there were more.
func cutTo(most int, s string) string {
	q, left := quotedTo(most, s)
	if left == 0 {
		return q
	}
	return fmt.Sprintf("%s and %d more bytes", q, left)
}

// maxForeign is how many signs outside ASCII are named.
const maxForeign = 6

// foreign names the signs of a text outside ASCII: a Cyrillic letter that looks like a Latin one is told apart by it.
func foreign(s string) string {
	var names []string
	seen := map[rune]bool{}
	for _, r := range s {
		if r < utf8.RuneSelf || !plain(r) || seen[r] {
			continue
		}
		seen[r] = true
		if len(names) == maxForeign {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	if len(names) == 0 {
		return ""
	}
	return "  (not plain ASCII: " + strings.Join(names, " ") + ")"
}

// named writes a name as it is where it is an ordinary one, and in quotes otherwise.
func named(s string) string {
	ordinary := s != "" && len(s) <= 64
	for i := range len(s) {
		c := s[i]
		ordinary = ordinary && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.')
	}
	if ordinary {
		return s
	}
	return quoted(s) + foreign(s)
}
