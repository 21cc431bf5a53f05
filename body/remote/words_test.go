package remote_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"interlock/body"
	"interlock/body/remote"
	driverv1 "interlock/body/remote/v1"
	"interlock/reject"
	"interlock/units"
)

// babble is a line behind which everything that is told is no text.
type babble struct {
	fake
	junk string
}

func (b *babble) Describe() body.Description {
	return body.Description{
		Name: b.junk, Mode: body.Mode(b.junk), Step: time.Millisecond, Joints: []body.Joint{{Name: b.junk}},
		Witnesses: []body.Witness{{Name: b.junk, Facts: []string{b.junk}}},
	}
}

func (b *babble) Latch() body.Latch { return body.Latch{Stopped: true, Number: 4, Reason: b.junk} }
func (b *babble) Holder() string    { return b.junk }

func (b *babble) Send(body.Setpoint) (body.Sent, error) {
	return body.Sent{}, reject.Rejection{
		Code: reject.Code(b.junk), Rule: b.junk, Field: b.junk, Got: b.junk, Limit: b.junk, Unit: b.junk, Retry: reject.Retry(b.junk), Says: b.junk,
	}
}

func (b *babble) Watch(uint64) (body.Observation, error) {
	return body.Observation{
		Latch: b.Latch(), Holding: body.HoldReason(b.junk), Health: body.Health{FaultCode: b.junk},
		Readings: []body.Reading{
			{Fact: b.junk, Witness: b.junk, Kind: body.Text, Text: b.junk},
			{Kind: body.Poses, Objects: []body.SeenObject{{Label: b.junk, Pose: units.Pose{Orientation: units.Quat{1, 0, 0, 0}}}}},
		},
	}, nil
}

// Whatever stands behind the line says, be it no text at all, every answer gets through: a stop's reason that was cut in the middle
// of a letter must not take the driver away from its robot.
//
// Verifies: F48, D121
func TestWhatIsNoTextIsToldAllTheSame(t *testing.T) {
	for name, junk := range map[string]string{"no text": "\xff", "half a letter": strings.Repeat("x", 199) + "\xc3", "a torn one": "\xe2\x80", "much of it": strings.Repeat("\xf0\x9f", 20<<10)} {
		t.Run(name, func(t *testing.T) {
			b := &babble{junk: junk}
			client, base, options := remote.LabLine(serve(t, remote.DriverHandlerOf(b, "")))
			defer client.CloseIdleConnections()
			rpc := driverv1.NewDriverClient(client, base, options...)
			operator, base, options := remote.LabLine(serve(t, remote.OperatorHandler(b)))
			defer operator.CloseIdleConnections()
			person := driverv1.NewOperatorClient(operator, base, options...)
			strings, answers := 0, 0
			told := func(p interface{ ProtoReflect() protoreflect.Message }, err error) {
				t.Helper()
				if answers++; err != nil {
					t.Error(err)
					return
				}
				strings += texts(t, p.ProtoReflect())
			}
			ctx := t.Context()
			d, err := rpc.Describe(ctx, &driverv1.DescribeRequest{})
			told(d, err)
			o, err := rpc.Observe(ctx, &driverv1.ObserveRequest{})
			told(o, err)
			sent, err := rpc.Send(ctx, &driverv1.Setpoint{Sequence: 1})
			told(sent, err)
			state, err := person.State(ctx, &driverv1.StateRequest{})
			told(state, err)
			if answers != 4 || strings < 20 {
				t.Errorf("%d answers with %d texts", answers, strings)
			}
		})
	}
}

// texts counts the strings in a message, each of which must say something and be text.
func texts(t *testing.T, m protoreflect.Message) (n int) {
	t.Helper()
	check := func(v protoreflect.Value) {
		if n++; !utf8.ValidString(v.String()) || v.String() == "" {
			t.Errorf("%s has a text %.20q", m.Descriptor().FullName(), v.String())
		}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() == protoreflect.StringKind && f.IsList():
			for i := range v.List().Len() {
				check(v.List().Get(i))
			}
		case f.Kind() == protoreflect.StringKind:
			check(v)
		case f.Kind() == protoreflect.MessageKind && f.IsList():
			for i := range v.List().Len() {
				n += texts(t, v.List().Get(i).Message())
			}
		case f.Kind() == protoreflect.MessageKind:
			n += texts(t, v.Message())
		}
		return true
	})
	return n
}

// A stop gets through whatever its words are made of, and however many they are, from a robot and from a person; what is kept of
// them is text.
//
// Verifies: P04, D121
func TestAStopIsNotRefusedForItsWords(t *testing.T) {
	for name, words := range map[string]string{
		"no text": "\xff\xfe", "a letter at the end": strings.Repeat("x", 199) + "é", "letters": strings.Repeat("é", 5000), "three bytes each": "x" + strings.Repeat("→", 5000),
		"a megabyte": strings.Repeat("stop ", 1<<18),
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			d := dial(t, f, remote.Options{})
			o := remote.DialOperator(serve(t, remote.OperatorHandler(f)))
			defer o.Close()
			if n := d.Stop(words); n != 1 {
				t.Errorf("the robot's stop is %d", n)
			}
			if n, _, err := o.Stop(t.Context(), words); n != 2 || err != nil {
				t.Errorf("the person's stop is %d: %v", n, err)
			}
			raw := words
			if len(raw) > 50<<10 {
				raw = raw[:50<<10]
			}
			if utf8.ValidString(raw) { // a client of another language sends it as it is
				client, base, options := remote.LabLine(serve(t, remote.DriverHandler(f)))
				defer client.CloseIdleConnections()
				if p, err := driverv1.NewDriverClient(client, base, options...).Stop(t.Context(), &driverv1.StopRequest{Reason: raw}); p.GetNumber() != 3 || err != nil {
					t.Errorf("a stop of another client is %v: %v", p, err)
				}
			}
			for _, kept := range f.stops {
				if !utf8.ValidString(kept) || len(kept) > 200 || kept == "" {
					t.Errorf("what is kept is %d bytes, %.20q", len(kept), kept)
				}
			}
		})
	}
}

