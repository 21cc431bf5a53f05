package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/body"
	"interlock/units"
)

// How truth is sampled.
const (
	// Tick is how often Settle samples.
	Tick = 20 * time.Millisecond
	// MaxGap is the longest time between two samples over which a criterion counts as held; after a longer one its
	// dwell starts anew, since nobody looked.
	MaxGap = 100 * time.Millisecond
	// RestMPS is the speed below which an object is at rest.
	RestMPS = 0.01
)

// Verdict is what was really so.
type Verdict struct {
	Done bool   `json:"done"`
	Why  string `json:"why"` // the first criterion that did not hold with what was measured, or "all criteria held"
	// Measured holds the values the criteria rest on, unit in the name: "bottom_cm red cube", "tip_miss_cm".
	Measured map[string]float64 `json:"measured,omitempty"`
	// DisplacedCm is the largest displacement of each object's centre from its start in any sample.
	DisplacedCm map[string]float64 `json:"displaced_cm,omitempty"`
	// TouchedN is the largest force between robot and object in any sample; only objects that were touched.
	TouchedN        map[string]float64 `json:"touched_n,omitempty"`
	PeakTableForceN float64            `json:"peak_table_force_n"`
	TipCm           [3]float64         `json:"tip_cm"`
}

// Judge watches one episode. It is not safe for concurrent use.
type Judge struct {
	criteria []Criterion
	labels   []string
	start    map[string]units.Vec3
	moved    map[string]float64 // metres
	touched  map[string]float64 // newtons
	held     []since
	last     units.Instant
	sampled  bool
}

// since is how long a criterion has held without a gap.
type since struct {
	holds bool
	at    units.Instant
}

// New starts to judge: it remembers where every object is. It fails for no criteria and for an object that truth does
// not know.
func New(criteria []Criterion, t body.Truth) (*Judge, error) {
	if len(criteria) == 0 {
		return nil, fmt.Errorf("judge: no criteria: nothing passes silently")
	}
	j := &Judge{
		criteria: slices.Clone(criteria), labels: slices.Clone(t.Labels()), start: map[string]units.Vec3{},
		moved: map[string]float64{}, touched: map[string]float64{}, held: make([]since, len(criteria)),
	}
	for _, label := range j.labels {
		if o, ok := t.Object(label); ok {
			j.start[label] = o.Pose.Position
		}
	}
	for _, c := range criteria {
		if _, known := j.start[c.Object]; c.Object != "" && !known {
			return nil, fmt.Errorf("judge: %s: truth knows no object %q (it knows %s)", c.Kind, c.Object, strings.Join(j.labels, ", "))
		}
	}
	j.Sample(t)
	return j, nil
}

// HoldingAtStart returns the criteria that truth satisfies although nothing was done yet; dwell is not waited for, and
// criteria that may hold at the start are left out.
func HoldingAtStart(criteria []Criterion, t body.Truth) ([]Criterion, error) {
	j, err := New(criteria, t)
	if err != nil {
		return nil, err
	}
	var out []Criterion
	for i, c := range criteria {
		if j.held[i].holds && !c.Exempt() {
			out = append(out, c)
		}
	}
	return out, nil
}

// Sample looks at truth once. Call it every tick while the world moves; what happens between samples is not seen,
// but for the table force, whose peak truth keeps itself.
func (j *Judge) Sample(t body.Truth) {
	now := t.Now()
	gap := j.sampled && now.Sub(j.last) > MaxGap
	for _, label := range j.labels {
		o, ok := t.Object(label)
		if !ok {
			continue
		}
		j.moved[label] = max(j.moved[label], o.Pose.Position.Distance(j.start[label]))
		if o.RobotForce > 0 || o.JawsTouch > 0 {
			j.touched[label] = max(j.touched[label], o.RobotForce)
		}
	}
	for i, c := range j.criteria {
		holds := j.holds(c, t)
		if !holds || !j.held[i].holds || gap {
			j.held[i].at = now
		}
		j.held[i].holds = holds
	}
	j.last, j.sampled = now, true
}

// Settle lets the world run on for the longest dwell of the criteria, sampling each tick; advance moves the plant's
// time. Call it once the episode is over, before Verdict.
func (j *Judge) Settle(t body.Truth, advance func(time.Duration) error) error {
	longest := 0
	for _, c := range j.criteria {
		longest = max(longest, c.DwellMs)
	}
	j.Sample(t)
	for left := time.Duration(longest) * time.Millisecond; left > 0; left -= Tick {
		if err := advance(Tick); err != nil {
			return fmt.Errorf("judge: settle: %w", err)
		}
		j.Sample(t)
	}
	return nil
}

