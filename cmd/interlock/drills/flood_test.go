package drills_test

import (
	"bufio"
	"bytes"
	"context"
	wirebytes "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/transport/connect"
)

const mib = 1 << 20

// openFiles is how many descriptors the process has open.
func openFiles(t testing.TB, p *process) int {
	t.Helper()
	files, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// resident is how much memory of the process is in RAM now, and was at most, in bytes.
func resident(t testing.TB, p *process) (now, most int) {
	t.Helper()
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), ":")
		kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(value, "kB")))
		switch {
		case err != nil:
		case name == "VmRSS":
			now = kib << 10
		case name == "VmHWM":
			most = kib << 10
		}
	}
	return now, most
}

// tally counts what the calls of many clients came to.
type tally struct{ calls, shed, late atomic.Int64 }

// asks makes one call as a well-behaved client does: one that is shed comes again when it was told to. A robot whose driver
// let it wait too long, as on a busy machine, answers without a refusal, and is asked again a few times.
func asks[R any](ctx context.Context, all *tally, call func(context.Context) (R, error)) (r R, err error) {
	for late := 0; ; {
		all.calls.Add(1)
		r, err = call(ctx)
		wait := 250 * time.Millisecond
		var l reject.List
		switch {
		case err == nil || ctx.Err() != nil:
			return r, err
		case !errors.As(err, &l):
			all.late.Add(1)
			if late++; late > 40 {
				return r, err
			}
		case l[0].Code != reject.Overloaded:
			return r, err
		case l[0].AfterMS <= 0:
			return r, fmt.Errorf("shed, and not told when to come back: %w", err)
		default:
			all.shed.Add(1)
			wait = time.Duration(l[0].AfterMS) * time.Millisecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

// session is what one client does: it asks what the robot is and what is known, and follows a mission to its end.
func session(ctx context.Context, c transport.Client, mission string, all *tally) error {
	if _, err := asks(ctx, all, c.Describe); err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	next := uint64(1)
	for e, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: mission, FromSeq: 1}) {
		if err != nil {
			return fmt.Errorf("events from %d: %w", next, err)
		}
		if e.GetSeq() != next {
			return fmt.Errorf("event %d came as %d", next, e.GetSeq())
		}
		next++
	}
	_, err := asks(ctx, all, func(ctx context.Context) (*contractv1.Observation, error) {
		return c.Observe(ctx, &contractv1.ObserveRequest{})
	})
	return err
}

// sessions runs n of them at once, each with a line of its own, and returns what went wrong. Hangup gives back the
// connections that were not idle yet when their session ended.
func sessions(t testing.TB, n int, addr, mission string, all *tally) (errs []error, hangup func()) {
	t.Helper()
	var running sync.WaitGroup
	var mu sync.Mutex
	lines := make([]io.Closer, n)
	for i := range n {
		running.Go(func() {
			c, closer, err := connect.Dial(addr, connect.DialOptions{})
			if err == nil {
				lines[i] = closer
				err = session(t.Context(), c, mission, all)
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	running.Wait()
	return errs, func() {
		for _, l := range lines {
			_ = l.Close()
		}
	}
}

// A thousand clients at once, each with a connection of its own, follow one mission: none sees an error, none misses an
// event, the robot keeps within its memory, and once they are gone nothing of them is left.
//
// Verifies: P24, F30, U104
func TestThousandSessions(t *testing.T) {
	h := newHome(t)
	h.driver(t)
	robot := h.serve(t)
	c := h.call(t)
	ready(t, c)
	files := openFiles(t, robot)
	idle, _ := resident(t, robot)
	begin(t, c, "followed", slowly)
	var all tally
	errs, hangup := sessions(t, 1000, h.socket("robot"), "followed", &all)
	now, most := resident(t, robot)
	tell(t, "1,000 sessions: %d errors in %d calls, %d shed, %d with a driver that was late; the robot's memory: %d MiB idle, %d after, %d at most",
		len(errs), all.calls.Load(), all.shed.Load(), all.late.Load(), idle/mib, now/mib, most/mib)
	if len(errs) > 0 {
		t.Errorf("%d errors, the first: %v", len(errs), errs[0])
	}
	if most > 256*mib {
		t.Errorf("the robot took %d MiB", most/mib)
	}
	waitFor(t, "the robot to close what the sessions left", func() bool { hangup(); return openFiles(t, robot) <= files+2 })
}

// The goroutines of sessions, of both ends, end with them.
//
// Verifies: P24, U104
func TestSessionsLeaveNoGoroutine(t *testing.T) {
	h := newHome(t)
	c := folded(t, h.socket("robot"))
	begin(t, c, "followed", toLeft)
	before := runtime.NumGoroutine()
	errs, hangup := sessions(t, scaled(t, 200, 1000), h.socket("robot"), "followed", &tally{})
	if len(errs) > 0 {
		t.Errorf("%d errors, the first: %v", len(errs), errs[0])
	}
	waitFor(t, "the goroutines of the sessions to end", func() bool { hangup(); return runtime.NumGoroutine() <= before+2 })
}

// stuck is a reader of a mission's events that lets its server send a few bytes and reads nothing.
func stuck(ctx context.Context, addr, mission string) (*http.Response, *http.Transport, error) {
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	line := &http.Transport{
		Protocols: &p, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 200},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(addr, "unix:"))
		},
	}
	text := fmt.Appendf(nil, `{"missionId": %q, "fromSeq": "1"}`, mission)
	body := append(wirebytes.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/interlock.v1.Robot/Events", bytes.NewReader(body))
	if err != nil {
		return nil, line, err
	}
	q.Header.Set("Content-Type", "application/connect+json")
	reply, err := (&http.Client{Transport: line}).Do(q)
	return reply, line, err
}

// stuckReaders opens n of them. End closes them.
func stuckReaders(t testing.TB, n int, addr, mission string) (replies []*http.Response, end func()) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	var lines []*http.Transport
	for range n {
		all.Go(func() {
			reply, line, err := stuck(t.Context(), addr, mission)
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
			if err != nil {
				t.Error(err)
				return
			}
			replies = append(replies, reply)
		})
	}
	all.Wait()
	return replies, sync.OnceFunc(func() {
		for _, r := range replies {
			_ = r.Body.Close()
		}
		for _, l := range lines {
			l.CloseIdleConnections()
		}
	})
}

// cursor reads what a stuck reader is told once it reads: how many events came whole, and where it may go on; ok: it was
// told. One whose stream was cut is told nothing and goes on behind the last event that it has.
func cursor(reply *http.Response) (events uint64, from uint64, ok bool) {
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(reply.Body, head); err != nil {
			return events, events + 1, false
		}
		text := make([]byte, wirebytes.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(reply.Body, text); err != nil {
			return events, events + 1, false
		}
		if head[0]&2 == 0 {
			events++
			continue
		}
		var last struct {
			Error struct {
				Details []struct {
					Debug struct{ Code, Rule, Limit string } `json:"debug"`
				} `json:"details"`
			} `json:"error"`
		}
		_ = json.Unmarshal(text, &last)
		for _, d := range last.Error.Details {
			if d.Debug.Code == string(reject.Overloaded) && d.Debug.Rule == "slow_reader" {
				from, err := strconv.ParseUint(d.Debug.Limit, 10, 64)
				return events, from, err == nil
			}
		}
		return events, events + 1, false
	}
}

// Readers of events that read nothing harm only themselves: each is dropped, and can go on from its cursor without a gap;
// the robot's memory does not grow with them, and a mission goes on beside them.
//
// Verifies: P23, F28, U105
func TestStuckReadersAreDropped(t *testing.T) {
	t.Parallel()
	n := scaled(t, 200, 1000)
	h := newHome(t)
	h.driver(t)
	robot := h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "followed", toLeft)
	before, _ := resident(t, robot)
	replies, end := stuckReaders(t, n, h.socket("robot"), "followed")
	defer end()
	now, most := resident(t, robot)
	tell(t, "%d stuck readers: the robot has %d MiB, %d before, %d at most", n, now/mib, before/mib, most/mib)
	time.Sleep(2500 * time.Millisecond) // a reader that is slow for 2 s is dropped, and cut off after 4; both are right here
	told := 0
	for _, r := range replies {
		events, from, ok := cursor(r)
		if ok {
			told++
		}
		next := from
		for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: "followed", FromSeq: from}) {
			if err != nil || e.GetSeq() != next {
				t.Fatalf("from %d: %v, %v", from, e, err)
			}
			next++
		}
		if from > events+1 || next == from {
			t.Errorf("a reader that has %d events is to go on from %d", events, from)
		}
	}
	tell(t, "%d of %d were told their cursor, the others were cut off", told, len(replies))
	carry(t, c, "afterwards", slowly)
}

