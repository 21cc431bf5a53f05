package robot_test

import (
	"errors"
	"strings"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

// asked is a robot with a desk and a soft condition: below 5 cm a person is asked.
func asked() set {
	return set{
		desk: operator.NewDesk(operator.Config{}), sim: cubes("red cube", "blue cube"),
		yaml: []string{
			`      - {id: reachable, that: "reach_mm(point_cm(args.x_cm`,
			`      - {id: low, that: "args.z_cm >= 5.0", on_false: ask, says: "z = {z_cm} cm is low"}` + "\n" + `      - {id: reachable, that: "reach_mm(point_cm(args.x_cm`,
		},
	}
}

func (r *rig) pending() []*contractv1.Pending {
	r.t.Helper()
	list, err := r.robot.Person().ListPending(r.t.Context(), &contractv1.ListPendingRequest{})
	check(r.t, err)
	return list.GetPending()
}

// approve approves the only act that waits.
func (r *rig) approve() *contractv1.Pending {
	r.t.Helper()
	list := r.pending()
	if len(list) != 1 {
		r.t.Fatalf("%d acts wait", len(list))
	}
	p, err := r.robot.Person().Approve(r.t.Context(), &contractv1.ApproveRequest{
		Hash: list[0].GetHash(), Displayed: list[0].GetAct().GetDisplayed(), By: "ada",
	})
	check(r.t, err)
	return p
}

// TestApprovalFitsOneAct: what a person allowed is this call, once; every other still needs one.
//
// Verifies: P34, F45, K120
func TestApprovalFitsOneAct(t *testing.T) {
	low, lower := moveTo(20, 5, 4), moveTo(20, 5, 3.9)
	run(t, asked(), func(t *testing.T, r *rig) {
		rs := r.refused(request("m1", "move_to", low, ""), "NEEDS_APPROVAL")
		if rs[0].GetRule() != "low" || rs[0].GetRetry() != "after_operator" {
			t.Errorf("%v", rs)
		}
		task := r.open(elsewhere)
		for range 3 { // asking again asks once
			r.refused(request("m0", "move_to", low, task), "NEEDS_APPROVAL")
		}
		if got := r.task(task).GetRejections(); got != 1 || len(r.pending()) != 2 {
			t.Errorf("%d refusals, %d acts wait", got, len(r.pending()))
		}
		r.claim(task, false) // and what waited for the task waits no more
		shown := r.pending()
		if len(shown) != 1 || !strings.Contains(shown[0].GetAct().GetDisplayed(), "z_cm: 4") {
			t.Fatalf("%v", shown)
		}
		if _, err := r.robot.Person().Approve(t.Context(), &contractv1.ApproveRequest{Hash: shown[0].GetHash(), Displayed: "all is well", By: "ada"}); !has(err, reject.Conflict) {
			t.Errorf("an approval of another text: %v", err)
		}
		r.approve()
		if r.sent() > 0 {
			t.Error("an approval moved the robot")
		}
		l := r.lease("brain")
		for name, q := range map[string]*contractv1.StartRequest{
			"other arguments": request("m2", "move_to", lower, ""), "another lease": under(l, request("m2", "move_to", low, "")),
		} {
			if ack := r.start(q); ack.GetAccepted() {
				t.Errorf("%s: accepted", name)
			}
		}
		_, err := r.client.ReleaseLease(t.Context(), &contractv1.ReleaseLeaseRequest{Lease: l})
		check(t, err)
		r.accepted("m1", "move_to", low, "")
		r.ends("m1", "VERIFIED")
		r.refused(request("m3", "move_to", low, ""), "NEEDS_APPROVAL")
	})
}

// TestAPersonMayAllowAnObject: an object outside the licence is touched only where a person allowed it, and is reported all
// the same; of an unattended task nobody is asked.
//
// Verifies: K121
func TestAPersonMayAllowAnObject(t *testing.T) {
	run(t, asked(), func(t *testing.T, r *rig) {
		task := r.open(`held("red cube")`)
		blue := `{"name":"blue cube"}`
		rs := r.refused(request("m1", "pick", blue, task), "NOT_LICENSED")
		if rs[0].GetRetry() != "after_operator" {
			t.Errorf("%v", rs)
		}
		r.approve()
		r.accepted("m1", "pick", blue, task)
		r.ends("m1", "VERIFIED")
		after := r.claim(task, true)
		if after.GetState() != contractv1.TaskState_NOT_DONE || len(after.GetSideEffects()) != 1 || after.GetSideEffects()[0].GetObject() != "blue cube" {
			t.Errorf("%v", after)
		}
		alone := r.open(`held("red cube")`, func(q *contractv1.OpenTaskRequest) { q.Closed = true })
		rs = r.refused(request("m2", "pick", `{"name":"green cube"}`, alone), "NO_SUCH_OBJECT")
		if len(r.pending()) > 0 {
			t.Errorf("what cannot be done waits for a person: %v", rs)
		}
		r.accepted("m3", "move_to", moveTo(20, -12, 10), alone)
		r.ends("m3", "VERIFIED")
		if rs = r.refused(request("m4", "open_gripper", "{}", alone), "NOT_LICENSED"); rs[0].GetRetry() == "after_operator" || len(r.pending()) > 0 {
			t.Errorf("an unattended task asks: %v", rs)
		}
	})
}

// TestTakeEndsWhatMoves: a person who takes the robot ends what moves and keeps every caller out until it is given back.
//
// Verifies: K122
func TestTakeEndsWhatMoves(t *testing.T) {
	run(t, asked(), func(t *testing.T, r *rig) {
		old := r.lease("brain")
		pause := r.pauseAfter(30)
		if ack := r.start(under(old, request("m1", "move_to", there, ""))); !ack.GetAccepted() {
			t.Fatal(ack)
		}
		taken := later(func() *contractv1.TakeReply {
			reply, err := r.robot.Person().Take(t.Context(), &contractv1.TakeRequest{By: "ada"})
			check(t, err)
			return reply
		})
		pause()
		reply := <-taken
		if reply.GetTakenBy() != "ada" || reply.GetWasHeldBy() != "brain" || reply.GetEpoch() <= old.GetEpoch() {
			t.Errorf("%v", reply)
		}
		r.ends("m1", "INTERRUPTED(lease_lost)")
		for name, q := range map[string]*contractv1.StartRequest{
			"no lease": request("m2", "move_to", there, ""), "the old lease": under(old, request("m2", "move_to", there, "")),
		} {
			if rs := r.refused(q, "BUSY"); rs[0].GetRule() != "taken" || rs[0].GetRetry() != "after_operator" {
				t.Errorf("%s: %v", name, rs)
			}
		}
		if rs := r.acquire("brain").GetRejections(); codesOf(rs) != "BUSY" {
			t.Errorf("%v", rs)
		}
		if ack := r.start(request("look", "get_state", "{}", "")); !ack.GetAccepted() {
			t.Errorf("looking: %v", ack)
		}
		if _, err := r.robot.Person().GiveBack(t.Context(), &contractv1.GiveBackRequest{By: "eve", Epoch: reply.GetEpoch() - 1}); !has(err, reject.Conflict) {
			t.Errorf("given back under another number: %v", err)
		}
		sent := r.sent()
		_, err := r.robot.Person().GiveBack(t.Context(), &contractv1.GiveBackRequest{By: "ada", Epoch: reply.GetEpoch()})
		check(t, err)
		if r.sent() != sent {
			t.Error("giving the robot back moved it")
		}
		r.accepted("m3", "move_to", there, "")
		r.ends("m3", "VERIFIED")
	})
}

// TestResolveNeverMakesDone: a person's word stands beside what was measured; it is taken once, and only where nothing was.
//
// Verifies: P13, K123
func TestResolveNeverMakesDone(t *testing.T) {
	run(t, asked(), func(t *testing.T, r *rig) {
		resolve := func(task string) (*contractv1.Task, error) {
			return r.robot.Person().Resolve(t.Context(), &contractv1.ResolveRequest{TaskId: task, By: "ada", Achieved: true, Note: "I saw it"})
		}
		open := r.open("")
		if _, err := resolve(open); !has(err, reject.Conflict) {
			t.Errorf("an open task was resolved: %v", err)
		}
		if got := r.claim(open, true).GetState(); got != contractv1.TaskState_TASK_UNVERIFIED {
			t.Fatal(got)
		}
		task, err := resolve(open)
		check(t, err)
		if task.GetState() != contractv1.TaskState_TASK_UNVERIFIED || !task.GetResolution().GetAchieved() || task.GetResolution().GetBy() != "ada" {
			t.Errorf("%v", task)
		}
		if seen := r.task(open); seen.GetResolution().GetNote() != "I saw it" {
			t.Errorf("%v", seen)
		}
		if _, err := resolve(open); !has(err, reject.Conflict) {
			t.Errorf("resolved twice: %v", err)
		}
		measured := r.open(elsewhere)
		r.claim(measured, true)
		if _, err := resolve(measured); !has(err, reject.Conflict) {
			t.Errorf("a task that was measured was resolved: %v", err)
		}
		if _, err := resolve("task-99"); !has(err, reject.NotInEnum) {
			t.Errorf("nobody's task: %v", err)
		}
	})
}

func has(err error, code reject.Code) bool {
	var l reject.List
	return errors.As(err, &l) && l.Has(code)
}
