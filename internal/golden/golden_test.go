package golden

import (
	"os"
	"testing"
)

// recorder is a testing.TB that keeps whether a comparison failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(r) }
func (r *recorder) compare(name, got string) bool {
	return r.run(func() { Compare(r, name, []byte(got)) })
}

// run reports whether f passed.
func (r *recorder) run(f func()) bool {
	defer func() {
		if p := recover(); p != nil && p != r {
			panic(p)
		}
	}()
	f()
	return !r.failed
}

func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	if new(recorder{TB: t}).compare("a/b.txt", "one\n") {
		t.Error("a missing file passed")
	}
	*update = true
	Compare(t, "a/b.txt", []byte("one\n"))
	*update = false
	for _, c := range []struct {
		got  string
		pass bool
	}{{"one\n", true}, {"two\n", false}, {"one\ntwo\n", false}, {"", false}, {"one", false}} {
		if got := (&recorder{TB: t}).compare("a/b.txt", c.got); got != c.pass {
			t.Errorf("%q passed: %v, want %v", c.got, got, c.pass)
		}
	}
	if kept, err := os.ReadFile("testdata/a/b.txt"); err != nil || string(kept) != "one\n" {
		t.Errorf("without the flag the file became %q (%v)", kept, err)
	}
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct {
		want, got string
		line      int
		was, is   string
	}{
		{"a\nb\n", "a\nb\n", 0, "", ""},
		{"a\nb\n", "a\nc\n", 2, "b", "c"},
		{"a\n", "a\nb\n", 2, "(end of file)", "b"},
		{"a\nb\n", "a\n", 2, "b", "(end of file)"},
		{"", "a", 1, "(end of file)", "a"},
	} {
		if line, was, is := firstDifference(c.want, c.got); line != c.line || was != c.was || is != c.is {
			t.Errorf("%q and %q differ at %d: %q, %q; want %d: %q, %q", c.want, c.got, line, was, is, c.line, c.was, c.is)
		}
	}
}
