package transporttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// errNone stands for no error where two are told.
var errNone = errors.New("no error")

// leastCalls is how many calls the comparison makes at least.
const leastCalls = 150

// sameVerdicts: two robots at equal tables get the same calls, one through the line and one directly, and give the same
// answers and the same events, times and measured values included.
func sameVerdicts(ctx context.Context, t *testing.T, l *line) error {
	through, err := running(t)
	if err != nil {
		return err
	}
	asked, err := running(t)
	if err != nil {
		return err
	}
	client := l.open(t, through.robot)
	n, accepted := 0, 0
	for name, call := range conversation() {
		n++
		want, errWant := call(ctx, asked.robot)
		got, errGot := call(ctx, client)
		if (errWant == nil) != (errGot == nil) {
			return fmt.Errorf("call %d, %s: only one of them fails: the robot with %w, or the line with %w", n, name, cmp.Or(errWant, errNone), cmp.Or(errGot, errNone))
		}
		if len(want) != len(got) {
			return fmt.Errorf("call %d, %s: the robot gives %d messages, the line %d", n, name, len(want), len(got))
		}
		for i := range want {
			if !proto.Equal(want[i], got[i]) {
				return fmt.Errorf("call %d, %s: the robot says\n%v\nand the line\n%v", n, name, want[i], got[i])
			}
		}
		if len(want) > 1 {
			accepted++
		}
	}
	t.Logf("%d calls, %d of them missions that ran", n, accepted)
	if n < leastCalls || accepted < 10 {
		return fmt.Errorf("only %d calls and %d missions were compared", n, accepted)
	}
	return nil
}

// exchange is one call and all that comes back.
type exchange = func(context.Context, transport.Server) ([]proto.Message, error)

// conversation is what is said to both robots.
func conversation() iter.Seq2[string, exchange] {
	return func(yield func(string, exchange) bool) {
		id := 0
		for _, c := range motions() {
			id++
			if !yield(c.capability+" "+c.args, start(fmt.Sprintf("m%d", id), c.capability, c.args, c.task)) || !yield("observe", observe) {
				return
			}
		}
		for i, x := range tasks() {
			if !yield(fmt.Sprintf("task call %d", i), x) {
				return
			}
		}
		for _, id := range []string{"m1", "m2", "nobody", "", strings.Repeat("m", 200)} {
			if !yield("cancel "+id, cancel(id)) || !yield("events "+id, eventsOf(id)) {
				return
			}
		}
		yield("a start without an id", start("", "home", "{}", ""))
	}
}

// call is one start.
type call struct{ capability, args, task string }

func motions() (all []call) {
	for _, x := range []string{"14", "20", "26", "60"} {
		for _, z := range []string{"-5", "1.9", "2", "12"} {
			for _, y := range []string{"-8", "6"} {
				all = append(all, call{"move_to", `{"x_cm":` + x + `,"y_cm":` + y + `,"z_cm":` + z + `}`, ""})
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
		all = append(all, call{"move_to", args, ""})
	}
	for _, name := range []string{"", "stop", "reset", "Move_To", "move_to ", "fly", "report_result", "cancel_mission"} {
		all = append(all, call{name, `{}`, ""})
	}
	for _, args := range []string{`{"name":"red cube"}`, `{"name":"red block"}`, `{"name":"green cube"}`, `{"name":"teapot"}`, `{"name":7}`, `{}`} {
		all = append(all, call{"find_object", args, ""}, call{"pick", args, ""})
	}
	return append(all,
		call{"place", `{"target":"tray"}`, ""}, call{"place", `{"target":"moon"}`, ""}, call{"get_state", `{}`, ""}, call{"get_state", `{"a":1}`, ""},
		call{"open_gripper", `{}`, ""}, call{"home", `{}`, ""}, call{"close_gripper", `{}`, ""}, call{"home", `{}`, "task-99"},
	)
}

// tasks are calls around requests of a person.
func tasks() (all []exchange) {
	open := func(q *contractv1.OpenTaskRequest) exchange {
		return func(ctx context.Context, s transport.Server) ([]proto.Message, error) { return one(s.OpenTask(ctx, q)) }
	}
	claim := func(id string, c *contractv1.Claim) exchange {
		return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
			return one(s.Claim(ctx, &contractv1.ClaimRequest{TaskId: id, Claim: c}))
		}
	}
	task := func(id string) exchange {
		return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
			return one(s.Task(ctx, &contractv1.TaskRequest{TaskId: id}))
		}
	}
	for _, goal := range []string{"", "at(", "at(point_cm(20.0, 5.0, 15.0)", "tip", "true", "held(\"teapot\")", "jaw_gap_mm >= 1.0 && reach", "1 + 1"} {
		all = append(all, open(&contractv1.OpenTaskRequest{Words: "do it", Provenance: "person", Goal: goal}))
	}
	return append(all,
		open(&contractv1.OpenTaskRequest{Words: "do it", Provenance: "nobody"}),
		open(&contractv1.OpenTaskRequest{Words: "go there", Provenance: "person", Goal: "at(point_cm(20.0, 5.0, 15.0))", MaxMissions: 2}),
		start("t1", "move_to", elsewhere, "task-4"), start("t2", "move_to", there, "task-4"), task("task-4"),
		start("t3", "move_to", elsewhere, "task-4"), task("task-1"), task("task-99"), task(""),
		claim("task-4", &contractv1.Claim{Reported: true, Success: true, Message: "done"}), claim("task-99", &contractv1.Claim{Reported: true}), claim("", nil),
		open(&contractv1.OpenTaskRequest{Words: "nothing", Provenance: "absent"}), claim("task-5", nil), task("task-5"),
	)
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
func start(id, capability, args, task string) exchange {
	return func(ctx context.Context, s transport.Server) ([]proto.Message, error) {
		ack, err := s.Start(ctx, &contractv1.StartRequest{MissionId: id, Capability: capability, ArgsJson: []byte(args), TaskId: task})
		if err != nil {
			return nil, err
		}
		if !ack.GetAccepted() || len(ack.GetFacts()) > 0 {
			return []proto.Message{ack}, nil
		}
		events, err := eventsOf(id)(ctx, s)
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
