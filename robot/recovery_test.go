package robot_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/units"
)

// passes lets the robot's time pass at rest: its beats go on.
func (r *rig) passes(d time.Duration) {
	r.t.Helper()
	check(r.t, r.guard.Advance(d))
	time.Sleep(d)
	synctest.Wait()
}

// latched is what the record says of the latch, in its order.
func latched(all []*contractv1.AuditRecord) (words string) {
	for _, rec := range all {
		if l := rec.GetLatch(); l != nil {
			words += fmt.Sprintf(" %v %d", l.GetStopped(), l.GetNumber())
		}
	}
	return words
}

// TestWhatWasToldOutlivesASickDisk: wherever in a mission the disk falls sick, what was told of its end, of the stops and resets
// meanwhile and of its task is on record once the disk is well again, though nobody asks for anything then; after a crash it is
// told under the same numbers.
//
// Verifies: P20, P21, P22, P27, K144
func TestWhatWasToldOutlivesASickDisk(t *testing.T) {
	ends := map[string]int{}
	for tick := 3; tick < 45; tick += 3 {
		d := newDisk()
		var left *disk
		var told []*contractv1.Event
		var task *contractv1.Task
		on(t, d, set{beat: units.Beat}, func(_ *testing.T, r *rig, _ *kept) {
			id := r.open("")
			followed, resume := r.midway(tick, nearby, id)
			d.is(errFull)
			resume()
			told = <-followed
			first := r.guard.Stop("first")
			r.passes(units.Beat)
			check(t, r.guard.Reset(first))
			r.passes(units.Beat)
			r.guard.Stop("second")
			r.passes(units.Beat)
			task = r.task(id)
			d.is(nil)
			r.passes(10 * time.Second)
			left = d.copied() // the robot is killed now
		})
		all := left.says(t)
		if got := latched(all); got != " false 0 true 1 false 1 true 2" {
			t.Errorf("sick from tick %d on: of the latch%s is on record", tick, got)
		}
		var last *contractv1.Task
		for _, rec := range all {
			if c := rec.GetTask(); c != nil {
				last = c.GetTask()
			}
		}
		if task.GetState() != contractv1.TaskState_STOPPED || !proto.Equal(last, task) {
			t.Errorf("sick from tick %d on: the task was told as %v and is on record as %v", tick, task, last)
		}
		on(t, left, set{after: time.Minute}, func(t *testing.T, r *rig, _ *kept) {
			after := r.events("m1")
			if len(after) != len(told) || len(told) == 0 {
				t.Errorf("sick from tick %d on: told %v, and after the restart %v", tick, told, after)
				return
			}
			for i := range told {
				if !proto.Equal(told[i], after[i]) {
					t.Errorf("sick from tick %d on: told %v, and after the restart %v", tick, told[i], after[i])
				}
			}
			ends[word(after[len(after)-1])]++
		})
	}
	if ends["ABORTED(fault)"] == 0 || ends["VERIFIED"] == 0 {
		t.Errorf("the missions ended %v: too little was tested", ends)
	}
}

// TestATakeOutlivesASickDisk: who took the robot while nothing could be written has it after a crash, and who gave it back in that
// time has not.
//
// Verifies: K133, K144
func TestATakeOutlivesASickDisk(t *testing.T) {
	for _, back := range []bool{false, true} {
		d := newDisk()
		var left *disk
		on(t, d, set{beat: units.Beat}, func(t *testing.T, r *rig, _ *kept) {
			d.is(errFull)
			p := r.robot.Person()
			reply, err := p.Take(t.Context(), &contractv1.TakeRequest{By: "ada"})
			check(t, err)
			if back {
				_, err = p.GiveBack(t.Context(), &contractv1.GiveBackRequest{By: "ada", Epoch: reply.GetEpoch()})
				check(t, err)
			}
			r.passes(units.Beat)
			d.is(nil)
			r.passes(10 * time.Second)
			left = d.copied()
		})
		left.says(t)
		on(t, left, set{after: time.Minute}, func(t *testing.T, r *rig, _ *kept) {
			if back {
				r.accepted("m1", "move_to", nearby, "")
				r.ends("m1", "VERIFIED")
				return
			}
			if rs := r.refused(request("m1", "move_to", nearby, ""), "BUSY"); rs[0].GetRule() != "taken" {
				t.Errorf("%v", rs)
			}
		})
	}
}

