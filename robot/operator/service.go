package operator

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/reject"
)

var _ contractv1connect.OperatorHandler = (*service)(nil)

// maxNote is the longest note of a person, in bytes.
const maxNote = 1 << 10

// service hands each call to the robot and its answer back.
type service struct {
	person    Person
	approvals rate
}

// errNoReply means that the robot returned neither a reply nor an error.
var errNoReply = errors.New("the robot gave no reply")

func through[Q, R any](ctx context.Context, q *Q, by string, call func(context.Context, *Q) (*R, error)) (*R, error) {
	if refusal := person(by); refusal != nil {
		return nil, refusalOf(reject.List{*refusal})
	}
	return answered(ctx, q, call)
}

func answered[Q, R any](ctx context.Context, q *Q, call func(context.Context, *Q) (*R, error)) (*R, error) {
	reply, err := call(ctx, q)
	switch {
	case err != nil:
		return nil, failure(err)
	case reply == nil:
		return nil, connect.NewError(connect.CodeInternal, errNoReply)
	}
	return reply, nil
}

func (s *service) ListPending(ctx context.Context, q *contractv1.ListPendingRequest) (*contractv1.PendingList, error) {
	return answered(ctx, q, s.person.ListPending)
}

func (s *service) Approve(ctx context.Context, q *contractv1.ApproveRequest) (*contractv1.Pending, error) {
	if refusal := s.approvals.take(); refusal != nil {
		return nil, refusalOf(reject.List{*refusal})
	}
	return through(ctx, q, q.GetBy(), s.person.Approve)
}

func (s *service) Deny(ctx context.Context, q *contractv1.DenyRequest) (*contractv1.Pending, error) {
	return through(ctx, q, q.GetBy(), s.person.Deny)
}

func (s *service) Take(ctx context.Context, q *contractv1.TakeRequest) (*contractv1.TakeReply, error) {
	return through(ctx, q, q.GetBy(), s.person.Take)
}

func (s *service) GiveBack(ctx context.Context, q *contractv1.GiveBackRequest) (*contractv1.TakeReply, error) {
	return through(ctx, q, q.GetBy(), s.person.GiveBack)
}

func (s *service) Resolve(ctx context.Context, q *contractv1.ResolveRequest) (*contractv1.Task, error) {
	switch {
	case q.GetTaskId() == "":
		return nil, refusalOf(reject.List{reject.New(reject.MissingArgument, "which task?").In("task_id")})
	case len(q.GetNote()) > maxNote:
		return nil, refusalOf(reject.List{reject.New(reject.TooLarge, "the note is too long").In("note").
			Saw(strconv.Itoa(len(q.GetNote())), strconv.Itoa(maxNote), "bytes")})
	}
	return through(ctx, q, q.GetBy(), s.person.Resolve)
}

// What one person can read and decide: so many at a stretch, then one in so long. Ours.
const (
	approveBurst = 5
	approveEvery = time.Second
)

// rate lets approvals pass as fast as a person can read, and no faster: approving is what is worth hammering at. Refused
// ones are not counted.
type rate struct {
	now func() time.Time

	mu    sync.Mutex
	until time.Time // by when everything that passed has been read
}

func (r *rate) take() *reject.Rejection {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	next := r.until
	if next.Before(now) {
		next = now
	}
	next = next.Add(approveEvery)
	if wait := next.Sub(now) - approveBurst*approveEvery; wait > 0 {
		refusal := reject.New(reject.Overloaded, "approvals come faster than a person can read them").By("approve_rate")
		refusal.AfterMS = int((wait + time.Millisecond - 1) / time.Millisecond)
		return &refusal
	}
	r.until = next
	return nil
}

// failure turns what a robot returned as an error into one of the line.
func failure(err error) error {
	var list reject.List
	var one reject.Rejection
	switch {
	case errors.As(err, &list) && len(list) > 0:
		return refusalOf(list)
	case errors.As(err, &one):
		return refusalOf(reject.List{one})
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err // connect has codes for them
	}
	return connect.NewError(connect.CodeUnavailable, err)
}

// refusalOf is a list of rejections as an error of the line: the first one's code decides the status, each is a detail.
func refusalOf(l reject.List) *connect.Error {
	e := connect.NewError(statusOf(l[0].Code), errors.New(l.Error()))
	for _, r := range l {
		d, err := connect.NewErrorDetail(&contractv1.Rejection{
			Code: string(r.Code), Rule: r.Rule, Field: r.Field, Got: r.Got, Limit: r.Limit, Unit: r.Unit,
			Retry: string(r.Retry), AfterMs: int64(r.AfterMS), Says: r.Says,
		})
		if err == nil { // a Rejection of valid text is always a detail
			e.AddDetail(d)
		}
	}
	return e
}

func statusOf(c reject.Code) connect.Code {
	switch c {
	case reject.Malformed, reject.DuplicateKey, reject.WrongType, reject.MissingArgument, reject.UnknownArgument, reject.OutOfRange, reject.TooLarge:
		return connect.CodeInvalidArgument
	case reject.Overloaded:
		return connect.CodeResourceExhausted
	case reject.NotPermitted:
		return connect.CodePermissionDenied
	case reject.StaleFact, reject.AuditUnavailable:
		return connect.CodeUnavailable
	default: // the request is fine, and what it is about is not
		return connect.CodeFailedPrecondition
	}
}
