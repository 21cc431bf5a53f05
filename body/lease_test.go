package body_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/body"
	"interlock/reject"
	"interlock/units"
)

func code(err error) reject.Code {
	var r reject.Rejection
	if !errors.As(err, &r) {
		return ""
	}
	return r.Code
}

// Whatever robots ask for in whatever order, and however long they sleep, at every instant at most one epoch holds the
// lease, no epoch is granted twice, and one that lost it never holds it again.
//
// Verifies: P09, D06
func TestAtMostOneHolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l body.Lease
		first := rapid.Uint64Range(0, 1<<40).Draw(t, "start")
		l.StartAt(first)
		now := units.Instant(0)
		var granted []uint64
		dead := map[uint64]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2500).Draw(t, "ms")) * time.Millisecond)
			epoch := first
			if len(granted) > 0 {
				epoch = rapid.SampledFrom(granted).Draw(t, "epoch")
			}
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				e, err := l.Acquire(now, "robot")
				if err == nil {
					if len(granted) > 0 && e <= granted[len(granted)-1] || e <= first {
						t.Fatalf("epoch %d does not grow", e)
					}
					granted = append(granted, e)
				} else if code(err) != reject.Busy {
					t.Fatal(err)
				}
			case 1:
				if err := l.Renew(now, epoch); err == nil && dead[epoch] {
					t.Fatalf("epoch %d was revived", epoch)
				}
			case 2:
				if l.Release(now, epoch) {
					dead[epoch] = true
				}
			}
			holders := 0
			for _, e := range append([]uint64{0, first, first + 1000}, granted...) {
				if l.Check(now, e) != nil {
					dead[e] = true
					continue
				}
				holders++
				if dead[e] {
					t.Fatalf("epoch %d holds again", e)
				}
			}
			if holders > 1 || (holders == 1) != (l.Holder(now) != "") {
				t.Fatalf("%d holders, named %q", holders, l.Holder(now))
			}
		}
	})
}

// BUSY names the holder and says when to ask again; the old holder's epoch is NO_LEASE.
//
// Verifies: D05
func TestBusyNamesTheHolder(t *testing.T) {
	var l body.Lease
	a, err := l.Acquire(0, "kitchen")
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Acquire(units.Instant(time.Second), "garage")
	var busy reject.Rejection
	if !errors.As(err, &busy) || busy.Code != reject.Busy || busy.Got != `"kitchen"` || busy.Retry != reject.Later || busy.AfterMS != 1001 {
		t.Errorf("%+v", busy)
	}
	b, err := l.Acquire(units.Instant(units.LeaseTTL), "garage")
	if err != nil || b == a {
		t.Fatalf("epoch %d: %v", b, err)
	}
	if got := code(l.Check(units.Instant(units.LeaseTTL), a)); got != reject.NoLease {
		t.Errorf("the old epoch is answered by %q", got)
	}
}
