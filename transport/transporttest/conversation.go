package transporttest

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// exchange is one call and all that comes back.
type exchange = func(context.Context, transport.Server) ([]proto.Message, error)

// said is one call of the conversation.
type said struct {
	name   string
	by     int // which of two callers
	call   exchange
	looks  bool // it only looks, after another call, at what that did
	leased bool // it shows the lease that the arm is held by
}

// conversation is what is said to both robots.
func conversation() iter.Seq[said] {
	return func(yield func(said) bool) {
		all := func(list []said) bool {
			for _, x := range list {
				if !yield(x) {
					return false
				}
			}
			return true
		}
		for i, q := range motions() {
			q.MissionId = fmt.Sprintf("m%d", i+1)
			if !all([]said{{name: q.GetCapability() + " " + string(q.GetArgsJson()), call: start(q)}, {name: "observe", call: observe, looks: true}}) {
				return
			}
		}
		_ = all(aroundLeases()) && all(aroundTasks()) && all(aroundMissions())
	}
}

// motions are starts without a lease.
func motions() (all []*contractv1.StartRequest) {
	add := func(capability, args string) { all = append(all, request("", capability, args)) }
	for _, x := range []string{"14", "20", "26", "60"} {
		for _, z := range []string{"-5", "1.9", "2", "12"} {
			for _, y := range []string{"-8", "6"} {
				add("move_to", `{"x_cm":`+x+`,"y_cm":`+y+`,"z_cm":`+z+`}`)
			}
		}
	}
	for _, args := range []string{
		``, `null`, `[]`, `"x"`, `1`, `{}`, `{`, `{"x_cm":20}`, `{"x_cm":20,"y_cm":0,"z_cm":10} {}`, `{"x_cm":20,"y_cm":0,"z_cm":10,}`,
		`{"x_cm":20,"y_cm":0,"z_cm":10,"w_cm":1}`, `{"x_cm":"20","y_cm":"0","z_cm":"5"}`, `{"x_cm":20,"x_cm":21,"y_cm":0,"z_cm":10}`,
		`{"x_cm":20,"y_cm":0,"z_cm":NaN}`, `{"x_cm":20,"y_cm":0,"z_cm":1e309}`, `{"x_cm":20,"y_cm":0,"z_cm":1e-400}`,
		`{"x_cm":20,"y_cm":0,"z_cm":10,"speed_mps":0}`, `{"x_cm":20,"y_cm":0,"z_cm":10,"speed_mps":2}`, `{"x_cm":20,"y_cm":0,"z_cm":10,"speed_mps":"fast"}`,
		`{"X_CM":20,"y_cm":0,"z_cm":10}`, `{"x_cm":20,"y_cm":0,"z_cm":null}`, `{"x_cm":20,"y_cm":0,"z_cm":"` + "\xff" + `"}`,
		"\xef\xbb\xbf" + there, `{"x_cm":20,"y_cm":0,"z_cm":10,"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
	} {
		add("move_to", args)
	}
	for _, name := range []string{"", "stop", "reset", "Move_To", "move_to ", "fly", "report_result", "cancel_mission"} {
		add(name, `{}`)
	}
	for _, args := range []string{`{"name":"red cube"}`, `{"name":"red block"}`, `{"name":"green cube"}`, `{"name":"teapot"}`, `{"name":7}`, `{}`} {
		add("find_object", args)
		add("pick", args)
	}
	for _, c := range [][2]string{
		{"place", `{"target":"tray"}`}, {"place", `{"target":"moon"}`}, {"get_state", `{}`}, {"get_state", `{"a":1}`},
		{"open_gripper", `{}`}, {"home", `{}`}, {"close_gripper", `{}`},
	} {
		add(c[0], c[1])
	}
	return all
}

// aroundLeases are calls before, under, beside and after a lease. The robot's time passes only while something moves, so a
// lease lapses where its motion is made to last, and nowhere else; and both robots grant the same epochs.
func aroundLeases() (all []said) {
	all = append(all, badLeases("when none is held", lease("first", 1, 1), lease("", 0, 0), &contractv1.Lease{}, nil)...)
	for _, q := range []*contractv1.AcquireLeaseRequest{
		{}, {Resource: "base", Holder: "first"}, {Resource: "ARM", Holder: "first"}, {Resource: "arm"},
		{Resource: "arm", Holder: strings.Repeat("x", 65)}, {Resource: "arm", Holder: "a\nb"},
	} {
		all = append(all, said{name: fmt.Sprintf("a lease that is not to be had: %v", q), call: acquiring(q)})
	}
	all = append(all, held("first", 1, "home", "move_to", "open_gripper")...)
	other := lease("first", 1, 1)
	other.Resource = "base"
	all = append(all, badLeases("that is not the one", other, lease("first", 0, 1), lease("first", 2, 1), lease("second", 1, 1), lease("first", 1, 99), lease("first", 1, 0))...)
	for _, x := range badLeases("of another caller", lease("first", 1, 1)) {
		x.by = 1
		all = append(all, x)
	}
	all = append(all, said{name: "a release", call: releasing(lease("first", 1, 1))})
	all = append(all, badLeases("that was given back", lease("first", 1, 1))...)
	all = append(all, held("second", 2, "home", "close_gripper")...)
	all = append(all, badLeases("of another time", lease("first", 1, 1))...)
	lasting := request("lapsing", "move_to", slowly)
	lasting.Lease = lease("second", 2, 1)
	all = append(all, said{name: "a motion that outlasts its lease", call: start(lasting), leased: true}, said{name: "observe", call: observe, looks: true})
	all = append(all, badLeases("that lapsed", lease("second", 2, 1))...)
	return append(all, said{name: "a start while nobody holds the arm", call: start(request("free", "home", "{}"))})
}

func lease(holder string, epoch, sequence uint64) *contractv1.Lease {
	return &contractv1.Lease{Resource: "arm", Holder: holder, Epoch: epoch, Sequence: sequence}
}

// held takes the arm, is asked for by others, and moves under it.
func held(holder string, epoch uint64, capabilities ...string) (all []said) {
	arm := func(holder string) *contractv1.AcquireLeaseRequest {
		return &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: holder}
	}
	all = append(all, said{name: holder + " takes the arm", call: acquiring(arm(holder))},
		said{name: "and again", call: acquiring(arm(holder))}, said{name: "and another", call: acquiring(arm("third")), by: 1})
	for i, capability := range capabilities {
		args := "{}"
		if capability == "move_to" {
			args = there
		}
		q := request(fmt.Sprintf("%s-%d", holder, i), capability, args)
		without := proto.CloneOf(q)
		q.Lease = lease(holder, epoch, 1)
		all = append(all, said{name: capability + " without the lease", call: start(without)},
			said{name: capability + " under the lease", call: start(q), leased: true},
			said{name: "observe", call: observe, looks: true}, said{name: "a renewal", call: renewing(lease(holder, epoch, uint64(i+1)))})
	}
	return append(all, said{name: "a look that needs no lease", call: start(request("look-"+holder, "get_state", "{}"))})
}

// badLeases shows each lease in every call that takes one.
func badLeases(what string, shown ...*contractv1.Lease) (all []said) {
	for i, l := range shown {
		q := request(fmt.Sprintf("bad %s %d", what, i), "move_to", there)
		q.Lease = l
		name := fmt.Sprintf("with a lease %s, %v: ", what, l)
		if l != nil {
			all = append(all, said{name: name + "start", call: start(q)})
		}
		all = append(all, said{name: name + "renew", call: renewing(l)}, said{name: name + "release", call: releasing(l)})
	}
	return all
}

// aroundTasks are calls around requests of a person.
func aroundTasks() (all []said) {
	add := func(name string, call exchange) { all = append(all, said{name: name, call: call}) }
	for _, goal := range []string{"", "at(", "at(point_cm(20.0, 5.0, 15.0)", "tip", "true", "held(\"teapot\")", "jaw_gap_mm >= 1.0 && reach", "1 + 1"} {
		add("a task with the goal "+goal, opening(&contractv1.OpenTaskRequest{Words: "do it", Provenance: "person", Goal: goal}))
	}
	serving := func(task, id, capability, args string) exchange {
		q := request(id, capability, args)
		q.TaskId = task
		return start(q)
	}
	add("a task of nobody", opening(&contractv1.OpenTaskRequest{Words: "do it", Provenance: "nobody"}))
	add("a task of 9 KiB", opening(&contractv1.OpenTaskRequest{Words: strings.Repeat("x", 9<<10), Provenance: "person"}))
	add("a task of two missions", opening(&contractv1.OpenTaskRequest{Words: "go there", Provenance: "person", Goal: "at(point_cm(20.0, 5.0, 15.0))", MaxMissions: 2}))
	const task, tight = "task-3", "task-4" // the third and fourth that could be opened
	all = append(all, said{name: "another's task", call: asking(task), by: 1}, said{name: "a start for another's task", call: serving(task, "t0", "get_state", "{}"), by: 1})
	add("its first mission", serving(task, "t1", "move_to", elsewhere))
	add("the task", asking(task))
	add("what it does not name", serving(task, "t-blue", "pick", `{"name":"blue cube"}`))
	add("its second", serving(task, "t2", "move_to", there))
	add("the task after it", asking(task))
	add("a third", serving(task, "t3", "move_to", elsewhere))
	add("a claim", claiming(task, &contractv1.Claim{Reported: true, Success: true, Message: "done"}))
	for _, id := range []string{"task-1", "task-99", ""} {
		add("the task "+id, asking(id))
		add("a start for the task "+id, serving(id, "of "+id, "home", "{}"))
	}
	add("a claim about nothing", claiming("task-99", &contractv1.Claim{Reported: true}))
	add("a claim of nothing", claiming("", nil))
	add("a task of no words of a person", opening(&contractv1.OpenTaskRequest{Words: "nothing", Provenance: "absent", Goal: "at(point_cm(20.0, 5.0, 15.0))", MaxMissions: 1}))
	add("its only mission", serving(tight, "t4", "move_to", elsewhere))
	add("one too many", serving(tight, "t5", "move_to", there))
	add("silence", claiming(tight, nil))
	add("the task after that", asking(tight))
	return all
}

// aroundMissions are calls about missions that ended, or never were.
func aroundMissions() (all []said) {
	again := func(args string) exchange { return start(request("free", "home", args)) }
	all = append(all, said{name: "a start made again", call: again("{}")}, said{name: "and with another body", call: again(`{"a":1}`)},
		said{name: "and by another caller", call: again("{}"), by: 1}, said{name: "a start without an id", call: start(request("", "home", "{}"))})
	for _, id := range []string{"m1", "first-0", "lapsing", "nobody", "", strings.Repeat("m", 200)} {
		for by := range 2 {
			all = append(all, said{name: "cancel " + id, call: cancel(id), by: by}, said{name: "events " + id, call: eventsOf(id), by: by})
		}
	}
	return all
}

func one[M any, P interface {
	*M
	proto.Message
}](m P, err error) ([]proto.Message, error) {
	if err != nil {
		return nil, err
	}
	return []proto.Message{m}, nil
}

// start starts a mission and, if it is one, follows it to its end, so that both robots stand still at the next call.
func start(q *contractv1.StartRequest) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		ack, err := s.Start(ctx, proto.CloneOf(q))
		if err != nil {
			return nil, err
		}
		if !ack.GetAccepted() || len(ack.GetFacts()) > 0 {
			return []proto.Message{ack}, nil
		}
		events, err := eventsOf(q.GetMissionId())(ctx, s)
		return append([]proto.Message{ack}, events...), err
	}
}

func cancel(id string) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		return one(s.Cancel(ctx, &contractv1.CancelRequest{MissionId: id}))
	}
}

func observe(ctx context.Context, s transport.Server) ([]proto.Message, error) {
	return one(s.Observe(ctx, &contractv1.ObserveRequest{}))
}

func eventsOf(id string) exchange {
	return func(ctx context.Context, s transport.Server) (all []proto.Message, err error) {
		for e, err := range s.Events(ctx, &contractv1.EventsRequest{MissionId: id}) {
			if err != nil {
				return all, err
			}
			all = append(all, e)
		}
		return all, nil
	}
}

func opening(q *contractv1.OpenTaskRequest) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) { return one(s.OpenTask(ctx, q)) }
}

func claiming(id string, c *contractv1.Claim) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		return one(s.Claim(ctx, &contractv1.ClaimRequest{TaskId: id, Claim: c}))
	}
}

func asking(id string) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		return one(s.Task(ctx, &contractv1.TaskRequest{TaskId: id}))
	}
}

func acquiring(q *contractv1.AcquireLeaseRequest) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		return one(s.AcquireLease(ctx, q))
	}
}

func renewing(l *contractv1.Lease) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		return one(s.RenewLease(ctx, &contractv1.RenewLeaseRequest{Lease: l}))
	}
}

func releasing(l *contractv1.Lease) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		return one(s.ReleaseLease(ctx, &contractv1.ReleaseLeaseRequest{Lease: l}))
	}
}
