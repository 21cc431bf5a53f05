package transporttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// states of what the handles name.
const (
	holding   = "held"
	beginning = "being written down"
	moving    = "moving"
	ended     = "ended"
)

// attempt is one call, and what it is refused with; nothing if it is not.
type attempt = func(context.Context, transport.Client) ([]*contractv1.Rejection, error)

// trespass is one call of the other caller, and the refusal that it gets; in says while what.
type trespass struct {
	what string // METHOD.FIELD of the handle that is another's
	in   []string
	call attempt
	code reject.Code
	rule string
	at   string // the field
}

// trespasses is the matrix: each method that moves or takes a handle, by each handle that it takes.
func trespasses(h *handles) []trespass {
	always, begun := []string{holding, beginning, moving, ended}, []string{beginning, moving, ended}
	fresh := func(change func(*contractv1.StartRequest)) attempt {
		return func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
			h.tried++
			q := request(fmt.Sprintf("other-%d", h.tried), "move_to", there)
			change(q)
			ack, err := c.Start(ctx, q)
			return refusedStart(ack), err
		}
	}
	again := func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
		ack, err := c.Start(ctx, proto.CloneOf(h.start))
		return refusedStart(ack), err
	}
	mission := &contractv1.CancelRequest{MissionId: "m1"}
	return slices.Concat([]trespass{
		{"Start.lease", always, fresh(func(q *contractv1.StartRequest) { q.Lease = h.lease }), reject.NoLease, "principal", "lease"},
		{"Start.task_id", always, fresh(func(q *contractv1.StartRequest) { q.TaskId = h.task }), reject.NotPermitted, "principal", "task_id"},
		{"Start.task_id", always, fresh(func(q *contractv1.StartRequest) { q.TaskId, q.Lease = h.task, h.lease }), reject.NotPermitted, "principal", "task_id"},
		{"Start without a lease", []string{holding, beginning, moving}, fresh(func(*contractv1.StartRequest) {}), reject.Busy, "lease", "holds"},
		{"Start.mission_id", begun, again, reject.Conflict, "", "mission_id"},
		{"Start.mission_id", begun, fresh(func(q *contractv1.StartRequest) { q.MissionId = "m1" }), reject.Conflict, "", "mission_id"},
		{"Cancel.mission_id", []string{beginning}, cancelling(mission), reject.NotInEnum, "", "mission_id"},
		{"Cancel.mission_id", []string{moving, ended}, cancelling(mission), reject.NotPermitted, "principal", "mission_id"},
		{"Events.mission_id", []string{beginning}, following("m1"), reject.NotInEnum, "", "mission_id"},
		{"Events.mission_id", []string{moving, ended}, following("m1"), reject.NotPermitted, "principal", "mission_id"},
	}, trespassesOnTasks(h, always), trespassesOnLeases(h, always))
}

func trespassesOnTasks(h *handles, always []string) []trespass {
	instead := func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
		t, err := c.OpenTask(ctx, &contractv1.OpenTaskRequest{Words: "mine now", Provenance: "person"})
		return t.GetRefusals(), err
	}
	return []trespass{
		{"GetTask.task_id", always, func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
			t, err := c.Task(ctx, &contractv1.TaskRequest{TaskId: h.task})
			return t.GetRefusals(), err
		}, reject.NotPermitted, "principal", "task_id"},
		{"Claim.task_id", always, func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
			t, err := c.Claim(ctx, &contractv1.ClaimRequest{TaskId: h.task, Claim: &contractv1.Claim{Reported: true, Success: true}})
			return t.GetRefusals(), err
		}, reject.NotPermitted, "principal", "task_id"},
		{"OpenTask in place of another's", []string{holding, ended}, instead, reject.Busy, "lease", "holds"},
		{"OpenTask in place of another's", []string{beginning, moving}, instead, reject.Busy, "principal", "task_id"},
	}
}

func trespassesOnLeases(h *handles, always []string) []trespass {
	return []trespass{
		{"RenewLease.lease", always, func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
			r, err := c.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: h.lease})
			return r.GetRejections(), err
		}, reject.NoLease, "principal", "lease"},
		{"ReleaseLease.lease", always, func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
			r, err := c.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: h.lease})
			return r.GetRejections(), err
		}, reject.NoLease, "principal", "lease"},
		{"AcquireLease of what another holds", []string{holding, ended}, func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
			r, err := c.AcquireLease(ctx, &contractv1.AcquireLeaseRequest{Resource: h.lease.GetResource(), Holder: h.lease.GetHolder()})
			return r.GetRejections(), err
		}, reject.Busy, "", "holder"},
	}
}

func refusedStart(ack *contractv1.MissionAck) []*contractv1.Rejection {
	if ack.GetAccepted() {
		return nil
	}
	return ack.GetRejections()
}

func cancelling(q *contractv1.CancelRequest) attempt {
	return func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
		ack, err := c.Cancel(ctx, q)
		if ack.GetAccepted() {
			return nil, err
		}
		return ack.GetRejections(), err
	}
}

func following(id string) attempt {
	return func(ctx context.Context, c transport.Client) ([]*contractv1.Rejection, error) {
		for e, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
			var l reject.List
			if !errors.As(err, &l) {
				return nil, wrong("an event of another's mission", e, err)
			}
			return []*contractv1.Rejection{{Code: string(l[0].Code), Rule: l[0].Rule, Field: l[0].Field}}, nil
		}
		return nil, nil
	}
}

// complete reports what the matrix leaves out: a method that moves, or a handle that a method takes.
func complete(matrix []trespass) error {
	there := map[string]bool{}
	for _, c := range matrix {
		there[c.what] = true
	}
	var missing []string
	for what := range wanted() {
		if !there[what] {
			missing = append(missing, what)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("nobody tries what another caller gets by %s", strings.Join(missing, ", "))
	}
	return nil
}

// wanted are METHOD.FIELD of all handles that the service's methods take. A method that moves takes at least one.
func wanted() iter.Seq[string] {
	all := map[string]bool{}
	methods := contractv1.File_robot_service_proto.Services().ByName("Robot").Methods()
	for i := range methods.Len() {
		m, takes := methods.Get(i), 0
		for j := range m.Input().Fields().Len() {
			f := m.Input().Fields().Get(j)
			id := f.Kind() == protoreflect.StringKind && strings.HasSuffix(string(f.Name()), "_id")
			if id || f.Message() != nil && f.Message().Name() == "Lease" {
				all[string(m.Name())+"."+string(f.Name())] = true
				takes++
			}
		}
		if takes == 0 && proto.GetExtension(m.Options(), contractv1.E_Effect) != contractv1.Effect_DOES_NOT_MOVE {
			all[string(m.Name())] = true
		}
	}
	return maps.Keys(all)
}
