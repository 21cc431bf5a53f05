package robot_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// caller is a client whom the line knows by name.
type caller struct {
	transport.Client
	name string
}

func (c caller) ctx(ctx context.Context) context.Context {
	return transport.WithPrincipal(ctx, c.name)
}

func (c caller) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return c.Client.OpenTask(c.ctx(ctx), q)
}

func (c caller) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return c.Client.Start(c.ctx(ctx), q)
}

func (c caller) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return c.Client.Cancel(c.ctx(ctx), q)
}

func (c caller) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return c.Client.Events(c.ctx(ctx), q)
}

func (c caller) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return c.Client.Claim(c.ctx(ctx), q)
}

func (c caller) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return c.Client.Task(c.ctx(ctx), q)
}

func (c caller) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return c.Client.AcquireLease(c.ctx(ctx), q)
}

func (c caller) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return c.Client.RenewLease(c.ctx(ctx), q)
}

func (c caller) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return c.Client.ReleaseLease(c.ctx(ctx), q)
}

// nearby is a motion that is over within the time that a lease lasts.
var nearby = moveTo(20, 1, 14.5)

// theirs is what Ada has of the robot while Eve tries to use it.
type theirs struct {
	lease         *contractv1.Lease // the latest; perhaps given back
	task, mission string
	start         *contractv1.StartRequest // what Ada starts with it, or has started
	hear          func()                   // lets a robot that stands in a tick hear Eve; nil: it rests
	goOn          func()                   // what Ada does next with what is hers; nil: she starts it
}

// situations are those in which Ada has something of her own. In each she has opened a task and moved before.
var situations = map[string]func(*rig, *kept) theirs{
	"a lease": func(r *rig, _ *kept) theirs {
		a := r.session()
		a.start = under(a.lease, request("m1", "move_to", nearby, ""))
		return a
	},
	"a task": func(r *rig, _ *kept) theirs {
		a := r.session()
		r.release(a.lease)
		a.start = request("m1", "move_to", nearby, a.task)
		return a
	},
	"a mission": func(r *rig, _ *kept) theirs {
		a := r.session()
		r.release(a.lease)
		a.mission, a.start = "m1", request("m1", "move_to", nearby, a.task)
		_, resume := r.midway(10, nearby, a.task)
		a.hear, a.goOn = resume, func() {}
		return a
	},
	"an intent": func(r *rig, k *kept) theirs {
		a := r.session()
		r.release(a.lease)
		a.mission, a.start = "m1", request("m1", "move_to", nearby, a.task)
		k.holdBack()
		ack := later(func() *contractv1.MissionAck { return r.start(a.start) })
		a.goOn = func() {
			k.letGo()
			if got := <-ack; !got.GetAccepted() {
				r.t.Errorf("her start was answered %v", got)
			}
		}
		return a
	},
	"an approval": func(r *rig, _ *kept) theirs {
		a := r.session()
		r.release(a.lease)
		a.start = request("m1", "move_to", moveTo(20, 5, 4), "")
		r.refused(a.start, "NEEDS_APPROVAL")
		r.approve()
		return a
	},
	"a new task": func(r *rig, _ *kept) theirs {
		a := r.session()
		r.claim(a.task, false)
		a.task = r.open("")
		a.start = under(a.lease, request("m1", "move_to", nearby, a.task))
		return a
	},
}

// session is a task with one motion behind it, under a lease.
func (r *rig) session() theirs {
	r.t.Helper()
	a := theirs{lease: r.lease("ada's brain"), task: r.open(""), mission: "m0"}
	if ack := r.start(under(a.lease, request("m0", "move_to", moveTo(20, 0, 14.5), a.task))); !ack.GetAccepted() {
		r.t.Fatal(ack)
	}
	r.ends("m0", "VERIFIED")
	reply, err := r.client.RenewLease(r.t.Context(), &contractv1.RenewLeaseRequest{Lease: a.lease})
	check(r.t, err)
	a.lease = reply.GetLease()
	return a
}

func (r *rig) release(l *contractv1.Lease) {
	r.t.Helper()
	reply, err := r.client.ReleaseLease(r.t.Context(), &contractv1.ReleaseLeaseRequest{Lease: l})
	if check(r.t, err); len(reply.GetRejections()) > 0 {
		r.t.Fatal(reply)
	}
}

