package verify

import (
	"math"
	"testing"

	"interlock/units"
	"interlock/world"
)

// look is one reading as the fuzzer made it, with what a person would say about it.
type look struct {
	fact   world.Fact
	counts bool // fresh, of this motion's end, by the right sensor, a number
	near   bool // within the tolerance
}

// lookOf makes a reading of three bytes: where the tip is, how old the reading is, what is wrong with it. Positions are
// steps of 3 mm around the target, so that none lies at the tolerance of 10 mm.
func lookOf(place, age, flaw byte, now int) look {
	off, ms := float64(int8(place)%16)*0.3, int(age%32)*20-20
	l := look{fact: tip(20+off, now-ms)}
	l.near = math.Abs(off) < 1
	l.counts = ms >= 0 && ms <= 250 && now-ms >= 2000
	switch flaw % 8 {
	case 1:
		l.fact.Witness, l.counts = "gripper_encoder", false
	case 2:
		l.fact.Value.Point[1], l.counts = math.NaN(), false
	case 3:
		l.fact.Name, l.counts = "objects", false
	case 4:
		l.fact.Sigma, l.counts = math.Inf(1), false
	}
	return l
}

// FuzzWatch takes four bytes per look: the three of lookOf, and the time since the last one in units of 10 ms. Whatever
// the sensors do: a success stands on readings that count and were true without a break for the hold, a failure on one
// that was false, and a verdict never changes.
//
// Verifies: P13
func FuzzWatch(f *testing.F) {
	var honest, far, frozen, flicker []byte
	for i := range byte(18) {
		honest = append(honest, 0, 1, 0, 10)
		far = append(far, 9, 1, 0, 10)
		frozen = append(frozen, 0, 1+5*i, 0, 10)
		flicker = append(flicker, i%4/3*9, 1, i%5, 10)
	}
	for _, seed := range [][]byte{honest, far, frozen, flicker, {}} {
		f.Add(seed)
	}
	m := moveTo(f)
	m.StartedAt, m.EndedAt = at(1000), at(2000)
	f.Fuzz(func(t *testing.T, src []byte) {
		w, err := New(m)
		if err != nil {
			t.Fatal(err)
		}
		now, refuted := 2000, false
		var from, to units.Instant // of the present run of true readings
		running := false
		for i := 0; i+3 < len(src) && i < 600; i += 4 {
			now += int(src[i+3]) * 10
			l := lookOf(src[i], src[i+1], src[i+2], now)
			before := w.Result()
			got := w.Observe(world.NewSnapshot(at(now), []world.Fact{l.fact}))
			if before.State != Pending {
				if got.State != before.State {
					t.Fatalf("%s became %s", before.State, got.State)
				}
				return
			}
			switch {
			case !l.counts || !l.near:
				running, refuted = false, refuted || l.counts
			case !running:
				running, from, to = true, l.fact.At, l.fact.At
			default:
				to = l.fact.At
			}
			checkVerdict(t, got, running && to.Sub(from) >= units.Hold, refuted)
		}
	})
}

// checkVerdict holds a result against what was seen so far.
func checkVerdict(t *testing.T, r Result, held, refuted bool) {
	t.Helper()
	switch r.State {
	case Pending:
	case Succeeded:
		if !held || len(r.Evidence) != 1 || !complete(r.Evidence[0]) || r.Evidence[0].SourceAtMS < 2000 || r.Evidence[0].AgeMS > 250 {
			t.Fatalf("a success, held %v, on %+v", held, r.Evidence)
		}
	case Failed:
		if !refuted || r.Failure == nil || r.Failure.ViolatedPostcondition != "tip_at_target" {
			t.Fatalf("a failure, measured false %v: %+v", refuted, r.Failure)
		}
	case Unverified:
		if len(r.Unclear) != 1 || r.Failure != nil {
			t.Fatalf("unverified: %+v", r)
		}
	}
}
