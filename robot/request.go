package robot

import (
	"slices"
	"strconv"
	"strings"

	contractv1 "interlock/contract/v1"
	"interlock/robot/goal"
	"interlock/robot/mission"
	"interlock/units"
	"interlock/world"
)

// request is one task with what the shell needs to measure it.
type request struct {
	id                           string
	words, provenance, principal string                 // as it was opened
	resolution                   *contractv1.Resolution // a person's word beside the verdict; nil: none
	recorded                     *contractv1.Task       // as it was last written down; nil: it was not, or that failed
	writing                      int                    // records of it that are not durable yet
	onRecord                     bool                   // some record of it is durable
	alone                        bool                   // no person can be asked about it
	task                         goal.Task
	before                       *world.Snapshot          // as the task was opened
	passed                       *world.Snapshot          // as it was last looked at for side effects while something moved
	stops                        uint64                   // number of the latest stop as the task was opened; a later one ends it
	watch                        *goal.Watch              // measures the goal now; nil: nothing is being measured
	after                        []func(goal.Measurement) // who waits for it
	history                      []attempt
}

// attempt is one ended mission of the task.
type attempt struct {
	tool, args string
	failure    *world.FailureRecord
}

// reported is the licence that side effects are measured against: what the goal names. An object that a person allowed
// besides may be moved, and is still reported.
func (q *request) reported() goal.Licence {
	l := q.task.Licence
	if q.task.Goal != nil {
		l.Objects = q.task.Goal.Objects()
	}
	return l
}

func (q *request) measuring() bool { return q.watch != nil }

// attempts returns which attempt at this call the next one is, and the failure of the one before.
func (q *request) attempts(tool, args string) (n int, before *world.FailureRecord) {
	n = 1
	for _, a := range q.history {
		if a.tool == tool && a.args == args {
			n++
			before = a.failure
		}
	}
	return n, before
}

// stoppedSince reports whether a stop came after the task was opened.
func (r *Robot) stoppedSince(q *request) bool { return r.senses.last.Latch.Number > q.stops }

// moves reports whether a mission of the task has not ended.
func (r *Robot) moves(q *request) bool { return r.active != nil && r.active.request == q }

// missionEnded notes the mission in its task and has the goal measured.
func (r *Robot) missionEnded(m *motion) {
	q := m.request
	if q == nil {
		if r.openTask != nil { // whoever asked for it, it happened while the task was open
			r.sideEffects(r.openTask)
		}
		return
	}
	q.history = append(q.history, attempt{tool: m.cleared.Capability().Name, args: string(m.cleared.ArgsJSON()), failure: m.result.Failure})
	switch {
	case q.task.Closed(): // superseded while it moved
		r.sideEffects(q)
	case r.stoppedSince(q), m.state.Reason == mission.ReasonStop, m.state.Reason == mission.ReasonStopUnconfirmed:
		r.stopTask(q)
	default:
		q.after = slices.Insert(q.after, 0, func(g goal.Measurement) {
			q.task = q.task.MissionEnded(g)
			r.sideEffects(q)
		})
		r.beginMeasuring(q)
	}
}

// stopTask ends the task by a stop; who waits for its goal is told that.
func (r *Robot) stopTask(q *request) {
	r.sideEffects(q)
	q.task = q.task.Stop()
	r.settle(q, goal.Measurement{})
}

// supersede ends the task by new words of the person: its mission is cancelled, and who waits for its goal is told.
func (r *Robot) supersede(q *request) {
	r.sideEffects(q)
	q.task = q.task.Supersede()
	r.settle(q, goal.Measurement{})
	if r.moves(q) {
		r.step(r.active, mission.Cancel{At: r.now()})
	}
}

// measure has the goal of the task measured, and calls then with the result: now where the last word is said, else once
// it is settled.
func (r *Robot) measure(q *request, then func(goal.Measurement)) {
	if q.task.Closed() {
		then(goal.Measurement{})
		return
	}
	q.after = append(q.after, then)
	r.beginMeasuring(q)
}

// beginMeasuring starts the measurement unless one is under way. While a mission of the task moves it waits for its
// end: what holds for a moment on the way was not brought about.
func (r *Robot) beginMeasuring(q *request) {
	switch {
	case r.moves(q), q.measuring():
	case q.task.Goal == nil:
		r.settle(q, goal.Measurement{})
	default:
		q.watch = q.task.Goal.Watch(r.now())
	}
}

// watchGoal is one tick of measuring a goal.
func (r *Robot) watchGoal() {
	q := r.openTask
	if !q.measuring() {
		return
	}
	if _, settled := q.watch.Observe(r.snapshot()); settled {
		r.settle(q, q.watch.Measurement())
	}
}

// settle hands the measurement to everybody who waits for it, in the order in which they came.
func (r *Robot) settle(q *request, m goal.Measurement) {
	after := q.after
	q.watch, q.after = nil, nil
	for _, then := range after {
		then(m)
	}
	if q.task.Closed() && r.openTask == q {
		r.openTask = nil
		r.tasks.close(q)
		r.noteClosed(q)
		if r.cfg.Desk != nil {
			r.withdrawn(r.cfg.Desk.WithdrawTask(q.id))
		}
	}
}

// sideEffects measures what was displaced outside the licence since the task was opened.
func (r *Robot) sideEffects(q *request) {
	moved, unclear := goal.Displaced(q.before, r.snapshot(), q.reported())
	q.task = q.task.Moved(moved, unclear)
}

// watchSideEffects is one tick of looking for what is displaced while something moves: what is pushed away and back again
// was displaced all the same. A mission of a task that is closed already is watched to its end.
func (r *Robot) watchSideEffects() {
	watch := func(q *request) {
		s := r.snapshot()
		q.task = q.task.Moved(goal.Passing(q.before, q.passed, s, q.reported()))
		q.passed = s
	}
	if r.openTask != nil {
		watch(r.openTask)
	}
	if r.active != nil && r.active.request != nil && r.active.request != r.openTask {
		watch(r.active.request)
	}
}

// taskPB is the robot's record of the task.
func taskPB(q *request) *contractv1.Task {
	t := q.task
	p := &contractv1.Task{
		TaskId: q.id, Number: t.Number, State: stateWord(t.State), TaskHash: t.Hash, Missions: int32(t.Missions),
		Rejections: int32(t.Rejections), Evidence: evidencePB(t.Measured.Evidence),
		Unclear: t.Unclear, Claim: &contractv1.Claim{Reported: t.Claim.Reported, Success: t.Claim.Success, Message: t.Claim.Message},
	}
	if t.Goal != nil {
		p.Goal = t.Goal.Text()
	}
	p.Resolution = q.resolution
	for _, s := range t.SideEffects {
		p.SideEffects = append(p.SideEffects, &contractv1.SideEffect{Object: s.Object, DisplacementCm: units.CmFromMetres(s.DisplacementM), Witness: s.Witness})
	}
	return p
}

func stateWord(s goal.State) contractv1.TaskState {
	if s == goal.Unverified {
		return contractv1.TaskState_TASK_UNVERIFIED
	}
	return contractv1.TaskState(contractv1.TaskState_value[strings.ToUpper(string(s))])
}

func taskID(number uint64) string { return "task-" + strconv.FormatUint(number, 10) }

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
