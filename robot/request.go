package robot

import (
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
	id      string
	task    goal.Task
	before  *world.Snapshot // as the task was opened
	watch   *goal.Watch     // measures the goal now; nil: nothing is being measured
	after   func(goal.Measurement)
	history []attempt
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

// missionEnded notes the mission in its task and has the goal measured.
func (r *Robot) missionEnded(m *motion) {
	q := m.request
	if q == nil {
		return
	}
	q.history = append(q.history, attempt{tool: m.cleared.Capability().Name, args: string(m.cleared.ArgsJSON()), failure: m.result.Failure})
	if r.last.Latch.Stopped || m.state.Reason == mission.ReasonStop {
		r.sideEffects(q)
		q.task = q.task.Stop()
		r.forget(q)
		return
	}
	r.measure(q, func(g goal.Measurement) {
		q.task = q.task.MissionEnded(g)
		r.sideEffects(q)
	})
}

// measure watches the goal of the task from now on and calls then with what was measured.
func (r *Robot) measure(q *request, then func(goal.Measurement)) {
	if q.task.Goal == nil || q.task.Closed() {
		then(goal.Measurement{})
		r.forget(q)
		return
	}
	if earlier := q.after; earlier != nil { // a claim came while the goal was measured anyway: one measurement serves both
		q.after = func(m goal.Measurement) { earlier(m); then(m) }
		return
	}
	q.watch, q.after = q.task.Goal.Watch(r.now()), then
}

// watchGoal is one tick of measuring a goal.
func (r *Robot) watchGoal() {
	q := r.openTask
	if q.watch == nil {
		return
	}
	if _, settled := q.watch.Observe(r.snapshot()); !settled {
		return
	}
	m, then := q.watch.Measurement(), q.after
	q.watch, q.after = nil, nil
	then(m)
	r.forget(q)
}

// sideEffects measures what was displaced outside the licence since the task was opened.
func (r *Robot) sideEffects(q *request) {
	moved, unclear := goal.Displaced(q.before, r.snapshot(), q.reported())
	q.task = q.task.Moved(moved, unclear)
}

// forget forgets the open task once its last word is said.
func (r *Robot) forget(q *request) {
	if q.task.Closed() && r.openTask == q {
		r.openTask = nil
	}
}

// taskPB is the robot's record of the task.
func taskPB(q *request) *contractv1.Task {
	t := q.task
	p := &contractv1.Task{
		TaskId: q.id, Number: t.Number, State: stateWord(t.State), TaskHash: t.Hash, Missions: int32(t.Missions),
		Rejections: int32(t.Rejections), Evidence: evidencePB(t.Measured.Evidence),
		Claim: &contractv1.Claim{Reported: t.Claim.Reported, Success: t.Claim.Success, Message: t.Claim.Message},
	}
	if t.Goal != nil {
		p.Goal = t.Goal.Text()
	}
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
