package llm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Text decodes one JSON string literal and keeps what the model wrote: bytes that are not UTF-8 stay as they are, and a
// lone surrogate becomes the three bytes that its number has, which are not UTF-8 either. Nothing turns into a
// replacement character, so that whoever reads the text can still refuse it. ok is false where literal is no JSON string;
// null and an absent literal are an empty text.
func Text(literal []byte) (text []byte, ok bool) {
	if len(literal) == 0 || string(literal) == "null" {
		return nil, true
	}
	if len(literal) < 2 || literal[0] != '"' || literal[len(literal)-1] != '"' {
		return nil, false
	}
	src := literal[1 : len(literal)-1]
	text = make([]byte, 0, len(src))
	for i := 0; i < len(src); {
		if src[i] != '\\' {
			text = append(text, src[i])
			i++
			continue
		}
		unit, length := escape(src[i:])
		if length == 0 {
			return nil, false
		}
		i += length
		if utf16.IsSurrogate(unit) {
			if low, n := escape(src[i:]); n == 6 && utf16.DecodeRune(unit, low) != utf8.RuneError {
				unit, i = utf16.DecodeRune(unit, low), i+n
			} else {
				text = append(text, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0xbf, 0x80|byte(unit)&0xbf)
				continue
			}
		}
		text = utf8.AppendRune(text, unit)
	}
	return text, true
}

// escape reads one escape at the beginning of src: its UTF-16 unit and its length, 0 where there is none.
func escape(src []byte) (unit rune, length int) {
	if len(src) < 2 || src[0] != '\\' {
		return 0, 0
	}
	switch src[1] {
	case '"', '\\', '/':
		return rune(src[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		var unit [2]byte
		if len(src) < 6 {
			return 0, 0
		}
		if _, err := hex.Decode(unit[:], src[2:6]); err != nil {
			return 0, 0
		}
		return rune(unit[0])<<8 | rune(unit[1]), 6
	}
	return 0, 0
}

// Unfinished reports whether the text ends inside a JSON value that is sound as far as it goes.
func Unfinished(text []byte) bool {
	var v json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(text)).Decode(&v), io.ErrUnexpectedEOF)
}
