package robot_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/audit"
	"interlock/units"
)

// deed is something that a person does at the robot, and how the record tells it.
type deed struct {
	told string
	do   func() error
}

// deeds are acts of every kind, on things that were there before: two calls that wait, two tasks that nobody measured. The take
// comes last, since it ends what waits; then it is given back.
func (r *rig) deeds(waits []*contractv1.Pending, tasks []string) []deed {
	p, ctx := r.robot.Person(), r.t.Context()
	resolve := func(task, by string) func() error {
		return func() error {
			_, err := p.Resolve(ctx, &contractv1.ResolveRequest{TaskId: task, By: by, Achieved: true, Note: "I saw it"})
			return err
		}
	}
	var epoch uint64
	return []deed{
		{"APPROVED " + waits[0].GetHash() + " ada", func() error {
			_, err := p.Approve(ctx, &contractv1.ApproveRequest{Hash: waits[0].GetHash(), Displayed: waits[0].GetAct().GetDisplayed(), By: "ada"})
			return err
		}},
		{"DENIED " + waits[1].GetHash() + " bob", func() error {
			_, err := p.Deny(ctx, &contractv1.DenyRequest{Hash: waits[1].GetHash(), By: "bob"})
			return err
		}},
		{"resolved " + tasks[0] + " carol", resolve(tasks[0], "carol")},
		{"resolved " + tasks[1] + " dan", resolve(tasks[1], "dan")},
		{"TAKEN eve", func() error {
			reply, err := p.Take(ctx, &contractv1.TakeRequest{By: "eve"})
			epoch = reply.GetEpoch()
			return err
		}},
		{"RELEASED eve", func() error {
			_, err := p.GiveBack(ctx, &contractv1.GiveBackRequest{By: "eve", Epoch: epoch})
			return err
		}},
	}
}

// deedsOn are the acts of persons on the record, in its order.
func deedsOn(all []*contractv1.AuditRecord) (told []string) {
	for _, rec := range all {
		switch a, l, task := rec.GetApproval(), rec.GetLease(), rec.GetTask().GetTask(); {
		case a.GetKind() == contractv1.ApprovalChange_APPROVED, a.GetKind() == contractv1.ApprovalChange_DENIED:
			told = append(told, a.GetKind().String()+" "+a.GetHash()+" "+a.GetBy())
		case l != nil && l.GetLease().GetResource() == "":
			told = append(told, l.GetKind().String()+" "+l.GetPrincipal())
		case task.GetResolution() != nil:
			told = append(told, "resolved "+task.GetTaskId()+" "+task.GetResolution().GetBy())
		}
	}
	return told
}

