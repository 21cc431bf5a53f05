package arm

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"interlock/reject"
	"interlock/units"
)

// Blocked is where a path first comes too near to something.
type Blocked struct {
	Rule   string        // MeetsTable, MeetsSelf or MeetsKeepOut
	Part   string        // of the arm
	Other  string        // part of the arm or name of the keep-out; "table"
	ClearM float64       // what is left between them, metres; negative where they overlap
	LeastM float64       // what there should be
	At     Servos        // the configuration
	T      time.Duration // since the start of the trajectory
}

// Obstruction is what a PATH_BLOCKED got, as its JSON: where a path first comes too near to something.
type Obstruction struct {
	Part      string    `json:"part"`
	Other     string    `json:"other"`
	ClearMM   float64   `json:"clear_mm"` // negative: they overlap
	AfterS    float64   `json:"after_s"`  // since the start of the motion
	JointsRad []float64 `json:"joints_rad"`
}

// Refusal returns the PATH_BLOCKED that says so: its rule is the kind of obstacle, its got an Obstruction.
func (b Blocked) Refusal() reject.Rejection {
	o := Obstruction{Part: b.Part, Other: b.Other, ClearMM: rounded(units.MmFromMetres(b.ClearM), 10), AfterS: rounded(b.T.Seconds(), 1000)}
	for _, rad := range b.At {
		o.JointsRad = append(o.JointsRad, rounded(rad, 1e4))
	}
	got, _ := json.Marshal(o) // finite numbers and text always do
	near := fmt.Sprintf("comes within %.1f mm of", o.ClearMM)
	if o.ClearMM < 0 {
		near = fmt.Sprintf("goes %.1f mm into", -o.ClearMM)
	}
	says := fmt.Sprintf("on this path the %s %s %s after %.2f s, with the joints at %s rad", b.Part, near, b.named(), o.AfterS, fmt.Sprint(o.JointsRad))
	return reject.New(reject.PathBlocked, says).By(b.Rule).In("path").Saw(string(got), fmt.Sprint(units.MmFromMetres(b.LeastM)), "mm")
}

func (b Blocked) named() string {
	if b.Rule == MeetsKeepOut {
		return "the keep-out " + b.Other
	}
	return "the " + b.Other
}

func rounded(v, steps float64) float64 { return math.Round(v*steps) / steps }
