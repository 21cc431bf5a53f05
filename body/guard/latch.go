package guard

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"interlock/body"
	"interlock/reject"
)

// latch is the stop latch with its number. It has a lock of its own, held for a few instructions only, so that a stop
// never waits for anything that the body does.
type latch struct {
	mu     sync.Mutex
	state  body.Latch
	inputs map[string]bool // stop inputs held down

	changed func(body.Latch) // told of every change; it must not block
	own     func(body.Latch) // told of every stop that nobody asked for; it must not block
}

// How long the reason of a stop may be, bytes: what a body answers, or who asks for a stop says, may be of any length and need be no
// text, and all of it is told on lines and kept in a file that must be read again.
const (
	maxReason  = 600 // with every further cause
	maxCause   = 400 // of one cause: the first leaves room for others
	leastCause = 40  // with less room a further cause says nothing
)

// more stands where something was left out.
const more = "…"

// brief is what a text says as valid UTF-8 of at most so many bytes.
func brief(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	for most -= len(more); most > 0 && !utf8.RuneStart(s[most]); {
		most--
	}
	return s[:most] + more
}

// tell is called with the lock held, so that changes are told in their order.
func (l *latch) tell() {
	if l.changed != nil {
		l.changed(l.state)
	}
}

// recall puts the latch where an earlier process left it. A stop that came since is newer than both.
func (l *latch) recall(was body.Latch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was.Reason = brief(was.Reason, maxReason)
	if now := l.state; now.Stopped {
		was = body.Latch{Stopped: true, Number: was.Number + now.Number, Reason: now.Reason}
	}
	if was.Number >= l.state.Number {
		l.state = was
	}
	l.tell()
}

// trip closes the latch; every stop has a new number.
func (l *latch) trip(reason string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tripLocked(reason)
}

func (l *latch) tripLocked(reason string) uint64 {
	l.state = body.Latch{Stopped: true, Number: l.state.Number + 1, Reason: brief(reason, maxCause)}
	l.tell()
	return l.state.Number
}

// tripAgain closes the latch too. Where it is closed already the stop is one more cause of the same, and has its number: whoever
// resets that number finds everything told that came while it was latched. Under the lock it is either part of the stop that is
// reset, or a new one after the reset; none is lost between.
func (l *latch) tripAgain(reason string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.againLocked(reason)
	return l.state.Number
}

// tripFault is tripAgain for a stop that nobody asked for.
func (l *latch) tripFault(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.againLocked(reason) && l.own != nil {
		l.own(l.state)
	}
}

// againLocked reports whether the latch says something now that it did not. A cause that does not fit in is shortened; of those for
// which there is no room it says once that there were more.
func (l *latch) againLocked(reason string) bool {
	if !l.state.Stopped {
		l.tripLocked(reason)
		return true
	}
	was, reason := l.state.Reason, brief(reason, maxCause)
	room := maxReason - len(then+more) - len(was) - len(then)
	switch {
	case reason == "" || strings.HasSuffix(was, then+more) || strings.Contains(then+was+then, then+reason+then):
		return false
	case room >= min(len(reason), leastCause):
		reason = brief(reason, room)
	case brief(reason, len(lastCause(was))) == lastCause(was): // it was shortened
		return false
	default:
		was, reason = brief(was, maxReason-len(then+more)), more
	}
	l.state.Reason = was + then + reason
	l.tell()
	return true
}

// then stands between the causes of one stop.
const then = "; then "

func lastCause(reason string) string { return reason[strings.LastIndex(then+reason, then):] }

// tripOnce closes the latch unless it is closed already: a fault that persists is one stop, not one per step.
func (l *latch) tripOnce(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.state.Stopped {
		l.tripOwn(reason)
	}
}

// tripAnew is a stop that nobody asked for, with a number of its own also where the latch is closed.
func (l *latch) tripAnew(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tripOwn(reason)
}

func (l *latch) tripOwn(reason string) {
	l.tripLocked(reason)
	if l.own != nil {
		l.own(l.state)
	}
}

// input holds a stop input down or lets it go. Pressing one is a stop; letting go is not a reset.
func (l *latch) input(name string, held bool) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !held {
		delete(l.inputs, name)
		return l.state.Number
	}
	if l.inputs == nil {
		l.inputs = map[string]bool{}
	}
	if l.inputs[name] {
		return l.state.Number
	}
	l.inputs[name] = true
	return l.tripLocked("stop input " + name + " pressed")
}

// reset opens the latch for new motions if number is exactly its number and no stop input is held.
func (l *latch) reset(number uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.state.Stopped:
		return reject.New(reject.Conflict, "nothing is stopped").In("number").Saw(decimal(number), decimal(l.state.Number), "")
	case number != l.state.Number:
		return reject.New(reject.Conflict, "a reset must name the number of the stop it resets").In("number").Saw(decimal(number), decimal(l.state.Number), "")
	case len(l.inputs) > 0:
		return reject.New(reject.Stopped, "a stop input is held down; release it first").In("input")
	}
	l.state.Stopped, l.state.Reason = false, ""
	l.tell()
	return nil
}

func (l *latch) read() body.Latch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
