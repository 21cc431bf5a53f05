package robot

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/goal"
	"interlock/robot/mission"
	"interlock/transport"
	"interlock/units"
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
	case inbox <- func() { r.seen.Store(nil); reply <- f() }:
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-r.closed:
		var none T
		return none, ErrClosed
	}
	select {
	case v := <-reply: // the loop runs what it took, and f never waits
		return v, nil
	case <-r.closed: // unless it ended in the middle of it
		return last(reply)
	}
}

// last is the answer that came before the robot's end, if one did.
func last[T any](reply <-chan T) (T, error) {
	select {
	case v := <-reply:
		return v, nil
	default:
		var none T
		return none, ErrClosed
	}
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
		return last(reply)
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

// OpenTask implements transport.Server. A task that is still open is superseded, and its mission cancelled. While another
// caller holds a lease, or moves the robot without one, its task stays open and no other is opened.
func (r *Robot) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	principal := transport.PrincipalOf(ctx)
	return doLater(ctx, r, func(answer func(*contractv1.Task)) {
		opened, l := r.open(q, principal)
		if len(l) > 0 {
			answer(&contractv1.Task{Refusals: r.refusals(l)})
			return
		}
		r.noteTask(opened, func(failed error) {
			if failed != nil { // what nobody could look up later is not begun
				if r.openTask == opened {
					r.supersede(opened)
				}
				answer(&contractv1.Task{Refusals: r.refusals(reject.List{unavailable(failed)})})
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
	if l := printableObjects(q); len(l) > 0 {
		return nil, l
	}
	if full := r.mayNote(principal); full != nil {
		return nil, reject.List{*full}
	}
	if theirs := r.othersHold(principal); theirs != nil {
		return nil, reject.List{*theirs}
	}
	t, l := r.frozen(q)
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

// othersHold refuses a task while another caller holds the robot: it would close that caller's task between two motions.
func (r *Robot) othersHold(principal string) *reject.Rejection {
	if m := r.busy(); m != nil && m.principal != principal {
		busy := r.movedBy(m).By("principal").In("task_id")
		return &busy
	}
	for resource, h := range r.leases.of {
		if by := h.Holder(r.now()); by != "" && h.principal != principal {
			busy := h.busy(resource, r.now())
			return &busy
		}
	}
	return nil
}

// frozen is the task as it is asked for, or every reason why it cannot be opened.
func (r *Robot) frozen(q *contractv1.OpenTaskRequest) (goal.Task, reject.List) {
	budget := int(q.GetMaxMissions())
	if budget == 0 {
		budget = r.cfg.MaxMissions
	}
	t, l := goal.OpenTask(r.cfg.Contract, r.tasks.opened+1, goal.Request{
		Words: q.GetWords(), Provenance: goal.Provenance(q.GetProvenance()), Goal: q.GetGoal(),
		MayChange: q.GetMayChange(), Forbidden: q.GetForbidden(), MaxMissions: budget,
	})
	absent := missing("provenance", q.GetProvenance())
	if goal.Provenance(q.GetProvenance()) != goal.Absent { // of words that nobody passed on there are none
		absent = append(missing("words", strings.TrimSpace(q.GetWords())), absent...)
	}
	named := func(n reject.Rejection) bool {
		return slices.ContainsFunc(absent, func(a reject.Rejection) bool { return a.Field == n.Field })
	}
	return t, append(absent, slices.DeleteFunc(l, named)...)
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
		return &contractv1.CancelAck{Accepted: len(l) == 0, Rejections: r.refusals(l)}
	})
}

// Observe implements transport.Server. A driver that does not answer is an error: nothing is known then. Where a robot is
// asked more often than it ticks, what it saw within a tick serves: whoever asks all the time must not keep its driver busy.
func (r *Robot) Observe(ctx context.Context, _ *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	if s := r.seen.Load(); s != nil && time.Now().Before(s.until) {
		return proto.CloneOf(s.observation), nil
	}
	type answer struct {
		o   *contractv1.Observation
		err error
	}
	a, err := aside(ctx, r, func() answer {
		if err := r.lookLately(); err != nil {
			return answer{err: fmt.Errorf("observe: %w", err)}
		}
		return answer{o: r.observation()}
	})
	if err != nil {
		return nil, err
	}
	return a.o, a.err
}

// seen is an observation that serves everybody until the next tick, unless something happens before.
type seen struct {
	observation *contractv1.Observation
	until       time.Time
}

func (r *Robot) observation() *contractv1.Observation {
	latch := r.senses.last.Latch
	o := &contractv1.Observation{
		AtMs: r.now().Millis(), Facts: factsPB(r.cfg.Contract, r.snapshot(), ""), Stopped: latch.Stopped,
		StopNumber: latch.Number, StopReason: latch.Reason, Standstill: r.senses.still(),
	}
	if r.active != nil {
		o.RunningMission = r.active.id
	}
	if r.cfg.Beat > 0 {
		r.seen.Store(&seen{proto.CloneOf(o), r.lookedAt.Add(units.RobotTick)})
	}
	return o
}

// Events implements transport.Server. A mission that is not known is an error, a reject.List, and so is a number that no reader
// can have come to. One behind the final event there is nothing more, and the stream is empty.
func (r *Robot) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	type answer struct {
		log *eventLog
		err error
	}
	principal, from := transport.PrincipalOf(ctx), max(1, q.GetFromSeq())
	a, err := aside(ctx, r, func() answer {
		m, l := r.missions.find(q.GetMissionId(), principal)
		if m == nil {
			return answer{err: l}
		}
		if next := m.log.next(); from > next {
			return answer{err: reject.List{beyond(from, next, m.recalled)}}
		}
		return answer{log: m.log}
	})
	if err == nil {
		err = a.err
	}
	if err != nil {
		return func(yield func(*contractv1.Event, error) bool) { yield(nil, err) }
	}
	return a.log.follow(ctx, r.closed, from)
}

// beyond refuses a number to go on from that leaves out what has not happened yet: next is the highest there is. Of a mission
// that is recalled from the record an honest reader may have been told more: the robot before this one told also what it
// could not write down.
func beyond(from, next uint64, recalled bool) reject.Rejection {
	got, limit := strconv.FormatUint(from, 10), strconv.FormatUint(next, 10)
	there := "of this mission there are " + strconv.FormatUint(next-1, 10) + " events"
	if !recalled {
		return reject.New(reject.OutOfRange, there+"; a reader goes on from "+limit+" at most").In("from_seq").Saw(got, limit, "")
	}
	return reject.New(reject.OutOfRange, there+" on record; the robot was started anew since, and events that it told before may have been lost with "+
		"those numbers: a reader goes on from "+limit+" at most, and reads from 1 how the mission ended").By(recalledRule).In("from_seq").Saw(got, limit, "")
}

// recalledRule is the rule by which a reader may hold more events of a mission than the record.
const recalledRule = "restart"

// Claim implements transport.Server. The goal is measured now, whatever is claimed, or once the task's mission that
// still moves has ended; a task that is closed already keeps its word and gets the claim beside it.
func (r *Robot) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	principal := transport.PrincipalOf(ctx)
	return doLater(ctx, r, func(answer func(*contractv1.Task)) {
		_ = r.look() // a stop that just came decides the task; a silent driver leaves its goal unmeasured
		request, unknown := r.tasks.find(q.GetTaskId(), principal)
		if request == nil {
			answer(&contractv1.Task{Refusals: r.refusals(unknown)})
			return
		}
		c := q.GetClaim()
		if n := len(c.GetMessage()); n > maxWords {
			answer(&contractv1.Task{Refusals: r.refusals(reject.List{reject.New(reject.TooLarge, "a claim is shorter than that").In("claim.message").
				Saw(strconv.Itoa(n), strconv.Itoa(maxWords), "bytes")})})
			return
		}
		if full := r.mayNote(principal); full != nil {
			answer(&contractv1.Task{Refusals: r.refusals(reject.List{*full})})
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
					t.Refusals = r.refusals(reject.List{unavailable(failed)})
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
			return &contractv1.Task{Refusals: r.refusals(unknown)}
		}
		return taskPB(request)
	})
}
