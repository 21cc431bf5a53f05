package robot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"

	"google.golang.org/protobuf/proto"

	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/goal"
	"interlock/robot/mission"
	"interlock/transport"
)

var _ transport.Server = (*Robot)(nil)

// do runs f on the loop's goroutine and waits for it.
func do[T any](ctx context.Context, r *Robot, f func() T) (T, error) {
	reply := make(chan T, 1)
	select {
	case r.inbox <- func() { reply <- f() }:
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-r.closed:
		var none T
		return none, ErrClosed
	}
	select {
	case v := <-reply:
		return v, nil
	case <-r.closed:
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
	select {
	case v := <-reply:
		return v, nil
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-r.closed:
		var none T
		return none, ErrClosed
	}
}

// Describe implements transport.Server.
func (r *Robot) Describe(context.Context) (*contractv1.Manifest, error) {
	return proto.CloneOf(r.manifest), nil
}

// OpenTask implements transport.Server. A task that is still open is superseded, and its mission cancelled.
func (r *Robot) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return do(ctx, r, func() *contractv1.Task { return r.open(q) })
}

func (r *Robot) open(q *contractv1.OpenTaskRequest) *contractv1.Task {
	budget := int(q.GetMaxMissions())
	if budget == 0 {
		budget = r.cfg.MaxMissions
	}
	t, l := goal.OpenTask(r.cfg.Contract, r.opened+1, goal.Request{
		Words: q.GetWords(), Provenance: goal.Provenance(q.GetProvenance()), Goal: q.GetGoal(),
		MayChange: q.GetMayChange(), Forbidden: q.GetForbidden(), MaxMissions: budget,
	})
	if len(l) > 0 {
		return &contractv1.Task{Refusals: rejectionsPB(l)}
	}
	if old := r.openTask; old != nil {
		old.task = old.task.Supersede()
		old.watch, old.after = nil, nil
		if r.active != nil && r.active.request == old {
			r.step(r.active, mission.Cancel{At: r.now()})
		}
	}
	r.opened++
	opened := &request{id: taskID(r.opened), task: t, before: r.snapshot()}
	r.tasks[opened.id], r.openTask = opened, opened
	return taskPB(opened)
}

// Start implements transport.Server.
func (r *Robot) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return do(ctx, r, func() *contractv1.MissionAck { return r.start(q) })
}

func (r *Robot) start(q *contractv1.StartRequest) *contractv1.MissionAck {
	key := startKey(q)
	if m, known := r.missions[q.GetMissionId()]; known {
		return again(m, key)
	}
	request, l := r.requestOf(q)
	if len(l) == 0 {
		var ack *contractv1.MissionAck
		if ack, l = r.tryStart(q, key, request); len(l) == 0 {
			return ack
		}
	}
	if request != nil {
		request.task = request.task.Rejected()
	}
	return &contractv1.MissionAck{MissionId: q.GetMissionId(), Reason: reasonFor(q.GetCapability(), l), Rejections: rejectionsPB(l)}
}

// again answers a start whose mission id was used before.
func again(m *motion, key string) *contractv1.MissionAck {
	if m.key != key {
		l := reject.List{reject.New(reject.Conflict, "mission "+m.id+" was started with another capability, task or arguments").In("mission_id")}
		return &contractv1.MissionAck{MissionId: m.id, Reason: reasonFor("", l), Rejections: rejectionsPB(l)}
	}
	ack := proto.CloneOf(m.ack)
	ack.Duplicate = true
	return ack
}

