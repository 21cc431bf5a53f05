package inproc_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
	"interlock/transport/inproc"
)

// fake is a server that keeps what it got and what it gave. It answers the calls whose funcs are set.
type fake struct {
	transport.Server
	start  func(*contractv1.StartRequest) (*contractv1.MissionAck, error)
	events func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error]
	calls  int
}

func (f *fake) Start(_ context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	f.calls++
	return f.start(q)
}

func (f *fake) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	f.calls++
	return f.events(ctx, q)
}

// Neither side sees what the other does to a message after it was sent.
//
// Verifies: H02
func TestNothingIsShared(t *testing.T) {
	var got *contractv1.StartRequest
	gave := &contractv1.MissionAck{MissionId: "m1", Facts: []*contractv1.Fact{{Name: "tip"}}}
	client := inproc.New(&fake{start: func(q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
		got = q
		return gave, nil
	}})
	asked := &contractv1.StartRequest{MissionId: "m1", ArgsJson: []byte(`{"x_cm":20}`), Lease: &contractv1.Lease{Epoch: 1}}

	ack, err := client.Start(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, asked) || !proto.Equal(ack, gave) {
		t.Fatalf("a message changed on its way: %v, %v", got, ack)
	}
	got.ArgsJson[2] = 'y'
	got.Lease.Epoch = 2
	ack.Facts[0].Name = "lie"
	if string(asked.ArgsJson) != `{"x_cm":20}` || asked.Lease.Epoch != 1 {
		t.Errorf("the server changed the caller's request: %v", asked)
	}
	if gave.Facts[0].Name != "tip" {
		t.Errorf("the caller changed the server's reply: %v", gave)
	}
}

// Verifies: H02
func TestEventsAreCopied(t *testing.T) {
	gave := []*contractv1.Event{
		{Seq: 1, Evidence: []*contractv1.Evidence{{Fact: "tip"}}},
		{Seq: 2, Final: true, Evidence: []*contractv1.Evidence{{Fact: "tip"}}},
	}
	client := inproc.New(&fake{events: streamOf(gave, nil)})
	var seqs []uint64
	for e, err := range client.Events(t.Context(), &contractv1.EventsRequest{MissionId: "m1", FromSeq: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		e.Evidence[0].Fact = "lie"
		seqs = append(seqs, e.Seq)
	}
	if len(seqs) != 2 || seqs[0] != 1 || seqs[1] != 2 {
		t.Errorf("got events %v, want 1 and 2", seqs)
	}
	for _, e := range gave {
		if e.Evidence[0].Fact != "tip" {
			t.Errorf("the reader changed event %d of the server", e.Seq)
		}
	}
}

func TestWhatIsNoReplyIsAnError(t *testing.T) {
	broken := errors.New("the line broke")
	for _, c := range []struct {
		name    string
		start   func(*contractv1.StartRequest) (*contractv1.MissionAck, error)
		request *contractv1.StartRequest
		want    error // nil: any error
		calls   int
	}{
		{"the server's error arrives as it is", func(*contractv1.StartRequest) (*contractv1.MissionAck, error) { return nil, broken }, &contractv1.StartRequest{}, broken, 1},
		{"no reply and no error", func(*contractv1.StartRequest) (*contractv1.MissionAck, error) { return nil, nil }, &contractv1.StartRequest{}, inproc.ErrNoReply, 1},
		{"a reply without a wire form", func(*contractv1.StartRequest) (*contractv1.MissionAck, error) {
			return &contractv1.MissionAck{Reason: "\xff"}, nil
		}, &contractv1.StartRequest{}, nil, 1},
		{"a request without a wire form never arrives", nil, &contractv1.StartRequest{Capability: "\xff"}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &fake{start: c.start}
			ack, err := inproc.New(server).Start(t.Context(), c.request)
			if err == nil || ack != nil {
				t.Errorf("got %v and error %v, want only an error", ack, err)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if server.calls != c.calls {
				t.Errorf("the server was called %d times, want %d", server.calls, c.calls)
			}
		})
	}
}

func TestAnEndedContextReachesNoServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server := &fake{}
	if _, err := inproc.New(server).Start(ctx, &contractv1.StartRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if _, err := inproc.New(server).Describe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if server.calls != 0 {
		t.Errorf("the server was called %d times", server.calls)
	}
}

func TestEventsEnd(t *testing.T) {
	two := []*contractv1.Event{{Seq: 1}, {Seq: 2}}
	broken := errors.New("the line broke")

	t.Run("when the reader leaves", func(t *testing.T) {
		seen := 0
		for _, err := range inproc.New(&fake{events: streamOf(two, nil)}).Events(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			seen++
			break
		}
		if seen != 1 {
			t.Errorf("read %d events after leaving at the first", seen)
		}
	})
	t.Run("with the server's error", func(t *testing.T) {
		seqs, err := read(inproc.New(&fake{events: streamOf(two, broken)}).Events(t.Context(), nil), nil)
		if seqs != 2 || !errors.Is(err, broken) {
			t.Errorf("read %d events and error %v, want 2 and %v", seqs, err, broken)
		}
	})
	t.Run("with the context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		seqs, err := read(inproc.New(&fake{events: streamOf(two, nil)}).Events(ctx, nil), cancel)
		if seqs != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("read %d events and error %v, want 1 and %v", seqs, err, context.Canceled)
		}
	})
	t.Run("with an event that is none", func(t *testing.T) {
		seqs, err := read(inproc.New(&fake{events: streamOf([]*contractv1.Event{nil, {Seq: 2}}, nil)}).Events(t.Context(), nil), nil)
		if seqs != 0 || !errors.Is(err, inproc.ErrNoReply) {
			t.Errorf("read %d events and error %v, want none and %v", seqs, err, inproc.ErrNoReply)
		}
	})
}

