package remote_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"interlock/body"
	"interlock/body/remote"
	driverv1 "interlock/body/remote/v1"
	"interlock/reject"
	"interlock/units"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a line that writes down what reaches it.
type fake struct {
	body.Lease
	sent  []body.Setpoint
	halts int
	stops []string
	reset []uint64
	hang  chan struct{} // Send and Watch wait for it
	obs   body.Observation
	err   error
}

func (f *fake) Describe() body.Description {
	return body.Description{
		Name: "fake", Mode: body.ModeHardware, Step: 2 * time.Millisecond,
		Joints:    []body.Joint{{Name: "pan", MinRad: -1, MaxRad: 1, MaxVelRadS: 5}},
		Witnesses: []body.Witness{{Name: "encoders", Facts: []string{"tip"}}},
	}
}
func (f *fake) Acquire(holder string) (uint64, error) { return f.Lease.Acquire(0, holder) }
func (f *fake) Renew(epoch uint64) error              { return f.Lease.Renew(0, epoch) }
func (f *fake) Release(epoch uint64)                  { f.Lease.Release(0, epoch) }
func (f *fake) Holder() string                        { return f.Lease.Holder(0) }
func (f *fake) Halt() error                           { f.halts++; return nil }
func (f *fake) Kept(time.Duration) bool               { return true }
func (f *fake) Latch() body.Latch                     { return body.Latch{Stopped: true, Number: 4, Reason: "r"} }
func (f *fake) Stop(reason string) uint64 {
	f.stops = append(f.stops, reason)
	return uint64(len(f.stops))
}

func (f *fake) Reset(number uint64) error {
	f.reset = append(f.reset, number)
	return f.err
}

func (f *fake) Send(s body.Setpoint) (body.Sent, error) {
	if f.hang != nil {
		<-f.hang
	}
	if f.err != nil {
		return body.Sent{}, f.err
	}
	f.sent = append(f.sent, s)
	return body.Sent{PositionsRad: s.PositionsRad, Applied: uint64(len(f.sent))}, nil
}

func (f *fake) Watch(uint64) (body.Observation, error) {
	if f.hang != nil {
		<-f.hang
	}
	return f.obs, f.err
}

// serve serves a handler on a unix socket until the test ends.
func serve(t *testing.T, h http.Handler) (addr string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "il")
	if err != nil {
		t.Fatal(err)
	}
	addr = "unix:" + filepath.Join(dir, "s")
	l, err := remote.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- remote.Serve(ctx, l, h) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return addr
}

// dial is a line to the fake whose calls have the time of a machine that is busy, where the test says nothing else.
func dial(t *testing.T, f *fake, o remote.Options) *remote.Driver {
	t.Helper()
	if o.CallTimeout == 0 {
		o.CallTimeout = time.Minute
	}
	d, err := remote.Dial(t.Context(), serve(t, remote.DriverHandler(f)), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// Everything that a driver tells and is told arrives as it was, whatever its kind; numbers that are none too.
//
// Verifies: D13
func TestRoundTrip(t *testing.T) {
	at := units.Instant(5 * time.Second)
	f := &fake{obs: body.Observation{
		At: at, Latch: body.Latch{Stopped: true, Number: 3, Reason: "why"}, Standstill: true, Holding: body.HoldStopped, Applied: 9,
		JointsRad: []float64{0.1}, GoalRad: []float64{math.Inf(1)},
		Health: body.Health{TorqueOn: true, BusOK: true, FaultCode: "x", MotionAllowed: true},
		Readings: []body.Reading{
			{Fact: "n", Witness: "w", Kind: body.Number, Number: -1.5, At: at, Sigma: 2},
			{Fact: "t", Witness: "w", Kind: body.Text, Text: "é", At: at - 1},
			{Fact: "f", Witness: "w", Kind: body.Flag, Flag: true, At: at - 2},
			{Fact: "p", Witness: "w", Kind: body.Point, Point: units.Vec3{1, 2, 3}},
			{Fact: "o", Witness: "w", Kind: body.Poses, Objects: []body.SeenObject{
				{Label: "cube", Pose: units.Pose{Position: units.Vec3{1, 0, 2}, Orientation: units.Quat{1, 0, 0, 0}}, SizeM: units.Vec3{3, 4, 5}},
			}},
			{Fact: "none", Witness: "w", Kind: body.Poses, Objects: []body.SeenObject{}},
		},
	}}
	d := dial(t, f, remote.Options{})
	if diff := cmp.Diff(f.Describe(), d.Describe()); diff != "" {
		t.Error(diff)
	}
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	o, err := d.Observe()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.obs, o); diff != "" {
		t.Error(diff)
	}
	want := body.Setpoint{PositionsRad: []float64{0.5}, Over: time.Second, Expires: at, Stop: 3, Epoch: f.Epoch()}
	given := want
	given.Epoch = 0
	if _, err := d.Send(given); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]body.Setpoint{want}, f.sent); diff != "" {
		t.Error(diff)
	}
	f.err = errors.Join(
		reject.New(reject.OutOfRange, "one").In("expires").By("rule").Saw("1", "2", "ms"),
		reject.New(reject.Stopped, "two").In("stop"),
	)
	_, err = d.Send(given)
	if err == nil || err.Error() != f.err.Error() {
		t.Errorf("refused by %v", err)
	}
	var r reject.Rejection
	if _, err := d.Observe(); !errors.As(err, &r) || r.Code != reject.OutOfRange || r.Rule != "rule" || r.Limit != "2" {
		t.Errorf("an observation refused by %v", err)
	}
}

