package drills_test

import (
	"bytes"
	"context"
	wirebytes "encoding/binary"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driverv1 "interlock/body/remote/v1"
	contractv1 "interlock/contract/v1"
)

// scaled is a number of tries: the short one, or the share of the full one that INTERLOCK_DRILLS asks for, 200 being all.
func scaled(t *testing.T, short, full int) int {
	t.Helper()
	if os.Getenv("INTERLOCK_DRILLS") == "" {
		return short
	}
	return max(short, full*min(kills(t, 0), 200)/200)
}

// socketClient is an HTTP client of one socket, as any program may have one.
func socketClient(t testing.TB, addr string, http2 bool) *http.Client {
	t.Helper()
	var p http.Protocols
	p.SetHTTP1(!http2)
	p.SetUnencryptedHTTP2(http2)
	line := &http.Transport{
		Protocols: &p, MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(addr, "unix:"))
		},
	}
	t.Cleanup(line.CloseIdleConnections)
	return &http.Client{Transport: line}
}

// wire yields the length-delimited fields of a protobuf message, all that is needed to read what a server reflects.
func wire(message []byte, yield func(field uint64, value []byte)) {
	for len(message) > 0 {
		key, n := wirebytes.Uvarint(message)
		if n <= 0 {
			return
		}
		message = message[n:]
		v, n := wirebytes.Uvarint(message)
		if n <= 0 || key&7 == 2 && uint64(len(message)-n) < v {
			return
		}
		message = message[n:]
		switch key & 7 {
		case 0:
		case 2:
			yield(key>>3, message[:v])
			message = message[v:]
		default:
			return
		}
	}
}

// reflected asks a server's reflection one question: the number of the field, and what it holds. It returns the answer's.
func reflected(t *testing.T, c *http.Client, ask byte, what string, answer uint64) (parts [][]byte) {
	t.Helper()
	q := append([]byte{ask<<3 | 2, byte(len(what))}, what...)
	body := append(wirebytes.BigEndian.AppendUint32([]byte{0}, uint32(len(q))), q...)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Te", "trailers")
	reply, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	got, err := io.ReadAll(reply.Body)
	if err != nil || len(got) < 5 {
		t.Fatalf("reflection answers %d bytes, %v", len(got), err)
	}
	wire(got[5:], func(field uint64, value []byte) {
		if field == answer {
			wire(value, func(field uint64, value []byte) {
				if field == 1 {
					parts = append(parts, value)
				}
			})
		}
	})
	return parts
}

// methodsOf lists the methods of every service that the running server reflects, as paths.
func methodsOf(t *testing.T, c *http.Client) (services, paths []string) {
	t.Helper()
	for _, s := range reflected(t, c, 7, "*", 6) {
		wire(s, func(field uint64, name []byte) {
			if field == 1 {
				services = append(services, string(name))
			}
		})
	}
	seen := map[string]bool{}
	for _, service := range services {
		for _, file := range reflected(t, c, 4, service, 4) {
			var pkg string
			wire(file, func(field uint64, value []byte) {
				switch field {
				case 2:
					pkg = string(value)
				case 6: // a service of the file
					name := ""
					wire(value, func(field uint64, value []byte) {
						switch {
						case field == 1:
							name = pkg + "." + string(value)
						case field == 2 && slices.Contains(services, name):
							wire(value, func(field uint64, value []byte) {
								if path := "/" + name + "/" + string(value); field == 1 && !seen[path] {
									seen[path] = true
									paths = append(paths, path)
								}
							})
						}
					})
				}
			})
		}
	}
	return services, paths
}

// guesses are paths that nobody reflects, and that whoever looks for a reset would try.
func guesses() (paths []string) {
	for _, service := range []string{"interlock.v1.Robot", "interlock.v1.Operator", "interlock.driver.v1.Driver", "interlock.driver.v1.Operator", "interlock.driver.v1.Lab"} {
		for _, method := range []string{"Reset", "reset", "ResetStop", "ClearStop", "Unlatch", "Approve", "SetUp", "Resume", "Reset/", "%52eset"} {
			paths = append(paths, "/"+service+"/"+method)
		}
	}
	return append(paths, "/reset", "/operator/reset", "/../operator/reset", "/debug/pprof/", "/interlock.driver.v1.Operator/Reset?connect=v1&encoding=json&message=%7B%22number%22%3A1%7D")
}

