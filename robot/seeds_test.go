package robot_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"interlock/body/guard"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// seeds is how many seeds a test walks; INTERLOCK_SEEDS=N asks for another number than the short one.
func seeds(t *testing.T, short int) uint64 {
	t.Helper()
	text := os.Getenv("INTERLOCK_SEEDS")
	switch {
	case text == "" && testing.Short():
		return uint64(max(1, short/10))
	case text == "":
		return uint64(short)
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		t.Fatalf("INTERLOCK_SEEDS is %q", text)
	}
	return n
}

// folk are brains and a person around one robot, who do what a seed says.
type folk struct {
	*rig
	rand  *rand.Rand
	n     int                        // missions that were asked for
	asked []*contractv1.StartRequest // those that were accepted
	words map[string]string          // the last ones of these
	lease *contractv1.Lease          // nil: nobody holds the arm
	old   []*contractv1.Lease        // given back, or lapsed
	ended int                        // missions that a stop ended
}

// act is what a mission does: near or far, slow or quick, with a way back or none.
func (f *folk) act() (capability, args string) {
	x, y, z := 14+f.rand.Float64()*8, f.rand.Float64()*20-10, 10+f.rand.Float64()*8
	switch f.rand.IntN(6) {
	case 0:
		return "home", `{}`
	case 1:
		return "wave", `{}`
	case 2:
		return "close_gripper", `{}`
	case 3:
		return "move_to", fmt.Sprintf(`{"x_cm":%.1f,"y_cm":%.1f,"z_cm":%.1f,"speed_mps":0.05}`, x, y, z)
	}
	return "move_to", fmt.Sprintf(`{"x_cm":%.1f,"y_cm":%.1f,"z_cm":%.1f}`, x, y, z)
}

// leased makes sure that the arm is leased, or that it is not.
func (f *folk) leased(yes bool) {
	f.t.Helper()
	if f.lease != nil {
		reply, err := f.client.RenewLease(f.t.Context(), &contractv1.RenewLeaseRequest{Lease: f.lease})
		if check(f.t, err); len(reply.GetRejections()) > 0 {
			f.old, f.lease = append(f.old, f.lease), nil
		} else {
			f.lease = reply.GetLease()
		}
	}
	switch {
	case yes && f.lease == nil:
		f.lease = f.rig.lease("brain")
	case !yes && f.lease != nil:
		_, err := f.client.ReleaseLease(f.t.Context(), &contractv1.ReleaseLeaseRequest{Lease: f.lease})
		check(f.t, err)
		f.old, f.lease = append(f.old, f.lease), nil
	}
}

// next is a mission that was not asked for yet.
func (f *folk) next(l *contractv1.Lease) *contractv1.StartRequest {
	f.n++
	capability, args := f.act()
	return under(l, request(fmt.Sprint("m", f.n), capability, args, ""))
}

// begins starts a mission, by chance under a lease or under none, and stops the robot in its n-th tick; moving: it had not
// ended by then.
func (f *folk) begins(n int) (id string, moving bool, resume func()) {
	f.t.Helper()
	f.leased(f.rand.IntN(3) > 0)
	for {
		reached := f.ticks() + n
		resume, q := f.pauseAfter(n), f.next(f.lease)
		if ack := f.start(q); !ack.GetAccepted() { // no path from here
			resume()
			continue
		}
		f.asked = append(f.asked, q)
		synctest.Wait()
		return q.GetMissionId(), f.ticks() >= reached, resume
	}
}

// fight makes the calls of brains that do not take a stop. None may set anything in motion, under the stop or after its reset.
func (f *folk) fight(stopped bool) {
	f.t.Helper()
	for range 1 + f.rand.IntN(8) {
		switch q := f.asked[f.rand.IntN(len(f.asked))]; f.rand.IntN(7) {
		case 0, 1:
			if ack := f.start(q); !ack.GetAccepted() || !ack.GetDuplicate() {
				f.t.Errorf("a mission that has ended is answered by %v when it is started again", ack)
			}
		case 2:
			f.leased(f.rand.IntN(2) == 0)
		case 3:
			if len(f.old) > 0 {
				f.comesBack(f.old[f.rand.IntN(len(f.old))])
			}
		case 4:
			if ack, err := f.client.Cancel(f.t.Context(), &contractv1.CancelRequest{MissionId: q.GetMissionId()}); err == nil && ack.GetAccepted() {
				f.t.Errorf("the cancel of a mission that has ended is answered by %v", ack)
			}
		case 5:
			f.observe()
		case 6:
			if !stopped {
				continue
			}
			if ack := f.start(f.next(f.lease)); codesOf(ack.GetRejections()) != string(reject.Stopped) {
				f.t.Errorf("under a stop a new mission is answered by %v", ack)
			}
		}
	}
}