// A driver that hangs: every call but the stop's ends by its deadline, and the stop is not behind them.
//
// Verifies: D14
func TestHungDriverHangsNobody(t *testing.T) {
	f := &fake{hang: make(chan struct{})}
	defer close(f.hang)
	d := dial(t, f, remote.Options{CallTimeout: 2 * time.Second}) // what answers does so in it, on a machine that is busy too
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for name, call := range map[string]func() error{
		"send":    func() error { _, err := d.Send(body.Setpoint{}); return err },
		"observe": func() error { _, err := d.Observe(); return err },
	} {
		calls.Go(func() {
			if err := call(); err == nil || !strings.Contains(err.Error(), "deadline") {
				t.Errorf("%s of a hung driver: %v", name, err)
			}
		})
	}
	calls.Wait()
	if n := d.Stop("now"); n != 1 || len(f.stops) != 1 {
		t.Errorf("the stop of a hung driver: number %d", n)
	}
}

// A setpoint that a later command overtook on the line is refused; one without a place in the order too.
//
// Verifies: D15
func TestOvertakenSetpointIsRefused(t *testing.T) {
	f := &fake{}
	client, base, options := remote.LabLine(serve(t, remote.DriverHandler(f)))
	defer client.CloseIdleConnections()
	rpc := driverv1.NewDriverClient(client, base, options...)
	lease, err := rpc.Open(t.Context(), &driverv1.OpenRequest{Holder: "h"})
	if err != nil {
		t.Fatal(err)
	}
	send := func(epoch, sequence uint64) string {
		t.Helper()
		sent, err := rpc.Send(t.Context(), &driverv1.Setpoint{Epoch: epoch, Sequence: sequence})
		if err != nil {
			t.Fatal(err)
		}
		if len(sent.GetRejections()) == 0 {
			return ""
		}
		return sent.GetRejections()[0].GetCode() + " " + sent.GetRejections()[0].GetField()
	}
	e := lease.GetEpoch()
	for i, c := range []struct {
		epoch, sequence uint64
		halt            bool
		want            string
	}{
		{e, 1, false, ""}, {e, 3, false, ""}, {e, 2, false, "CONFLICT sequence"}, {e, 3, false, "CONFLICT sequence"},
		{e, 5, true, ""}, {e, 4, false, "CONFLICT sequence"}, {e, 6, false, ""}, {e, 0, false, "MISSING_ARGUMENT sequence"},
		{e + 1, 1, false, ""}, // the next lease counts anew
	} {
		got := ""
		if c.halt {
			if _, err := rpc.Halt(t.Context(), &driverv1.HaltRequest{Epoch: c.epoch, Sequence: c.sequence}); err != nil {
				t.Fatal(err)
			}
		} else {
			got = send(c.epoch, c.sequence)
		}
		if got != c.want {
			t.Errorf("command %d was answered by %q, not %q", i, got, c.want)
		}
	}
}

// Every method says whether it moves; the robot's line has a stop and no reset, by its descriptors and by asking; the
// one service that resets is the operator's, on a handler of its own.
//
// Verifies: P02, D16
func TestNoResetOnTheRobotsLine(t *testing.T) {
	moves := map[protoreflect.FullName]bool{}
	services := driverv1.File_driver_proto.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			options, ok := m.Options().(*descriptorpb.MethodOptions)
			effect, _ := proto.GetExtension(options, driverv1.E_Effect).(driverv1.Effect)
			if !ok || effect == driverv1.Effect_EFFECT_UNSPECIFIED {
				t.Errorf("%s does not say whether it moves", m.FullName())
			}
			if effect == driverv1.Effect_MOVES {
				moves[m.FullName()] = true
			}
			if strings.Contains(strings.ToLower(string(m.Name())), "reset") && m.FullName() != "interlock.driver.v1.Operator.Reset" {
				t.Errorf("%s is a reset", m.FullName())
			}
		}
	}
	if want := map[protoreflect.FullName]bool{"interlock.driver.v1.Driver.Send": true, "interlock.driver.v1.Lab.Advance": true}; !cmp.Equal(moves, want) {
		t.Errorf("what moves is %v", moves)
	}
	f := &fake{}
	o := remote.DialOperator(serve(t, remote.DriverHandler(f)))
	defer o.Close()
	if err := o.Reset(t.Context(), 1); err == nil || len(f.reset) > 0 {
		t.Errorf("a reset on the robot's line: %v, %v", err, f.reset)
	}
	person := remote.DialOperator(serve(t, remote.OperatorHandler(f)))
	defer person.Close()
	if err := person.Reset(t.Context(), 4); err != nil || !cmp.Equal(f.reset, []uint64{4}) {
		t.Errorf("a person's reset: %v, %v", err, f.reset)
	}
	if l, _, err := person.State(t.Context()); err != nil || l != f.Latch() {
		t.Errorf("state %+v: %v", l, err)
	}
	f.err = reject.New(reject.Conflict, "another number").In("number")
	var r reject.Rejection
	if err := person.Reset(t.Context(), 5); !errors.As(err, &r) || r.Code != reject.Conflict {
		t.Errorf("a reset of another number: %v", err)
	}
}

