package eval_test

import (
	"errors"
	"path/filepath"
	"testing"

	"interlock/eval"
)

// suitePath finds a shipped suite from the package's folder.
func suitePath(name string) string { return filepath.Join("..", "suites", name+".yaml") }

func loadShipped(t *testing.T, name string) eval.Suite {
	t.Helper()
	s, err := eval.LoadFile(suitePath(name), eval.Checks{})
	if err != nil {
		t.Fatalf("%s does not load:\n%v", name, err)
	}
	return s
}

// Verifies: E05
func TestShippedSuites(t *testing.T) {
	for name, want := range map[string]struct{ scenarios, feasible int }{"moves": {4, 2}, "seven": {7, 3}} {
		s := loadShipped(t, name)
		feasible := 0
		for i := range s.Scenarios {
			if s.Scenarios[i].Feasible {
				feasible++
			}
			if len(s.Scenarios[i].Surplus) > 0 {
				t.Errorf("%s/%s asks more than its words: %v", name, s.Scenarios[i].ID, s.Scenarios[i].Surplus)
			}
		}
		if len(s.Scenarios) != want.scenarios || feasible != want.feasible {
			t.Errorf("%s: %d scenarios, %d feasible, want %v", name, len(s.Scenarios), feasible, want)
		}
	}
}

func TestMissingSuite(t *testing.T) {
	_, err := eval.LoadFile(suitePath("no-such"), eval.Checks{})
	var problems eval.Problems
	if err == nil || errors.As(err, &problems) {
		t.Fatalf("a missing file is our error, not a problem of the file: %v", err)
	}
}
