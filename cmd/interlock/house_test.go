package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robots"
	"interlock/transport"
)

// house is a robot with its driver, served by the commands that a person starts, on sockets in a folder of its own.
type house struct {
	t      *testing.T
	dir    string
	driver *ongoing
	robot  *ongoing
}

// ongoing is a command that runs until it is ended.
type ongoing struct {
	out    page
	cancel context.CancelFunc
	ended  chan int
	code   int
	over   sync.Once
}

// began runs one command line, as a user would who then types the words that come by in.
func began(t *testing.T, in io.Reader, line ...string) *ongoing {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	o := &ongoing{cancel: cancel, ended: make(chan int, 1)}
	go func() {
		root := newRoot()
		root.SetArgs(line)
		root.SetIn(in)
		root.SetOut(&o.out)
		root.SetErr(&o.out)
		code := exitFine
		if err := root.ExecuteContext(ctx); err != nil {
			code = exitError
		}
		o.ended <- code
	}()
	t.Cleanup(func() { o.end() })
	return o
}

func (o *ongoing) end() int {
	o.over.Do(func() { o.cancel(); o.code = <-o.ended })
	return o.code
}

// soft is the shipped contract with the soft condition of docs/operator.md, where that says to put it.
func soft(t *testing.T) string {
	t.Helper()
	src, err := robots.Files.ReadFile("so101-tabletop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "operator.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(docs), "```yaml\n")
	line, _, _ = strings.Cut(line, "```")
	before, verb, is := strings.Cut(string(src), "\n  move_to:\n")
	if requires := "    requires:\n"; found && is && strings.Contains(verb, requires) {
		return file(t, "soft.yaml", before+"\n  move_to:\n"+strings.Replace(verb, requires, requires+line, 1))
	}
	t.Fatal("docs/operator.md has no example, or the shipped contract no move_to")
	return ""
}

// inhabited starts a driver and a robot for the contract, and waits until the robot is ready. Among the further flags of the
// robot SOCKET is an address in the house.
func inhabited(t *testing.T, contract string, flags ...string) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "il") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("XDG_STATE_HOME", dir)
	h := &house{t: t, dir: dir}
	h.driver = began(t, nil, "driver", "sim", "--contract", contract, "--listen", h.socket("d"), "--operator", h.socket("o"))
	line := []string{"robot", contract, "--driver", h.socket("d"), "--operator", h.socket("o")}
	for _, f := range flags {
		line = append(line, strings.ReplaceAll(f, "SOCKET", h.socket("r")))
	}
	h.robot = began(t, nil, line...)
	h.until("the robot is ready", func() bool {
		_, out, _ := command(t, "robots", "--json")
		return strings.Contains(out, `"state":"ready"`)
	})
	return h
}

func (h *house) socket(name string) string { return "unix:" + filepath.Join(h.dir, name) }

// until waits for a thing to become so.
func (h *house) until(what string, is func() bool) {
	h.t.Helper()
	for range 1200 {
		if is() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	h.t.Fatalf("in vain: %s\n%s\n%s", what, &h.driver.out, &h.robot.out)
}

// carry carries a mission out, to its last event.
func (h *house) carry(id, verb, args string) (last *contractv1.Event) {
	h.t.Helper()
	l := newNamedLine("so101", "")
	defer l.end()
	startMission(h.t, l, &contractv1.StartRequest{MissionId: id, Capability: verb, ArgsJson: []byte(args)})
	for e, err := range l.Events(h.t.Context(), &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
		if err != nil {
			h.t.Fatal(err)
		}
		last = e
	}
	return last
}

// startMission starts a mission, and asks again where a machine that is busy kept the robot from judging the call or writing it down.
func startMission(t *testing.T, c transport.Client, q *contractv1.StartRequest) {
	t.Helper()
	for range 1200 {
		ack, err := c.Start(t.Context(), q)
		if err == nil && ack.GetAccepted() {
			return
		}
		code := reject.Code("")
		if no := ack.GetRejections(); len(no) > 0 {
			code = reject.Code(no[0].GetCode())
		}
		if code != reject.StaleFact && code != reject.AuditUnavailable {
			t.Fatal(ack, err)
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("no mission is accepted")
}

// permitted resets the stop that a mission left which a machine that is busy spoiled, and returns the number of the latest stop.
func (h *house) permitted() (number uint64) {
	h.t.Helper()
	o := remote.DialOperator(h.socket("o"))
	defer o.Close()
	for {
		l, _, err := o.State(h.t.Context())
		if err == nil && l.Stopped {
			err = o.Reset(h.t.Context(), l.Number)
			var again reject.Rejection
			if errors.As(err, &again) && again.Code == reject.Conflict {
				continue // it was stopped once more
			}
		}
		if err != nil {
			h.t.Fatal(err)
		}
		return l.Number
	}
}

// pasted is the command that a text shows after the words before it, up to the end of its line or a bracket.
func pasted(t *testing.T, text, before string) []string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	line, _, _ := strings.Cut(rest, "\n")
	line, _, _ = strings.Cut(line, "  (")
	words := strings.Fields(strings.TrimSpace(line))
	if !found || len(words) < 2 || words[0] != "interlock" {
		t.Fatalf("no command behind %q in %q", before, text)
	}
	return words[1:]
}

// typist is a person at a pipe to a command.
type typist struct {
	*io.PipeReader
	keys *io.PipeWriter
}

func newTypist(t *testing.T) *typist {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = errors.Join(w.Close(), r.Close()) })
	return &typist{r, w}
}

func (p *typist) types(t *testing.T, words string) {
	t.Helper()
	if _, err := io.WriteString(p.keys, words+"\n"); err != nil {
		t.Fatal(err)
	}
}
