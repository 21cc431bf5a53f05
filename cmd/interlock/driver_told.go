package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// teller says what a driver has to say on one of its outputs, which nobody may read: a full pipe takes nothing, for ever. Nothing of
// the body waits for it. Beyond mostTold the oldest lines are left out, and that is said.
type teller struct {
	out io.Writer

	mu    sync.Mutex
	queue []toldLine
	lost  int // lines that were left out since one was taken from the queue
	ended bool

	wake chan struct{} // closed at the end
	idle chan struct{} // closed when all is said after the end
}

// toldLine is a line that waits, and where whoever waits for it hears what became of it; nil: nobody does.
type toldLine struct {
	text string
	done chan error
}

const (
	mostTold   = 64                     // lines
	lastWithin = 100 * time.Millisecond // what was not said yet at the end is given
)

// newTeller is one that endTelling ends.
func newTeller(out io.Writer) *teller {
	t := &teller{out: out, wake: make(chan struct{}, 1), idle: make(chan struct{})}
	go t.tell()
	return t
}

// endTelling ends tellers: what they have left to say they say in a moment or not at all.
func endTelling(all ...*teller) {
	over := time.After(lastWithin)
	for _, t := range all {
		t.mu.Lock()
		t.ended = true
		close(t.wake)
		t.mu.Unlock()
	}
	for _, t := range all {
		select {
		case <-t.idle:
		case <-over:
			return
		}
	}
}

// Write implements io.Writer for whole lines. It never waits, and nobody hears of an error.
func (t *teller) Write(b []byte) (int, error) {
	t.add(toldLine{text: string(b)})
	return len(b), nil
}

// told says a line and waits until it is said, or ctx ends. The error is the output's, or that of ctx.
func (t *teller) told(ctx context.Context, text string) error {
	done := make(chan error, 1)
	t.add(toldLine{text, done})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *teller) add(l toldLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if len(t.queue) == mostTold {
		t.queue = t.queue[1:]
		t.lost++
	}
	t.queue = append(t.queue, l)
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// tell is the only one who writes.
func (t *teller) tell() {
	defer close(t.idle)
	for {
		_, more := <-t.wake
		for l, is := t.next(); is; l, is = t.next() {
			_, err := io.WriteString(t.out, l.text)
			if l.done != nil {
				l.done <- err
			}
		}
		if !more {
			return
		}
	}
}

// next takes a line from the queue.
func (t *teller) next() (l toldLine, is bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return toldLine{}, false
	}
	l, t.queue = t.queue[0], t.queue[1:]
	if t.lost > 0 {
		l.text = fmt.Sprintf("driver: %d lines are left out here, which nobody read\n", t.lost) + l.text
		t.lost = 0
	}
	return l, true
}
