package transporttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// discovers: the manifest that arrives is the robot's own, to the byte.
func discovers(ctx context.Context, t *testing.T, l *line) error {
	s, err := running(t)
	if err != nil {
		return err
	}
	want, err := s.robot.Describe(ctx)
	if err != nil {
		return err
	}
	got, err := l.open(t, s.robot).Describe(ctx)
	if err != nil {
		return err
	}
	stable := proto.MarshalOptions{Deterministic: true}
	a, errA := stable.Marshal(want)
	b, errB := stable.Marshal(got)
	switch {
	case errors.Join(errA, errB) != nil:
		return errors.Join(errA, errB)
	case len(got.GetCapabilities()) == 0:
		return errors.New("the manifest is empty")
	case !bytes.Equal(a, b):
		return fmt.Errorf("%d bytes were sent and %d others came", len(a), len(b))
	}
	return nil
}

// absentRobot: each call to nobody is an error of the line, before the context ends, and no made-up answer.
func absentRobot(ctx context.Context, t *testing.T, l *line) error {
	client := l.open(t, nil)
	for name, call := range calls(client) {
		reply, err := call(ctx)
		if err == nil {
			return fmt.Errorf("%s was answered by nobody: %v", name, reply)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s hung until the context ended", name)
		}
	}
	return nil
}

// calls are all calls of a client with every field of the requests set.
func calls(c transport.Client) map[string]func(context.Context) (proto.Message, error) {
	return map[string]func(context.Context) (proto.Message, error){
		"Describe": func(ctx context.Context) (proto.Message, error) { return made(c.Describe(ctx)) },
		"OpenTask": func(ctx context.Context) (proto.Message, error) {
			return made(c.OpenTask(ctx, filled(&contractv1.OpenTaskRequest{})))
		},
		"Start": func(ctx context.Context) (proto.Message, error) {
			return made(c.Start(ctx, filled(&contractv1.StartRequest{})))
		},
		"Cancel": func(ctx context.Context) (proto.Message, error) {
			return made(c.Cancel(ctx, filled(&contractv1.CancelRequest{})))
		},
		"Observe": func(ctx context.Context) (proto.Message, error) {
			return made(c.Observe(ctx, filled(&contractv1.ObserveRequest{})))
		},
		"Claim": func(ctx context.Context) (proto.Message, error) {
			return made(c.Claim(ctx, filled(&contractv1.ClaimRequest{})))
		},
		"Task": func(ctx context.Context) (proto.Message, error) {
			return made(c.Task(ctx, filled(&contractv1.TaskRequest{})))
		},
		"AcquireLease": func(ctx context.Context) (proto.Message, error) {
			return made(c.AcquireLease(ctx, filled(&contractv1.AcquireLeaseRequest{})))
		},
		"RenewLease": func(ctx context.Context) (proto.Message, error) {
			return made(c.RenewLease(ctx, filled(&contractv1.RenewLeaseRequest{})))
		},
		"ReleaseLease": func(ctx context.Context) (proto.Message, error) {
			return made(c.ReleaseLease(ctx, filled(&contractv1.ReleaseLeaseRequest{})))
		},
		"Events": func(ctx context.Context) (proto.Message, error) {
			for e, err := range c.Events(ctx, filled(&contractv1.EventsRequest{})) {
				return made(e, err)
			}
			return nil, errors.New("no event came")
		},
	}
}

// made keeps a nil reply from becoming a message that is not nil.
func made[M any, P interface {
	*M
	proto.Message
}](m P, err error) (proto.Message, error) {
	if m == nil {
		return nil, err
	}
	return m, err
}

// everyField: requests and replies arrive with every field they were sent with.
func everyField(ctx context.Context, t *testing.T, l *line) error {
	var asked proto.Message
	s := mirror(func(q proto.Message) { asked = q })
	client := l.open(t, s)
	direct := calls(s)
	for name, call := range calls(client) {
		asked = nil
		want, err := direct[name](ctx)
		if err != nil {
			return err
		}
		sent := asked
		got, err := call(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case sent != nil && !proto.Equal(asked, sent):
			return fmt.Errorf("%s: the request %v arrived as %v", name, sent, asked)
		case !proto.Equal(got, want):
			return fmt.Errorf("%s: the reply %v arrived as %v", name, want, got)
		}
	}
	return nil
}

// mirror answers every call with every field set, and shows each request.
func mirror(show func(proto.Message)) *script {
	return &script{
		describe: func(context.Context) (*contractv1.Manifest, error) { return filled(&contractv1.Manifest{}), nil },
		open: func(_ context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
			show(q)
			return filled(&contractv1.Task{}), nil
		},
		start: func(_ context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
			show(q)
			return filled(&contractv1.MissionAck{}), nil
		},
		cancel: func(_ context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
			show(q)
			return filled(&contractv1.CancelAck{}), nil
		},
		observe: func(_ context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
			show(q)
			return filled(&contractv1.Observation{}), nil
		},
		claim: func(_ context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
			show(q)
			return filled(&contractv1.Task{}), nil
		},
		task: func(_ context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
			show(q)
			return filled(&contractv1.Task{}), nil
		},
		acquire: func(_ context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
			show(q)
			return filled(&contractv1.LeaseReply{}), nil
		},
		renew: func(_ context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
			show(q)
			return filled(&contractv1.LeaseReply{}), nil
		},
		release: func(_ context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
			show(q)
			return filled(&contractv1.LeaseReply{}), nil
		},
		events: func(_ context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
			show(q)
			e := filled(&contractv1.Event{})
			e.MissionId, e.Seq = q.GetMissionId(), q.GetFromSeq()
			return func(yield func(*contractv1.Event, error) bool) { yield(e, nil) }
		},
	}
}

