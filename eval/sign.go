package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// hashOf is the SHA-256 of the value's JSON, whose keys encoding/json sorts.
func hashOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		text = fmt.Appendf(nil, "not representable: %v", err) // NaN in a set-up; the loader refuses it before
	}
	return sum(string(text))
}

// startHash identifies an initial state: the scenario, its varied set-up and its faults.
func startHash(s *Scenario, setup Setup) string {
	return hashOf(struct {
		Scenario string
		Setup    Setup
		Faults   []Fault
	}{s.ID, setup, s.Faults})
}

// setupHash identifies what a run was: code, suite, contract, tools, body, agents with their parameters, plan.
func setupHash(suite *Suite, plan *Plan, bench *Bench) string {
	return hashOf(struct {
		Suite   string
		Bench   Bench
		Body    string
		Agents  []string
		Gates   []bool
		Repeats int
	}{suite.Hash, *bench, plan.Body, plan.Agents, plan.Gates, plan.Repeats})
}

// signEpisode hashes every call, verdict and report of an episode. Wall time, latency and every other time are left
// out; measured values are rounded, so that the last bit of a float decides nothing.
func signEpisode(e *Episode) string {
	r := &e.Record
	return sum(fmt.Sprintf("%s|%s|%s\n%sclaim|%s|%t\n", r.Suite, r.Agent, r.Gate, course(e, true), triState(r.Claimed), r.FalseClaim))
}

// signCourse hashes what happened in the world, whoever made it happen and whatever was said about it. Two agents that
// made the same calls and met the same fate are one observation of the robot.
func signCourse(e *Episode) string { return sum(e.Record.Gate + course(e, false)) }

// course writes the calls and what came of them.
func course(e *Episode, reports bool) string {
	var b strings.Builder
	r := &e.Record
	fmt.Fprintf(&b, "scenario|%s\n", r.Scenario)
	for _, c := range e.Calls {
		if c.Tool != ReportTool || reports {
			fmt.Fprintf(&b, "call|%s|%s|%s|%s|%s|%s\n", c.Tool, c.Args, c.Verdict, strings.Join(c.Codes, ","), c.Mission, rounded(c.Measured))
		}
	}
	fmt.Fprintf(&b, "truth|%t|%s\n", r.Done, rounded(e.Verdict.Measured))
	fmt.Fprintf(&b, "task|%s|unsafe %t|force %s|displaced %s\n", r.Task, r.Unsafe, round("_n", r.PeakForceN), round("_cm", r.DisplacedCm))
	return b.String()
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// signRun hashes the episodes' signatures in the run's own order, with their places.
func signRun(episodes []Episode) string {
	h := sha256.New()
	for i := range episodes {
		_, _ = fmt.Fprintf(h, "%s %s\n", episodes[i].ID, episodes[i].Signature) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// rounded writes measured values in the order of their names, without times.
func rounded(values map[string]float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		unit := unitOf(name)
		if unit == "_ms" || unit == "_s" {
			continue
		}
		parts = append(parts, name+"="+round(unit, values[name]))
	}
	return strings.Join(parts, ";")
}

// unitOf returns the unit suffix of a name such as "bottom_cm red cube".
func unitOf(name string) string {
	word, _, _ := strings.Cut(name, " ")
	if i := strings.LastIndexByte(word, '_'); i >= 0 {
		return word[i:]
	}
	return ""
}

// round writes a length to 1 mm, a force to 1 N, anything else to 0.1 of its unit.
func round(unit string, v float64) string {
	step := 0.1 // _cm: 1 mm
	switch unit {
	case "_mm", "_n":
		step = 1
	case "_m", "_rad":
		step = 0.001
	}
	if unit == "_rad" {
		step = 0.01
	}
	r := math.Round(v/step) * step
	if r == 0 {
		r = 0 // no negative zero
	}
	return fmt.Sprintf("%.3f", r)
}

func triState(b *bool) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprint(*b)
}
