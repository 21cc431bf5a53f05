package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"interlock/body/remote"
)

// ownedDriver is a driver process that belongs to a robot: it is started anew if it dies, and ends with the robot, also
// with one that is killed, because its standard input does.
type ownedDriver struct {
	options robotOptions
	addr    string
	say     func(string)
}

// Times of a process that is owned.
const (
	restartWait   = 500 * time.Millisecond
	childWithin   = 5 * time.Second // to end after it was asked: it halts and writes its latch file
	answersWithin = 500 * time.Millisecond
)

// start starts it. end asks it to end, and waits.
func (d *ownedDriver) start(ctx context.Context) (end func()) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { d.keep(running) })
	return func() { cancel(); all.Wait() }
}

func (d *ownedDriver) keep(ctx context.Context) {
	for told := false; ctx.Err() == nil; {
		if d.another(ctx) {
			if !told {
				d.say("a driver answers at " + d.addr + " already; it is joined")
			}
			told = true
		} else {
			told = false
			if err := d.once(ctx); ctx.Err() == nil {
				d.say("the driver's process ended: " + err.Error() + "; it is started again")
			}
		}
		select {
		case <-time.After(restartWait):
		case <-ctx.Done():
		}
	}
}

// another reports whether a process that is not ours serves the address.
func (d *ownedDriver) another(ctx context.Context) bool {
	ctx, done := context.WithTimeout(ctx, answersWithin)
	defer done()
	r, err := remote.Dial(ctx, d.addr, remote.Options{})
	if err != nil {
		return false
	}
	_ = r.Close()
	return true
}

var errEnded = errors.New("without an error")

// once runs the process until it ends.
func (d *ownedDriver) once(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	line := []string{"driver", "sim", "--owned", "--contract", d.options.contract, "--listen", d.addr, "--operator", d.options.operator}
	for flag, value := range map[string]string{"--plant": d.options.plant, "--latch-file": d.options.latchFile} {
		if value != "" {
			line = append(line, flag, value)
		}
	}
	if d.options.latchFile == "" {
		file, err := stateFile(d.options.name + ".latch")
		if err != nil {
			return err
		}
		line = append(line, "--latch-file", file)
	}
	cmd := exec.CommandContext(ctx, self, line...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is the robot's to answer, and comes to the driver last
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = childWithin
	in, err := cmd.StdinPipe() // its end is the robot's
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	told, tell := io.Pipe()
	cmd.Stdout, cmd.Stderr = tell, tell
	var reader sync.WaitGroup
	reader.Go(func() {
		for lines := bufio.NewScanner(told); lines.Scan(); {
			d.say(lines.Text())
		}
		_, _ = io.Copy(io.Discard, told)
	})
	err = cmd.Run()
	_ = tell.Close()
	reader.Wait()
	if err == nil {
		return errEnded
	}
	return err
}
