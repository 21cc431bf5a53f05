package gate_test

import (
	"testing"

	"interlock/robot/gate"
	"interlock/world"
)

// measure judges one call on the shipped robot, again and again.
func measure(b *testing.B, verb, args string, wantOK bool, seen ...world.Object) {
	b.Helper()
	g, _ := tabletop(b)
	w, st, c := atHome(seen...), armStanding(), call(verb, args)
	var lic gate.Licence = licence{"red cube"}
	b.ReportAllocs()
	for b.Loop() {
		if cleared, l := g.Judge(c, w, st, lic); cleared.OK() != wantOK {
			b.Fatal(l)
		}
	}
}

func BenchmarkJudgeMove(b *testing.B) {
	measure(b, "move_to", `{"x_cm":20,"y_cm":5,"z_cm":15}`, true)
}
func BenchmarkJudgeBelowFloor(b *testing.B) {
	measure(b, "move_to", `{"x_cm":20,"y_cm":0,"z_cm":-5}`, false)
}
func BenchmarkJudgeUnreachable(b *testing.B) {
	measure(b, "move_to", `{"x_cm":70,"y_cm":0,"z_cm":10}`, false)
}
func BenchmarkJudgePick(b *testing.B) {
	measure(b, "pick", `{"name":"red cube"}`, true, redAt(0.22, 0.03))
}
func BenchmarkJudgeNoSuchObject(b *testing.B) {
	measure(b, "pick", `{"name":"blue cube"}`, false, redAt(0.22, 0.03))
}
func BenchmarkJudgeLook(b *testing.B) {
	measure(b, "find_object", `{"name":"red cube"}`, true, redAt(0.22, 0.03))
}
func BenchmarkJudgeMalformed(b *testing.B) {
	measure(b, "move_to", `{"x_cm":20,"y_cm":0,"z_cm":}`, false)
}
func BenchmarkJudgeShape(b *testing.B) {
	measure(b, "move_to", `{"x_cm":true,"y_cm":0}`, false)
}

// BenchmarkJudgeGateAlone is a feasible move with a planner that costs nothing: what the gate itself takes.
func BenchmarkJudgeGateAlone(b *testing.B) {
	g, _ := bench(b)
	w, st, c := snapshot(), standing(), call("move_to", good["move_to"])
	b.ReportAllocs()
	for b.Loop() {
		if cleared, l := g.Judge(c, w, st, nil); !cleared.OK() {
			b.Fatal(l)
		}
	}
}