// concurrent: of many calls at once each gets its own reply.
func concurrent(ctx context.Context, t *testing.T, l *line) error {
	client := l.open(t, &script{start: func(_ context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
		return &contractv1.MissionAck{MissionId: q.GetMissionId(), NormalizedArgsJson: q.GetArgsJson()}, nil
	}})
	const callers, each = 16, 20
	wrong := make(chan error, callers)
	for caller := range callers {
		go func() {
			for n := range each {
				id := fmt.Sprintf("m-%d-%d", caller, n)
				ack, err := client.Start(ctx, &contractv1.StartRequest{MissionId: id, ArgsJson: []byte(strings.Repeat(id, n))})
				if err == nil && (ack.GetMissionId() != id || string(ack.GetNormalizedArgsJson()) != strings.Repeat(id, n)) {
					err = fmt.Errorf("the start of %s got the reply to %s", id, ack.GetMissionId())
				}
				if err != nil {
					wrong <- err
					return
				}
			}
			wrong <- nil
		}()
	}
	var all error
	for range callers {
		all = errors.Join(all, <-wrong)
	}
	return all
}

// errorsArrive: an error of the server is an error at the client, and a refusal is the same refusal.
func errorsArrive(ctx context.Context, t *testing.T, l *line) error {
	broken := errors.New("the driver does not answer")
	refusal := reject.List{
		reject.New(reject.StaleFact, "the tip was not measured").By("fresh").In("tip").Saw("400", "250", "ms"),
		reject.New(reject.Overloaded, "too much"),
	}
	refusal[1].AfterMS = 40
	var answer error
	client := l.open(t, &script{
		observe: func(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) { return nil, answer },
		start:   func(context.Context, *contractv1.StartRequest) (*contractv1.MissionAck, error) { return nil, answer },
		events: func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
			return func(yield func(*contractv1.Event, error) bool) { yield(nil, answer) }
		},
	})
	observe := func() error { _, err := client.Observe(ctx, &contractv1.ObserveRequest{}); return err }
	events := func() (last error) {
		for _, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m"}) {
			last = err
		}
		return last
	}
	for name, call := range map[string]func() error{"Observe": observe, "Events": events} {
		answer = broken
		if err := call(); err == nil || errors.As(err, new(reject.List)) {
			return wrong(name+": the server's error", fmt.Sprintf("%T", err), err)
		}
		answer = refusal
		var got reject.List
		if err := call(); !errors.As(err, &got) || len(got) != 2 || got[0] != refusal[0] || got[1] != refusal[1] {
			return wrong(name+": the server's refusal", fmt.Sprintf("%#v", got), err)
		}
	}
	answer = nil
	if o, err := client.Observe(ctx, &contractv1.ObserveRequest{}); err == nil {
		return fmt.Errorf("no reply and no error became the reply %v", o)
	}
	answer = broken
	if ack, err := client.Start(ctx, &contractv1.StartRequest{MissionId: "m"}); err == nil {
		return fmt.Errorf("a start that failed was answered with %v", ack)
	}
	return nil
}

// wrong says what came instead of what should: a reply, an error or both.
func wrong(what string, reply any, err error) error {
	if err != nil {
		return fmt.Errorf("%s: got %v and %w", what, reply, err)
	}
	return fmt.Errorf("%s: got %v", what, reply)
}

// noWireForm: a text that is not UTF-8 is an error before the server hears of it.
func noWireForm(ctx context.Context, t *testing.T, l *line) error {
	var heard atomic.Int32
	client := l.open(t, &script{
		start: func(context.Context, *contractv1.StartRequest) (*contractv1.MissionAck, error) {
			heard.Add(1)
			return &contractv1.MissionAck{Accepted: true}, nil
		},
		observe: func(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
			return &contractv1.Observation{StopReason: "\xff"}, nil
		},
	})
	if ack, err := client.Start(ctx, &contractv1.StartRequest{MissionId: "m\xff"}); err == nil || heard.Load() > 0 {
		return wrong("a text that is not UTF-8 arrived", ack, err)
	}
	if o, err := client.Observe(ctx, &contractv1.ObserveRequest{}); err == nil {
		return fmt.Errorf("a reply that is not UTF-8 arrived: %v", o)
	}
	return nil
}

// largeMessages: what a robot may say arrives whole; arguments that are too long are refused as TOO_LARGE.
func largeMessages(ctx context.Context, t *testing.T, l *line) error {
	want := &contractv1.Observation{}
	for i := range 1000 {
		want.Facts = append(want.Facts, &contractv1.Fact{Name: "fact " + strconv.Itoa(i), ValueJson: strings.Repeat("0123456789", 100)})
	}
	s, err := running(t)
	if err != nil {
		return err
	}
	client := l.open(t, &script{
		observe: func(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) { return want, nil },
		start:   s.robot.Start,
	})
	got, err := client.Observe(ctx, &contractv1.ObserveRequest{})
	if err != nil {
		return err
	}
	if !proto.Equal(got, want) {
		return errors.New("a reply of 1 MB changed on its way")
	}
	for _, n := range []int{64<<10 + 1, 300 << 10, 5 << 20} {
		args := append([]byte(`{"x_cm":20,"y_cm":0,"z_cm":10}`), bytes.Repeat([]byte(" "), n)...)
		ack, err := client.Start(ctx, &contractv1.StartRequest{MissionId: "m", Capability: "move_to", ArgsJson: args})
		if err != nil {
			return fmt.Errorf("%d bytes of arguments: %w", n, err)
		}
		if ack.GetAccepted() || len(ack.GetRejections()) != 1 || ack.GetRejections()[0].GetCode() != string(reject.TooLarge) {
			return fmt.Errorf("%d bytes of arguments were answered with %v", n, ack)
		}
	}
	return nil
}
