package drills_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// underWay starts a mission, as often as it takes until the robot accepts one, and returns its id.
func underWay(t testing.TB, c transport.Client, args string) (id string) {
	t.Helper()
	for tries := range busyTries {
		if id = again("followed", tries); accepted(t, c, id, args) {
			return id
		}
		permitted(t)
	}
	t.Fatal("no mission is accepted")
	return ""
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
	followed := underWay(t, c, slowly)
	var all tally
	errs, hangup := sessions(t, 1000, h.socket("robot"), followed, &all)
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
	followed := underWay(t, c, toLeft)
	before := runtime.NumGoroutine()
	errs, hangup := sessions(t, scaled(t, 200, 1000), h.socket("robot"), followed, &tally{})
	if len(errs) > 0 {
		t.Errorf("%d errors, the first: %v", len(errs), errs[0])
	}
	waitFor(t, "the goroutines of the sessions to end", func() bool { hangup(); return runtime.NumGoroutine() <= before+2 })
}

// How many calls a second are to be offered to a robot, however many it serves, and at which pace they are made for that.
const (
	promisedPerS = 10_000
	offeredPerS  = 12_000
)

// offered counts what the calls of a flood came to. Late are those for which the robot's driver let it wait too long.
type offered struct{ served, shed, late, other atomic.Int64 }

// offer makes calls at the pace of its share of the flood, whatever comes of them, over one connection: a client that takes no
// advice, and that costs the machine little besides. What is late is made up for.
func (o *offered) offer(ctx context.Context, addr string, every time.Duration) {
	const call = "POST /interlock.v1.Robot/Observe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	line, err := new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(addr, "unix:"))
	if err != nil {
		o.other.Add(1)
		return
	}
	defer func() { _ = line.Close() }()
	defer context.AfterFunc(ctx, func() { _ = line.SetDeadline(time.Now()) })()
	replies := bufio.NewReader(line)
	for due := time.Now(); ; due = due.Add(every) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(due)):
		}
		if _, err = io.WriteString(line, call); err == nil {
			err = o.count(replies)
		}
		if err != nil && ctx.Err() == nil {
			o.other.Add(1)
			return
		}
	}
}

// count reads the answer to one call.
func (o *offered) count(replies *bufio.Reader) error {
	reply, err := http.ReadResponse(replies, nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	var refused struct {
		Code, Message string
		Details       []struct {
			Debug struct {
				Code    string `json:"code"`
				AfterMS int64  `json:"afterMs,string"`
			} `json:"debug"`
		} `json:"details"`
	}
	switch {
	case reply.StatusCode == http.StatusOK:
		o.served.Add(1)
	case json.Unmarshal(text, &refused) == nil && len(refused.Details) > 0 && refused.Details[0].Debug.Code == string(reject.Overloaded) && refused.Details[0].Debug.AfterMS > 0:
		o.shed.Add(1)
	case refused.Code == "unavailable" && strings.HasPrefix(refused.Message, "observe: "):
		o.late.Add(1)
	default:
		o.other.Add(1)
	}
	return nil
}

// A flood of calls from clients that take no advice: each is served or shed, with a time to come back, and nothing else; the
// robot's memory stays bounded, and missions go on beside them, are verified, and keep their ticks but for what so busy a machine
// takes of each.
//
// Verifies: P25, F29, U108
func TestFloodIsShed(t *testing.T) {
	h := newHome(t)
	h.driver(t)
	robot := h.serve(t)
	c := h.call(t)
	ready(t, c)
	carry(t, c, "there", toLeft)
	alone := max(carried(t, c, "alone-right", toRight), carried(t, c, "alone-left", toLeft))
	late := feelLateness(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var clients sync.WaitGroup
	var all offered
	const lines = 128
	for range lines {
		clients.Go(func() { all.offer(ctx, h.socket("robot"), lines*time.Second/offeredPerS) })
	}
	begun := time.Now()
	var beside []time.Duration
	for n := 0; n < 2 || time.Since(begun) < time.Duration(scaled(t, 2, 30))*time.Second; n++ {
		beside = append(beside, carried(t, c, fmt.Sprintf("beside-%d", n), []string{toRight, toLeft}[n%2]))
	}
	took := time.Since(begun)
	end()
	clients.Wait()
	_, most := resident(t, robot)
	served, shed, behind, other := all.served.Load(), all.shed.Load(), all.late.Load(), all.other.Load()
	perS, note := int(float64(served+shed+behind+other)/took.Seconds()), ""
	if perS < promisedPerS {
		note = fmt.Sprintf(" (%d were meant; this machine makes no more)", promisedPerS)
	}
	tell(t, "%d calls a second%s were offered for %v: %d served, %d shed, %d answered otherwise; the robot's memory at most %d MiB",
		perS, note, took.Round(time.Second), served, shed, behind+other, most/mib)
	tell(t, "a mission alone took %v; beside the flood %s", alone, spread(beside))
	if served == 0 || shed == 0 || other > 0 {
		t.Errorf("%d were served, %d were shed and %d answered otherwise; %d found a driver that was late", served, shed, other, behind)
	}
	if least, bound := slices.Min(beside), 2*alone+4*late.most(); least > bound {
		t.Errorf("missions beside the flood took %v and longer; %v is the bound", least, bound)
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
