package connect

import (
	"context"
	"errors"
	"fmt"
	"iter"

	rpc "connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// follower makes one gapless sequence of the streams that it takes to get it: an event that came before is dropped,
// one that comes too early or a line that breaks opens the stream again at the next number.
type follower struct {
	open  func(ctx context.Context, id string, from uint64) iter.Seq2[*contractv1.Event, error]
	pause func(ctx context.Context, attempt int) error
	tries int // in a row without one new event
}

// errGap means that the stream left out an event.
var errGap = errors.New("an event is missing")

// errNoEvent means that a message came which is no event of the mission: another mission's, or of no known kind.
var errNoEvent = errors.New("the robot sent what is no event of this mission")

func (f follower) events(ctx context.Context, id string, from uint64) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		next, broken := max(1, from), 0
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			before := next
			over, lost := f.pass(ctx, id, &next, yield)
			if over {
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

// pass reads one stream. It is over after its end, the reader's or the context's, and after an answer that another try
// would not change; else it says how the line was lost.
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
		case !kind || e.GetMissionId() != id:
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
	return true, nil
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
