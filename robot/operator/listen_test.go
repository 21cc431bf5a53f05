package operator_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// robotDesk is a robot as far as a person reaches it: a desk, a take, and a task.
type robotDesk struct {
	mu     sync.Mutex
	desk   *operator.Desk
	now    time.Duration
	taken  string
	epoch  uint64
	asked  int
	refuse error
}

func newRobotDesk() *robotDesk {
	return &robotDesk{desk: operator.NewDesk(operator.Config{}), now: start}
}

// enter counts the calls that came through.
func (r *robotDesk) enter() func() {
	r.mu.Lock()
	r.asked++
	return r.mu.Unlock
}

func (r *robotDesk) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func orError[T any](v *T, refusal *reject.Rejection) (*T, error) {
	if refusal != nil {
		return nil, *refusal
	}
	return v, nil
}

func (r *robotDesk) ListPending(context.Context, *contractv1.ListPendingRequest) (*contractv1.PendingList, error) {
	defer r.enter()()
	return &contractv1.PendingList{Pending: r.desk.List(r.now), TakenBy: r.taken}, r.refuse
}

func (r *robotDesk) Approve(_ context.Context, q *contractv1.ApproveRequest) (*contractv1.Pending, error) {
	defer r.enter()()
	p, refusal := r.desk.Approve(r.now, q)
	return orError(p, refusal)
}

func (r *robotDesk) Deny(_ context.Context, q *contractv1.DenyRequest) (*contractv1.Pending, error) {
	defer r.enter()()
	p, refusal := r.desk.Deny(r.now, q)
	return orError(p, refusal)
}

func (r *robotDesk) Take(_ context.Context, q *contractv1.TakeRequest) (*contractv1.TakeReply, error) {
	defer r.enter()()
	was := r.taken
	r.taken = q.GetBy()
	r.epoch++
	return &contractv1.TakeReply{TakenBy: r.taken, Epoch: r.epoch, WasHeldBy: was, EndedMission: "m1"}, nil
}

func (r *robotDesk) GiveBack(_ context.Context, q *contractv1.GiveBackRequest) (*contractv1.TakeReply, error) {
	defer r.enter()()
	if q.GetEpoch() != r.epoch {
		return nil, reject.New(reject.Conflict, "another take came after this one").In("epoch")
	}
	r.taken = ""
	return &contractv1.TakeReply{Epoch: r.epoch}, nil
}

func (r *robotDesk) Resolve(_ context.Context, q *contractv1.ResolveRequest) (*contractv1.Task, error) {
	defer r.enter()()
	return &contractv1.Task{
		TaskId: q.GetTaskId(), State: contractv1.TaskState_TASK_UNVERIFIED,
		Resolution: &contractv1.Resolution{By: q.GetBy(), Achieved: q.GetAchieved(), Note: q.GetNote()},
	}, nil
}