// Verdict samples once more and says what is so now. Every criterion must hold now and have held for its dwell.
func (j *Judge) Verdict(t body.Truth) Verdict {
	j.Sample(t)
	v := Verdict{
		Done: true, Why: "all criteria held", Measured: map[string]float64{}, DisplacedCm: map[string]float64{},
		TouchedN: map[string]float64{}, PeakTableForceN: t.PeakTableForceN(),
	}
	for axis, m := range t.TipInBase() {
		v.TipCm[axis] = units.CmFromMetres(m)
	}
	for label, m := range j.moved {
		v.DisplacedCm[label] = units.CmFromMetres(m)
	}
	for label, n := range j.touched {
		v.TouchedN[label] = n
	}
	for i, c := range j.criteria {
		got := j.measure(c, t, v.Measured)
		heldFor := t.Now().Sub(j.held[i].at)
		ok := j.held[i].holds && heldFor >= time.Duration(c.DwellMs)*time.Millisecond
		if ok || !v.Done {
			continue
		}
		v.Done, v.Why = false, fmt.Sprintf("%s: %s", c, got)
		if j.held[i].holds {
			v.Why = fmt.Sprintf("%s: held for %d ms only", c, heldFor.Milliseconds())
		}
	}
	return v
}

// holds evaluates one criterion now. Written so that a number that is not finite fails it.
func (j *Judge) holds(c Criterion, t body.Truth) bool {
	o, known := t.Object(c.Object)
	switch c.Kind {
	case Lifted:
		return known && units.CmFromMetres(o.BottomM) >= c.MinBottomCm && o.JawsTouch == 2
	case TipAt:
		return tipMissCm(c, t) <= c.WithinCm
	case InRegion:
		return known && inside(c.RegionCm, o.Pose.Position) && o.JawsTouch == 0 && o.SpeedMPS <= RestMPS
	case Unmoved:
		return known && units.CmFromMetres(o.Pose.Position.Distance(j.start[c.Object])) <= c.WithinCm
	case Never:
	}
	return false
}

// measure notes what a criterion rests on and returns it in words.
func (j *Judge) measure(c Criterion, t body.Truth, into map[string]float64) string {
	o, known := t.Object(c.Object)
	if c.Object != "" && !known {
		return "truth has lost the object"
	}
	switch c.Kind {
	case Lifted:
		bottom := units.CmFromMetres(o.BottomM)
		into["bottom_cm "+c.Object], into["jaws_touch "+c.Object] = bottom, float64(o.JawsTouch)
		return fmt.Sprintf("its bottom is at %.1f cm, %d of 2 jaws touch it", bottom, o.JawsTouch)
	case TipAt:
		miss := tipMissCm(c, t)
		into["tip_miss_cm"] = miss
		return fmt.Sprintf("the tip is %.1f cm away", miss)
	case InRegion:
		x, y := units.CmFromMetres(o.Pose.Position[0]), units.CmFromMetres(o.Pose.Position[1])
		into["x_cm "+c.Object], into["y_cm "+c.Object], into["jaws_touch "+c.Object] = x, y, float64(o.JawsTouch)
		return fmt.Sprintf("it is at (%.1f, %.1f) cm, %d jaws touch it, speed %.1f cm/s", x, y, o.JawsTouch, units.CmFromMetres(o.SpeedMPS))
	case Unmoved:
		moved := units.CmFromMetres(o.Pose.Position.Distance(j.start[c.Object]))
		into["moved_cm "+c.Object] = moved
		return fmt.Sprintf("it moved %.1f cm", moved)
	case Never:
	}
	return "the request cannot be fulfilled as asked"
}

func tipMissCm(c Criterion, t body.Truth) float64 {
	want := units.Vec3{}
	for axis, cm := range c.PointCm {
		want[axis] = units.MetresFromCm(cm)
	}
	return units.CmFromMetres(t.TipInBase().Distance(want))
}

func inside(r [2][2]float64, p units.Vec3) bool {
	x, y := units.CmFromMetres(p[0]), units.CmFromMetres(p[1])
	return r[0][0] <= x && x <= r[1][0] && r[0][1] <= y && y <= r[1][1]
}