// What the protocol does not know is refused, not dropped; so is a browser, before anything of it is read.
//
// Verifies: D17
func TestTheLineIsStrict(t *testing.T) {
	f := &fake{}
	addr := strings.TrimPrefix(serve(t, remote.DriverHandler(f)), "unix:")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", addr)
	}}
	defer transport.CloseIdleConnections()
	for name, c := range map[string]struct {
		method, body string
		header       map[string]string
		host         string
		want         int
	}{
		"plain JSON":      {"Stop", `{"reason":"x"}`, nil, "localhost", 200},
		"a page":          {"Stop", `{"reason":"x"}`, map[string]string{"Origin": "http://localhost"}, "localhost", 403},
		"another host":    {"Stop", `{"reason":"x"}`, nil, "robot.example", 403},
		"unknown field":   {"Stop", `{"raeson":"x"}`, nil, "localhost", 400},
		"duplicate field": {"Stop", `{"reason":"x","reason":"y"}`, nil, "localhost", 400},
		"no JSON":         {"Stop", ``, nil, "localhost", 400},
		"too large":       {"Stop", `{"reason":"` + strings.Repeat("x", 70<<10) + `"}`, nil, "localhost", 429},
		"no holder":       {"Open", `{}`, nil, "localhost", 400},
		"no such method":  {"Reset", `{}`, nil, "localhost", 404},
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.host+"/interlock.driver.v1.Driver/"+c.method, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		for k, v := range c.header {
			q.Header.Set(k, v)
		}
		p, err := transport.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(p.Body)
		if err = errors.Join(err, p.Body.Close()); err != nil || p.StatusCode != c.want {
			t.Errorf("%s: status %d, not %d: %s (%v)", name, p.StatusCode, c.want, text, err)
		}
	}
	if !cmp.Equal(f.stops, []string{"x"}) {
		t.Errorf("what reached the driver: %q", f.stops)
	}
}

// Only loopback and the user's own sockets are listened on; a socket in use is not taken away, a stale one is.
//
// Verifies: D18
func TestListen(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "robot.example:0", "nonsense"} {
		if l, err := remote.Listen(addr); err == nil {
			t.Errorf("listens on %s (%v)", addr, l.Close())
		}
	}
	addr := serve(t, remote.DriverHandler(&fake{}))
	if _, err := remote.Listen(addr); err == nil {
		t.Error("takes a socket away from a process that answers")
	}
	path := strings.TrimPrefix(addr, "unix:")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	stale := path + "2"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := remote.Listen("unix:" + stale)
	if err != nil {
		t.Fatalf("a stale socket: %v", err)
	}
	_ = again.Close()
}

// Open waits for another's lease at most as long as it was told, and a body that is not the expected one is refused.
//
// Verifies: D05, D19
func TestOpen(t *testing.T) {
	f := &fake{}
	if _, err := f.Acquire("other"); err != nil {
		t.Fatal(err)
	}
	addr := serve(t, remote.DriverHandler(f))
	d := remote.Expect(addr, f.Describe(), remote.Options{OpenWithin: 150 * time.Millisecond})
	defer func() { _ = d.Close() }()
	var busy reject.Rejection
	err := d.Open()
	for tries := 0; tries < 20 && !errors.As(err, &busy); tries++ { // a machine that is busy may let a single question wait so long
		err = d.Open()
	}
	if busy.Code != reject.Busy || busy.Got != `"other"` {
		t.Errorf("%v", err)
	}
	other := f.Describe()
	other.Joints[0].MaxRad = 2
	if err := remote.Expect(addr, other, remote.Options{}).Open(); err == nil {
		t.Error("a process with another body was opened")
	}
	if _, err := remote.Dial(t.Context(), addr+"nobody", remote.Options{}); err == nil {
		t.Error("an absent process was dialled")
	}
}