// folder is one whose name is short enough for a socket.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "il") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// served serves the person's listener until the test ends.
func served(t *testing.T, p operator.Person) (addr string, end func()) {
	t.Helper()
	addr = "unix:" + filepath.Join(folder(t), "p")
	l, err := operator.Listen(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- operator.Serve(ctx, l, p) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return addr, end
}

func dialled(t *testing.T, addr string) *operator.Client {
	t.Helper()
	c := operator.Dial(addr)
	t.Cleanup(c.Close)
	return c
}

// refusedWith compares an error by code, rule and field.
func refusedWith(t *testing.T, what string, err error, code reject.Code, rule, field string) {
	t.Helper()
	var r reject.Rejection
	if !errors.As(err, &r) {
		t.Errorf("%s: %v is no refusal", what, err)
		return
	}
	expect(t, what, &r, code, rule, field)
}

// Verifies: O14
func TestAPersonReachesTheDesk(t *testing.T) {
	robot := newRobotDesk()
	addr, end := served(t, robot)
	c := dialled(t, addr)
	ctx := t.Context()
	first, second := asked(t, robot.desk, start, act("red cube")), asked(t, robot.desk, start, act("blue cube"))

	list, err := c.ListPending(ctx, &contractv1.ListPendingRequest{})
	if err != nil || len(list.GetPending()) != 2 || !proto.Equal(list.GetPending()[0], first) {
		t.Fatalf("the list is %v, %v", list, err)
	}
	p, err := c.Approve(ctx, yes(list.GetPending()[0]))
	if err != nil || !p.GetApproved() || p.GetExpiresInMs() != grantTTL.Milliseconds() {
		t.Errorf("approved: %v, %v", p, err)
	}
	if _, ok := robot.desk.Granted(start, act("red cube")); !ok {
		t.Error("what was approved is not granted")
	}
	_, err = c.Approve(ctx, yes(first))
	refusedWith(t, "twice", err, reject.Conflict, "approval_twice", "hash")
	if p, err := c.Deny(ctx, no(second)); err != nil || p.GetHash() != second.GetHash() {
		t.Errorf("denied: %v, %v", p, err)
	}
	_, err = c.Approve(ctx, yes(second))
	refusedWith(t, "denied", err, reject.Conflict, "approval_denied", "hash")

	took, err := c.Take(ctx, &contractv1.TakeRequest{By: "ada"})
	if err != nil || took.GetTakenBy() != "ada" || took.GetEndedMission() != "m1" {
		t.Errorf("taken: %v, %v", took, err)
	}
	_, err = c.GiveBack(ctx, &contractv1.GiveBackRequest{By: "ada", Epoch: took.GetEpoch() + 1})
	refusedWith(t, "another take", err, reject.Conflict, "", "epoch")
	if back, err := c.GiveBack(ctx, &contractv1.GiveBackRequest{By: "ada", Epoch: took.GetEpoch()}); err != nil || back.GetTakenBy() != "" {
		t.Errorf("given back: %v, %v", back, err)
	}
	task, err := c.Resolve(ctx, &contractv1.ResolveRequest{TaskId: "task-7", By: "ada", Achieved: true, Note: "I looked"})
	if r := task.GetResolution(); err != nil || !r.GetAchieved() || r.GetNote() != "I looked" || task.GetState() != contractv1.TaskState_TASK_UNVERIFIED {
		t.Errorf("resolved: %v, %v", task, err)
	}
	robot.refuse = reject.List{reject.New(reject.StaleFact, "no driver").In("driver"), reject.New(reject.Stopped, "stopped").By("latch")}
	_, err = c.ListPending(ctx, &contractv1.ListPendingRequest{})
	var l reject.List
	if !errors.As(err, &l) || !slices.Equal(l.Codes(), []reject.Code{reject.StaleFact, reject.Stopped}) || l[0].Field != "driver" || l[1].Rule != "latch" || l[0].Retry != reject.Later {
		t.Errorf("two reasons came as %v", err)
	}
	robot.refuse = errors.New("the desk burns")
	if _, err = c.ListPending(ctx, &contractv1.ListPendingRequest{}); err == nil || errors.As(err, new(reject.Rejection)) {
		t.Errorf("a fault came as %v", err)
	}
	end()
	if _, err = c.ListPending(ctx, &contractv1.ListPendingRequest{}); err == nil {
		t.Error("a robot that has ended answered")
	}
}

// Verifies: O15
func TestThePersonsSocketIsItsUsers(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "p")
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false) //nolint:errcheck // what net.Listen returns for unix
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := operator.Listen(t.Context(), "unix:"+path) // in the place of the stale one
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != fs.ModeSocket {
		t.Errorf("the socket's mode is %v, %v", info.Mode(), err)
	}
	notes := filepath.Join(dir, "notes")
	if err := os.WriteFile(notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, addr := range map[string]string{
		"two at one socket": "unix:" + path, "a file in the way": "unix:" + notes, "TCP": "127.0.0.1:0", "no path": "unix:", "nothing": "",
		"a path too long": "unix:" + filepath.Join(dir, strings.Repeat("x", 104)), "no folder": "unix:" + filepath.Join(dir, "none", "p"),
	} {
		if l, err := operator.Listen(t.Context(), addr); err == nil {
			t.Errorf("%s: listens at %v", name, l.Addr())
			_ = l.Close()
		}
	}
	if text, err := os.ReadFile(notes); err != nil || string(text) != "mine" {
		t.Errorf("the file in the way holds %q, %v", text, err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := operator.Serve(t.Context(), tcp, newRobotDesk()); err == nil {
		t.Error("a person is served over TCP")
	}
	for _, addr := range []string{"127.0.0.1:1", "unix:", "unix:" + filepath.Join(dir, "nobody")} {
		if _, err := dialled(t, addr).ListPending(t.Context(), nil); err == nil {
			t.Errorf("somebody answers at %q", addr)
		}
	}
}

// raw is an HTTP client of one's own on the socket.
func raw(t *testing.T, addr string) *http.Client {
	t.Helper()
	line := &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(addr, "unix:"))
	}}
	t.Cleanup(line.CloseIdleConnections)
	return &http.Client{Transport: line}
}

// rejectionIn reads the refusal out of the body of an answer.
func rejectionIn(body []byte) *contractv1.Rejection {
	var e struct {
		Details []struct{ Type, Value string }
	}
	r := new(contractv1.Rejection)
	if json.Unmarshal(body, &e) != nil || len(e.Details) == 0 {
		return r
	}
	wire, err := base64.RawStdEncoding.DecodeString(e.Details[0].Value)
	if err != nil || proto.Unmarshal(wire, r) != nil {
		return new(contractv1.Rejection)
	}
	return r
}

