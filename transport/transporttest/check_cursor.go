package transporttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// beyondTheLast: from a number that nobody can have come to, of a mission that moves or has ended, come neither events nor an
// end of them but a refusal at once, with the highest number to go on from; from one behind the final event comes nothing.
func beyondTheLast(ctx context.Context, t *testing.T, l *line) error {
	s, err := newScene(t)
	if err != nil {
		return err
	}
	client := l.open(t, &turns{s.robot, s.pacer})
	followed, err := underWay(ctx, client, s)
	if err != nil {
		return err
	}
	for _, from := range []uint64{50, math.MaxUint64} {
		limit, err := refusedFrom(ctx, client, from)
		if err != nil {
			return fmt.Errorf("while it moves: %w", err)
		}
		if limit < 2 || limit >= 50 {
			return fmt.Errorf("while it moves: from %d the limit is %d", from, limit)
		}
	}
	s.pacer.all()
	if end := <-followed; end.err != nil {
		return end.err
	}
	events, err := follow(ctx, client, "m1")
	if err != nil {
		return err
	}
	last := uint64(len(events))
	for _, from := range []uint64{last + 2, 100, math.MaxUint64} {
		limit, err := refusedFrom(ctx, client, from)
		if err != nil || limit != last+1 {
			return wrong(fmt.Sprintf("after %d events, from %d: the limit", last, from), limit, err)
		}
	}
	for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m1", FromSeq: last + 1}) {
		return wrong("behind the final event", e, err)
	}
	return nil
}

// refusedFrom wants a refusal of the number, and returns its limit.
func refusedFrom(ctx context.Context, client transport.Client, from uint64) (limit uint64, err error) {
	for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m1", FromSeq: from}) {
		var no reject.List
		if !errors.As(err, &no) || len(no) != 1 || no[0].Code != reject.OutOfRange || no[0].Field != "from_seq" || no[0].Got != strconv.FormatUint(from, 10) {
			return 0, wrong(fmt.Sprintf("from %d", from), e, err)
		}
		return strconv.ParseUint(no[0].Limit, 10, 64)
	}
	return 0, fmt.Errorf("from %d the events just ended", from)
}

// cutShort: a stream that ends in good order before the mission's last event is no end of the events: the reader gets the
// others too, or an error.
func cutShort(ctx context.Context, t *testing.T, l *line) error {
	const n = 8
	for name, last := range map[string]uint64{"and has more": n, "and has no more": 4} {
		client := l.open(t, &script{events: inThrees(last, n)})
		next := uint64(1)
		var failed error
		for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: 1}) {
			if failed = err; err != nil {
				break
			}
			if e.GetSeq() != next {
				return wrong(fmt.Sprintf("a server that ends its streams early %s: wanted event %d", name, next), e, nil)
			}
			next++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if failed == nil && next <= n {
			return fmt.Errorf("a server ends its streams early %s: the events ended before number %d as if they were all", name, next)
		}
	}
	return emptyStream(ctx, t, l)
}

// emptyStream: a stream from a number behind the first that ends without an event is no end of the mission's either, unless the
// event before was its last.
func emptyStream(ctx context.Context, t *testing.T, l *line) error {
	const last, n = 4, 8
	client := l.open(t, &script{events: inThrees(last, n)})
	var failed error
	for e, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m", FromSeq: last + 1}) {
		if failed = err; err == nil {
			return wrong("a server that has no such event", e, nil)
		}
		break
	}
	if failed == nil {
		return fmt.Errorf("from %d of %d a stream without an event passed as the end", last+1, n)
	}
	return ctx.Err()
}

// inThrees serves a mission of n events up to the last that it has, in streams of three events at most.
func inThrees(last, n uint64) func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	whole := logOf(n)
	return func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
		return func(yield func(*contractv1.Event, error) bool) {
			told := 0
			for e, err := range whole(ctx, q) {
				if told++; told > 3 || e.GetSeq() > last || !yield(e, err) {
					return
				}
			}
		}
	}
}
