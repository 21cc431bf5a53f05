package robot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/robot/operator"
	"interlock/units"
)

// held begins a start whose intent is being written until letGo.
func (r *rig) held(ctx context.Context, k *kept, id, args string) <-chan *contractv1.MissionAck {
	r.t.Helper()
	k.holdBack()
	return later(func() *contractv1.MissionAck {
		ack, _ := r.client.Start(ctx, request(id, "move_to", args, "")) // an ended context has no answer
		return ack
	})
}

// TestWhatCameBeforeAMotionWins: a stop ends the intent also where it was reset, and so do a caller that has gone and a
// record that took too long. Nothing moves of it, and its id may be used again once that is on record.
//
// Verifies: P03, P26, K130
func TestWhatCameBeforeAMotionWins(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(r *rig, leave context.CancelFunc)
		rule      string
		code      string
	}{
		"a stop and its reset": {func(r *rig, _ context.CancelFunc) { check(r.t, r.guard.Reset(r.guard.Stop("test"))) }, "overtaken", "STOPPED"},
		"the caller has gone":  {func(_ *rig, leave context.CancelFunc) { leave() }, "", ""},
		"a slow disk":          {func(*rig, context.CancelFunc) { time.Sleep(3 * time.Second) }, "", "AUDIT_UNAVAILABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			recorded(t, folder(t), set{beat: units.Beat}, func(t *testing.T, r *rig, k *kept) {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				ack := r.held(ctx, k, "m1", there)
				forward(t, r, c.meanwhile, leave)
				synctest.Wait()
				k.letGo()
				synctest.Wait()
				if got := <-ack; c.code != "" && (codesOf(got.GetRejections()) != c.code || got.GetRejections()[0].GetRule() != c.rule) {
					t.Errorf("answered %v", got)
				}
				time.Sleep(time.Second)
				if r.sent() > 0 {
					t.Errorf("%d setpoints", r.sent())
				}
				r.accepted("m1", "move_to", there, "")
				r.ends("m1", "VERIFIED")
			})
		})
	}
}

// forward lets the body's time pass beside the test's, as a body with a clock of its own does.
func forward(t *testing.T, r *rig, meanwhile func(*rig, context.CancelFunc), leave context.CancelFunc) {
	t.Helper()
	began := time.Now()
	meanwhile(r, leave)
	if passed := time.Since(began); passed > 0 {
		check(t, r.guard.Advance(passed.Truncate(units.RobotTick)))
		r.observe()
	}
}

// TestAStuckRecordIsSaid: while an intent is stuck other starts are told so, and not that something moves.
//
// Verifies: K131
func TestAStuckRecordIsSaid(t *testing.T) {
	recorded(t, folder(t), set{}, func(t *testing.T, r *rig, k *kept) {
		ack := r.held(t.Context(), k, "m1", there)
		r.refused(request("m2", "move_to", there, ""), "BUSY")
		check(t, r.guard.Advance(3*time.Second))
		r.refused(request("m2", "move_to", there, ""), "AUDIT_UNAVAILABLE")
		k.letGo()
		if got := <-ack; codesOf(got.GetRejections()) != "AUDIT_UNAVAILABLE" {
			t.Errorf("answered %v", got)
		}
	})
}

// TestAnIntentThatCannotBeTakenBack: where the record of that is lost, its id is used by no other mission.
//
// Verifies: P20, P26, K132
func TestAnIntentThatCannotBeTakenBack(t *testing.T) {
	recorded(t, folder(t), set{}, func(t *testing.T, r *rig, k *kept) {
		ack := r.held(t.Context(), k, "m1", there)
		_, err := r.client.Cancel(t.Context(), &contractv1.CancelRequest{MissionId: "m1"})
		check(t, err)
		k.break_(errors.New("input/output error"))
		k.letGo()
		if got := <-ack; codesOf(got.GetRejections()) != "CONFLICT" {
			t.Errorf("answered %v", got)
		}
		k.break_(nil)
		if rs := r.refused(request("m1", "move_to", moveTo(18, -5, 12), ""), "CONFLICT"); rs[0].GetRule() != "void" {
			t.Errorf("%v", rs)
		}
		r.accepted("m2", "move_to", there, "")
		r.ends("m2", "VERIFIED")
	})
}