// vocabulary is what a fuzzed field holds besides noise: what an agent that wants a reset would say.
func vocabulary(number uint64) []string {
	return []string{
		"", "reset", "operator", "person", "stop", "move_to", "home", "wave", "get_state", "reset_stop", "arm", "task-1", "so101", "\x00", "é", strings.Repeat("x", 300),
		strconv.FormatUint(number, 10), `{}`, `{"number": 1}`, `{"x_cm": 20, "y_cm": 0, "z_cm": 15}`, `{"reset": true, "stop": false}`, `{"x_cm": 1e999}`,
	}
}

// shape is a field of a message: its name and kind as JSON has them, and the message it holds.
type shape struct {
	name, kind, message string
	list                bool
}

// speech is what a line's services take: the fields of each message, and the request of each method by its path.
type speech struct {
	messages map[string][]shape
	requests map[string]string
}

// spoken is what the robot's and the driver's line take, as their descriptors say.
func spoken() speech {
	all := speech{map[string][]shape{}, map[string]string{}}
	for _, file := range list(contractv1.File_interlock_proto, contractv1.File_robot_service_proto, driverv1.File_driver_proto) {
		for i := range file.Messages().Len() {
			m := file.Messages().Get(i)
			var fields []shape
			for k := range m.Fields().Len() {
				f := m.Fields().Get(k)
				s := shape{name: f.JSONName(), kind: f.Kind().String(), list: f.IsList()}
				if f.Message() != nil {
					s.message = string(f.Message().FullName())
				}
				fields = append(fields, s)
			}
			all.messages[string(m.FullName())] = fields
		}
		for i := range file.Services().Len() {
			s := file.Services().Get(i)
			for k := range s.Methods().Len() {
				m := s.Methods().Get(k)
				all.requests["/"+string(s.FullName())+"/"+string(m.Name())] = string(m.Input().FullName())
			}
		}
	}
	return all
}

func list[T any](v ...T) []T { return v }

// fuzzed is a random JSON object of a message's fields, by their kinds as JSON writes them. The number is of the stop that
// is latched.
func (s speech) fuzzed(r *rand.Rand, message string, number uint64, depth int) map[string]any {
	out := map[string]any{}
	if depth > 4 {
		return out
	}
	for _, f := range s.messages[message] {
		switch {
		case r.IntN(4) == 0:
		case f.list:
			values := []any{}
			for range r.IntN(3) {
				values = append(values, s.value(r, f, number, depth))
			}
			out[f.name] = values
		default:
			out[f.name] = s.value(r, f, number, depth)
		}
	}
	if r.IntN(20) == 0 {
		out[[]string{"reset", "number", "stopped", "operator"}[r.IntN(4)]] = number
	}
	return out
}

func (s speech) value(r *rand.Rand, f shape, number uint64, depth int) any {
	if r.IntN(50) == 0 {
		return []any{nil, true, -1, "NaN", []any{}, map[string]any{}}[r.IntN(6)] // of another kind
	}
	words := vocabulary(number)
	switch f.kind {
	case "string":
		return words[r.IntN(len(words))]
	case "bytes":
		return []byte(words[r.IntN(len(words))])
	case "bool":
		return r.IntN(2) == 0
	case "double", "float":
		return []any{r.NormFloat64(), 0, "NaN", "Infinity", 1e300}[r.IntN(5)]
	case "message":
		return s.fuzzed(r, f.message, number, depth+1)
	case "enum":
		return r.IntN(4)
	}
	return []any{number, number - 1, number + 1, 0, -1, 1, "18446744073709551615", r.Int32()}[r.IntN(8)]
}

