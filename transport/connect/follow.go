package connect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	rpc "connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// follower makes one gapless sequence of the streams that it takes to get it: an event that came before is dropped, one that
// comes too early or a line that breaks opens the stream again at the next number. A stream that ends in good order before the
// mission does has broken too: whoever stands between may end it so.
type follower struct {
	open  func(ctx context.Context, id string, from uint64) iter.Seq2[*contractv1.Event, error]
	pause func(ctx context.Context, attempt int) error
	tries int // in a row without one new event
}

// errGap means that the stream left out an event.
var errGap = errors.New("an event is missing")

// errCutShort means that the stream ended before the mission did.
var errCutShort = errors.New("the stream ended before the mission's last event")

// errNoEvent means that a message came which is no event of the mission: another mission's, of no known kind, or of a number
// that nothing can follow.
var errNoEvent = errors.New("the robot sent what is no event of this mission")

func (f follower) events(ctx context.Context, id string, from uint64) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		first, broken := max(1, from), 0
		for next := first; ; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			before := next
			over, lost := f.pass(ctx, id, &next, yield)
			if over || errors.Is(lost, errCutShort) && next == first && f.ends(ctx, id, first-1) {
				return
			}
			if next > before {
				broken = 0
			}
			if broken++; broken > f.tries {
				yield(nil, fmt.Errorf("connect: the events broke off before number %d: %w", next, lost))
				return
			}
			if err := f.pause(ctx, broken); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// ends reports whether the mission's last event has the number, so that there is none to come behind it. It is asked where a
// stream from behind it is empty: that looks the same if the line lost what was in it.
func (f follower) ends(ctx context.Context, id string, number uint64) bool {
	if number == 0 {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for e, err := range f.open(ctx, id, number) {
		return err == nil && e.GetMissionId() == id && e.GetSeq() == number && e.GetFinal()
	}
	return false
}

// pass reads one stream. It is over after the final event, the reader's or the context's end, and after an answer that another
// try would not change; else it says how the line was lost.
func (f follower) pass(ctx context.Context, id string, next *uint64, yield func(*contractv1.Event, error) bool) (over bool, lost error) {
	for e, err := range f.open(ctx, id, *next) {
		if err != nil {
			if final := f.final(ctx, err, *next); final != nil {
				yield(nil, final)
				return true, nil
			}
			return false, err
		}
		switch _, kind := contractv1.EventKind_name[int32(e.GetKind())]; {
		case !kind || e.GetMissionId() != id || e.GetSeq() == math.MaxUint64:
			yield(nil, fmt.Errorf("connect: %w", errNoEvent))
			return true, nil
		case e.GetSeq() < *next:
			continue
		case e.GetSeq() > *next:
			return false, errGap
		}
		*next++
		if !yield(e, nil) || e.GetFinal() {
			return true, nil
		}
	}
	return false, errCutShort
}

// final is the error that ends the sequence, nil where the line was merely lost.
func (f follower) final(ctx context.Context, err error, next uint64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if l := rejections(err); len(l) > 0 {
		return l
	}
	if cutOff(err) {
		return reject.List{slowReader(next)}
	}
	if rpc.IsWireError(err) {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}