// TestATakeOutlivesTheRobot: a robot that restarts is still taken, and no epoch comes twice, on record or not.
//
// Verifies: K133
func TestATakeOutlivesTheRobot(t *testing.T) {
	dir := folder(t)
	var old *contractv1.Lease
	var epoch uint64
	recorded(t, dir, set{}, func(t *testing.T, r *rig, k *kept) {
		k.break_(errors.New("no space left on device"))
		old = r.lease("brain")
		k.break_(nil)
	})
	recorded(t, dir, set{after: time.Second}, func(t *testing.T, r *rig, _ *kept) {
		if l := r.lease("brain"); l.GetEpoch() == old.GetEpoch() {
			t.Errorf("epoch %d was given twice", l.GetEpoch())
		}
		reply, err := r.robot.Person().Take(t.Context(), &contractv1.TakeRequest{By: "ada"})
		check(t, err)
		epoch = reply.GetEpoch()
	})
	recorded(t, dir, set{}, func(t *testing.T, r *rig, _ *kept) {
		if rs := r.refused(request("m1", "move_to", there, ""), "BUSY"); rs[0].GetRule() != "taken" {
			t.Errorf("%v", rs)
		}
		_, err := r.robot.Person().GiveBack(t.Context(), &contractv1.GiveBackRequest{By: "ada", Epoch: epoch})
		check(t, err)
		r.accepted("m1", "move_to", there, "")
		r.ends("m1", "VERIFIED")
	})
}

// TestAnApprovalIsPastWithWhatItWasAskedIn: a stop, or a person who takes the robot, ends what was allowed before.
//
// Verifies: P34, K134
func TestAnApprovalIsPastWithWhatItWasAskedIn(t *testing.T) {
	low := moveTo(20, 5, 4)
	for name, over := range map[string]func(*rig){
		"a stop and its reset": func(r *rig) {
			number := r.guard.Stop("test")
			r.observe()
			check(r.t, r.guard.Reset(number))
		},
		"a take": func(r *rig) {
			p := r.robot.Person()
			reply, err := p.Take(r.t.Context(), &contractv1.TakeRequest{By: "ada"})
			check(r.t, err)
			_, err = p.GiveBack(r.t.Context(), &contractv1.GiveBackRequest{By: "ada", Epoch: reply.GetEpoch()})
			check(r.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked()
			s.desk = operator.NewDesk(operator.Config{})
			run(t, s, func(t *testing.T, r *rig) {
				r.refused(request("m1", "move_to", low, ""), "NEEDS_APPROVAL")
				r.approve()
				over(r)
				if r.refused(request("m1", "move_to", low, ""), "NEEDS_APPROVAL"); len(r.pending()) != 1 {
					t.Errorf("%d acts wait", len(r.pending()))
				}
			})
		})
	}
}

// TestACallerCannotFillTheDisk: what one caller has written down is bounded in length and in time, and another's is not
// affected.
//
// Verifies: K135
func TestACallerCannotFillTheDisk(t *testing.T) {
	recorded(t, folder(t), set{}, func(t *testing.T, r *rig, _ *kept) {
		long := strings.Repeat("x", 9<<10)
		task, err := r.client.OpenTask(t.Context(), &contractv1.OpenTaskRequest{Words: long, Provenance: "person"})
		if check(t, err); codesOf(task.GetRefusals()) != "TOO_LARGE" {
			t.Errorf("%v", task.GetRefusals())
		}
		id := r.open(elsewhere)
		claimed, err := r.client.Claim(t.Context(), &contractv1.ClaimRequest{TaskId: id, Claim: &contractv1.Claim{Reported: true, Message: long}})
		if check(t, err); codesOf(claimed.GetRefusals()) != "TOO_LARGE" {
			t.Errorf("%v", claimed.GetRefusals())
		}
		shed := 0
		for range 200 {
			task, err := r.client.OpenTask(t.Context(), &contractv1.OpenTaskRequest{Words: "go", Provenance: "person"})
			if check(t, err); codesOf(task.GetRefusals()) == "OVERLOADED" {
				shed++
			}
		}
		if shed < 100 {
			t.Errorf("of 200 requests at one instant %d were shed", shed)
		}
		check(t, r.guard.Advance(10*time.Second))
		r.open(elsewhere)
	})
}
