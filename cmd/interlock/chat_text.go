package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shown is a text from outside (a person, a model, a sensor's label) as it may be printed: what could move the cursor,
// break the line or turn the direction of writing is escaped, visibly.
func shown(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r < 0x100 && hidden(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// hidden reports whether a rune is nothing that ink could show: controls, formats, surrogates, private use, and the
// separators of lines and paragraphs.
func hidden(r rune) bool { return !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029' }

// asciiControls escapes in encoded JSON what a terminal could take for a command; the JSON means the same.
func asciiControls(encoded []byte) []byte {
	if bytes.IndexFunc(encoded, hidden) < 0 {
		return encoded
	}
	var out []byte
	for _, r := range string(encoded) {
		switch {
		case !hidden(r) || r == '\n':
			out = utf8.AppendRune(out, r)
		case r > 0xFFFF:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// cleaned is what a person typed without escape sequences and invisible signs, and how many signs that took out. White
// space becomes single blanks.
func cleaned(line string) (words string, removed int) {
	var b strings.Builder
	for i := 0; i < len(line); {
		if n := sequence(line[i:]); n > 0 {
			removed += n
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case hidden(r):
			removed++
		default:
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " "), removed
}

// sequence is the length of the escape sequence at the start of a text: CSI with its parameters, or ESC and one sign; 0
// if there is none.
func sequence(s string) int {
	body, ok := strings.CutPrefix(s, "\x1b")
	lead := 1
	switch {
	case ok && strings.HasPrefix(body, "["):
		lead = 2
	case strings.HasPrefix(s, "\u009b"):
		lead = len("\u009b")
	case !ok:
		return 0
	default:
		if len(body) > 0 && body[0] >= ' ' && body[0] <= '~' {
			return 2
		}
		return 1
	}
	for i := lead; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7E:
			return i + 1
		case c < 0x20 || c > 0x3F:
			return i
		}
	}
	return len(s)
}

// plainWords is an utterance as word lists compare it: lower case, without punctuation around it.
func plainWords(utterance string) string {
	return strings.TrimFunc(strings.ToLower(utterance), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// wordList is a configurable list of whole utterances.
type wordList []string

// has reports whether the whole utterance is one of the list, or one of it said several times.
func (l wordList) has(utterance string) bool {
	said := plainWords(utterance)
	for _, w := range l {
		if said == w {
			return true
		}
	}
	parts := strings.FieldsFunc(said, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, p := range parts {
		if !l.single(p) {
			return false
		}
	}
	return len(parts) > 0
}

// mentions reports whether one of the list's single words stands in the utterance.
func (l wordList) mentions(utterance string) bool {
	for _, p := range strings.Fields(strings.ToLower(utterance)) {
		if l.single(plainWords(p)) {
			return true
		}
	}
	return false
}

func (l wordList) single(word string) bool {
	for _, w := range l {
		if word == w {
			return true
		}
	}
	return false
}

// listOf reads a flag's words.
func listOf(words []string) (l wordList) {
	for _, w := range words {
		if p := plainWords(w); p != "" {
			l = append(l, p)
		}
	}
	return l
}
