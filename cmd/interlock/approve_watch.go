package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	contractv1 "interlock/contract/v1"
)

// Times of a watch. A key that is pressed before the person can have seen the call counts for nothing.
const (
	watchEvery = 300 * time.Millisecond
	readFirst  = 300 * time.Millisecond
)

// What a person's keys mean.
const (
	keyYes       = 'y'
	keyNo        = 'n'
	keySkip      = 's'
	keyQuit      = 'q'
	keyInterrupt = 3 // Ctrl-C, while the terminal hands every key on
	keyEnd       = 4 // Ctrl-D
)

// watch decides calls as they come, each with one key.
type watch struct {
	*approveFlags
	line   *personLine
	in     *os.File
	aside  io.Writer // where the person is told
	out    io.Writer // where decisions are printed
	keys   <-chan byte
	passed map[string]bool // hashes that were left alone, or decided
	silent bool            // that the robot does not answer was said
}

func (f *approveFlags) follow(cmd *cobra.Command, l *personLine) error {
	in, is := terminalOf(cmd.InOrStdin())
	if !is {
		return exitStatus{exitPerson, errors.New("--watch needs a person in front of a terminal")}
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	w := &watch{
		approveFlags: f, line: l, in: in, aside: f.aside(cmd), out: cmd.OutOrStdout(), keys: keysOf(ctx, in), passed: map[string]bool{},
	}
	if err := w.say("waiting for calls of %s that need a person; Ctrl-C ends it\n", l.name()); err != nil {
		return err
	}
	for ctx.Err() == nil {
		p, err := w.next(ctx)
		if err != nil {
			return err
		}
		if p == nil {
			pause(ctx, watchEvery)
			continue
		}
		if over, err := w.ask(ctx, p); over || err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *watch) say(format string, a ...any) error {
	_, err := fmt.Fprintf(w.aside, format, a...)
	return err
}

// next is the oldest call that waits and was not passed over; nil: none. A robot that does not answer may come back.
func (w *watch) next(ctx context.Context) (*contractv1.Pending, error) {
	list, err := w.line.pending(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, nil //nolint:nilerr // the person ended it
	case err != nil && !w.silent:
		w.silent = true
		return nil, w.say("%s; waiting\n", shown(err.Error()))
	case err != nil:
		return nil, nil //nolint:nilerr // it was said
	}
	w.silent = false
	for _, p := range list.GetPending() {
		if !p.GetApproved() && !w.passed[p.GetHash()] {
			return p, nil
		}
	}
	return nil, nil
}

// ask shows one call and takes one key. over: the person ended the watch.
func (w *watch) ask(ctx context.Context, p *contractv1.Pending) (over bool, err error) {
	if err := w.say("\n%sy approves, n denies, s leaves it: ", pendingText(w.line, p)); err != nil {
		return false, err
	}
	key, err := w.key(ctx, p.GetHash())
	if err != nil || ctx.Err() != nil {
		return true, err
	}
	w.passed[p.GetHash()] = true
	switch key {
	case keyQuit, keyInterrupt, keyEnd:
		return true, w.say("ended; what waits still waits\n")
	case keySkip:
		return false, w.say("left\n")
	case 0:
		return false, w.say("it does not wait any more\n")
	}
	if err := w.say("%c\n", key); err != nil {
		return false, err
	}
	if err := w.decide(ctx, w.out, w.line, p, key == keyYes); err != nil {
		if e := w.say("NOT DECIDED: %s\n", shown(err.Error())); e != nil {
			return false, e
		}
	}
	return false, nil
}

// key is the first key that means something and was pressed after the call could be seen; 0: the call does not wait any
// more.
func (w *watch) key(ctx context.Context, hash string) (key byte, err error) {
	before, err := term.MakeRaw(int(w.in.Fd()))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, term.Restore(int(w.in.Fd()), before)) }()
	if w.forget(ctx, readFirst) || w.forget(ctx, readFirst/10) { // the second for what a machine that stood meanwhile still owed
		return keyEnd, nil
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case k, more := <-w.keys:
			switch {
			case !more || k == keyInterrupt || k == keyEnd:
				return keyEnd, nil
			case strings.IndexByte(string([]byte{keyYes, keyNo, keySkip, keyQuit}), k) >= 0:
				return k, nil
			}
		case <-tick.C:
			if !w.waits(ctx, hash) {
				return 0, nil
			}
		case <-ctx.Done():
			return 0, nil
		}
	}
}

// forget lets keys count for nothing for so long, but for those that end the watch.
func (w *watch) forget(ctx context.Context, d time.Duration) (ended bool) {
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		select {
		case k, more := <-w.keys:
			if !more || k == keyInterrupt || k == keyEnd {
				return true
			}
		case <-over.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// waits reports whether the call still does; a robot that does not answer may still hold it.
func (w *watch) waits(ctx context.Context, hash string) bool {
	list, err := w.line.pending(ctx)
	if err != nil {
		return true
	}
	for _, p := range list.GetPending() {
		if p.GetHash() == hash {
			return !p.GetApproved()
		}
	}
	return false
}

// keysOf hands on single keys until ctx or the input ends. What comes in one piece is a paste or an escape sequence, and
// is no key.
func keysOf(ctx context.Context, in *os.File) <-chan byte {
	keys := make(chan byte)
	go func() {
		defer close(keys)
		buffer := make([]byte, 256)
		for {
			n, err := in.Read(buffer)
			if err != nil {
				return
			}
			if n != 1 {
				continue
			}
			select {
			case keys <- buffer[0]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return keys
}
