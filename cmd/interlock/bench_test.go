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
