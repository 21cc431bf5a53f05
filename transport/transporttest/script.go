package transporttest

import (
	"context"
	"errors"
	"iter"
	"strconv"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

var _ transport.Server = (*script)(nil)

// script is a server that answers the calls whose funcs are set.
type script struct {
	describe func(context.Context) (*contractv1.Manifest, error)
	open     func(context.Context, *contractv1.OpenTaskRequest) (*contractv1.Task, error)
	start    func(context.Context, *contractv1.StartRequest) (*contractv1.MissionAck, error)
	cancel   func(context.Context, *contractv1.CancelRequest) (*contractv1.CancelAck, error)
	observe  func(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error)
	events   func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error]
	claim    func(context.Context, *contractv1.ClaimRequest) (*contractv1.Task, error)
	task     func(context.Context, *contractv1.TaskRequest) (*contractv1.Task, error)
	acquire  func(context.Context, *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error)
	renew    func(context.Context, *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error)
	release  func(context.Context, *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error)
}

var errNotScripted = errors.New("transporttest: the script has no such call")

func (s *script) Describe(ctx context.Context) (*contractv1.Manifest, error) {
	if s.describe == nil {
		return nil, errNotScripted
	}
	return s.describe(ctx)
}

func (s *script) OpenTask(ctx context.Context, q *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	return scripted(ctx, q, s.open)
}

func (s *script) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return scripted(ctx, q, s.start)
}

func (s *script) Cancel(ctx context.Context, q *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	return scripted(ctx, q, s.cancel)
}

func (s *script) Observe(ctx context.Context, q *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return scripted(ctx, q, s.observe)
}

func (s *script) Events(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	if s.events == nil {
		return func(yield func(*contractv1.Event, error) bool) { yield(nil, errNotScripted) }
	}
	return s.events(ctx, q)
}

func (s *script) Claim(ctx context.Context, q *contractv1.ClaimRequest) (*contractv1.Task, error) {
	return scripted(ctx, q, s.claim)
}

func (s *script) Task(ctx context.Context, q *contractv1.TaskRequest) (*contractv1.Task, error) {
	return scripted(ctx, q, s.task)
}

func (s *script) AcquireLease(ctx context.Context, q *contractv1.AcquireLeaseRequest) (*contractv1.LeaseReply, error) {
	return scripted(ctx, q, s.acquire)
}

func (s *script) RenewLease(ctx context.Context, q *contractv1.RenewLeaseRequest) (*contractv1.LeaseReply, error) {
	return scripted(ctx, q, s.renew)
}

func (s *script) ReleaseLease(ctx context.Context, q *contractv1.ReleaseLeaseRequest) (*contractv1.LeaseReply, error) {
	return scripted(ctx, q, s.release)
}

func scripted[Q, R any](ctx context.Context, q *Q, f func(context.Context, *Q) (*R, error)) (*R, error) {
	if f == nil {
		return nil, errNotScripted
	}
	return f(ctx, q)
}

// logOf serves a mission of n events from any number on that a reader can come to; the last is final.
func logOf(n uint64) func(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(ctx context.Context, q *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
		return func(yield func(*contractv1.Event, error) bool) {
			if from := q.GetFromSeq(); from > n+1 {
				yield(nil, reject.List{reject.New(reject.OutOfRange, "beyond the last event").In("from_seq").
					Saw(strconv.FormatUint(from, 10), strconv.FormatUint(n+1, 10), "")})
				return
			}
			for seq := max(1, q.GetFromSeq()); seq <= n; seq++ {
				e := &contractv1.Event{MissionId: q.GetMissionId(), Seq: seq, Kind: contractv1.EventKind_PHASE, Phase: "lift", AtMs: int64(seq)}
				if e.Final = seq == n; e.Final {
					e.Kind = contractv1.EventKind_VERIFIED
				}
				if ctx.Err() != nil || !yield(e, nil) {
					return
				}
			}
		}
	}
}