// comesBack is a holder that slept through the end of its lease.
func (f *folk) comesBack(l *contractv1.Lease) {
	f.t.Helper()
	reply, err := f.client.RenewLease(f.t.Context(), &contractv1.RenewLeaseRequest{Lease: l})
	if check(f.t, err); codesOf(reply.GetRejections()) != string(reject.NoLease) {
		f.t.Errorf("an old lease is renewed: %v", reply)
	}
	if ack := f.start(f.next(l)); ack.GetAccepted() {
		f.t.Errorf("a mission under an old lease is answered by %v", ack)
	}
}

// quiet lets time pass and asks that nothing reaches the body in it, and that no mission that ended has another word.
func (f *folk) quiet(why string) {
	f.t.Helper()
	sent := f.sent()
	for range 1 + f.rand.IntN(5) {
		check(f.t, f.guard.Advance(time.Duration(1+f.rand.IntN(20))*20*time.Millisecond))
		f.observe()
	}
	if more := f.sent() - sent; more > 0 {
		f.t.Errorf("%s: %d commands reached the body", why, more)
	}
	for id, was := range f.words {
		if now := word(f.ending(id)); now != was {
			f.t.Errorf("%s: mission %s ended %s, and then %s", why, id, was, now)
		}
	}
}

// round is one mission, a stop in the middle of it or of what follows, and its reset.
func (f *folk) round() {
	f.t.Helper()
	id, moving, resume := f.begins(2 + f.rand.IntN(60))
	if moving && f.rand.IntN(4) == 0 {
		asked := later(func() error {
			_, err := f.client.Cancel(f.t.Context(), &contractv1.CancelRequest{MissionId: id})
			return err
		})
		n := 1 + f.rand.IntN(10)
		reached, on := f.ticks()+n, f.pauseAfter(n)
		resume()
		check(f.t, <-asked)
		synctest.Wait()
		moving, resume = f.ticks() >= reached, on
	}
	number := f.guard.Stop("person")
	early := f.rand.IntN(3) == 0 // the person resets it before the robot has seen it
	if early {
		check(f.t, f.guard.Reset(number))
	}
	resume()
	e := f.ending(id)
	if moving {
		f.ended++
		if word(e) != "ABORTED(stop)" {
			f.t.Errorf("a mission that was stopped ended %s: %s", word(e), e.GetReason())
		}
	}
	f.words[id] = word(e)
	check(f.t, f.guard.Advance(guard.RampTime))
	f.observe()
	if !early {
		f.fight(true)
		f.quiet("under the stop")
		check(f.t, f.guard.Reset(number))
	}
	f.fight(false)
	f.quiet("after the reset")
}

// Under every seed, through a robot with missions and leases: a stop at any tick ends the mission, also when it is reset before
// the robot has seen it; what brains ask for under it is refused; and between the reset and a new mission nothing reaches the
// body, whatever is started again, renewed, cancelled or asked for under an old lease. What ended stays as it ended.
//
// Verifies: P01, P03, P09, P21, U149
func TestResetStartsNoMission(t *testing.T) {
	stops, ended := 0, 0
	for seed := range seeds(t, 60) {
		run(t, set{}, func(t *testing.T, r *rig) {
			f := &folk{rig: r, rand: rand.New(rand.NewPCG(seed, 3)), words: map[string]string{}}
			for range 3 {
				f.round()
			}
			stops, ended = stops+3, ended+f.ended
			sent := r.sent() // and now it may move
			f.leased(true)
			for tries := 0; r.sent() == sent; tries++ {
				if q := f.next(f.lease); f.start(q).GetAccepted() {
					f.ending(q.GetMissionId())
				}
				if tries == 20 {
					t.Error("after the reset no mission moves the arm")
					break
				}
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if t.Logf("%d stops, %d of them in a mission", stops, ended); ended*2 < stops {
		t.Error("the stops come too late to show anything")
	}
}
