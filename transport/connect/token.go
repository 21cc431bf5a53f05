package connect

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tokenBytes is the length of a token before it is written in hex: 128 bits nobody guesses.
const tokenBytes = 16

// Token returns the token in the file and makes a fresh one if there is no such file. Whoever can read the file can
// drive the robot, so a file that others than its owner may read is an error.
func Token(path string) (string, error) {
	token, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	fresh := make([]byte, tokenBytes)
	rand.Read(fresh) //nolint:errcheck // never fails: it crashes the program instead
	if err := writeNew(path, hex.EncodeToString(fresh)+"\n"); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return ReadToken(path) // of two processes that make one, both take the first
}

// ReadToken returns the token in the file.
func ReadToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("connect: token: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("connect: token: %s must be a plain file that only its owner may read (mode 0600), not %s", path, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("connect: token: %w", err)
	}
	token := strings.TrimSuffix(string(text), "\n")
	if raw, err := hex.DecodeString(token); err != nil || len(raw) < tokenBytes {
		return "", fmt.Errorf("connect: token: %s does not hold at least %d bits in hex", path, 8*tokenBytes)
	}
	return token, nil
}

// writeNew makes a file of mode 0600 that appears whole or not at all, and never takes the place of another.
func writeNew(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".token-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
