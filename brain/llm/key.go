package llm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxKeyBytes bounds a key; a longer file is no key.
const maxKeyBytes = 4096

// hidden stands for a key wherever one is printed.
const hidden = "[key]"

// Key is what a server knows a caller by. It can be sent to a server and never printed: every way to format, log or
// encode it yields "[key]". The zero value is no key.
type Key struct{ secret *string } // a pointer, since fmt looks into the fields of others without asking their methods

// KeyFrom reads a key from the environment variable or, where that is unset, from the file that the variable with the
// suffix _FILE names. Neither is no key, and no error.
func KeyFrom(lookup func(string) (string, bool), variable string) (Key, error) {
	if v, ok := lookup(variable); ok {
		return NewKey(v)
	}
	path, ok := lookup(variable + "_FILE")
	if !ok {
		return Key{}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return Key{}, fmt.Errorf("%s_FILE: %w", variable, err)
	}
	if info.Size() > maxKeyBytes {
		return Key{}, fmt.Errorf("%s_FILE names a file of %d bytes; that is no key", variable, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("%s_FILE: %w", variable, err)
	}
	return NewKey(strings.TrimSpace(string(text)))
}

// NewKey makes a key of a text, which is 8 to 4096 visible ASCII characters: a shorter one is nowhere recognised for sure.
func NewKey(secret string) (Key, error) {
	if len(secret) < 8 || len(secret) > maxKeyBytes {
		return Key{}, fmt.Errorf("a key has 8 to %d characters", maxKeyBytes)
	}
	for _, c := range []byte(secret) {
		if c <= ' ' || c > '~' {
			return Key{}, errors.New("a key holds visible ASCII characters only")
		}
	}
	return Key{&secret}, nil
}

// Set reports whether there is a key.
func (k Key) Set() bool { return k.secret != nil }

// String, GoString, Format and MarshalText keep the key out of every text.
func (k Key) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (k Key) GoString() string { return hidden }

// Format implements fmt.Formatter for every verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(hidden)) }

// MarshalText implements encoding.TextMarshaler.
func (k Key) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// in reports whether the text holds the key.
func (k Key) in(text []byte) bool { return k.Set() && bytes.Contains(text, []byte(*k.secret)) }
