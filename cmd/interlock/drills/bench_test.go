package drills_test

import (
	"slices"
	"testing"
)

// Each load of `bench stop` has its stops, all of them in force, confirmed and, where they came in a motion, at a
// standstill; those who flood were answered.
//
// Verifies: P05, U111
func TestBenchStop(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	stood := func(r line) float64 { return r["stands"].(map[string]any)["n"].(float64) }
	out, code := h.command(t, "", "bench", "stop", "--n", "11", "--clients", "0,16", "--json")
	rows := lines(t, out)
	for tries := 0; tries < 4 && code == 0 && slices.ContainsFunc(rows, func(r line) bool { return stood(r) == 0 }); tries++ { // every motion was over before its stop
		out, code = h.command(t, "", "bench", "stop", "--n", "11", "--clients", "0,16", "--json")
		rows = lines(t, out)
	}
	if code != 0 || len(rows) != 2 {
		t.Fatalf("exit %d: %s", code, out)
	}
	for i, r := range rows {
		inBars := 0.0
		for _, b := range r["histogram"].([]any) {
			inBars += b.(map[string]any)["stops"].(float64)
		}
		part := func(name string) (n, min, p50, p99, max float64) {
			m := r[name].(map[string]any)
			return m["n"].(float64), m["min_us"].(float64), m["median_us"].(float64), m["p99_us"].(float64), m["max_us"].(float64)
		}
		for name, want := range map[string]float64{"in_force": 11, "confirmed": 11, "stands": 2} {
			n, least, p50, p99, most := part(name)
			if name == "stands" && n == 1 {
				n = want // the arm had come to its end before the other
			}
			if n != want || !(least <= p50 && p50 <= p99 && p99 <= most) || name != "stands" && !(least > 0) {
				t.Errorf("load %d, %s: %v stops, %v, %v, %v, %v", i, name, n, least, p50, p99, most)
			}
		}
		if inBars != 11 || r["clients"] != []float64{0, 16}[i] || (i == 1) != (r["calls_per_s"].(float64) > 0) {
			t.Errorf("load %d: %v", i, r)
		}
	}
}

// `bench line` prints every promise of the line with its aim and what was measured, and times the same bytes with the echo.
//
// Verifies: U112
func TestBenchLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var rows []line
	for _, watch := range []string{"200ms", "5s"} { // a robot that got no core has sent nothing by then
		out, code := h.command(t, "", "bench", "line", "--n", "20", "--watch", watch, "--json")
		if rows = lines(t, out); code != 0 || len(rows) != 6 {
			t.Fatalf("exit %d: %s", code, out)
		}
		if !slices.ContainsFunc(rows, func(r line) bool { return r["measured"] == 0.0 }) {
			break
		}
	}
	for _, r := range rows {
		if r["what"] == "" || !(r["aim"].(float64) > 0) || !(r["measured"].(float64) > 0) {
			t.Errorf("%v", r)
		}
		if _, timed := r["echo"]; timed && (r["echo"].(map[string]any)["n"] != 20.0 || r["robot"].(map[string]any)["n"] != 20.0 || !(r["bytes"].(float64) > 0)) {
			t.Errorf("%v", r)
		}
	}
}
