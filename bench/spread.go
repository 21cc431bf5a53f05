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

// rounds is into how many parts the runs are divided: what else the machine does then falls on all works alike.
const rounds = 20

// Measure times n runs of each work one by one, in turns, after a tenth as many to warm up. The first error ends it.
func Measure(n int, works ...func() error) ([]Spread, error) {
	took, allocs := make([][]time.Duration, len(works)), make([]uint64, len(works))
	for i, do := range works {
		took[i] = make([]time.Duration, n)
		for range n/10 + 1 {
			if err := do(); err != nil {
				return nil, err
			}
		}
	}
	runtime.GC()
	for r := range rounds {
		for i, do := range works {
			made, err := timed(took[i][n*r/rounds:n*(r+1)/rounds], do)
			if err != nil {
				return nil, err
			}
			allocs[i] += made
		}
	}
	all := make([]Spread, len(works))
	for i := range works {
		all[i] = Of(took[i])
		all[i].Allocs = math.Floor(float64(allocs[i]) / float64(max(n, 1)))
	}
	return all, nil
}

// timed fills took with the times of single runs and returns the heap allocations of all of them.
func timed(took []time.Duration, do func() error) (allocs uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range took {
		start := time.Now()
		err := do()
		took[i] = time.Since(start)
		if err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, nil
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
