package robot_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"testing"
	"testing/synctest"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
)

// from reads the events of a mission from a cursor on, to the end of the stream.
func (r *rig) from(ctx context.Context, id string, seq uint64) (seqs string, err error) {
	for e, err := range r.client.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: seq}) {
		if err != nil {
			return seqs, err
		}
		seqs += strconv.FormatUint(e.GetSeq(), 10) + " "
	}
	return seqs, nil
}

// TestEventStreams: from any cursor exactly what comes from there on, to any number of readers, during the mission and
// after it; one behind the end nothing is waited for.
//
// Verifies: P22
func TestEventStreams(t *testing.T) {
	want := map[uint64]string{0: "1 2 3 4 5 ", 1: "1 2 3 4 5 ", 3: "3 4 5 ", 4: "4 5 "}
	run(t, set{}, func(t *testing.T, r *rig) {
		type read struct {
			seqs string
			err  error
		}
		_, resume := r.midway(10, slowly, "")
		during := map[uint64][]<-chan read{}
		for seq := range want {
			for range 3 {
				during[seq] = append(during[seq], later(func() read {
					seqs, err := r.from(r.t.Context(), "m1", seq)
					return read{seqs, err}
				}))
			}
		}
		resume()
		for seq, readers := range during {
			for _, reader := range readers {
				if got := <-reader; got.seqs != want[seq] || got.err != nil {
					t.Errorf("during, from %d: %q, %v", seq, got.seqs, got.err)
				}
			}
		}
		want[5], want[6] = "5 ", ""
		for seq, want := range want {
			if got, err := r.from(t.Context(), "m1", seq); got != want || err != nil {
				t.Errorf("after, from %d: %q, %v", seq, got, err)
			}
		}
	})
}

// TestNoEventsFromNowhere: a reader that goes on from a number that nobody can have come to is refused at once, while the
// mission moves and after it, with the highest number that it may go on from.
//
// Verifies: T61
func TestNoEventsFromNowhere(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		refused := func(when string, from, next uint64) {
			seqs, err := r.from(t.Context(), "m1", from)
			var l reject.List
			want := [3]string{"from_seq", strconv.FormatUint(from, 10), strconv.FormatUint(next, 10)}
			if !errors.As(err, &l) || len(l) != 1 || l[0].Code != reject.OutOfRange || [3]string{l[0].Field, l[0].Got, l[0].Limit} != want || seqs != "" {
				t.Errorf("%s, from %d: %q, %v", when, from, seqs, err)
			}
		}
		followed, resume := r.midway(10, slowly, "")
		var during []<-chan bool
		for _, from := range []uint64{5, 6, 50, 1 << 63, math.MaxUint64} {
			during = append(during, later(func() bool { refused("during", from, 4); return true }))
		}
		resume()
		for _, reader := range during {
			<-reader
		}
		<-followed
		for _, from := range []uint64{7, 100, 1 << 63, math.MaxUint64} {
			refused("after", from, 6)
		}
	})
}

// TestEventReaderLeaves: a reader whose context ends, or who has seen enough, harms only itself.
//
// Verifies: P22
func TestEventReaderLeaves(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		followed, resume := r.midway(10, slowly, "")
		ctx, cancel := context.WithCancel(t.Context())
		waits := make(chan error, 1)
		go func() {
			for _, err := range r.robot.Events(ctx, &contractv1.EventsRequest{MissionId: "m1", FromSeq: 4}) {
				waits <- err
				return
			}
			waits <- nil
		}()
		resume()
		for e, err := range r.client.Events(t.Context(), &contractv1.EventsRequest{MissionId: "m1"}) {
			if err != nil || e.GetSeq() == 2 {
				break
			}
		}
		cancel()
		if err := <-waits; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if events := <-followed; len(events) != 5 {
			t.Errorf("%v", events)
		}
		_, err := r.from(t.Context(), "nobody", 1)
		if l := (reject.List)(nil); !errors.As(err, &l) || !l.Has(reject.NotInEnum) {
			t.Errorf("an unknown mission: %v", err)
		}
	})
}

// TestCloseInMotion: asked to end, the robot halts, says its last word once the arm stands, and only then closes.
//
// Verifies: R19
func TestCloseInMotion(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(atThere)
		followed, _ := r.midway(30, slowly, task)
		if err := r.close(); err != nil {
			t.Errorf("%v", err)
		}
		events := <-followed
		if got := word(events[len(events)-1]); got != "INTERRUPTED(lease_lost)" {
			t.Errorf("%s", got)
		}
		if _, err := r.guard.Observe(); err == nil {
			t.Error("the body is still open")
		}
		r.gone()
	})
}

