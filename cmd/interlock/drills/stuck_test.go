package drills_test

import (
	"bytes"
	"context"
	wirebytes "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// What a thousand stuck readers may cost a robot, in bytes, and how many of them share a connection, as they do behind a proxy:
// a connection of its own costs as much whether its reader is stuck or not, about 27 KiB, and is not the reader's.
const (
	stuckMost = 32 * mib
	perLine   = 50
)

// The server drops a reader that takes 2 s for an event, and cuts its stream after 4.
const readsAfter = 3 * time.Second

// reader is one that lets its server send a few bytes of a mission's events and reads nothing until it is dropped.
type reader struct {
	reply *http.Response
	since time.Time
}

// lineOf is a connection to the robot whose streams take 200 bytes each.
func lineOf(addr string) *http.Transport {
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	return &http.Transport{
		Protocols: &p, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 200},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(addr, "unix:"))
		},
	}
}

func stuck(ctx context.Context, line *http.Transport, mission string) (*http.Response, error) {
	text := fmt.Appendf(nil, `{"missionId": %q, "fromSeq": "1"}`, mission)
	body := append(wirebytes.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/interlock.v1.Robot/Events", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/connect+json")
	return (&http.Client{Transport: line}).Do(q)
}

// stuckReaders opens n of them, so many on each connection. End closes all.
func stuckReaders(t testing.TB, n, each int, addr, mission string) (readers []reader, end func()) {
	t.Helper()
	readers = make([]reader, n)
	var lines []*http.Transport
	var all sync.WaitGroup
	for i := range n {
		if i%each == 0 {
			lines = append(lines, lineOf(addr))
		}
		line := lines[len(lines)-1]
		all.Go(func() {
			reply, err := stuck(t.Context(), line, mission)
			if err != nil {
				t.Error(err)
				return
			}
			readers[i] = reader{reply, time.Now()}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return readers, sync.OnceFunc(func() {
		for _, r := range readers {
			_ = r.reply.Body.Close()
		}
		for _, l := range lines {
			l.CloseIdleConnections()
		}
	})
}

// dropped is what a stuck reader finds once it reads: how many events came whole, and where it is told to go on. One whose
// stream was cut is told nothing and goes on behind the last event that it has; one that was never dropped has them all.
type dropped struct {
	events, from uint64
	told, whole  bool
}

func (r reader) find() dropped {
	time.Sleep(time.Until(r.since.Add(readsAfter)))
	d := dropped{from: 1}
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(r.reply.Body, head); err != nil {
			return d
		}
		text := make([]byte, wirebytes.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(r.reply.Body, text); err != nil {
			return d
		}
		if head[0]&2 == 0 {
			d.events++
			d.from = d.events + 1
			continue
		}
		from, ok := cursorIn(text)
		if ok {
			d.from = from
		}
		d.told, d.whole = ok, !ok
		return d
	}
}

// cursorIn reads from the last words of a stream where its reader is to go on.
func cursorIn(text []byte) (from uint64, ok bool) {
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
			return from, err == nil
		}
	}
	return 0, false
}

// round lets n readers be stuck until they are dropped, and returns what they find.
func round(t testing.TB, n, each int, addr, mission string, meanwhile func()) []dropped {
	t.Helper()
	readers, end := stuckReaders(t, n, each, addr, mission)
	defer end()
	found := make([]dropped, n)
	var all sync.WaitGroup
	for i, r := range readers {
		all.Go(func() { found[i] = r.find() })
	}
	if meanwhile != nil {
		meanwhile()
	}
	all.Wait()
	return found
}

// judge asks that every reader was dropped and was told its cursor, which none is whom a busy machine lets read too late or
// too early; it returns how many were told.
func judge(t testing.TB, found []dropped, late *lateness) (told int) {
	t.Helper()
	cut, whole := 0, 0
	for _, d := range found {
		switch {
		case d.told && d.from == d.events+1:
			told++
		case d.told:
			t.Errorf("a reader that has %d events is to go on from %d", d.events, d.from)
		case d.whole:
			whole++
		default:
			cut++
		}
	}
	if told < len(found) && late.most() < readsAfter/6 {
		t.Errorf("of %d stuck readers %d were told their cursor, %d were cut off, %d were never dropped", len(found), told, cut, whole)
	}
	return told
}

// stopTimes are how long so many stops took to be confirmed, each reset again.
func stopTimes(t testing.TB, person *remote.Operator, n int) []time.Duration {
	t.Helper()
	took := make([]time.Duration, n)
	for i := range took {
		begun := time.Now()
		number, _, err := person.Stop(t.Context(), "drill")
		took[i] = time.Since(begun)
		check(t, err)
		check(t, person.Reset(t.Context(), number))
	}
	return took
}

// Readers of events that read nothing harm only themselves: each is dropped, is told where to go on, and can, without a gap;
// they cost the robot a bounded amount of memory however long they come again, a stop is not slower, and a mission goes on
// beside them.
//
// Verifies: P23, F28, U105
func TestStuckReadersAreDropped(t *testing.T) {
	t.Parallel()
	n, stops := scaled(t, 200, 1000), scaled(t, 20, 300)
	h := newHome(t)
	h.driver(t)
	robot := h.serve(t)
	c := h.call(t)
	ready(t, c)
	mission := underWay(t, c, toLeft)
	last(t, c, mission)
	person, late := operate(t, h), feelLateness(t)
	before, _ := resident(t, robot)
	alone := stopTimes(t, person, stops)
	var beside []time.Duration
	var now int
	begun := time.Now()
	found := round(t, n, perLine, h.socket("robot"), mission, func() {
		now, _ = resident(t, robot)
		beside = stopTimes(t, person, stops)
	})
	told := judge(t, found, late)
	tell(t, "%d stuck readers, %d on each connection: the robot takes %d MiB more than without them; %d were told their cursor", n, perLine, (now-before)/mib, told)
	if now-before > stuckMost {
		t.Errorf("%d stuck readers cost the robot %d MiB", n, (now-before)/mib)
	}
	for _, d := range found {
		next := d.from
		for e, err := range c.Events(t.Context(), &contractv1.EventsRequest{MissionId: mission, FromSeq: d.from}) {
			if err != nil || e.GetSeq() != next {
				t.Fatalf("from %d: %v, %v", d.from, e, err)
			}
			next++
		}
		if next == d.from && !d.whole {
			t.Errorf("a reader that has %d events is to go on from %d, where there is nothing", d.events, d.from)
		}
	}
	for each := 1; !inShort() && time.Since(begun) < time.Minute; each = perLine + 1 - each { // now with a connection each, now not
		judge(t, round(t, n, each, h.socket("robot"), mission, nil), late)
	}
	compareStops(t, alone, beside, late)
	_, most := resident(t, robot)
	tell(t, "after %v of them, coming again and again, the robot had %d MiB at most, %d before", time.Since(begun).Round(time.Second), most/mib, before/mib)
	if most > 256*mib {
		t.Errorf("the robot took %d MiB", most/mib)
	}
	carry(t, c, "afterwards", slowly)
}

// compareStops tells the stops alone and beside stuck readers, and holds their ratio against the promised one at length,
// where there are enough of them.
func compareStops(t testing.TB, alone, beside []time.Duration, late *lateness) {
	t.Helper()
	p99 := func(took []time.Duration) time.Duration {
		return slices.Sorted(slices.Values(took))[(len(took)-1)*99/100]
	}
	a, b := p99(alone), p99(beside)
	tell(t, "a stop is confirmed within %v at the 99th percentile alone, within %v beside stuck readers: %.1f times", a.Round(10*time.Microsecond), b.Round(10*time.Microsecond), float64(b)/float64(a))
	if bound := 2*a + late.most(); !inShort() && b > bound {
		t.Errorf("beside stuck readers a stop takes %v; %v is the bound", b, bound)
	}
}
