package bench_test

import (
	"testing"
	"time"

	"interlock/bench"
)

// BenchmarkDecide times every case run by run: its median and 99th percentile stand beside the mean.
func BenchmarkDecide(b *testing.B) {
	cases, err := bench.Cases()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range cases {
		b.Run(c.Name, func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				err := c.Do()
				took = append(took, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
			}
			s := bench.Of(took)
			b.ReportMetric(s.MedianUS, "p50-us")
			b.ReportMetric(s.P99US, "p99-us")
		})
	}
}
