package transporttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// anyCursor: from every number on come exactly the events from it, none from behind the last, also behind a reader that left.
func anyCursor(ctx context.Context, t *testing.T, l *line) error {
	const n = 40
	client := l.open(t, &script{events: logOf(n)})
	for from := range uint64(n + 2) {
		if err := readAll(ctx, client, from, n); err != nil {
			return fmt.Errorf("from %d: %w", from, err)
		}
	}
	next := uint64(1)
	for next <= n { // a reader that leaves after every third event
		for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: next}) {
			if err != nil || e.GetSeq() != next {
				return wrong(fmt.Sprintf("wanted event %d", next), e, err)
			}
			if next++; next%3 == 0 {
				break
			}
		}
	}
	return nil
}

// readAll reads the mission from a number to its end.
func readAll(ctx context.Context, client transport.Client, from, n uint64) error {
	next := max(1, from)
	for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: from}) {
		if err != nil {
			return err
		}
		if e.GetSeq() != next || e.GetFinal() != (next == n) || e.GetAtMs() != int64(next) {
			return fmt.Errorf("wanted event %d, got %v", next, e)
		}
		next++
	}
	if next <= n {
		return fmt.Errorf("the events ended before number %d", next)
	}
	return nil
}

// tries is how often a reader opens a mission's events anew before it is a failure of the line.
const tries = 200

// overLossyLine: whatever the line does, a reader that goes on behind its last event gets each exactly once, in order.
func overLossyLine(ctx context.Context, t *testing.T, l *line) error {
	switch {
	case l.lossy == nil && l.lossless == "":
		return errors.New("this line says neither how it loses, doubles or reorders (Lossy) nor why it cannot (Lossless)")
	case l.lossy == nil:
		t.Logf("nothing can be lost, doubled or reordered: %s", l.lossless)
		return nil
	case l.seeds < leastSeeds:
		return fmt.Errorf("%d bad lines are too few to say anything; %d are the least", l.seeds, leastSeeds)
	}
	harm := 0
	for seed := range l.seeds {
		n := uint64(20 + seed%60)
		client, harmed := l.lossy(t, &script{events: logOf(n)}, uint64(seed))
		if err := readInTries(ctx, client, n); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		harm += harmed()
	}
	t.Logf("%d missions were read, and %d things went wrong on the way", l.seeds, harm)
	if 2*harm < l.seeds {
		return fmt.Errorf("of %d lines that are said to be bad %d did any harm", l.seeds, harm)
	}
	return nil
}

// readInTries reads a mission of n events to its end, again and again behind the last event that came.
func readInTries(ctx context.Context, client transport.Client, n uint64) error {
	next := uint64(1)
	for try := 0; next <= n; try++ {
		if try == tries || ctx.Err() != nil {
			return fmt.Errorf("event %d did not come in %d tries", next, try)
		}
		for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: next}) {
			if err != nil {
				break
			}
			if e.GetSeq() != next || e.GetMissionId() != "m" || e.GetAtMs() != int64(next) {
				return fmt.Errorf("wanted event %d, got %v", next, e)
			}
			next++
		}
	}
	return nil
}

// endless serves events of 32 KiB without end. It counts those that were taken and tells when the reader is gone.
type endless struct {
	taken atomic.Uint64
	gone  chan struct{}
}

func (s *endless) events(_ context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		defer func() { s.gone <- struct{}{} }()
		text := strings.Repeat("x", 32<<10)
		for seq := max(1, q.GetFromSeq()); yield(&contractv1.Event{MissionId: q.GetMissionId(), Seq: seq, Kind: contractv1.EventKind_PHASE, Phase: text}, nil); seq++ {
			s.taken.Store(seq)
		}
	}
}

// slowReader: a reader that does not read is dropped while others are served; it gets what was sent, then a typed
// error with the number to go on from, and can go on there.
func slowReader(ctx context.Context, t *testing.T, l *line) error {
	source := &endless{gone: make(chan struct{}, 4)}
	client := l.open(t, &script{events: source.events, observe: func(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
		return &contractv1.Observation{AtMs: 1}, nil
	}})
	if l.direct != "" {
		t.Logf("no reader can fall behind: %s", l.direct)
		return oneAtATime(ctx, client, source)
	}
	next := uint64(1)
	var last error
	for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: 1}) {
		if last = err; err != nil {
			break
		}
		if e.GetSeq() != next {
			return fmt.Errorf("wanted event %d, got %d", next, e.GetSeq())
		}
		next++
		if e.GetSeq() > 1 {
			continue
		}
		if _, err := client.Observe(ctx, &contractv1.ObserveRequest{}); err != nil { // a stuck reader blocks nobody
			return err
		}
		select {
		case <-source.gone:
		case <-ctx.Done():
			return errors.New("a reader that read nothing was never dropped")
		}
	}
	var dropped reject.List
	if !errors.As(last, &dropped) || len(dropped) != 1 || dropped[0].Code != reject.Overloaded || dropped[0].Rule != "slow_reader" || dropped[0].Field != "from_seq" {
		return wrong("the dropped reader", fmt.Sprintf("%T", last), last)
	}
	if dropped[0].Limit != strconv.FormatUint(next, 10) {
		return fmt.Errorf("the cursor is %s, and the next event is %d", dropped[0].Limit, next)
	}
	for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: next}) {
		if err != nil || e.GetSeq() != next {
			return wrong(fmt.Sprintf("going on from %d", next), e.GetSeq(), err)
		}
		break
	}
	return awaitGone(ctx, source)
}

// oneAtATime: no event is made before its reader takes it, and the source ends when the reader leaves.
func oneAtATime(ctx context.Context, client transport.Client, source *endless) error {
	for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: 1}) {
		if err != nil {
			return err
		}
		if taken := source.taken.Load(); taken != e.GetSeq()-1 {
			return fmt.Errorf("the reader has event %d, and the server is already past %d", e.GetSeq(), taken)
		}
		if e.GetSeq() == 5 {
			break
		}
	}
	return awaitGone(ctx, source)
}

func awaitGone(ctx context.Context, source *endless) error {
	select {
	case <-source.gone:
		return nil
	case <-ctx.Done():
		return errors.New("the server serves a reader that has left")
	}
}
