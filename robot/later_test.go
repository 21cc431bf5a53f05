package robot_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interlock/body"
	"interlock/body/guard"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/robot/operator"
	"interlock/transport"
	"interlock/units"
)

// pressed is a body at which somebody presses stop just before a setpoint comes.
type pressed struct {
	*guard.Guard
	left  int  // setpoints until then
	reset bool // and resets it at once
}

func (p *pressed) Send(s body.Setpoint) (body.Sent, error) {
	if p.left--; p.left == 0 {
		if number := p.Stop("pressed"); p.reset {
			_ = p.Reset(number)
		}
	}
	return p.Guard.Send(s)
}

// TestAnEndByAStopHasItsNumber: a mission whose setpoint met a stop says which, whether it began or not and whether the stop was
// reset or not: the number is what a person resets.
//
// Verifies: P04, K147
func TestAnEndByAStopHasItsNumber(t *testing.T) {
	for _, reset := range []bool{false, true} {
		for _, left := range []int{1, 2, 7, 20} {
			var p *pressed
			run(t, set{body: func(g *guard.Guard) robot.Body {
				p = &pressed{Guard: g, left: left, reset: reset}
				return p
			}}, func(t *testing.T, r *rig) {
				r.accepted("m1", "move_to", slowly, "")
				for _, e := range r.events("m1") {
					if k := e.GetKind(); (k == contractv1.EventKind_CANCELLING || e.GetFinal()) && e.GetReason() != "stop: 1" {
						t.Errorf("setpoint %d, reset %v: %v", left, reset, e)
					}
				}
				if e := r.ends("m1", "ABORTED(stop)"); e.GetReason() != "stop: 1" {
					t.Errorf("setpoint %d, reset %v: ended by %q", left, reset, e.GetReason())
				}
			})
		}
	}
}

// TestLaterSaysWhen: a refusal that time alone may lift says after how long; one that only a person lifts says that.
//
// Verifies: K148
func TestLaterSaysWhen(t *testing.T) {
	var on atomic.Bool
	run(t, set{trouble: func(b *trouble) { b.observe = func(*body.Observation) error { return broken(&on) } }}, func(t *testing.T, r *rig) {
		r.accepted("m0", "home", `{}`, "")
		r.ends("m0", "VERIFIED")
		on.Store(true)
		if rs := r.refused(request("m1", "home", "{}", ""), "STALE_FACT"); rs[0].GetField() != "driver" || rs[0].GetAfterMs() != units.Beat.Milliseconds() {
			t.Errorf("%v", rs)
		}
		on.Store(false)
	})
	run(t, set{memory: robot.Memory{IDs: 1}}, func(t *testing.T, r *rig) {
		r.accepted("m1", "home", "{}", "")
		r.ends("m1", "VERIFIED")
		if rs := r.refused(request("m2", "home", "{}", ""), "OVERLOADED"); rs[0].GetRetry() != string(reject.AfterOperator) {
			t.Errorf("no more ids: %v", rs)
		}
	})
	run(t, set{}, func(t *testing.T, r *rig) {
		followed, resume := r.midway(20, slowly, "")
		busy := []<-chan []*contractv1.Rejection{
			later(func() []*contractv1.Rejection { return r.start(request("m2", "home", "{}", "")).GetRejections() }),
			later(func() []*contractv1.Rejection { return r.acquire("brain").GetRejections() }),
			later(func() []*contractv1.Rejection {
				task, err := (caller{r.client, "eve"}).OpenTask(t.Context(), &contractv1.OpenTaskRequest{Words: "go", Provenance: "person"})
				check(t, err)
				return task.GetRefusals()
			}),
		}
		resume()
		for i, answer := range busy {
			rs := <-answer
			if codesOf(rs) != "BUSY" {
				t.Fatalf("call %d: %v", i, rs)
			}
			if after := time.Duration(rs[0].GetAfterMs()) * time.Millisecond; rs[0].GetRetry() != "later" || after <= time.Second || after > 10*time.Second {
				t.Errorf("call %d: a motion of some seconds is over in %v: %v", i, after, rs)
			}
		}
		<-followed
		_, err := r.robot.Person().Take(t.Context(), &contractv1.TakeRequest{By: "ada"})
		check(t, err)
		if rs := r.acquire("brain").GetRejections(); codesOf(rs) != "BUSY" || rs[0].GetRetry() != string(reject.AfterOperator) {
			t.Errorf("a robot that a person took: %v", rs)
		}
	})
}

