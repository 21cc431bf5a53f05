package connect_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/transport/connect"
)

// raw opens a connection to the server, which a peer without manners uses.
func raw(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// head is a request's header up to its end, with what is added.
func head(method string, also ...string) string {
	lines := append([]string{
		"POST /interlock.v1.Robot/" + method + " HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer " + secret,
	}, also...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// hangsUp waits until the server closes the connection, and returns what it said before.
func hangsUp(t *testing.T, c net.Conn) string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(c)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("the server keeps the connection, having said %q", said)
	}
	return string(said)
}

// Verifies: P31
func TestBodiesAreBoundedBeforeTheyAreRead(t *testing.T) {
	server := &echo{}
	o := options()
	o.Limits.Body = 3 * time.Second // what comes does so in it, on a machine that is busy too
	addr := serve(t, "127.0.0.1:0", server, o)
	o.Limits.Body = 200 * time.Millisecond
	hasty := serve(t, "127.0.0.1:0", server, o)
	const jsonType = "Content-Type: application/json"
	for name, c := range map[string]struct {
		send, code string
	}{
		"2 GiB declared":        {head("Start", jsonType, "Content-Length: 2147483648"), "TOO_LARGE"},
		"one byte too many":     {head("Start", jsonType, "Content-Length: 262145"), "TOO_LARGE"},
		"chunks without end":    {head("Start", jsonType, "Transfer-Encoding: chunked") + strings.Repeat("10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 5), "TOO_LARGE"},
		"a body that never is":  {head("Start", jsonType, "Content-Length: 10", "Connection: close"), "MALFORMED"},
		"a body that breaks up": {head("Start", jsonType, "Content-Length: 10", "Connection: close") + `{"a`, "MALFORMED"},
		"a bad chunk":           {head("Start", jsonType, "Transfer-Encoding: chunked", "Connection: close") + "zz\r\n", "MALFORMED"},
		"two lengths":           {head("Start", jsonType, "Content-Length: 2", "Content-Length: 3") + "{}", "400 Bad Request"},
		"no HTTP":               {"EHLO robot\r\n\r\n", "400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := raw(t, addr)
			if c.code == "MALFORMED" { // what it waits for never comes
				conn = raw(t, hasty)
			}
			go func() { _, _ = io.WriteString(conn, c.send) }() // the server may hang up in the middle of it
			if said := hangsUp(t, conn); !strings.Contains(said, c.code) {
				t.Errorf("wanted %s, the server said %.300q", c.code, said)
			}
		})
	}
	if server.asked.Load() > 0 {
		t.Errorf("the robot was asked %d times", server.asked.Load())
	}
}

// Verifies: P25
func TestSlowHeadersAreCutOff(t *testing.T) {
	o := options()
	o.Limits.Header = 150 * time.Millisecond
	addr := serve(t, "127.0.0.1:0", &echo{}, o)
	for _, start := range []string{"", "POST /interlock.v1.Robot/Start HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "} {
		c := raw(t, addr)
		say(t, c, start)
		hangsUp(t, c)
	}
	long := raw(t, serve(t, "127.0.0.1:0", &echo{}, options()))
	go func() { _, _ = io.WriteString(long, head("Start", "X-Long: "+strings.Repeat("x", 64<<10))) }()
	if said := hangsUp(t, long); !strings.Contains(said, "431") {
		t.Errorf("a header of 64 KiB: %.200q", said)
	}
}

// Verifies: P25
func TestConnectionsAreBounded(t *testing.T) {
	o := options()
	o.Limits.Connections = 2
	addr := serve(t, "127.0.0.1:0", &echo{}, o)
	first, second := raw(t, addr), raw(t, addr)
	for _, c := range []net.Conn{first, second} {
		say(t, c, head("Observe", "Content-Type: application/json", "Content-Length: 2")+"{}")
		if status := statusOf(t, c); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	if said := hangsUp(t, raw(t, addr)); said != "" {
		t.Errorf("a third connection hears %q", said)
	}
	say(t, first, head("Observe", "Content-Type: application/json", "Content-Length: 2", "Connection: close")+"{}")
	hangsUp(t, first)
	for { // the place is free once the server has seen the end
		c := raw(t, addr)
		say(t, c, head("Observe", "Content-Type: application/json", "Content-Length: 2", "Connection: close")+"{}")
		if strings.Contains(hangsUp(t, c), "200 OK") {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("the place never became free")
		}
	}
}

func statusOf(t *testing.T, c net.Conn) int {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Fatal(err)
	}
	if err := r.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode
}

// A shed call says when to come back, in HTTP's words too.
//
// Verifies: P25
func TestAShedCallIsToldWhenToComeBack(t *testing.T) {
	o := options()
	o.Limits.Calls, o.Limits.RetryAfter = 1, 1500*time.Millisecond
	entered, release := make(chan struct{}), make(chan struct{})
	server := &echo{start: func(context.Context) (*contractv1.MissionAck, error) {
		close(entered)
		<-release
		return &contractv1.MissionAck{Accepted: true}, nil
	}}
	addr := serve(t, "127.0.0.1:0", server, o)
	client := dial(t, addr, connect.DialOptions{Token: secret})
	first := make(chan error, 1)
	go func() {
		_, err := client.Start(t.Context(), &contractv1.StartRequest{MissionId: "m1"})
		first <- err
	}()
	<-entered
	status, reply, h := post(t, browser(t, false), "http://"+addr+"/interlock.v1.Robot/Observe", "application/json", `{}`)
	if status != http.StatusTooManyRequests || h.Get("Retry-After") != "2" || !strings.Contains(string(reply), "OVERLOADED") {
		t.Errorf("a shed call got %d, Retry-After %q: %s", status, h.Get("Retry-After"), reply)
	}
	ack, err := client.Start(t.Context(), &contractv1.StartRequest{MissionId: "m2", Capability: "home"})
	if err != nil || ack.GetAccepted() || ack.GetReason() != "rejected_overloaded:home" || ack.GetRejections()[0].GetAfterMs() != 1500 {
		t.Errorf("a shed start got %v, %v", ack, err)
	}
	if ack, err := client.Cancel(t.Context(), &contractv1.CancelRequest{MissionId: "m1"}); err != nil || !ack.GetAccepted() {
		t.Errorf("a cancel under load got %v, %v", ack, err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// gushing is a robot whose missions never end and say 16 KiB at a time.
type gushing struct {
	echo
	left chan uint64
}

// Events implements transport.Server.
func (g *gushing) Events(_ context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		text, seq := strings.Repeat("x", 16<<10), max(1, q.GetFromSeq())
		for yield(&contractv1.Event{MissionId: q.GetMissionId(), Seq: seq, Kind: contractv1.EventKind_PHASE, Phase: text}, nil) {
			seq++
		}
		g.left <- seq
	}
}

// Many readers that read nothing, in HTTP/1.1 and without any manners, are dropped one by one while calls are served.
//
// Verifies: P23
func TestStuckReadersAreDroppedAndBlockNobody(t *testing.T) {
	const readers = 60
	o := options()
	o.Limits.SlowReader, o.Limits.Streams = 300*time.Millisecond, readers
	server := &gushing{left: make(chan uint64, readers)}
	addr := serve(t, "127.0.0.1:0", server, o)
	for i := range readers {
		q := fmt.Sprintf(`{"missionId":"m%d"}`, i)
		message := string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(q)))) + q
		say(t, raw(t, addr), head("Events", "Content-Type: application/connect+json", fmt.Sprintf("Content-Length: %d", len(message)))+message)
	}
	client := dial(t, addr, connect.DialOptions{Token: secret})
	for gone := 0; gone < readers; {
		select {
		case <-server.left:
			gone++
		default:
			if _, err := client.Observe(t.Context(), &contractv1.ObserveRequest{}); err != nil {
				t.Fatalf("with %d readers gone: %v", gone, err)
			}
		}
	}
	events := client.Events(t.Context(), &contractv1.EventsRequest{MissionId: "m"})
	for _, err := range events { // their places are free again, at the latest when the server has seen them out
		if err != nil {
			t.Errorf("a reader after them: %v", err)
		}
		break
	}
	<-server.left
}

// One caller of several leaves room for the others, whatever it holds open.
//
// Verifies: P25, T35
func TestOneCallerLeavesRoomForAnother(t *testing.T) {
	o := withGuest(options())
	o.Limits.Calls = 4
	release := make(chan struct{})
	entered := make(chan struct{}, o.Limits.Calls)
	server := &echo{start: func(context.Context) (*contractv1.MissionAck, error) {
		entered <- struct{}{}
		<-release
		return &contractv1.MissionAck{Accepted: true}, nil
	}}
	addr := serve(t, "127.0.0.1:0", server, o)
	greedy, other := dial(t, addr, connect.DialOptions{Token: secret}), dial(t, addr, connect.DialOptions{Token: guests})
	answers := make(chan *contractv1.MissionAck, o.Limits.Calls)
	for i := range o.Limits.Calls {
		go func() {
			ack, _ := greedy.Start(t.Context(), &contractv1.StartRequest{MissionId: fmt.Sprint("m", i)})
			answers <- ack
		}()
	}
	for range o.Limits.Calls / 2 {
		<-entered
		if ack := <-answers; ack.GetReason() != "rejected_overloaded:" {
			t.Errorf("beyond its half a caller gets %v", ack)
		}
	}
	if _, err := other.Observe(t.Context(), &contractv1.ObserveRequest{}); err != nil {
		t.Errorf("another caller gets %v", err)
	}
	close(release)
	for range o.Limits.Calls / 2 {
		<-answers
	}
}
