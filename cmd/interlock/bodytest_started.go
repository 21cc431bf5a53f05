package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// started is a process that was started for a while, with what it starts itself. The nil one is none.
type started struct {
	line   []string
	errOut io.Writer
	gone   context.CancelCauseFunc // it ended by itself
	cmd    *exec.Cmd
	ended  chan struct{}
	asked  *atomic.Bool // to end
}

// startCommand starts a process. That it ends by itself ends the context it returns.
func startCommand(ctx context.Context, line []string, errOut io.Writer) (*started, context.Context, error) {
	if len(line) == 0 {
		return nil, ctx, nil
	}
	running, gone := context.WithCancelCause(ctx)
	c := &started{line: line, errOut: errOut, gone: gone}
	return c, running, c.start()
}

func (c *started) start() error {
	cmd := exec.Command(c.line[0], c.line[1:]...)
	cmd.Stderr = c.errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C comes to it last
	if err := cmd.Start(); err != nil {
		return err
	}
	ended, asked := make(chan struct{}), new(atomic.Bool)
	c.cmd, c.ended, c.asked = cmd, ended, asked
	go func() {
		defer close(ended)
		err := cmd.Wait()
		if asked.Load() {
			return
		}
		if err == nil {
			err = errEnded
		}
		c.gone(fmt.Errorf("%s ended by itself: %w", c.line[0], err))
	}()
	return nil
}

// end asks it to end, kills it if it does not, and waits. What it started itself is asked with it.
func (c *started) end() error {
	if c == nil {
		return nil
	}
	c.asked.Store(true)
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM) // its group, which is gone if it is
	kill := time.AfterFunc(childWithin+time.Second, func() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	<-c.ended // how it ends on a signal is its own affair
	return nil
}

// Restart implements bodytest.Restarted.
func (l *bodyLine) Restart() error {
	c := l.suite.command
	if c == nil {
		return errors.New("nobody here started it")
	}
	if err := errors.Join(c.end(), c.start()); err != nil {
		return err
	}
	_, err := l.suite.answers(l.ctx)
	return errors.Join(err, l.Close()) // which ends connections to the process that is gone
}
