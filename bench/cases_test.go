package bench_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"interlock/bench"
)

// Verifies: Q01
func TestEveryCaseMakesItsDecision(t *testing.T) {
	cases, err := bench.Cases()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.Name] || c.Answer == "" {
			t.Errorf("%q stands twice, or has no answer", c.Name)
		}
		seen[c.Name] = true
		for range 3 { // the third time as the first
			if err := c.Do(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, n := range bench.Crowds() {
		if !seen[bench.CrowdName(n)] {
			t.Errorf("no case of %d capabilities", n)
		}
	}
}

// What a call allocates does not depend on how many capabilities there are.
//
// Verifies: Q03
func TestACallAllocatesTheSameAmongMany(t *testing.T) {
	cases, err := bench.Cases()
	if err != nil {
		t.Fatal(err)
	}
	allocs := map[string]float64{}
	for _, c := range cases {
		if strings.HasPrefix(c.Name, "one of ") {
			allocs[c.Name] = testing.AllocsPerRun(50, func() { _ = c.Do() })
		}
	}
	few := allocs[bench.CrowdName(10)]
	for name, n := range allocs {
		if n > few+1 || few == 0 { // what is not kept between calls may be made once more
			t.Errorf("%s: %g allocations, %g among 10", name, n, few)
		}
	}
}

// Verifies: Q02
func TestSpread(t *testing.T) {
	var took []time.Duration
	for i := range 1000 {
		took = append(took, time.Duration(999-i)*time.Microsecond)
	}
	want := bench.Spread{N: 1000, MinUS: 0, MedianUS: 500, P99US: 990, MaxUS: 999, MeanUS: 499.5}
	if got := bench.Of(took); got != want {
		t.Errorf("%+v", got)
	}
	if got := bench.Of(nil); got != (bench.Spread{}) {
		t.Errorf("of nothing: %+v", got)
	}
	runs, broken := 0, errors.New("broken")
	count := func() error { runs++; return nil }
	s, err := bench.Measure(33, count, count)
	if err != nil || len(s) != 2 || s[0].N != 33 || s[1].N != 33 || runs != 2*(4+33) || s[1].MedianUS > s[1].MaxUS {
		t.Errorf("%+v, %v after %d runs", s, err, runs)
	}
	for _, at := range []int{1, 10} { // while warming up, and while measuring
		runs = 0
		if _, err := bench.Measure(20, func() error {
			if runs++; runs == at {
				return broken
			}
			return nil
		}); !errors.Is(err, broken) || runs != at {
			t.Errorf("%v after %d runs", err, runs)
		}
	}
}