// hammer calls the methods with fuzzed requests, some at once, and counts the answers by their HTTP status. Streams are cut
// after a moment.
func hammer(t *testing.T, c *http.Client, s speech, paths []string, calls int, number func() uint64) map[int]int {
	t.Helper()
	const atOnce = 8
	var mu sync.Mutex
	answers := map[int]int{}
	var all sync.WaitGroup
	for k := range atOnce {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 2026))
			for range calls / atOnce {
				path := paths[r.IntN(len(paths))]
				status := oneCall(t.Context(), c, path, s.fuzzed(r, s.requests[path], number(), 0))
				mu.Lock()
				answers[status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return answers
}

// oneCall posts one request and returns the status; 0: there was none.
func oneCall(ctx context.Context, c *http.Client, path string, message map[string]any) (status int) {
	text, err := json.Marshal(message)
	if err != nil {
		return 0
	}
	kind := "application/json"
	if strings.HasSuffix(path, "/Events") {
		kind = "application/connect+json"
		text = append(wirebytes.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, bytes.NewReader(text))
	if err != nil {
		return 0
	}
	q.Header.Set("Content-Type", kind)
	reply, err := c.Do(q)
	if err != nil {
		return 0
	}
	_, _ = io.CopyN(io.Discard, reply.Body, 1<<16)
	_ = reply.Body.Close()
	return reply.StatusCode
}

// lines are the methods of the robot's line, which the running robot must reflect, and of its driver's.
func (s speech) lines(t *testing.T, robot *http.Client) (ours, driver []string) {
	t.Helper()
	services, reflectedPaths := methodsOf(t, robot)
	slices.Sort(reflectedPaths)
	tell(t, "the robot reflects %v: %v", services, reflectedPaths)
	for path := range s.requests {
		switch {
		case strings.HasPrefix(path, "/interlock.v1.Robot/"):
			ours = append(ours, path)
		case strings.HasPrefix(path, "/interlock.driver.v1.Driver/"):
			driver = append(driver, path)
		}
	}
	if slices.Sort(ours); len(ours) < 8 || !slices.Equal(ours, reflectedPaths) {
		t.Errorf("the robot reflects %v, its descriptors say %v", reflectedPaths, ours)
	}
	return ours, driver
}

// Every method that the running robot and its driver serve to whoever reaches their lines, found by the server's own
// reflection where it has one, called with fuzzed requests that know the stop's number, and every path that whoever looks
// for a reset would guess: the stop stays latched, its number never falls, and nothing moves.
//
// Verifies: P02, U102
func TestNoMethodResetsAStop(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.plant(t)
	h.driver(t, "--plant", h.socket("plant"))
	w := watch(t, h)
	h.serve(t)
	ready(t, h.call(t))
	person := operate(t, h)
	first, _, err := person.Stop(t.Context(), "drill")
	if err != nil {
		t.Fatal(err)
	}
	before := w.after(w.look(), stillFor)
	latched := func() uint64 {
		l := state(t, person)
		if !l.Stopped || l.Number < first {
			t.Errorf("stop %d was reset: %+v", first, l)
		}
		return l.Number
	}
	s := spoken()
	robot := socketClient(t, h.socket("robot"), true)
	ours, driver := s.lines(t, robot)
	var number atomic.Uint64
	number.Store(first)
	for name, line := range map[string]struct {
		c     *http.Client
		paths []string
	}{
		"robot":                  {robot, ours},
		"robot, guessed":         {robot, guesses()},
		"driver":                 {socketClient(t, h.socket("driver"), true), driver},
		"driver, guessed, lab's": {socketClient(t, h.socket("driver"), false), slices.Concat(guesses(), []string{"/interlock.driver.v1.Operator/Reset", "/interlock.driver.v1.Lab/SetUp"})},
	} {
		calls := scaled(t, 1200, 500_000)
		if strings.Contains(name, "guessed") {
			calls = 20 * len(line.paths)
		}
		answers := map[int]int{}
		for done := 0; done < calls; done += 400 {
			for status, n := range hammer(t, line.c, s, line.paths, min(400, calls-done), number.Load) {
				answers[status] += n
			}
			number.Store(latched())
		}
		tell(t, "%s: %d calls of %d methods, answers by HTTP status %v", name, calls, len(line.paths), answers)
		if strings.Contains(name, "guessed") == (answers[http.StatusOK] > 0) {
			t.Errorf("%s: %v", name, answers)
		}
	}
	if d := w.look().tip.Distance(before.tip); d > movingM {
		t.Errorf("the tip moved by %v m", d)
	}
	if err := person.Reset(t.Context(), latched()); err != nil {
		t.Errorf("the person's own reset: %v", err)
	}
	w.still(stillFor, "the reset")
}
