package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is a process of this program that belongs to an evaluation. It ends with its standard input, so with whoever
// started it, however that ended.
type child struct {
	name  string // what people call it: "plant"
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // what it says on its standard output
	words words         // what it says on its standard error
	ended chan struct{} // closed when it has
	err   error         // how, once it has
}

// Times of a child.
const (
	childAnswers = 20 * time.Second // it may take to answer a line or to be ready; nothing it does takes as long
	childEnds    = 5 * time.Second  // it may take to end after it was asked
	childDies    = 2 * time.Second  // a line that broke may be noticed this much sooner than the death that broke it
)

// startChild starts this program with another command line.
func startChild(name string, line ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{name: name, cmd: exec.Command(self, line...), lines: make(chan string, 16), ended: make(chan struct{})}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is the evaluation's to answer
	c.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")        // the processes of a crew take turns
	c.cmd.Stderr = &c.words
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.ended)
		for s := bufio.NewScanner(out); s.Scan(); {
			select {
			case c.lines <- s.Text():
			default: // nobody asked for so much
			}
		}
		c.err = c.cmd.Wait()
	}()
	return c, nil
}

// line waits for the next line that it says.
func (c *child) line(ctx context.Context) (string, error) {
	ctx, done := context.WithTimeout(ctx, childAnswers)
	defer done()
	select {
	case l := <-c.lines:
		return l, nil
	case <-c.ended:
		return "", c.death(0)
	case <-ctx.Done():
		return "", fmt.Errorf("%s does not answer: %w", c.who(), ctx.Err())
	}
}

// ask tells it one line and wants another one back.
func (c *child) ask(ctx context.Context, line, want string) error {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		if dead := c.death(childDies); dead != nil {
			return dead
		}
		return fmt.Errorf("%s does not listen: %w", c.who(), err)
	}
	got, err := c.line(ctx)
	if err == nil && got != want {
		err = fmt.Errorf("%s says %q, not %q", c.who(), got, want)
	}
	return err
}

func (c *child) who() string { return fmt.Sprintf("the %s's process (%d)", c.name, c.cmd.Process.Pid) }

// death says how it ended, with its last words; nil if it lives on for the time given.
func (c *child) death(within time.Duration) error {
	select {
	case <-c.ended:
	default:
		select {
		case <-c.ended:
		case <-time.After(within):
			return nil
		}
	}
	how := "without an error"
	if c.err != nil {
		how = c.err.Error()
	}
	last := c.words.String()
	if last == "" {
		last = "nothing"
	}
	return fmt.Errorf("%s ended: %s; its last words: %s", c.who(), how, last)
}

// kill ends it without asking.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended
	<-c.ended
	_ = c.in.Close()
}

// end asks it to end, and ends it if it does not.
func (c *child) end() error {
	_ = c.in.Close()
	select {
	case <-c.ended:
	case <-time.After(childEnds):
		c.kill()
		return fmt.Errorf("%s did not end when it was asked, and was killed", c.who())
	}
	if c.err != nil {
		return c.death(0)
	}
	return nil
}

// words are the last lines that a process said.
type words struct {
	mu   sync.Mutex
	text []byte
}

// maxWords bounds them, in bytes.
const maxWords = 2 << 10

// Write implements io.Writer.
func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	w.text = w.text[max(0, len(w.text)-maxWords):]
	return len(b), nil
}

// String is the last line and the two before it, on one line.
func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.text)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " | ")
}