// attacks are the calls of a client, each made with what is Ada's.
var attacks = map[string]func(context.Context, transport.Client, theirs) ([]*contractv1.Rejection, error){
	"Describe": func(ctx context.Context, c transport.Client, _ theirs) ([]*contractv1.Rejection, error) {
		_, err := c.Describe(ctx)
		return nil, err
	},
	"Observe": func(ctx context.Context, c transport.Client, _ theirs) ([]*contractv1.Rejection, error) {
		_, err := c.Observe(ctx, &contractv1.ObserveRequest{})
		return nil, err
	},
	"OpenTask": func(ctx context.Context, c transport.Client, _ theirs) ([]*contractv1.Rejection, error) {
		task, err := c.OpenTask(ctx, &contractv1.OpenTaskRequest{Words: "mine", Provenance: "person"})
		return task.GetRefusals(), err
	},
	"Start": func(ctx context.Context, c transport.Client, a theirs) ([]*contractv1.Rejection, error) {
		ack, err := c.Start(ctx, a.start)
		return ack.GetRejections(), err
	},
	"Start of another": func(ctx context.Context, c transport.Client, _ theirs) ([]*contractv1.Rejection, error) {
		ack, err := c.Start(ctx, request("eve", "move_to", moveTo(18, -5, 12), ""))
		return ack.GetRejections(), err
	},
	"Cancel": func(ctx context.Context, c transport.Client, a theirs) ([]*contractv1.Rejection, error) {
		ack, err := c.Cancel(ctx, &contractv1.CancelRequest{MissionId: a.mission})
		return ack.GetRejections(), err
	},
	"Events": func(ctx context.Context, c transport.Client, a theirs) ([]*contractv1.Rejection, error) {
		for e, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: a.mission}) {
			return nil, errors.Join(err, fmt.Errorf("told %v", e)) // a refusal is found in it, an event is none
		}
		return nil, errors.New("no event and no error")
	},
	"Claim": func(ctx context.Context, c transport.Client, a theirs) ([]*contractv1.Rejection, error) {
		task, err := c.Claim(ctx, &contractv1.ClaimRequest{TaskId: a.task, Claim: &contractv1.Claim{Reported: true, Success: true}})
		return task.GetRefusals(), err
	},
	"Task": func(ctx context.Context, c transport.Client, a theirs) ([]*contractv1.Rejection, error) {
		task, err := c.Task(ctx, &contractv1.TaskRequest{TaskId: a.task})
		return task.GetRefusals(), err
	},
	"AcquireLease": func(ctx context.Context, c transport.Client, _ theirs) ([]*contractv1.Rejection, error) {
		reply, err := c.AcquireLease(ctx, &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: "eve's brain"})
		return reply.GetRejections(), err
	},
	"RenewLease": func(ctx context.Context, c transport.Client, a theirs) ([]*contractv1.Rejection, error) {
		reply, err := c.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: a.lease})
		return reply.GetRejections(), err
	},
	"ReleaseLease": func(ctx context.Context, c transport.Client, a theirs) ([]*contractv1.Rejection, error) {
		reply, err := c.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: a.lease})
		return reply.GetRejections(), err
	},
}

// What a cell of the matrix may hold besides code, rule and field.
const (
	looks = "looks" // it changes nothing and is for everybody
	free  = "free"  // nothing of Ada's is in its way: she holds no lease and nothing moves for her
)

// matrix is what Eve is told, by call and by what is Ada's.
var matrix = []struct {
	call                                            string
	lease, task, mission, intent, approval, newTask string
}{
	{"Describe", looks, looks, looks, looks, looks, looks},
	{"Observe", looks, looks, looks, looks, looks, looks},
	{"OpenTask", "BUSY lease holds", free, "BUSY principal task_id", "BUSY principal task_id", free, "BUSY lease holds"},
	{
		"Start", "NO_LEASE principal lease", "NOT_PERMITTED principal task_id", "CONFLICT - mission_id; NOT_PERMITTED principal task_id",
		"CONFLICT - mission_id; NOT_PERMITTED principal task_id", "NEEDS_APPROVAL low z_cm", "NOT_PERMITTED principal task_id",
	},
	{"Start of another", "BUSY lease holds", free, "BUSY - holds", "BUSY - holds", free, "BUSY lease holds"},
	{
		"Cancel", "NOT_PERMITTED principal mission_id", "NOT_PERMITTED principal mission_id", "NOT_PERMITTED principal mission_id",
		"NOT_IN_ENUM - mission_id", "NOT_PERMITTED principal mission_id", "NOT_PERMITTED principal mission_id",
	},
	{
		"Events", "NOT_PERMITTED principal mission_id", "NOT_PERMITTED principal mission_id", "NOT_PERMITTED principal mission_id",
		"NOT_IN_ENUM - mission_id", "NOT_PERMITTED principal mission_id", "NOT_PERMITTED principal mission_id",
	},
	{
		"Claim", "NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id",
		"NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id",
	},
	{
		"Task", "NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id",
		"NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id", "NOT_PERMITTED principal task_id",
	},
	{"AcquireLease", "BUSY - holder", free, "BUSY - resource", "BUSY - resource", free, "BUSY - holder"},
	{
		"RenewLease", "NO_LEASE principal lease", "NO_LEASE lapsed lease.epoch", "NO_LEASE lapsed lease.epoch",
		"NO_LEASE lapsed lease.epoch", "NO_LEASE lapsed lease.epoch", "NO_LEASE principal lease",
	},
	{
		"ReleaseLease", "NO_LEASE principal lease", "NO_LEASE lapsed lease.epoch", "NO_LEASE lapsed lease.epoch",
		"NO_LEASE lapsed lease.epoch", "NO_LEASE lapsed lease.epoch", "NO_LEASE principal lease",
	},
}

