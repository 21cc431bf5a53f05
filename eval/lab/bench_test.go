package lab_test

import (
	"context"
	"testing"

	"interlock/brain/llm/scripted"
	"interlock/eval"
)

// BenchmarkSeven plays whole episodes of the seven requests with every persona, gate ON, on one core: raw text to
// measured verdict, the judge included.
func BenchmarkSeven(b *testing.B) {
	suite, l := load(b, "seven.yaml")
	plan := eval.Plan{Agents: scripted.Names(), Gates: []bool{true}, Body: "sim", Workers: 1}
	episodes := 0
	for b.Loop() {
		r, err := eval.Run(context.Background(), suite, plan, l)
		if err != nil {
			b.Fatal(err)
		}
		episodes += len(r.Episodes)
	}
	b.ReportMetric(float64(episodes)/b.Elapsed().Seconds(), "episodes/s")
	b.ReportMetric(0, "ns/op")
}
