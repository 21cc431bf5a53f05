package robot

import (
	"context"
	"iter"
	"slices"
	"sync"

	contractv1 "interlock/contract/v1"
)

// eventLog holds the events of one mission, numbered from 1 without gaps, and wakes whoever waits for more. The
// robot's loop or its journal appends; any number of readers follow.
type eventLog struct {
	mu      sync.Mutex
	events  []*contractv1.Event
	early   []*contractv1.Event // that came before one with a lower number: a journal that broke tells the latest first
	changed chan struct{}
}

func newEventLog() *eventLog { return &eventLog{changed: make(chan struct{})} }

func (l *eventLog) append(e *contractv1.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.early = append(l.early, e)
	next := func(e *contractv1.Event) bool { return e.GetSeq() == uint64(len(l.events)+1) }
	for i := slices.IndexFunc(l.early, next); i >= 0; i = slices.IndexFunc(l.early, next) {
		l.events = append(l.events, l.early[i])
		l.early = slices.Delete(l.early, i, i+1)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// from returns the events from seq on, a channel that closes when there are more, and whether there are none to come.
func (l *eventLog) from(seq uint64) (events []*contractv1.Event, changed <-chan struct{}, final bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.events)
	final = n > 0 && l.events[n-1].GetFinal()
	if seq > uint64(n) {
		return nil, l.changed, final
	}
	return slices.Clone(l.events[seq-1:]), l.changed, final
}

// next is the number of the event that comes next, or would: the highest from which a reader can go on.
func (l *eventLog) next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.events)) + 1
}

// follow yields the events from seq on, which is at most the next, until the final one, the end of ctx or of the robot. Behind
// the final one there is nothing to wait for.
func (l *eventLog) follow(ctx context.Context, closed <-chan struct{}, seq uint64) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		for over := false; ; {
			events, changed, final := l.from(seq)
			for _, e := range events {
				if !yield(e, nil) || e.GetFinal() {
					return
				}
				seq++
			}
			switch {
			case len(events) > 0:
				continue
			case final:
				return
			case over:
				yield(nil, ErrClosed)
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			case <-closed:
				over = true // what was written before the end is still told
			}
		}
	}
}