// TestAnEmptyStreamIsNoEnd: from a number on that has no event behind it the events are over only where the event before was the
// mission's last.
//
// Verifies: T84
func TestAnEmptyStreamIsNoEnd(t *testing.T) {
	broken := errors.New("the line broke")
	for name, c := range map[string]struct {
		before []*contractv1.Event
		fails  error // of the stream that has the event before
		from   uint64
		whole  bool
	}{
		"behind the last":            {[]*contractv1.Event{{MissionId: "m", Seq: 4, Final: true}}, nil, 5, true},
		"behind one that is not":     {[]*contractv1.Event{{MissionId: "m", Seq: 4}}, nil, 5, false},
		"behind another mission's":   {[]*contractv1.Event{{MissionId: "n", Seq: 4, Final: true}}, nil, 5, false},
		"behind one further on":      {[]*contractv1.Event{{MissionId: "m", Seq: 3, Final: true}}, nil, 5, false},
		"behind nothing":             {nil, nil, 5, false},
		"behind what cannot be read": {nil, broken, 5, false},
		"from the first":             {nil, nil, 1, false},
		"from none":                  {nil, nil, 0, false},
	} {
		server := &fake{events: func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
			if q.GetMissionId() == "m" && q.GetFromSeq()+1 == c.from {
				return streamOf(c.before, c.fails)(ctx, q)
			}
			return streamOf(nil, nil)(ctx, q)
		}}
		n, err := read(inproc.New(server).Events(t.Context(), &contractv1.EventsRequest{MissionId: "m", FromSeq: c.from}), nil)
		if n != 0 || c.whole != (err == nil) || !c.whole && !errors.Is(err, inproc.ErrCutShort) {
			t.Errorf("%s: %d events, %v", name, n, err)
		}
	}
}

// read counts events up to the first error; after each it calls then, if there is one.
func read(events iter.Seq2[*contractv1.Event, error], then func()) (n int, err error) {
	for _, e := range events {
		if e != nil {
			return n, e
		}
		n++
		if then != nil {
			then()
		}
	}
	return n, nil
}

// streamOf yields the events and then the error, if there is one.
func streamOf(events []*contractv1.Event, last error) func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
		return func(yield func(*contractv1.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if last != nil {
				yield(nil, last)
			}
		}
	}
}