// Whatever two readers could read differently, and whatever a page could send, does not reach the robot.
//
// Verifies: O16
func TestThePersonsLineIsStrict(t *testing.T) {
	robot := newRobotDesk()
	addr, _ := served(t, robot)
	client := raw(t, addr)
	p := asked(t, robot.desk, start, act("red cube"))
	good, err := proto.Marshal(yes(p))
	if err != nil {
		t.Fatal(err)
	}
	with := func(more ...byte) []byte { return append(slices.Clone(good), more...) }
	resolve, err := proto.Marshal(&contractv1.ResolveRequest{TaskId: "t", By: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, header, verb string // header is one line that differs, verb the method of HTTP
		body                 []byte
		code                 reject.Code
		rule, field          string
	}{
		"GET":                {"Approve", "", "GET", good, reject.Malformed, "method", ""},
		"PUT":                {"Approve", "", "PUT", good, reject.Malformed, "method", ""},
		"a page":             {"Approve", "Origin: https://robot.example", "", good, reject.NotPermitted, "origin", "Origin"},
		"a nameless page":    {"Approve", "Origin: null", "", good, reject.NotPermitted, "origin", "Origin"},
		"a browser":          {"Approve", "Sec-Fetch-Site: same-origin", "", good, reject.NotPermitted, "origin", "Origin"},
		"JSON":               {"Approve", "Content-Type: application/json", "", []byte(`{}`), reject.Malformed, "content_type", "Content-Type"},
		"a form":             {"Approve", "Content-Type: text/plain", "", good, reject.Malformed, "content_type", "Content-Type"},
		"compressed":         {"Approve", "Content-Encoding: gzip", "", good, reject.Malformed, "encoding", "Content-Encoding"},
		"too long":           {"Approve", "", "", make([]byte, 33<<10), reject.TooLarge, "body", ""},
		"an unknown field":   {"Approve", "", "", with(0x98, 0x06, 0x01), reject.UnknownArgument, "message", "99"},
		"a field twice":      {"Approve", "", "", with(0x1a, 0x03, 'b', 'o', 'b'), reject.DuplicateKey, "message", "by"},
		"another type":       {"Approve", "", "", []byte{0x08, 0x01}, reject.WrongType, "message", "hash"},
		"text not UTF-8":     {"Approve", "", "", []byte{0x0a, 0x01, 0xff}, reject.Malformed, "message", "hash"},
		"cut":                {"Approve", "", "", good[:len(good)-1], reject.Malformed, "message", "by"},
		"cut in a tag":       {"Approve", "", "", with(0x80), reject.Malformed, "message", ""},
		"a group":            {"Approve", "", "", []byte{0x0b, 0x0c}, reject.WrongType, "message", "hash"},
		"a flag of 2":        {"Resolve", "", "", append(slices.Clone(resolve), 0x18, 0x02), reject.OutOfRange, "message", "achieved"},
		"a text as a number": {"GiveBack", "", "", []byte{0x12, 0x01, '1'}, reject.WrongType, "message", "epoch"},
		"a list for all":     {"ListPending", "", "", []byte{0x0a, 0x00}, reject.UnknownArgument, "message", "1"},
		"nobody":             {"Take", "", "", nil, reject.MissingArgument, "", "by"},
		"nobody gives back":  {"GiveBack", "", "", []byte{0x10, 0x01}, reject.MissingArgument, "", "by"},
		"nobody resolves":    {"Resolve", "", "", []byte{0x0a, 0x01, 't'}, reject.MissingArgument, "", "by"},
		"no task":            {"Resolve", "", "", []byte{0x12, 0x01, 'a'}, reject.MissingArgument, "", "task_id"},
		"nobody denies":      {"Deny", "", "", []byte{0x0a, 0x01, 'a'}, reject.MissingArgument, "", "by"},
	} {
		status, body := post(t, client, c.verb, c.method, c.header, c.body)
		r := rejectionIn(body)
		if status == http.StatusOK || r.GetCode() != string(c.code) || r.GetRule() != c.rule || r.GetField() != c.field {
			t.Errorf("%s: %d %s; want %s by %s in %q", name, status, body, c.code, c.rule, c.field)
		}
	}
	for _, path := range []string{"Reset", "approve", "Approve/", "../Robot/Start"} {
		if status, body := post(t, client, "", path, "", good); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for _, other := range []string{"application/grpc", "application/grpc-web+proto", "application/connect+proto"} { // answered in their own form
		post(t, client, "", "Approve", "Content-Type: "+other, append([]byte{0, 0, 0, 0, byte(len(good))}, good...))
	}
	if status, body := post(t, client, "", "Approve", "Connect-Protocol-Version: ", good); status == http.StatusOK {
		t.Errorf("without the protocol's version: %d %s", status, body)
	}
	if n := robot.calls(); n != 0 {
		t.Errorf("%d of them reached the robot", n)
	}
	if status, body := post(t, client, "", "Approve", "", good); status != http.StatusOK || robot.calls() != 1 {
		t.Errorf("the one that is right: %d %s", status, body)
	}
}

// post sends one request as a peer could; header is one line that differs, verb the method of HTTP where it is not POST.
func post(t *testing.T, client *http.Client, verb, method, header string, body []byte) (status int, answer []byte) {
	t.Helper()
	if verb == "" {
		verb = http.MethodPost
	}
	q, err := http.NewRequestWithContext(t.Context(), verb, "http://robot/interlock.v1.Operator/"+method, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/proto")
	q.Header.Set("Connect-Protocol-Version", "1")
	if key, value, ok := strings.Cut(header, ": "); ok {
		q.Header.Set(key, value)
	}
	r, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	answer, err = io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, answer
}
