package robot_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/units"
)

func (r *rig) acquire(holder string) *contractv1.LeaseReply {
	r.t.Helper()
	reply, err := r.client.AcquireLease(r.t.Context(), &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: holder})
	check(r.t, err)
	r.timed(reply.GetRejections())
	return reply
}

// lease is one that must be given.
func (r *rig) lease(holder string) *contractv1.Lease {
	r.t.Helper()
	reply := r.acquire(holder)
	if reply.GetLease() == nil {
		r.t.Fatalf("the arm was not given to %s: %v", holder, reply.GetRejections())
	}
	return reply.GetLease()
}

func under(l *contractv1.Lease, q *contractv1.StartRequest) *contractv1.StartRequest {
	q.Lease = l
	return q
}

// TestLeaseLapsesAsTheCapabilitySays: a motion whose caller has gone is ended, or finished where its capability says so.
//
// Verifies: P06, P09, K101
func TestLeaseLapsesAsTheCapabilitySays(t *testing.T) {
	const slow = `{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":0.02}`
	for policy, want := range map[string]string{"stop": "INTERRUPTED(lease_lost)", "finish": "VERIFIED"} {
		t.Run(policy, func(t *testing.T) {
			run(t, set{yaml: []string{"on_disconnect: stop", "on_disconnect: " + policy}}, func(t *testing.T, r *rig) {
				l := r.lease("brain")
				if ack := r.start(under(l, request("m1", "move_to", slow, ""))); !ack.GetAccepted() {
					t.Fatal(ack)
				}
				events := r.events("m1")
				end := events[len(events)-1]
				if word(end) != want {
					t.Errorf("ended %s, want %s", word(end), want)
				}
				took := time.Duration(end.GetAtMs()-events[0].GetAtMs()) * time.Millisecond
				if lapsed := units.LeaseTTL + units.StopUnconfirmed; policy == "stop" && took > lapsed {
					t.Errorf("it ended after %v, want at most %v", took, lapsed)
				}
				if policy == "finish" && took < 2*units.LeaseTTL {
					t.Errorf("it ended after %v, before the lease mattered", took)
				}
				if next := r.lease("another"); next.GetEpoch() <= l.GetEpoch() {
					t.Errorf("epoch %d came after %d", next.GetEpoch(), l.GetEpoch())
				}
			})
		})
	}
}

// TestReleaseEndsWhatMoves: a lease that is given back ends the motion under it; one that moves without a lease makes the
// arm busy for who asks for one.
//
// Verifies: K102
func TestReleaseEndsWhatMoves(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		followed, resume := r.midway(20, there, "")
		busy := later(func() *contractv1.LeaseReply { return r.acquire("brain") })
		resume()
		if rs := (<-busy).GetRejections(); codesOf(rs) != "BUSY" || rs[0].GetGot() != `"m1"` || rs[0].GetField() != "resource" {
			t.Errorf("the arm was given while a mission moved it: %v", rs)
		}
		<-followed
		l := r.lease("brain")
		pause := r.pauseAfter(30)
		if ack := r.start(under(l, request("m2", "move_to", moveTo(18, -5, 12), ""))); !ack.GetAccepted() {
			t.Fatal(ack)
		}
		released := later(func() *contractv1.LeaseReply {
			reply, err := r.client.ReleaseLease(t.Context(), &contractv1.ReleaseLeaseRequest{Lease: l})
			check(t, err)
			return reply
		})
		pause()
		if reply := <-released; len(reply.GetRejections()) > 0 {
			t.Errorf("release: %v", reply)
		}
		r.ends("m2", "INTERRUPTED(lease_lost)")
		r.accepted("m3", "move_to", there, "")
	})
}

// TestNoLeaseWithoutAName: a holder's name is shown to others, so it can be.
//
// Verifies: K103
func TestNoLeaseWithoutAName(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		if rs := r.acquire("").GetRejections(); codesOf(rs) != "MISSING_ARGUMENT" || rs[0].GetField() != "holder" {
			t.Errorf("nobody: %v", rs)
		}
		for _, holder := range []string{"a\nb", "\u202e", string(make([]byte, 65))} {
			if rs := r.acquire(holder).GetRejections(); codesOf(rs) != "OUT_OF_RANGE" || rs[0].GetField() != "holder" {
				t.Errorf("holder %q: %v", holder, rs)
			}
		}
		reply, err := r.client.AcquireLease(t.Context(), &contractv1.AcquireLeaseRequest{Resource: "legs", Holder: "brain"})
		if check(t, err); codesOf(reply.GetRejections()) != "NOT_IN_ENUM" {
			t.Errorf("a resource that nothing holds: %v", reply)
		}
	})
}

// TestOneOfManyHoldsTheArm: of callers who ask for the arm at the same time one gets it, and each of the others is told who.
//
// Verifies: F18, K151
func TestOneOfManyHoldsTheArm(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		const many = 50
		replies := make([]*contractv1.LeaseReply, many)
		var all sync.WaitGroup
		for i := range replies {
			all.Go(func() {
				c, name := caller{r.client, strconv.Itoa(i % 5)}, "brain "+strconv.Itoa(i) // some are the same caller's
				replies[i], _ = c.AcquireLease(t.Context(), &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: name})
			})
		}
		all.Wait()
		holder := ""
		for _, reply := range replies {
			if l := reply.GetLease(); l != nil {
				holder += l.GetHolder()
			}
		}
		for i, reply := range replies {
			rs := reply.GetRejections()
			if reply.GetLease() == nil && (codesOf(rs) != "BUSY" || rs[0].GetGot() != strconv.Quote(holder) || rs[0].GetAfterMs() <= 0) {
				t.Errorf("%d, while %q holds it: %v", i, holder, reply)
			}
		}
	})
}

// TestALeaseThatLapsesTakesWhatWasAllowedWithIt: what waited for a person under a lease, and what a person allowed under it,
// is gone as soon as the lease lapses, and on record as withdrawn.
//
// Verifies: T69
func TestALeaseThatLapsesTakesWhatWasAllowedWithIt(t *testing.T) {
	for name, allowed := range map[string]bool{"waiting": false, "allowed": true} {
		dir := folder(t)
		recorded(t, dir, asked(), func(t *testing.T, r *rig, _ *kept) {
			l := r.lease("brain")
			r.refused(request("m0", "move_to", moveTo(20, 5, 4), ""), "BUSY") // without the lease nobody asks
			r.refused(under(l, request("m1", "move_to", moveTo(20, 5, 4), "")), "NEEDS_APPROVAL")
			if allowed {
				r.approve()
			}
			check(t, r.guard.Advance(units.LeaseTTL-units.RobotTick))
			if r.observe(); len(r.pending()) != 1 {
				t.Fatalf("%s: %d acts before the lease lapsed", name, len(r.pending()))
			}
			check(t, r.guard.Advance(units.RobotTick))
			if r.observe(); len(r.pending()) > 0 {
				t.Errorf("%s: %v", name, r.pending())
			}
		})
		withdrawn := 0
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		check(t, err)
		for _, f := range files {
			text, err := os.ReadFile(f)
			check(t, err)
			withdrawn += strings.Count(string(text), `"WITHDRAWN"`)
		}
		if withdrawn != 1 {
			t.Errorf("%s: %d withdrawals are on record", name, withdrawn)
		}
	}
}