// TestActsOfPersonsOutliveASickDisk: what persons do while nothing can be written, of every kind and in any order, is on record once
// the disk is well again, each once and in its order, whatever else is owed; what must be on record first is refused meanwhile.
//
// Verifies: P27, T50
func TestActsOfPersonsOutliveASickDisk(t *testing.T) {
	for stops, orders := range map[int][][]int{0: {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}}, 140: {{1, 3, 0, 2}}} { // a stop leaves two lines: more than there is room for
		for _, order := range orders {
			d := newDisk()
			var want []string
			s := asked()
			s.beat = units.Beat
			on(t, d, s, func(t *testing.T, r *rig, _ *kept) {
				var tasks []string
				for range 2 {
					tasks = append(tasks, r.open(""))
					r.claim(tasks[len(tasks)-1], true)
				}
				r.refused(request("m1", "move_to", moveTo(20, 5, 4), ""), "NEEDS_APPROVAL")
				r.refused(request("m2", "move_to", moveTo(20, 5, 3.9), ""), "NEEDS_APPROVAL")
				all := r.deeds(r.pending(), tasks)
				d.is(errFull)
				for _, i := range append(slices.Clone(order), 4, 5) {
					check(t, all[i].do())
					want = append(want, all[i].told)
					r.passes(units.Beat)
				}
				r.refusesOffTheRecord()
				for range stops {
					number := r.guard.Stop("once more")
					r.passes(units.Beat)
					check(t, r.guard.Reset(number))
					r.passes(units.Beat)
				}
				d.is(nil)
				r.passes(10 * longest)
			})
			if told := deedsOn(d.says(t)); !slices.Equal(told, want) {
				t.Errorf("order %v, %d stops: on record are\n%s\nwant\n%s", order, stops, strings.Join(told, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// longest is more than the time after which a disk is tried again.
const longest = units.LeaseTTL

// refusesOffTheRecord holds the robot to what may not be done while it cannot be recorded.
func (r *rig) refusesOffTheRecord() {
	r.t.Helper()
	r.refused(request("off the record", "move_to", nearby, ""), "AUDIT_UNAVAILABLE")
	task, err := r.client.OpenTask(r.t.Context(), &contractv1.OpenTaskRequest{Words: "go", Provenance: "person"})
	if check(r.t, err); codesOf(task.GetRefusals()) != "AUDIT_UNAVAILABLE" {
		r.t.Errorf("a task off the record: %v", task)
	}
	if r.sent() > 0 {
		r.t.Errorf("%d setpoints off the record", r.sent())
	}
}

// choosy is a journal that takes everything but what it is told not to.
type choosy struct {
	*audit.Log
	refuses func(*contractv1.AuditRecord) bool
}

// Append implements robot.Journal.
func (c *choosy) Append(rec *contractv1.AuditRecord, then func(error)) {
	if c.refuses(rec) {
		then(errFull)
		return
	}
	c.Log.Append(rec, then)
}

// TestAnApprovalIsOnRecordBeforeItMoves: what a person allowed moves nothing before it is on record who did, though all the rest can
// be written; it is not spent by the attempt, and is good once the record has it.
//
// Verifies: P26, P34, T51
func TestAnApprovalIsOnRecordBeforeItMoves(t *testing.T) {
	d := newDisk()
	sick := true
	onChoosy(t, d, asked(), func(rec *contractv1.AuditRecord) bool {
		return sick && rec.GetApproval().GetKind() == contractv1.ApprovalChange_APPROVED
	}, func(t *testing.T, r *rig) {
		low := moveTo(20, 5, 4)
		r.refused(request("m1", "move_to", low, ""), "NEEDS_APPROVAL")
		r.approve()
		for _, id := range []string{"m1", "m2"} {
			rs := r.refused(request(id, "move_to", low, ""), "AUDIT_UNAVAILABLE")
			if rs[0].GetRetry() != string(reject.Later) || rs[0].GetAfterMs() <= 0 || r.sent() > 0 {
				t.Errorf("%v, %d setpoints", rs, r.sent())
			}
			synctest.Wait() // until it is on record that the intent was taken back
		}
		sick = false
		r.accepted("m1", "move_to", low, "")
		r.ends("m1", "VERIFIED")
		r.refused(request("m3", "move_to", low, ""), "NEEDS_APPROVAL")
	})
	var told []string
	for _, rec := range d.says(t) {
		if a := rec.GetApproval(); a != nil {
			told = append(told, a.GetKind().String())
		}
		if e := rec.GetEvent(); e.GetKind() == contractv1.EventKind_ACCEPTED {
			told = append(told, "moves")
		}
	}
	if got := strings.Join(told, " "); got != "ASKED APPROVED USED moves ASKED" {
		t.Errorf("the record tells %s", got)
	}
}

// onChoosy runs a robot whose record is on the disk and takes not everything.
func onChoosy(t *testing.T, d *disk, s set, refuses func(*contractv1.AuditRecord) bool, test func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log, past, err := audit.Open("record", audit.Options{Disk: d})
		check(t, err)
		s.journal, s.past = &choosy{log, refuses}, past
		r := newRig(t, s)
		t.Cleanup(func() { check(t, errors.Join(r.close(), log.Close())) })
		test(t, r)
	})
}
