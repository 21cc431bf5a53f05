package transporttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// offered is how many calls a flood makes at once.
const offered = 1000

// flood: of more calls than are served at once the rest is shed at once, as OVERLOADED with a time to come back; a
// cancel gets through all the same; and what was served is answered.
func flood(ctx context.Context, t *testing.T, l *line) error {
	entered, release := make(chan struct{}, offered), make(chan struct{})
	client := l.open(t, &script{
		observe: func(ctx context.Context, _ *contractv1.ObserveRequest) (*contractv1.Observation, error) {
			entered <- struct{}{}
			select {
			case <-release:
				return &contractv1.Observation{AtMs: 1}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		cancel: func(context.Context, *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
			return &contractv1.CancelAck{Accepted: true}, nil
		},
	})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answers := make(chan error, offered)
	for range offered {
		go func() {
			_, err := client.Observe(ctx, &contractv1.ObserveRequest{})
			answers <- err
		}()
	}
	served, shed := 0, 0
	for served+shed < offered {
		select {
		case <-entered:
			served++
		case err := <-answers:
			var l reject.List
			if !errors.As(err, &l) || len(l) != 1 || l[0].Code != reject.Overloaded || l[0].Retry != reject.Later || l[0].AfterMS <= 0 {
				return wrong("a call of the flood", fmt.Sprintf("%T", err), err)
			}
			shed++
		case <-ctx.Done():
			return fmt.Errorf("%d served, %d shed, and the others hang", served, shed)
		}
	}
	if ack, err := client.Cancel(ctx, &contractv1.CancelRequest{MissionId: "m"}); err != nil || !ack.GetAccepted() {
		return wrong("a cancel under the flood", ack, err)
	}
	close(release)
	for range served {
		if err := <-answers; err != nil {
			return fmt.Errorf("a call that was served got %w", err)
		}
	}
	t.Logf("%d of %d calls served at once, %d shed", served, offered, shed)
	switch {
	case l.direct == "" && shed == 0:
		return fmt.Errorf("all of %d calls were taken at once: nothing is ever shed", offered)
	case l.direct != "" && shed > 0:
		return fmt.Errorf("%d calls were shed by a line that says it has no queue: %s", shed, l.direct)
	}
	return nil
}

// contextEnds: a caller that gives up gets the context's error, and the server sees that it is gone.
func contextEnds(ctx context.Context, t *testing.T, l *line) error {
	entered, left := make(chan struct{}), make(chan struct{})
	client := l.open(t, &script{
		observe: func(ctx context.Context, _ *contractv1.ObserveRequest) (*contractv1.Observation, error) {
			close(entered)
			<-ctx.Done()
			close(left)
			return nil, ctx.Err()
		},
		events: func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
			return func(yield func(*contractv1.Event, error) bool) {
				if yield(&contractv1.Event{MissionId: q.GetMissionId(), Seq: 1, Kind: contractv1.EventKind_ACCEPTED}, nil) {
					<-ctx.Done()
					yield(nil, ctx.Err())
				}
				left <- struct{}{}
			}
		},
	})
	calling, giveUp := context.WithCancel(ctx)
	go func() {
		<-entered
		giveUp()
	}()
	if _, err := client.Observe(calling, &contractv1.ObserveRequest{}); !errors.Is(err, context.Canceled) {
		return wrong("giving up a call", nil, err)
	}
	if err := await(ctx, left, "the server serves a caller that gave up"); err != nil {
		return err
	}
	left = make(chan struct{}, 2)
	reading, giveUp := context.WithCancel(ctx)
	defer giveUp()
	seen, last := 0, error(nil)
	for _, err := range client.Events(reading, &contractv1.EventsRequest{MissionId: "m"}) {
		if err == nil {
			seen++
			giveUp()
		}
		last = err
	}
	if seen != 1 || !errors.Is(last, context.Canceled) {
		return wrong("giving up a stream", seen, last)
	}
	if err := await(ctx, left, "the server serves a reader that gave up"); err != nil {
		return err
	}
	for _, err := range client.Events(ctx, &contractv1.EventsRequest{MissionId: "m"}) {
		if err != nil {
			return err
		}
		break
	}
	if err := await(ctx, left, "the server serves a reader that left"); err != nil {
		return err
	}
	_, err := client.Describe(reading)
	if !errors.Is(err, context.Canceled) {
		return wrong("a call with an ended context", nil, err)
	}
	return nil
}

func await(ctx context.Context, done <-chan struct{}, otherwise string) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New(otherwise)
	}
}