// TestADiskThatFlickers: a disk that is sick now and then, also while the robot catches up, loses no end and breaks no record.
//
// Verifies: P27, K144
func TestADiskThatFlickers(t *testing.T) {
	d := newDisk()
	told := map[string]*contractv1.Event{}
	on(t, d, set{beat: units.Beat}, func(t *testing.T, r *rig, _ *kept) {
		for i := range 12 {
			id := fmt.Sprintf("m%d", i)
			resume := r.pauseAfter(4 + 3*i)
			if ack := r.start(request(id, "move_to", moveTo(20, float64(i%3), 14.5), "")); !ack.GetAccepted() {
				t.Fatal(ack)
			}
			synctest.Wait()
			d.is(errFull)
			resume()
			told[id] = r.ending(id)
			for range i % 4 { // and once more in the middle of it
				d.is(nil)
				r.passes(3 * units.Beat)
				d.is(errFull)
				r.passes(units.Beat)
			}
			d.is(nil)
			r.passes(10 * time.Second)
		}
	})
	left := d.copied()
	left.says(t)
	on(t, left, set{after: time.Minute}, func(t *testing.T, r *rig, _ *kept) {
		for id, e := range told {
			if after := r.ending(id); !proto.Equal(after, e) {
				t.Errorf("%s was told %v, and after the restart %v", id, e, after)
			}
		}
	})
}

// TestAReaderFromBeforeARestartIsToldSo: whoever was told more of a mission than its record holds, because the disk was sick, and
// goes on from there after a restart is refused at once, with the number to go on from and by a rule that says why, however often
// the robot begins anew. A mission of this process has no such excuse.
//
// Verifies: T83
func TestAReaderFromBeforeARestartIsToldSo(t *testing.T) {
	d := newDisk()
	var left *disk
	var told []*contractv1.Event
	on(t, d, set{beat: units.Beat}, func(_ *testing.T, r *rig, _ *kept) {
		followed, resume := r.midway(10, slowly, "")
		d.is(errFull)
		resume()
		told = <-followed
		left = d.copied() // the robot is killed now
		d.is(nil)
		r.passes(10 * time.Second)
	})
	asks := func(t *testing.T, r *rig, id string, from uint64) (rule, limit string) {
		t.Helper()
		seqs, err := r.from(t.Context(), id, from)
		var l reject.List
		if !errors.As(err, &l) || len(l) != 1 || l[0].Code != reject.OutOfRange || l[0].Field != "from_seq" || l[0].Got != fmt.Sprint(from) || seqs != "" {
			t.Errorf("%s from %d: %q, %v", id, from, seqs, err)
			return "", ""
		}
		return l[0].Rule, l[0].Limit
	}
	for _, id := range []string{"m2", "m3"} {
		on(t, left, set{after: time.Minute}, func(t *testing.T, r *rig, _ *kept) {
			after := r.events("m1")
			next := uint64(len(told)) + 1
			if len(after) >= len(told) || word(after[len(after)-1]) != "INTERRUPTED(restart)" {
				t.Errorf("told %v, and after the restart %v", told, after)
				return
			}
			if rule, limit := asks(t, r, "m1", next); rule != "restart" || limit != fmt.Sprint(len(after)+1) {
				t.Errorf("from %d of %d: rule %q, limit %s", next, len(after), rule, limit)
			}
			if seqs, err := r.from(t.Context(), "m1", uint64(len(after))+1); seqs != "" || err != nil {
				t.Errorf("from the limit: %q, %v", seqs, err)
			}
			r.accepted(id, "move_to", nearby, "")
			n := uint64(len(r.events(id)))
			if rule, limit := asks(t, r, id, n+2); rule != "" || limit != fmt.Sprint(n+1) {
				t.Errorf("%s: rule %q, limit %s", id, rule, limit)
			}
		})
	}
}
