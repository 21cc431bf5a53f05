package archtest

import (
	"os"
	"strings"
	"sync"
	"testing"
)

// repository is the tree of this repository, read once for all tests.
var repository = sync.OnceValues(func() (*Tree, error) { return Load(os.DirFS("../..")) })

// hold fails the test for each finding of the check on this repository.
func hold(t *testing.T, check func(*Tree) []Finding) {
	t.Helper()
	tree, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) < 30 {
		t.Fatalf("only %d Go files were read: this is not the repository", len(tree.Files))
	}
	for _, f := range check(tree) {
		t.Error(f)
	}
}

// Verifies: H03
func TestImports(t *testing.T) { hold(t, CheckImports) }

// Verifies: H04
func TestDependencies(t *testing.T) { hold(t, CheckDependencies) }

// Verifies: P41
func TestOracle(t *testing.T) { hold(t, CheckOracle) }

// Verifies: H05
func TestDocs(t *testing.T) { hold(t, CheckDocs) }

// Verifies: H06
func TestSizes(t *testing.T) { hold(t, CheckSizes) }

// Verifies: H07
func TestPure(t *testing.T) { hold(t, CheckPure) }

// Verifies: H08
func TestGuarded(t *testing.T) { hold(t, CheckGuarded) }

// Verifies: H09
func TestHiddenWork(t *testing.T) { hold(t, CheckHiddenWork) }

// Verifies: H10
func TestPromises(t *testing.T) { hold(t, CheckPromises) }

// Verifies: H11
func TestTexts(t *testing.T) { hold(t, CheckTexts) }

// The table itself keeps the security boundary: no line lets a brain reach a trusted room, and none lets a robot reach
// a particular driver or transport.
//
// Verifies: H03
func TestTableKeepsTheBoundary(t *testing.T) {
	for _, r := range rooms {
		if strings.HasPrefix(r.name, "brain") || r.name == "mcp" {
			for m := range closure(r.name) {
				if m == everything || m == "body" || m == "robot" || strings.HasPrefix(m, "robot/") || strings.HasPrefix(m, "body/") || m == "contract" {
					t.Errorf("the table lets %s reach %s", r.name, m)
				}
			}
		}
		if r.name == "robot" || strings.HasPrefix(r.name, "robot/") {
			for m := range closure(r.name) {
				if m == everything || strings.HasPrefix(m, "brain") || strings.HasPrefix(m, "body/") || strings.HasPrefix(m, "transport/") || strings.HasPrefix(m, "eval") {
					t.Errorf("the table lets %s reach %s", r.name, m)
				}
			}
		}
	}
}

// A line that names a room without a line of its own would silently grant nothing, and one without a reason teaches
// nothing.
func TestTableIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rooms {
		if seen[r.name] {
			t.Errorf("%s has two lines", r.name)
		}
		seen[r.name] = true
		if r.why == "" {
			t.Errorf("%s has no reason", r.name)
		}
		for _, m := range r.may {
			if m != everything && lineOf(m) == nil {
				t.Errorf("%s may import %s, which is no room", r.name, m)
			}
		}
		if closure(r.name)[r.name] {
			t.Errorf("%s may import itself through others", r.name)
		}
	}
	for _, d := range dependencies {
		if d.why == "" {
			t.Errorf("%s has no reason", d.path)
		}
		for _, r := range d.rooms {
			if lineOf(r) == nil {
				t.Errorf("%s is for %s, which is no room", d.path, r)
			}
		}
	}
}