// TestClosed: every call of a robot that has ended gets ErrClosed, also one that was waiting then.
//
// Verifies: R19
func TestClosed(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(elsewhere)
		r.pauseAfter(5)
		type closed struct {
			task *contractv1.Task
			err  error
		}
		claimed := later(func() closed {
			task, err := r.client.Claim(context.WithoutCancel(r.t.Context()), &contractv1.ClaimRequest{TaskId: task})
			return closed{task, err}
		})
		check(t, r.close())
		if c := <-claimed; !errors.Is(c.err, robot.ErrClosed) {
			t.Errorf("a claim whose goal was being measured: %v", c)
		}
		r.gone()
	})
}

// gone wants ErrClosed of every call.
func (r *rig) gone() {
	r.t.Helper()
	ctx := r.t.Context()
	_, describe := r.client.Describe(ctx)
	_, open := r.client.OpenTask(ctx, &contractv1.OpenTaskRequest{Provenance: "person"})
	_, start := r.client.Start(ctx, request("late", "home", "{}", ""))
	_, cancel := r.client.Cancel(ctx, &contractv1.CancelRequest{MissionId: "m1"})
	_, observe := r.client.Observe(ctx, &contractv1.ObserveRequest{})
	_, claim := r.client.Claim(ctx, &contractv1.ClaimRequest{TaskId: "task-1"})
	_, task := r.client.Task(ctx, &contractv1.TaskRequest{TaskId: "task-1"})
	_, events := r.from(ctx, "m1", 1)
	for name, err := range map[string]error{
		"Describe": describe, "OpenTask": open, "Start": start, "Cancel": cancel, "Observe": observe, "Claim": claim, "Task": task, "Events": events,
	} {
		if !errors.Is(err, robot.ErrClosed) {
			r.t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCallerGivesUp: a call whose context ends is not waited for, and does not hang the robot.
//
// Verifies: R19
func TestCallerGivesUp(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(elsewhere)
		resume := r.pauseAfter(5)
		ctx, cancel := context.WithCancel(t.Context())
		claimed := later(func() error {
			_, err := r.client.Claim(ctx, &contractv1.ClaimRequest{TaskId: task})
			return err
		})
		asked := later(func() error { _, err := r.client.Task(ctx, &contractv1.TaskRequest{TaskId: task}); return err })
		cancel()
		for _, answer := range []<-chan error{claimed, asked} {
			if err := <-answer; !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		resume()
		synctest.Wait()
		r.is(task, contractv1.TaskState_NOT_DONE) // the claim was made, whoever waited for its answer
	})
}

// TestMemory: of old missions only what makes a repeated start harmless is kept, and of old tasks nothing.
//
// Verifies: R20
// Verifies: P19
func TestMemory(t *testing.T) {
	run(t, set{memory: robot.Memory{Missions: 2, Tasks: 2, IDs: 5}}, func(t *testing.T, r *rig) {
		for i := range 4 {
			task := r.open(atThere)
			id := "m" + strconv.Itoa(i)
			r.accepted(id, "move_to", there, task)
			r.ends(id, "VERIFIED")
			r.is(task, contractv1.TaskState_DONE)
		}
		sent := r.sent()
		if ack := r.start(request("m0", "move_to", there, "task-1")); !ack.GetAccepted() || !ack.GetDuplicate() {
			t.Errorf("an old start once more: %v", ack)
		}
		r.refused(request("m0", "move_to", there, "task-4"), "CONFLICT")
		_, err := r.from(t.Context(), "m1", 1)
		if l := (reject.List)(nil); !errors.As(err, &l) || !l.Has(reject.NotPermitted) {
			t.Errorf("events of an old mission: %v", err)
		}
		if ack := r.cancelled("m1"); ack.GetAccepted() || codesOf(ack.GetRejections()) != "NOT_PERMITTED" {
			t.Errorf("cancelling an old mission: %v", ack)
		}
		r.ends("m2", "VERIFIED")
		if got := codesOf(r.task("task-2").GetRefusals()); got != "NOT_IN_ENUM" {
			t.Errorf("an old task: %q", got)
		}
		r.refused(request("new", "move_to", there, "task-2"), "NOT_IN_ENUM")
		r.is("task-3", contractv1.TaskState_DONE)
		if r.sent() != sent {
			t.Errorf("%d setpoints", r.sent()-sent)
		}
		r.accepted("m4", "home", "{}", "")
		r.ends("m4", "VERIFIED")
		r.refused(request("m5", "home", "{}", ""), "OVERLOADED")
		if ack := r.start(request("look", "get_state", "{}", "")); !ack.GetAccepted() {
			t.Errorf("looking: %v", ack)
		}
	})
}
