package guard

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"interlock/body"
)

// A further cause of a stop is told though the first one is long, or has it in its words; one that has no room is said to be left
// out, once; and one that is told already is not told again, also where it was shortened.
//
// Verifies: P04, D142
func TestEveryCauseOfAStopIsTold(t *testing.T) {
	long := strings.Repeat("é", 1000)
	for name, c := range map[string]struct {
		first    string
		then     []string
		has, not []string // as a cause of its own
	}{
		"a long first":            {long, []string{"stop_unconfirmed"}, []string{"stop_unconfirmed"}, []string{more}},
		"a part of the first":     {"halt_failed: silence", []string{"silence", "halt_failed"}, []string{"silence", "halt_failed"}, nil},
		"more than a later one":   {"a", []string{"silence at 3", "silence"}, []string{"silence at 3", "silence"}, nil},
		"a long one":              {"a", []string{"b: " + long, "c", "b: " + long}, []string{"c"}, []string{more}},
		"a long one that was cut": {long, []string{"b: " + long, "b: " + long}, nil, []string{more}},
		"none left":               {long, []string{"b: " + long, "c", "d", "b: " + long}, []string{more}, []string{"c", "d"}},
		"no words":                {"a", []string{""}, nil, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var l latch
			told := 0
			l.changed = func(body.Latch) { told++ }
			l.trip(c.first)
			for _, reason := range c.then {
				l.tripAgain(reason)
			}
			is := l.read()
			causes := strings.Split(is.Reason, then)
			count := map[string]int{}
			for _, cause := range causes {
				if count[cause]++; count[cause] > 1 {
					t.Errorf("%q is told twice in %q", cause, is.Reason)
				}
			}
			for _, cause := range c.has {
				if count[cause] != 1 {
					t.Errorf("%q is not told in %q", cause, is.Reason)
				}
			}
			for _, cause := range c.not {
				if count[cause] > 0 {
					t.Errorf("%q is told in %q", cause, is.Reason)
				}
			}
			if told != len(causes) || is.Number != 1 || len(is.Reason) > maxReason || !utf8.ValidString(is.Reason) {
				t.Errorf("%d changes were told of stop %d, %d bytes, %q", told, is.Number, len(is.Reason), is.Reason)
			}
		})
	}
}

// However many causes come, of whatever length: each is in the reason or "…" is its end, also behind one that an older driver left.
//
// Verifies: D142
func TestNoCauseIsLeftOutInSilence(t *testing.T) {
	for first := range maxReason + 10 {
		for _, size := range []int{1, 30, 39, 40, 41, 150, 500} {
			var l latch
			l.recall(body.Latch{Stopped: true, Number: 7, Reason: strings.Repeat("x", first)})
			for i := range 20 {
				cause := fmt.Sprintf("%02d%s", i, strings.Repeat("y", size))
				l.tripAgain(cause)
				was := l.read().Reason
				l.tripAgain(cause)
				is := l.read().Reason
				if !strings.Contains(is, then+cause[:min(len(cause), 20)]) && !strings.HasSuffix(is, then+more) || is != was || len(is) > maxReason {
					t.Fatalf("after %d bytes cause %d of %d is not told: %d bytes, %q, then %q", first, i, size, len(is), was, is)
				}
			}
		}
	}
}
