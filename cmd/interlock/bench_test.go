package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Verifies: K31
func TestBenchIKPrintsEverySolver(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"bench", "ik", "--n", "300", "--json"}, &out, &errOut); code != exitFine {
		t.Fatalf("exit %d: %s", code, errOut.String())
	}
	solved := map[string]int{}
	d := json.NewDecoder(&out)
	for d.More() {
		var r ikRow
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		solved[r.Solver] = r.Solved
		if r.N != 300 || !(0 < r.MinUS && r.MinUS <= r.MedianUS && r.MedianUS <= r.P99US && r.P99US <= r.MaxUS) || r.MeanUS < r.MinUS || r.Allocs != 0 {
			t.Errorf("%+v", r)
		}
	}
	if len(solved) != 3 || solved["best"] != 300 || solved["best pose"] != 300 || solved["dls"] < 200 || solved["dls"] == 300 {
		t.Errorf("solved of 300: %v", solved)
	}
	out.Reset()
	if code := run(t.Context(), []string{"bench", "ik", "--n", "50"}, &out, &errOut); code != exitFine || strings.Count(out.String(), "best") != 2 {
		t.Errorf("exit %d: %s", code, out.String())
	}
	for _, bad := range []string{"0", "-1", "x", "100000000"} {
		if code := run(t.Context(), []string{"bench", "ik", "--n", bad}, &out, &errOut); code != exitBadInput {
			t.Errorf("--n %s: exit %d", bad, code)
		}
	}
}

// Verifies: Q04
func TestBenchDecidePrintsEveryCase(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"bench", "decide", "--n", "20", "--json"}, &out, &errOut); code != exitFine {
		t.Fatalf("exit %d: %s", code, errOut.String())
	}
	answers := map[string]int{}
	limits, n := 0, 0
	d := json.NewDecoder(&out)
	for d.More() {
		var r decideRow
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		answers[r.Answer]++
		n++
		if r.LimitUS > 0 {
			limits++
		}
		if r.Case == "" || r.N != 20 || !(0 < r.MinUS && r.MinUS <= r.MedianUS && r.MedianUS <= r.P99US && r.P99US <= r.MaxUS) || r.MeanUS < r.MinUS {
			t.Errorf("%+v", r)
		}
	}
	if n != 16 || limits != 5 || answers["cleared"] != 7 || answers["MALFORMED"] != 2 || answers["UNREACHABLE"] != 1 || answers["pending"] != 1 {
		t.Errorf("%d cases, %d with a limit: %v", n, limits, answers)
	}
	out.Reset()
	if code := run(t.Context(), []string{"bench", "decide", "--n", "5"}, &out, &errOut); code != exitFine || !strings.Contains(out.String(), "from 10 to 10000 capabilities") {
		t.Errorf("exit %d: %s", code, out.String())
	}
	for _, bad := range []string{"0", "-1", "x", "10000000"} {
		if code := run(t.Context(), []string{"bench", "decide", "--n", bad}, &out, &errOut); code != exitBadInput {
			t.Errorf("--n %s: exit %d", bad, code)
		}
	}
}
