package robot

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/goal"
	"interlock/robot/mission"
	"interlock/transport"
)

var _ transport.Server = (*Robot)(nil)

// do runs f on the loop's goroutine and waits for it. While a goal is measured it waits for that first.
func do[T any](ctx context.Context, r *Robot, f func() T) (T, error) {
	return doIn(ctx, r, r.inbox, f)
}

// aside is do for what begins nothing, and so need not wait for a goal that is measured.
func aside[T any](ctx context.Context, r *Robot, f func() T) (T, error) {
	return doIn(ctx, r, r.asides, f)
}

func doIn[T any](ctx context.Context, r *Robot, inbox chan<- func(), f func() T) (T, error) {
	reply := make(chan T, 1)
	select {
	case inbox <- func() { reply <- f() }:
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-r.closed:
		var none T
		return none, ErrClosed
	}
	return <-reply, nil // the loop runs what it took, and f never waits
}

// doLater is do for requests whose answer may take some ticks: f gets the function that answers.
func doLater[T any](ctx context.Context, r *Robot, f func(answer func(T))) (T, error) {
	reply := make(chan T, 1)
	if _, err := do(ctx, r, func() struct{} { f(func(v T) { reply <- v }); return struct{}{} }); err != nil {
		var none T
		return none, err
	}
	var none T
	select {
	case v := <-reply:
		return v, nil
	case <-ctx.Done():
		return none, ctx.Err()
	case <-r.closed:
	}
	select {
	case v := <-reply: // answered before the end
		return v, nil
	default:
		return none, ErrClosed
	}
}

// Describe implements transport.Server.
func (r *Robot) Describe(context.Context) (*contractv1.Manifest, error) {
	select {
	case <-r.closed:
		return nil, ErrClosed
	default:
		return proto.CloneOf(r.manifest.Load()), nil
	}
}

// OpenTask implements transport.Server. A task that is still open is superseded, and its mission cancelled; that of
// another caller only while nothing moves for it.
func (r *Robot) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	principal := transport.PrincipalOf(ctx)
	return doLater(ctx, r, func(answer func(*contractv1.Task)) {
		opened, l := r.open(q, principal)
		if len(l) > 0 {
			answer(&contractv1.Task{Refusals: rejectionsPB(l)})
			return
		}
		r.noteTask(opened, func(failed error) {
			if failed != nil { // what nobody could look up later is not begun
				if r.openTask == opened {
					r.supersede(opened)
				}
				answer(&contractv1.Task{Refusals: rejectionsPB(reject.List{unavailable(failed)})})
				return
			}
			answer(taskPB(opened))
		})
	})
}

// maxWords is the longest request, goal, and message of a claim, in bytes: they are kept.
const maxWords = 8 << 10

func (r *Robot) open(q *contractv1.OpenTaskRequest, principal string) (*request, reject.List) {
	_ = r.look() // what the driver last said serves as well: its readings carry their times
	for field, text := range map[string]string{"words": q.GetWords(), "goal": q.GetGoal()} {
		if n := len(text); n > maxWords {
			return nil, reject.List{reject.New(reject.TooLarge, "a request is shorter than that").In(field).Saw(strconv.Itoa(n), strconv.Itoa(maxWords), "bytes")}
		}
	}
	if full := r.mayNote(principal); full != nil {
		return nil, reject.List{*full}
	}
	if old := r.openTask; old != nil && old.principal != principal && r.moves(old) {
		return nil, reject.List{reject.New(reject.Busy, "the robot moves for a task of another caller").By("principal").In("task_id")}
	}
	budget := int(q.GetMaxMissions())
	if budget == 0 {
		budget = r.cfg.MaxMissions
	}
	t, l := goal.OpenTask(r.cfg.Contract, r.tasks.opened+1, goal.Request{
		Words: q.GetWords(), Provenance: goal.Provenance(q.GetProvenance()), Goal: q.GetGoal(),
		MayChange: q.GetMayChange(), Forbidden: q.GetForbidden(), MaxMissions: budget,
	})
	if len(l) > 0 {
		return nil, l
	}
	if old := r.openTask; old != nil {
		r.supersede(old)
	}
	before := r.snapshot()
	opened := &request{
		id: taskID(t.Number), words: q.GetWords(), provenance: q.GetProvenance(), principal: principal, alone: q.GetClosed(),
		task: t, before: before, passed: before, stops: r.senses.last.Latch.Number,
	}
	r.tasks.add(opened)
	r.openTask = opened
	return opened, nil
}

