package bench

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// Spread is how long one piece of work took over many runs, each timed by itself with the monotonic clock. Times are in
// microseconds of wall time, so what the system does meanwhile counts.
type Spread struct {
	N        int     `json:"n"`
	MinUS    float64 `json:"min_us"`
	MedianUS float64 `json:"median_us"`
	P99US    float64 `json:"p99_us"`
	MaxUS    float64 `json:"max_us"`
	MeanUS   float64 `json:"mean_us"`
	Allocs   float64 `json:"allocs"` // heap allocations a run, rounded down
}

// Measure times n runs one by one, after a tenth as many to warm up. The first error ends it.
func Measure(n int, do func() error) (Spread, error) {
	for range n/10 + 1 {
		if err := do(); err != nil {
			return Spread{}, err
		}
	}
	took := make([]time.Duration, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range took {
		start := time.Now()
		err := do()
		took[i] = time.Since(start)
		if err != nil {
			return Spread{}, err
		}
	}
	runtime.ReadMemStats(&after)
	s := Of(took)
	s.Allocs = math.Floor(float64(after.Mallocs-before.Mallocs) / float64(n))
	return s, nil
}

// Of returns the spread of the times, which it sorts. It says nothing of allocations.
func Of(took []time.Duration) Spread {
	n := len(took)
	if n == 0 {
		return Spread{}
	}
	slices.Sort(took)
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	return Spread{
		N: n, MinUS: us(took[0]), MedianUS: us(took[n/2]), P99US: us(took[n*99/100]), MaxUS: us(took[n-1]),
		MeanUS: us(sum / time.Duration(n)),
	}
}

// us returns microseconds to a hundredth.
func us(d time.Duration) float64 { return math.Round(float64(d.Nanoseconds())/10) / 100 }
