package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// tty is a terminal of the test's own: what is typed at it, and what the command sees as its input.
type tty struct {
	keyboard, screen *os.File
}

// newTTY opens one, or skips where the system has none to give.
func newTTY(t *testing.T) *tty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	var number, unlock int32
	for request, at := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(at))); e != 0 {
			t.Skip("no terminals here: ", e)
		}
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = errors.Join(slave.Close(), master.Close()) })
	return &tty{master, slave}
}

func (k *tty) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := k.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// heard is what a command printed so far.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// running is a command that runs with a terminal for its input.
type running struct {
	out, errOut heard
	cancel      func()
	ended       chan error
}

func (k *tty) begin(line ...string) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel: cancel, ended: make(chan error, 1)}
	root := newRoot()
	root.SetArgs(line)
	root.SetIn(k.screen)
	root.SetOut(&r.out)
	root.SetErr(io.Writer(&r.errOut))
	go func() { r.ended <- root.ExecuteContext(ctx) }()
	return r
}

// awaits waits until the condition holds, doing something in between; it fails where nothing comes of it.
func awaits(t *testing.T, what string, done func() bool, meanwhile func()) {
	t.Helper()
	for range 1200 {
		if done() {
			return
		}
		meanwhile()
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("in vain: %s", what)
}

func nothing() {}

// Verifies: O22
func TestApproveAsksThePerson(t *testing.T) {
	s, _ := stands(t)
	red, blue := s.ask(t, "red cube"), s.ask(t, "blue cube")
	for _, c := range []struct {
		hash, keys string
		code       int
		asked      string
	}{
		{red.GetHash(), "n\n", exitNotDone, "approve this call? [y/N]"},
		{red.GetHash(), "\n", exitNotDone, "approve this call? [y/N]"},
		{red.GetHash(), "yikes\n", exitNotDone, "approve this call? [y/N]"},
		{red.GetHash(), "y\n", exitFine, "approve this call? [y/N]"},
		{blue.GetHash(), " Yes \n", exitFine, "deny this call? [y/N]"},
	} {
		k := newTTY(t)
		line := []string{"approve", "so101", c.hash[:8], "--json"}
		if strings.HasPrefix(c.asked, "deny") {
			line = append(line, "--deny")
		}
		r := k.begin(line...)
		awaits(t, c.asked, func() bool { return strings.Contains(r.errOut.text(), c.asked) }, nothing)
		if s.granted(red) != (c.hash == blue.GetHash()) {
			t.Fatal("approved before anybody said so")
		}
		if !strings.Contains(r.errOut.text(), "cube\"\n") {
			t.Errorf("the person is not shown the call:\n%s", r.errOut.text())
		}
		k.press(t, c.keys)
		var status exitStatus
		if err := <-r.ended; (err == nil) != (c.code == exitFine) || errors.As(err, &status) && status.code != c.code {
			t.Errorf("%q: %v, want exit %d", c.keys, err, c.code)
		}
		if n := strings.Count(r.out.text(), "\n"); (n == 1) != (c.code == exitFine) {
			t.Errorf("%q: printed %q", c.keys, r.out.text())
		}
	}
	if !s.granted(red) || len(s.desk.List(s.now)) != 1 {
		t.Error("the person's words did not reach the desk")
	}
	k := newTTY(t)
	s.now += time.Hour
	green := s.ask(t, "green cube")
	r := k.begin("approve", green.GetHash())
	awaits(t, "the question", func() bool { return strings.Contains(r.out.text(), "[y/N]") }, nothing)
	r.cancel() // Ctrl-C at a question decides nothing
	if err := <-r.ended; !errors.Is(err, context.Canceled) || s.granted(green) {
		t.Errorf("cancelled: %v", err)
	}
	k.press(t, "\n")
}

// One key decides one call: y, n, s, in the order in which they came; keys that were typed before the call was shown, and
// keys that come in one piece, count for nothing; a call that does not wait any more goes away by itself.
//
// Verifies: O22
func TestWatchDecidesEachWithOneKey(t *testing.T) {
	s, _ := stands(t)
	k := newTTY(t)
	r := k.begin("approve", "--watch", "--by", "ada")
	defer func() {
		if t.Failed() {
			t.Logf("printed %s %s", r.out.text(), r.errOut.text())
		}
	}()
	has := func(text string) func() bool {
		return func() bool { return strings.Contains(r.out.text(), text) }
	}
	awaits(t, "the watch", has("waiting for calls"), nothing)
	k.press(t, "yyyy\ny") // before there is anything to say yes to
	red, blue := s.ask(t, "red cube"), s.ask(t, "blue cube")
	awaits(t, "the first call", has(`name: "red cube"`), nothing)
	if s.granted(red) {
		t.Fatalf("approved by what was typed before\n%s", r.out.text())
	}
	press := func(key string) func() { return func() { k.press(t, key) } }
	awaits(t, "yes", func() bool { return s.granted(red) }, press("y"))
	awaits(t, "the second call", has(`name: "blue cube"`), nothing)
	awaits(t, "no", has("denied"), press("n"))
	if s.granted(blue) {
		t.Error("n approves")
	}
	green := s.ask(t, "green cube")
	awaits(t, "the third call", has(`name: "green cube"`), nothing)
	time.Sleep(2 * readFirst)
	k.press(t, "yyy") // in one piece
	awaits(t, "left", has("leaves it: left\n"), press("s"))
	s.ask(t, "grey cube")
	awaits(t, "the fourth call", has(`name: "grey cube"`), nothing)
	func() {
		defer s.locked()()
		s.desk.Withdraw(3)
	}()
	awaits(t, "gone", has("it does not wait any more"), nothing)
	black := s.ask(t, "black cube")
	awaits(t, "the fifth call", has(`name: "black cube"`), nothing)
	k.press(t, "\x03")
	if err := <-r.ended; err != nil || s.granted(green) || s.granted(black) {
		t.Errorf("ended with %v", err)
	}
	if out := r.out.text(); strings.Count(out, "green cube") != 1 || strings.Contains(out, "NOT DECIDED") {
		t.Errorf("printed\n%s", out)
	}
	k.press(t, "\n") // for whoever still reads
}

// A robot that goes away is waited for.
//
// Verifies: O22
func TestWatchWaitsForItsRobot(t *testing.T) {
	_, addr := stands(t)
	k := newTTY(t)
	r := k.begin("approve", "--watch", "--person", addr+"x")
	awaits(t, "that it does not answer", func() bool { return strings.Contains(r.out.text(), "does not answer") }, nothing)
	r.cancel()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	k.press(t, "\n")
}
