package drills_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// An agent that fights a stop asks for a new mission each millisecond, over several lines, before, during and after it: once
// the stop is confirmed nothing is accepted and nothing moves, and the person's reset neither starts nor takes up again any
// of what was asked for.
//
// Verifies: P01, P03, A05, U106
func TestStopFighterMovesNothing(t *testing.T) {
	t.Parallel()
	l := newLane(t, 0, false)
	_, running := l.served()
	person := l.call(t)
	over := make(chan struct{}) // closed; whoever asks then still waits for the answer
	end := sync.OnceFunc(func() { close(over) })
	var fighters sync.WaitGroup
	var stopped atomic.Bool // the stop was confirmed before the request was made
	var refused, asked atomic.Int64
	for k := range 4 {
		c := l.call(t)
		fighters.Go(func() {
			every := time.NewTicker(time.Millisecond)
			defer every.Stop()
			for n := 0; ; n++ {
				after := stopped.Load()
				ack, err := c.Start(t.Context(), &contractv1.StartRequest{
					MissionId: fmt.Sprintf("fight-%d-%d", k, n), Capability: []string{startOf, "home"}[n%2], ArgsJson: []byte([]string{toLeft, `{}`}[n%2]),
				})
				asked.Add(1)
				if err == nil && after {
					switch {
					case ack.GetAccepted() || !refusedBy(ack, reject.Stopped, reject.Overloaded, reject.StaleFact):
						t.Errorf("after the stop a start was answered by %v", ack)
					case refusedBy(ack, reject.Stopped, reject.Overloaded): // else the robot's driver let it wait
						refused.Add(1)
					}
				}
				select {
				case <-every.C:
				case <-over:
					return
				}
			}
		})
	}
	defer fighters.Wait()
	defer end()
	number, _ := l.stops("a stop fighter")
	stopped.Store(true)
	before := l.w.after(l.w.look(), stillFor)
	for n := int64(200); n <= int64(scaled(t, 1000, 10_000)); n += 200 {
		waitFor(t, "more refusals", func() bool { return refused.Load() >= n || t.Failed() })
	}
	if d := l.w.look().tip.Distance(before.tip); d > movingM {
		t.Errorf("the stop fighter moved the tip by %v m", d)
	}
	l.latched(number)
	end()
	fighters.Wait()
	tell(t, "%d missions were asked for, %d of them after the stop", asked.Load(), refused.Load())
	if err := l.person.Reset(t.Context(), number); err != nil {
		t.Fatal(err)
	}
	l.w.still(2*stillFor, "the reset")
	if e := last(t, person, running); e.GetKind() != contractv1.EventKind_ABORTED && e.GetKind() != contractv1.EventKind_VERIFIED && !wasSpoiled(e) { // before the stop
		t.Errorf("the mission that was stopped ended %v: %s", e.GetKind(), e.GetReason())
	}
	carry(t, person, "new", toLeft)
}

// refusedBy reports whether a start was refused with one of the codes.
func refusedBy(ack *contractv1.MissionAck, codes ...reject.Code) bool {
	no := ack.GetRejections()
	return len(no) > 0 && slices.Contains(codes, reject.Code(no[0].GetCode()))
}

// judged asks for a mission until the robot judges the call: one whose driver let it wait has nothing to judge it by.
func judged(t testing.TB, c transport.Client, id, args string) (ack *contractv1.MissionAck) {
	t.Helper()
	waitFor(t, "a call to be judged", func() bool {
		ack = begin(t, c, id, args)
		return !refusedBy(ack, reject.StaleFact)
	})
	return ack
}

// A thousand starts of one mission at once, over many lines, are one mission; the same id with another body is a conflict.
//
// Verifies: P19, F13, F14, U107
func TestDuplicateStartsAreOneMission(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.driver(t)
	h.serve(t)
	c := h.call(t)
	ready(t, c)
	var first, again, shed atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		c := h.call(t)
		all.Go(func() {
			for done := 0; done < 20; {
				ack, err := c.Start(t.Context(), &contractv1.StartRequest{MissionId: "one", Capability: startOf, ArgsJson: []byte(toLeft)})
				switch {
				case err != nil:
					t.Error(err)
					return
				case ack.GetAccepted() && ack.GetDuplicate():
					again.Add(1)
				case ack.GetAccepted():
					first.Add(1)
				case refusedBy(ack, reject.Overloaded):
					shed.Add(1)
					time.Sleep(time.Duration(ack.GetRejections()[0].GetAfterMs()) * time.Millisecond)
					continue
				case refusedBy(ack, reject.StaleFact, reject.AuditUnavailable): // driver or disk let the robot wait, and nothing was started
					time.Sleep(lookEvery)
					continue
				default:
					t.Errorf("a start was answered by %v", ack)
				}
				done++
			}
		})
	}
	all.Wait()
	tell(t, "%d started it, %d were told that it was there, %d were shed and asked again", first.Load(), again.Load(), shed.Load())
	if first.Load() != 1 || first.Load()+again.Load() != 1000 {
		t.Errorf("%d of 1,000 starts started the mission", first.Load())
	}
	if ack := judged(t, c, "one", slowly); ack.GetAccepted() || ack.GetRejections()[0].GetCode() != string(reject.Conflict) {
		t.Errorf("the same id with another body was answered by %v", ack)
	}
	if e := last(t, c, "one"); e.GetKind() != contractv1.EventKind_VERIFIED && !wasSpoiled(e) {
		t.Errorf("it ended %v: %s", e.GetKind(), e.GetReason())
	}
}