// TestWhatIsAnothersIsNobodyElses: every call of the line, made by another caller with what is one's own in hand, is refused by
// code, rule and field. Nothing moves by it and nothing changes: what comes after is word by word what comes without it.
//
// Verifies: K142
func TestWhatIsAnothersIsNobodyElses(t *testing.T) {
	listed := map[string]bool{}
	for _, row := range matrix {
		method, _, _ := strings.Cut(row.call, " ")
		listed[method] = true
		for name, want := range map[string]string{
			"a lease": row.lease, "a task": row.task, "a mission": row.mission, "an intent": row.intent, "an approval": row.approval, "a new task": row.newTask,
		} {
			t.Run(row.call+" with "+name, func(t *testing.T) {
				before, _ := played(t, name, "")
				after, told := played(t, name, row.call)
				if (want == looks || want == free) && told != "" || want != looks && want != free && told != want {
					t.Errorf("told %q, want %q", told, want)
				}
				if want != free && after != before {
					t.Errorf("without it:\n%s\nafter it:\n%s", before, after)
				}
			})
		}
	}
	server := reflect.TypeFor[transport.Server]()
	for i := range server.NumMethod() {
		if name := server.Method(i).Name; !listed[name] {
			t.Errorf("%s is not in the matrix", name)
		}
	}
}

// played plays a situation, with Eve's call in it unless that is empty: all that Ada can see of what came of it, and what Eve
// was told.
func played(t *testing.T, situation, attack string) (seen, told string) {
	t.Helper()
	on(t, newDisk(), asked(), func(t *testing.T, r *rig, k *kept) {
		line := r.client
		r.client = caller{line, "ada"}
		a := situations[situation](r, k)
		sent := r.sent()
		answer := later(func() string {
			if attack == "" {
				return ""
			}
			return refusalOf(attacks[attack](t.Context(), caller{line, "eve"}, a))
		})
		if a.hear != nil {
			a.hear()
		}
		synctest.Wait()
		select {
		case told = <-answer:
		default:
			told = "nothing"
		}
		if matrixFree(situation, attack) {
			return
		}
		if a.hear == nil && r.sent() != sent {
			t.Error("it moved")
		}
		if a.goOn != nil {
			a.goOn()
		} else if ack := r.start(a.start); !ack.GetAccepted() {
			t.Errorf("her own start is refused: %v", ack)
		}
		seen = r.seenBy(a)
	})
	return seen, told
}

// matrixFree reports whether the cell is one in which Eve gets what she asks for, so that Ada must wait.
func matrixFree(situation, attack string) bool {
	for _, row := range matrix {
		if row.call == attack {
			return situation == "a task" && row.task == free || situation == "an approval" && row.approval == free
		}
	}
	return false
}

func refusalOf(rs []*contractv1.Rejection, err error) string {
	var told []string
	var l reject.List
	if errors.As(err, &l) {
		for _, x := range l {
			told = append(told, refusalText(string(x.Code), x.Rule, x.Field))
		}
	} else if err != nil {
		return "error: " + err.Error()
	}
	for _, x := range rs {
		told = append(told, refusalText(x.GetCode(), x.GetRule(), x.GetField()))
	}
	return strings.Join(told, "; ")
}

func refusalText(code, rule, field string) string {
	if rule == "" {
		rule = "-"
	}
	return code + " " + rule + " " + field
}

// seenBy is all that Ada can see: her missions, her task, her lease, what waits for a person, and the world.
func (r *rig) seenBy(a theirs) string {
	r.t.Helper()
	var b strings.Builder
	for _, id := range []string{"m0", "m1"} {
		for _, e := range r.events(id) {
			fmt.Fprintln(&b, e)
		}
	}
	fmt.Fprintln(&b, r.task(a.task))
	reply, err := r.client.RenewLease(r.t.Context(), &contractv1.RenewLeaseRequest{Lease: a.lease})
	fmt.Fprintln(&b, reply, err)
	for _, p := range r.pending() {
		if p.GetAct().GetPrincipal() == "ada" {
			fmt.Fprintln(&b, p)
		}
	}
	fmt.Fprintln(&b, r.observe(), r.sent(), "setpoints", r.ticks(), "ticks")
	return b.String()
}