// latched is a line with a latch, which notes whose stops come to it.
type latched struct {
	fake
	kept bool
	came []string
}

func (l *latched) Kept(time.Duration) bool { return l.kept }

func (l *latched) Stop(string) uint64        { l.came = append(l.came, "stop"); return 7 }
func (l *latched) StopByRobot(string) uint64 { l.came = append(l.came, "robot"); return 8 }

// A stop is a robot's where it comes on the robots' line from who took the lease once, whether that runs or not; on that line from
// anybody else, and on the person's always, it is a stop of its own.
//
// Verifies: P04, D125
func TestWhoseStopItIs(t *testing.T) {
	l := &latched{}
	addr := serve(t, remote.DriverHandler(l))
	beside := remote.Expect(addr, l.Describe(), remote.Options{CallTimeout: time.Minute})
	defer func() { _ = beside.Close() }()
	robot, err := remote.Dial(t.Context(), addr, remote.Options{CallTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	person := remote.DialOperator(serve(t, remote.OperatorHandler(l)))
	defer person.Close()
	stop := func(want uint64, got uint64) {
		t.Helper()
		if got != want {
			t.Errorf("stop %d, want %d", got, want)
		}
	}
	stop(7, beside.Stop("a person beside the robot"))
	stop(7, robot.Stop("before it was opened"))
	if err := robot.Open(); err != nil {
		t.Fatal(err)
	}
	stop(8, robot.Stop("with the lease"))
	if err := robot.Close(); err != nil {
		t.Fatal(err)
	}
	stop(8, robot.Stop("after it gave it back"))
	number, _, err := person.Stop(t.Context(), "a person")
	stop(7, number)
	if want := []string{"stop", "stop", "robot", "robot", "stop"}; err != nil || !cmp.Equal(l.came, want) {
		t.Errorf("%v came, %v", l.came, err)
	}
	plain := dial(t, &fake{}, remote.Options{}) // a line without a latch
	if err := plain.Open(); err != nil {
		t.Fatal(err)
	}
	stop(1, plain.Stop("with the lease"))
}

// An answer to a stop says that it is durable where it is, and that it is not where it is not, on both lines.
//
// Verifies: P04, D133
func TestAStopThatIsNotKeptIsNotToldAsThat(t *testing.T) {
	for _, kept := range []bool{true, false} {
		l := &latched{kept: kept}
		d, err := remote.Dial(t.Context(), serve(t, remote.DriverHandler(l)), remote.Options{CallTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if n, durable := d.StopKept("robot"); n == 0 || durable != kept {
			t.Errorf("stop %d is told durable: %v, and that is %v", n, durable, kept)
		}
		o := remote.DialOperator(serve(t, remote.OperatorHandler(l)))
		if n, durable, err := o.Stop(t.Context(), "person"); err != nil || n == 0 || durable != kept {
			t.Errorf("a person's stop %d is told durable: %v, and that is %v (%v)", n, durable, kept, err)
		}
		o.Close()
		_ = d.Close()
	}
}

// slow is a line whose Send waits until it is let go, and which notes what came in which order.
type slow struct {
	fake
	entered, let chan struct{}

	mu   sync.Mutex
	came []string
}

func (s *slow) note(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came = append(s.came, what)
	return len(s.came)
}

func (s *slow) Send(p body.Setpoint) (body.Sent, error) {
	s.entered <- struct{}{}
	<-s.let
	s.note("send")
	return body.Sent{PositionsRad: p.PositionsRad}, nil
}

func (s *slow) Halt() error {
	if s.note("halt") == 1 {
		close(s.let) // only now may the setpoint be taken
	}
	return nil
}

// A halt that comes while a setpoint from before it is on its way halts at once, without waiting for it, and once more after it: the
// setpoint moves nothing.
//
// Verifies: D134
func TestAHaltIsNotUndoneByWhatItOvertook(t *testing.T) {
	s := &slow{entered: make(chan struct{}), let: make(chan struct{})}
	client, base, options := remote.LabLine(serve(t, remote.DriverHandler(s)))
	defer client.CloseIdleConnections()
	rpc := driverv1.NewDriverClient(client, base, options...)
	var sending sync.WaitGroup
	sending.Go(func() {
		if _, err := rpc.Send(t.Context(), &driverv1.Setpoint{Sequence: 1}); err != nil {
			t.Error(err)
		}
	})
	<-s.entered
	if _, err := rpc.Halt(t.Context(), &driverv1.HaltRequest{Sequence: 2}); err != nil {
		t.Error(err)
	}
	sending.Wait()
	if want := []string{"halt", "send", "halt"}; !cmp.Equal(s.came, want) {
		t.Errorf("what came is %v", s.came)
	}
}