// TestMissingIsSaid: a request that leaves something out is told what, all of it at once and by the same code, whatever it asks.
//
// Verifies: K149
func TestMissingIsSaid(t *testing.T) {
	run(t, set{desk: operator.NewDesk(operator.Config{})}, func(t *testing.T, r *rig) {
		ctx, c, p := t.Context(), r.client, r.robot.Person()
		for name, m := range map[string]struct {
			call func() ([]*contractv1.Rejection, error)
			want string
		}{
			"Start": {func() ([]*contractv1.Rejection, error) {
				ack, err := c.Start(ctx, &contractv1.StartRequest{})
				return ack.GetRejections(), err
			}, "mission_id; capability; args_json"},
			"Start under a lease of nothing": {func() ([]*contractv1.Rejection, error) {
				ack, err := c.Start(ctx, under(&contractv1.Lease{}, request("m1", "move_to", there, "")))
				return ack.GetRejections(), err
			}, "lease.resource"},
			"Cancel": {func() ([]*contractv1.Rejection, error) {
				ack, err := c.Cancel(ctx, &contractv1.CancelRequest{})
				return ack.GetRejections(), err
			}, "mission_id"},
			"Events": {func() ([]*contractv1.Rejection, error) { return nil, firstError(r, c) }, "mission_id"},
			"OpenTask": {func() ([]*contractv1.Rejection, error) {
				task, err := c.OpenTask(ctx, &contractv1.OpenTaskRequest{})
				return task.GetRefusals(), err
			}, "words; provenance"},
			"Task": {func() ([]*contractv1.Rejection, error) {
				task, err := c.Task(ctx, &contractv1.TaskRequest{})
				return task.GetRefusals(), err
			}, "task_id"},
			"Claim": {func() ([]*contractv1.Rejection, error) {
				task, err := c.Claim(ctx, &contractv1.ClaimRequest{})
				return task.GetRefusals(), err
			}, "task_id"},
			"AcquireLease": {func() ([]*contractv1.Rejection, error) {
				reply, err := c.AcquireLease(ctx, &contractv1.AcquireLeaseRequest{})
				return reply.GetRejections(), err
			}, "resource; holder"},
			"RenewLease": {func() ([]*contractv1.Rejection, error) {
				reply, err := c.RenewLease(ctx, &contractv1.RenewLeaseRequest{})
				return reply.GetRejections(), err
			}, "lease"},
			"ReleaseLease": {func() ([]*contractv1.Rejection, error) {
				reply, err := c.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: &contractv1.Lease{}})
				return reply.GetRejections(), err
			}, "lease.resource"},
			"Approve": {func() ([]*contractv1.Rejection, error) { return noReply(p.Approve(ctx, &contractv1.ApproveRequest{})) }, "hash; displayed; by"},
			"Deny":    {func() ([]*contractv1.Rejection, error) { return noReply(p.Deny(ctx, &contractv1.DenyRequest{})) }, "hash; by"},
			"Take":    {func() ([]*contractv1.Rejection, error) { return noReply(p.Take(ctx, &contractv1.TakeRequest{})) }, "by"},
			"GiveBack": {func() ([]*contractv1.Rejection, error) {
				return noReply(p.GiveBack(ctx, &contractv1.GiveBackRequest{}))
			}, "by"},
			"Resolve": {func() ([]*contractv1.Rejection, error) { return noReply(p.Resolve(ctx, &contractv1.ResolveRequest{})) }, "task_id; by"},
		} {
			if told, want := refusalOf(m.call()), missingWords(m.want); told != want {
				t.Errorf("%s: %q, want %q", name, told, want)
			}
		}
		if r.sent() > 0 {
			t.Errorf("%d setpoints", r.sent())
		}
	})
}

func firstError(r *rig, c transport.Client) error {
	for _, err := range c.Events(r.t.Context(), &contractv1.EventsRequest{}) {
		return err
	}
	return nil
}

func noReply[T any](_ T, err error) ([]*contractv1.Rejection, error) { return nil, err }

// missingWords is how refusalOf tells of these fields.
func missingWords(fields string) string {
	return "MISSING_ARGUMENT - " + strings.ReplaceAll(fields, "; ", "; MISSING_ARGUMENT - ")
}

// TestATaskUnderALiveLease: another caller opens a task only once the lease is given back or has lapsed, and is told when that
// may be; the holder's own tasks follow one another.
//
// Verifies: K150
func TestATaskUnderALiveLease(t *testing.T) {
	open := &contractv1.OpenTaskRequest{Words: "go", Provenance: "person"}
	for name, over := range map[string]func(*rig, caller, *contractv1.Lease){
		"it lapsed": func(r *rig, _ caller, _ *contractv1.Lease) { check(r.t, r.guard.Advance(units.LeaseTTL)) },
		"it was given back": func(r *rig, ada caller, l *contractv1.Lease) {
			_, err := ada.ReleaseLease(r.t.Context(), &contractv1.ReleaseLeaseRequest{Lease: l})
			check(r.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, set{}, func(t *testing.T, r *rig) {
				ada, eve := caller{r.client, "ada"}, caller{r.client, "eve"}
				reply, err := ada.AcquireLease(t.Context(), &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: "brain"})
				check(t, err)
				for range 2 {
					task, err := ada.OpenTask(t.Context(), open)
					if check(t, err); len(task.GetRefusals()) > 0 {
						t.Fatal(task)
					}
				}
				task, err := eve.OpenTask(t.Context(), open)
				check(t, err)
				rs := task.GetRefusals()
				if codesOf(rs) != "BUSY" || rs[0].GetGot() != `"brain"` || rs[0].GetAfterMs() <= 0 || rs[0].GetAfterMs() > units.LeaseTTL.Milliseconds()+1 {
					t.Errorf("%v", rs)
				}
				over(r, ada, reply.GetLease())
				if task, err = eve.OpenTask(t.Context(), open); err != nil || len(task.GetRefusals()) > 0 {
					t.Errorf("%v, %v", task, err)
				}
			})
		})
	}
}
