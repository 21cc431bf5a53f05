package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"interlock/bench"
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

// What measures processes refuses counts that nobody can mean.
//
// Verifies: U111
func TestBenchOfProcessesRefusesBadCounts(t *testing.T) {
	var out, errOut bytes.Buffer
	for _, line := range [][]string{
		{"stop", "--n", "0"}, {"stop", "--n", "x"}, {"stop", "--clients", "-1"}, {"stop", "--clients", "0,100000"}, {"line", "--n", "0"}, {"line", "--watch", "0s"},
		{"flood", "--clients", "0"}, {"flood", "--clients", "1000000"}, {"echo", "--dir", "nowhere"}, {"stop", "more"},
	} {
		if code := run(t.Context(), append([]string{"bench"}, line...), &out, &errOut); code != exitBadInput {
			t.Errorf("bench %v: exit %d", line, code)
		}
	}
}

// What people read of a stop's benchmark has each load with its aim and a bar for every stop; of the line's, each aim with
// whether it was met.
//
// Verifies: U111, U112
func TestBenchOfProcessesIsPrinted(t *testing.T) {
	ms := func(n ...int) (took []time.Duration) {
		for _, v := range n {
			took = append(took, time.Duration(v)*time.Millisecond)
		}
		return took
	}
	quick, slow := ms(1, 1, 1, 2, 3), ms(1, 40, 41, 600)
	var out bytes.Buffer
	err := printStop(&out, []stopRow{
		{Clients: 0, Confirmed: bench.Of(ms(1, 1, 1, 2, 3)), Took: histogramOf(quick), AimUS: 25_000, P99Ratio: 1},
		{Clients: 64, Confirmed: bench.Of(ms(1, 40, 41, 600)), Took: histogramOf(slow), AimUS: 25_000, P99Ratio: 200},
	})
	text := out.String()
	if err != nil || strings.Count(text, "within the aim") != 1 || strings.Count(text, "BEYOND the aim") != 1 || !strings.Contains(text, "and more") {
		t.Errorf("%v:\n%s", err, text)
	}
	if stops := 0; len(histogramOf(slow)) != histogramEdges+1 {
		t.Error("edges are missing")
	} else {
		for _, h := range histogramOf(slow) {
			stops += h.Stops
		}
		if stops != len(slow) {
			t.Errorf("%d of %d stops have a bar", stops, len(slow))
		}
	}
	out.Reset()
	err = printLine(&out, 5, []lineRow{
		{What: "a", Aim: 1.3, Measured: 1.2}, {What: "b", Aim: 1.3, Measured: 1.4}, {What: "c", Aim: 10, AtLeast: true, Measured: 9}, {What: "d", Aim: 10, AtLeast: true, Measured: 10},
	})
	if text = out.String(); err != nil || strings.Count(text, "MISSED") != 2 || strings.Count(text, "met") != 2 {
		t.Errorf("%v:\n%s", err, text)
	}
}
