// Package golden compares what a test made with a file in its testdata, and rewrites the file when the test runs with
// -update, so that a change of behaviour is reviewed as a diff. Only tests import it. It must never write without the
// flag.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Update returns whether the test binary was asked to rewrite its golden files.
func Update() bool { return *update }

// update is the flag every test binary that imports this package gets.
var update = flag.Bool("update", false, "rewrite golden files instead of comparing with them")

// Compare fails the test unless got equals the file testdata/name. With -update it writes the file instead.
func Compare(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\nrun the test with -update to write it", err)
	}
	if line, was, is := firstDifference(string(want), string(got)); line > 0 {
		t.Errorf("%s:%d: not as recorded\nwant %s\ngot  %s\nrun the test with -update to record what it does now, and review the diff", path, line, was, is)
	}
}

func write(t testing.TB, path string, got []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, got, 0o644); err != nil {
		t.Fatal(err)
	}
}

// firstDifference returns the first line, counted from 1, in which two texts differ, and both versions of it; 0 if
// they are equal. A missing line reads "(end of file)".
func firstDifference(want, got string) (line int, was, is string) {
	if want == got {
		return 0, "", ""
	}
	w, g := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for line = 0; line < len(w) && line < len(g) && w[line] == g[line]; line++ {
	}
	return line + 1, lineOr(w, line), lineOr(g, line)
}

func lineOr(lines []string, i int) string {
	if i >= len(lines) || lines[i] == "" {
		return "(end of file)"
	}
	return strings.TrimSuffix(lines[i], "\n")
}
