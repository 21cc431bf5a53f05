package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// testedBy names the package whose tests are a room's, where these are not its own: contract is the one door to
// contract/rule, and tests it through that door.
var testedBy = map[string]string{"contract/rule": "contract"}

// result is how a sabotage fared.
type result struct {
	by   string // the first test that failed; empty: all passed
	took time.Duration
}

// play runs the tests of the sabotaged room. An error means that nothing was proved: the list is stale, the sabotaged
// room does not build, or its tests could not be run.
func play(root string, s sabotage) (result, error) {
	files, err := s.apply(root)
	if err != nil {
		return result{}, err
	}
	dir, err := os.MkdirTemp("", "sabotage")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays behind is a temporary folder
	overlay, err := writeOverlay(root, dir, files)
	if err != nil {
		return result{}, err
	}
	room := s.room
	if other := testedBy[room]; other != "" {
		room = other
	}
	args := append([]string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout=120s", "./" + room}, flags(root, room)...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	r := result{took: time.Since(begun)}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return r, nil
	case !errors.As(err, &exit):
		return r, err
	}
	if r.by = firstFailure(string(out)); r.by == "" {
		return r, fmt.Errorf("%s: no test failed, the run did:\n%s", s, out)
	}
	return r, nil
}

// writeOverlay writes the sabotaged files below dir and returns the file that tells the go command about them.
func writeOverlay(root, dir string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for i, name := range sorted(files) {
		to := filepath.Join(dir, strconv.Itoa(i)+".go")
		if err := os.WriteFile(to, files[name], 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// flags are those of the random tests, where a room has some: the same rolls on every run, and no file for a failure.
func flags(root, room string) []string {
	tests, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(room), "*_test.go"))
	for _, t := range tests {
		if src, err := os.ReadFile(t); err == nil && strings.Contains(string(src), `"pgregory.net/rapid"`) {
			return []string{"-rapid.nofailfile", "-rapid.seed=1"}
		}
	}
	return nil
}

// failure is the line by which a test says that it failed.
var failure = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// firstFailure returns the deepest name of the first test that failed; "" if none did.
func firstFailure(out string) string {
	name := ""
	for _, m := range failure.FindAllStringSubmatch(out, -1) {
		if name != "" && !strings.HasPrefix(m[1], name+"/") {
			break
		}
		name = m[1]
	}
	return name
}