// startKey identifies what a start asks for, so that the same id with another body shows.
func startKey(q *contractv1.StartRequest) string {
	h := sha256.New()
	for _, part := range []string{q.GetCapability(), q.GetTaskId(), string(q.GetArgsJson())} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// requestOf finds the task a start serves, and refuses one without an id or with a task that nobody opened.
func (r *Robot) requestOf(q *contractv1.StartRequest) (*request, reject.List) {
	var l reject.List
	if q.GetMissionId() == "" {
		l = append(l, reject.New(reject.MissingArgument, "a start needs a mission id of the caller's choice").In("mission_id"))
	}
	if q.GetTaskId() == "" {
		return nil, l
	}
	request, known := r.tasks[q.GetTaskId()]
	if !known {
		l = append(l, reject.New(reject.NotInEnum, "no task "+strconv.QuoteToASCII(q.GetTaskId())+" was opened").In("task_id"))
	}
	return request, l
}

// tryStart judges the call and begins the mission, or answers a read-only one.
func (r *Robot) tryStart(q *contractv1.StartRequest, key string, request *request) (*contractv1.MissionAck, reject.List) {
	if err := r.observe(); err != nil {
		return nil, reject.List{reject.New(reject.StaleFact, "the driver does not answer: "+err.Error()).In("driver")}
	}
	s := r.snapshot()
	cleared, l := r.cfg.Gate.Judge(gate.Call{Capability: q.GetCapability(), Args: q.GetArgsJson()}, s, r.standing(), licenceOf(request))
	if len(l) > 0 {
		return nil, l
	}
	ack := &contractv1.MissionAck{MissionId: q.GetMissionId(), Accepted: true, NormalizedArgsJson: cleared.ArgsJSON()}
	if cleared.Capability().ReadOnly {
		ack.Facts = factsPB(r.cfg.Contract, s, objectArg(cleared))
		return ack, nil
	}
	if request != nil {
		if refusal := request.task.MayStart(); refusal != nil {
			return nil, reject.List{*refusal}
		}
	}
	m := &motion{id: q.GetMissionId(), key: key, request: request, cleared: cleared, ack: ack}
	if l := r.begin(m); len(l) > 0 {
		return nil, l
	}
	if request != nil {
		request.task = request.task.MissionStarted()
	}
	r.missions[m.id] = m
	return ack, nil
}

// objectArg returns the object that a read-only call asks about; empty: about everything.
func objectArg(c gate.Cleared) string {
	for _, a := range c.Capability().Args {
		if v, given := c.Args().Get(a.Name); given && a.Type == contract.ArgObject {
			return v.Text
		}
	}
	return ""
}

// Cancel implements transport.Server.
func (r *Robot) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return do(ctx, r, func() *contractv1.CancelAck {
		m, known := r.missions[q.GetMissionId()]
		if !known {
			return &contractv1.CancelAck{Rejections: rejectionsPB(unknownMission(q.GetMissionId()))}
		}
		l := r.step(m, mission.Cancel{At: r.now()})
		return &contractv1.CancelAck{Accepted: len(l) == 0, Rejections: rejectionsPB(l)}
	})
}

func unknownMission(id string) reject.List {
	return reject.List{reject.New(reject.NotInEnum, "no mission "+strconv.QuoteToASCII(id)+" is known").In("mission_id")}
}

// Observe implements transport.Server.
func (r *Robot) Observe(ctx context.Context, _ *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	type answer struct {
		o   *contractv1.Observation
		err error
	}
	a, err := do(ctx, r, func() answer {
		if err := r.observe(); err != nil {
			return answer{err: fmt.Errorf("observe: %w", err)}
		}
		o := &contractv1.Observation{
			AtMs: r.last.At.Millis(), Facts: factsPB(r.cfg.Contract, r.snapshot(), ""), Stopped: r.last.Latch.Stopped,
			StopNumber: r.last.Latch.Number, StopReason: r.last.Latch.Reason, Standstill: r.last.Standstill,
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

// Events implements transport.Server.
func (r *Robot) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	log, err := do(ctx, r, func() *eventLog {
		if m, known := r.missions[q.GetMissionId()]; known {
			return m.log
		}
		return nil
	})
	switch {
	case err != nil:
	case log == nil:
		err = unknownMission(q.GetMissionId())
	default:
		return log.follow(ctx, r.closed, max(1, q.GetFromSeq()))
	}
	return func(yield func(*contractv1.Event, error) bool) { yield(nil, err) }
}

// Claim implements transport.Server. The goal is measured now, whatever is claimed; a task that is closed already
// keeps its word and gets the claim beside it.
func (r *Robot) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return doLater(ctx, r, func(answer func(*contractv1.Task)) {
		request, known := r.tasks[q.GetTaskId()]
		if !known {
			answer(&contractv1.Task{Refusals: rejectionsPB(unknownTask(q.GetTaskId()))})
			return
		}
		c := q.GetClaim()
		r.measure(request, func(m goal.Measurement) {
			if c.GetReported() {
				request.task = request.task.Claimed(goal.Claim{Reported: true, Success: c.GetSuccess(), Message: c.GetMessage()}, m)
			} else {
				request.task = request.task.Silent(m)
			}
			r.sideEffects(request)
			answer(taskPB(request))
		})
	})
}

func unknownTask(id string) reject.List {
	return reject.List{reject.New(reject.NotInEnum, "no task "+strconv.QuoteToASCII(id)+" was opened").In("task_id")}
}

// Task implements transport.Server.
func (r *Robot) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return do(ctx, r, func() *contractv1.Task {
		request, known := r.tasks[q.GetTaskId()]
		if !known {
			return &contractv1.Task{Refusals: rejectionsPB(unknownTask(q.GetTaskId()))}
		}
		return taskPB(request)
	})
}