// Cancel implements transport.Server. A mission whose intent is still being written never begins.
func (r *Robot) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	principal := transport.PrincipalOf(ctx)
	return aside(ctx, r, func() *contractv1.CancelAck {
		if in := r.intended; in != nil && in.motion.id == q.GetMissionId() && in.principal == principal {
			in.cancelled = true
			return &contractv1.CancelAck{Accepted: true}
		}
		m, l := r.missions.find(q.GetMissionId(), principal)
		if m != nil {
			l = r.ask(m, mission.Cancel{At: r.now()})
		}
		return &contractv1.CancelAck{Accepted: len(l) == 0, Rejections: rejectionsPB(l)}
	})
}

// Observe implements transport.Server. A driver that does not answer is an error: nothing is known then. Where a robot is
// asked more often than it ticks, what it saw within a tick serves: whoever asks all the time must not keep its driver busy.
func (r *Robot) Observe(ctx context.Context, _ *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	type answer struct {
		o   *contractv1.Observation
		err error
	}
	a, err := aside(ctx, r, func() answer {
		if err := r.lookLately(); err != nil {
			return answer{err: fmt.Errorf("observe: %w", err)}
		}
		latch := r.senses.last.Latch
		o := &contractv1.Observation{
			AtMs: r.now().Millis(), Facts: factsPB(r.cfg.Contract, r.snapshot(), ""), Stopped: latch.Stopped,
			StopNumber: latch.Number, StopReason: latch.Reason, Standstill: r.senses.still(),
		}
		if r.active != nil {
			o.RunningMission = r.active.id
		}
		return answer{o: o}
	})
	if err != nil {
		return nil, err
	}
	return a.o, a.err
}

// Events implements transport.Server. A mission that is not known is an error, a reject.List.
func (r *Robot) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	type answer struct {
		log *eventLog
		err error
	}
	principal := transport.PrincipalOf(ctx)
	a, err := aside(ctx, r, func() answer {
		m, l := r.missions.find(q.GetMissionId(), principal)
		if m == nil {
			return answer{err: l}
		}
		return answer{log: m.log}
	})
	if err == nil {
		err = a.err
	}
	if err != nil {
		return func(yield func(*contractv1.Event, error) bool) { yield(nil, err) }
	}
	return a.log.follow(ctx, r.closed, max(1, q.GetFromSeq()))
}

// Claim implements transport.Server. The goal is measured now, whatever is claimed, or once the task's mission that
// still moves has ended; a task that is closed already keeps its word and gets the claim beside it.
func (r *Robot) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	principal := transport.PrincipalOf(ctx)
	return doLater(ctx, r, func(answer func(*contractv1.Task)) {
		_ = r.look() // a stop that just came decides the task; a silent driver leaves its goal unmeasured
		request, unknown := r.tasks.find(q.GetTaskId(), principal)
		if request == nil {
			answer(&contractv1.Task{Refusals: rejectionsPB(unknown)})
			return
		}
		c := q.GetClaim()
		if n := len(c.GetMessage()); n > maxWords {
			answer(&contractv1.Task{Refusals: rejectionsPB(reject.List{reject.New(reject.TooLarge, "a claim is shorter than that").In("claim.message").
				Saw(strconv.Itoa(n), strconv.Itoa(maxWords), "bytes")})})
			return
		}
		if full := r.mayNote(principal); full != nil {
			answer(&contractv1.Task{Refusals: rejectionsPB(reject.List{*full})})
			return
		}
		late := request.task.Closed()
		r.measure(request, func(m goal.Measurement) {
			if c.GetReported() {
				request.task = request.task.Claimed(goal.Claim{Reported: true, Success: c.GetSuccess(), Message: c.GetMessage()}, m)
			} else {
				request.task = request.task.Silent(m)
			}
			if !late { // what moved after the last word is another task's affair
				r.sideEffects(request)
			}
			r.noteTask(request, func(failed error) {
				t := taskPB(request)
				if failed != nil { // measured, but not on record
					t.Refusals = rejectionsPB(reject.List{unavailable(failed)})
				}
				answer(t)
			})
		})
	})
}

// Task implements transport.Server. While the task's goal is measured it waits for what comes of it.
func (r *Robot) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	principal := transport.PrincipalOf(ctx)
	return do(ctx, r, func() *contractv1.Task {
		_ = r.look() // a stop that just came ends the task
		request, unknown := r.tasks.find(q.GetTaskId(), principal)
		if request == nil {
			return &contractv1.Task{Refusals: rejectionsPB(unknown)}
		}
		return taskPB(request)
	})
}