// More calls than a robot can serve, from many clients that take no advice: those that it sheds are told so, with a time to
// come back, its memory stays bounded, and a mission goes on beside them and is verified.
//
// Verifies: P25, F29, U108
func TestFloodIsShed(t *testing.T) {
	h := newHome(t)
	h.driver(t)
	robot := h.serve(t)
	c := h.call(t)
	ready(t, c)
	alone := carried(t, c, "alone", toLeft)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var clients sync.WaitGroup
	var served, shed, other atomic.Int64
	for range 128 {
		c := h.call(t)
		clients.Go(func() {
			for ctx.Err() == nil {
				_, err := c.Observe(ctx, &contractv1.ObserveRequest{})
				var l reject.List
				switch {
				case err == nil:
					served.Add(1)
				case errors.As(err, &l) && l[0].Code == reject.Overloaded && l[0].AfterMS > 0:
					shed.Add(1)
				case ctx.Err() == nil:
					other.Add(1)
				}
			}
		})
	}
	begun := time.Now()
	var beside time.Duration
	for n := 0; n < 2 || time.Since(begun) < time.Duration(scaled(t, 2, 30))*time.Second; n++ {
		beside = max(beside, carried(t, c, fmt.Sprintf("beside-%d", n), []string{toRight, toLeft}[n%2]))
	}
	took := time.Since(begun)
	end()
	clients.Wait()
	_, most := resident(t, robot)
	tell(t, "%d calls a second were offered for %v: %d served, %d shed, %d answered otherwise; the robot's memory at most %d MiB; a mission alone took %v, one beside the flood at most %v",
		int(float64(served.Load()+shed.Load()+other.Load())/took.Seconds()), took.Round(time.Second), served.Load(), shed.Load(), other.Load(), most/mib, alone, beside)
	if shed.Load() == 0 {
		t.Error("nothing was shed")
	}
	if most > 256*mib {
		t.Errorf("the robot took %d MiB", most/mib)
	}
}

// carried runs one move to its end, whatever it is refused for the flood, and returns how long it took on the robot's clock.
// One that a busy machine spoiled is run again.
func carried(t testing.TB, c transport.Client, id, args string) time.Duration {
	t.Helper()
	for tries := range busyTries {
		name := again(id, tries)
		waitFor(t, "a mission to be accepted", func() bool { permitted(t); return begin(t, c, name, args).GetAccepted() })
		var first, final *contractv1.Event
		waitFor(t, "the mission's events", func() bool {
			first = nil
			for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: name, FromSeq: 1}) {
				if err != nil {
					return false
				}
				if first == nil {
					first = e
				}
				final = e
			}
			return final.GetFinal()
		})
		if final.GetKind() == contractv1.EventKind_VERIFIED {
			return time.Duration(final.GetAtMs()-first.GetAtMs()) * time.Millisecond
		}
		if !wasSpoiled(final) {
			t.Errorf("mission %s ended %v: %s", name, final.GetKind(), final.GetReason())
			return 0
		}
		t.Logf("mission %s was spoiled: %s", name, final.GetReason())
	}
	t.Error("no mission comes to its end beside the flood")
	return 0
}
