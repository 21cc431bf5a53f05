package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"

	"interlock/body"
	driverv1 "interlock/body/remote/v1"
	"interlock/reject"
	"interlock/units"
)

// Line is a body with leases, as a driver process offers it to robots. Methods come from any goroutine; Halt and Stop
// must never wait for the body. *guard.Guard is one.
type Line interface {
	Describe() body.Description
	// Acquire grants the lease of the one mover; BUSY while another grant runs.
	Acquire(holder string) (epoch uint64, err error)
	Renew(epoch uint64) error
	Release(epoch uint64)
	// Send refuses a setpoint whose epoch does not hold the lease.
	Send(body.Setpoint) (body.Sent, error)
	Halt() error
	// Watch observes. With the holder's epoch it is its sign of life; 0 is an onlooker.
	Watch(epoch uint64) (body.Observation, error)
	Stop(reason string) (number uint64)
	// Kept reports whether the stop became durable within the time.
	Kept(within time.Duration) bool
}

// latching is a Line that tells a robot's own stop from that of others. Where there is no latch there is nothing to tell.
type latching interface {
	// StopByRobot is Stop, but under a latch that is closed it is a further cause of that stop, and has its number.
	StopByRobot(reason string) (number uint64)
}

// Latch is what a person's line reaches. *guard.Guard is one.
type Latch interface {
	Stop(reason string) (number uint64)
	Reset(number uint64) error
	Latch() body.Latch
	Holder() string
	Kept(within time.Duration) bool
}

// keepWithin is how long the answer to a stop waits for the disk; the stop itself does not, and whoever wants to know later
// asks for the state.
const keepWithin = 8 * time.Millisecond

// Bounds, bytes.
const (
	maxReason  = 200
	maxHolder  = 100
	maxMessage = 64 << 10
	maxText    = 4 << 10 // of a single text that is told: what stands behind this process may say anything
)

// DriverHandler serves the robot's line: everything but a reset.
func DriverHandler(line Line) http.Handler { return DriverHandlerOf(line, "") }

// DriverHandlerOf is DriverHandler for a process that keeps the limits of the contract with the hash, and says so.
func DriverHandlerOf(line Line, contractHash string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(driverv1.NewDriverHandler(&driverServer{line: line, instance: rand.Text(), contract: contractHash}, handlerOptions()...))
	return screen(mux)
}

// OperatorHandler serves a person's line to the latch. It is for a listener of its own.
func OperatorHandler(latch Latch) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(driverv1.NewOperatorHandler(&operatorServer{latch: latch}, handlerOptions()...))
	return screen(mux)
}

// LabHandler serves the evaluation's line to a simulated world. It is for a listener of its own.
func LabHandler(lab driverv1.LabHandler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(driverv1.NewLabHandler(lab, handlerOptions()...))
	return screen(mux)
}

type driverServer struct {
	line     Line
	instance string
	contract string // hash

	mu       sync.Mutex // one command at a time
	epoch    uint64     // of the latest lease, whose commands are counted in sequence
	sequence uint64     // the latest Send or Halt
}

func (s *driverServer) Describe(context.Context, *driverv1.DescribeRequest) (*driverv1.Description, error) {
	p := descriptionPB(s.line.Describe())
	p.ContractHash = s.contract
	return p, nil
}

func (s *driverServer) Open(_ context.Context, q *driverv1.OpenRequest) (*driverv1.Lease, error) {
	if n := len(q.GetHolder()); n == 0 || n > maxHolder {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("holder: 1 to 100 bytes are needed"))
	}
	epoch, err := s.line.Acquire(q.GetHolder())
	if err == nil {
		s.mu.Lock()
		s.epoch, s.sequence = epoch, 0
		s.mu.Unlock()
	}
	return s.lease(epoch, err)
}

func (s *driverServer) Renew(_ context.Context, q *driverv1.RenewRequest) (*driverv1.Lease, error) {
	return s.lease(q.GetEpoch(), s.line.Renew(q.GetEpoch()))
}

func (s *driverServer) lease(epoch uint64, err error) (*driverv1.Lease, error) {
	if err != nil {
		list, broken := answer(err)
		return &driverv1.Lease{Instance: s.instance, Rejections: list}, broken
	}
	return &driverv1.Lease{Epoch: epoch, TtlNs: int64(units.LeaseTTL), Instance: s.instance}, nil
}

func (s *driverServer) Send(ctx context.Context, q *driverv1.Setpoint) (*driverv1.Sent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil { // nobody waits for it any more
		return nil, err
	}
	if err := s.inOrder(q.GetEpoch(), q.GetSequence()); err != nil {
		list, broken := answer(err)
		return &driverv1.Sent{Rejections: list}, broken
	}
	sent, err := s.line.Send(setpointFrom(q))
	if err != nil {
		list, broken := answer(err)
		return &driverv1.Sent{Rejections: list}, broken
	}
	return &driverv1.Sent{PositionsRad: sent.PositionsRad, Applied: sent.Applied}, nil
}

// inOrder refuses a setpoint that a later command overtook on the line. Who does not hold the lease is refused behind.
func (s *driverServer) inOrder(epoch, sequence uint64) error {
	if sequence == 0 {
		return reject.New(reject.MissingArgument, "a setpoint needs a sequence number").In("sequence")
	}
	if epoch != s.epoch { // an epoch that was never granted must not count, least of all a large one
		return nil
	}
	if sequence <= s.sequence {
		return reject.New(reject.Conflict, "a later command came before this setpoint").In("sequence")
	}
	s.sequence = sequence
	return nil
}

// Halt halts first, whatever else is going on, and once more when no setpoint from before it can follow.
func (s *driverServer) Halt(_ context.Context, q *driverv1.HaltRequest) (*driverv1.HaltReply, error) {
	if err := s.line.Halt(); err != nil {
		return nil, broken(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.GetEpoch() == s.epoch && q.GetSequence() > s.sequence {
		s.sequence = q.GetSequence()
	}
	return &driverv1.HaltReply{}, broken(s.line.Halt())
}

func (s *driverServer) Observe(_ context.Context, q *driverv1.ObserveRequest) (*driverv1.Observation, error) {
	o, err := s.line.Watch(q.GetEpoch())
	if err != nil {
		return nil, broken(err)
	}
	return observationPB(&o), nil
}

func (s *driverServer) Stop(_ context.Context, q *driverv1.StopRequest) (*driverv1.StopReply, error) {
	stop := s.line.Stop
	if l, is := s.line.(latching); is && q.GetEpoch() != 0 {
		stop = l.StopByRobot
	}
	return &driverv1.StopReply{Number: stop(reason(q)), Durable: s.line.Kept(keepWithin)}, nil
}

func (s *driverServer) Close(_ context.Context, q *driverv1.CloseRequest) (*driverv1.CloseReply, error) {
	s.line.Release(q.GetEpoch())
	return &driverv1.CloseReply{}, nil
}

// reason is why a stop was asked for, cut to what people read: a stop is never refused for its words.
func reason(q *driverv1.StopRequest) string {
	r := q.GetReason()
	if r == "" {
		return "stopped"
	}
	return brief(r, maxReason)
}

// brief is what a text says as valid UTF-8 of at most so many bytes: a message with anything else in it is not sent at all.
func brief(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	const more = "…"
	for most -= len(more); most > 0 && !utf8.RuneStart(s[most]); {
		most--
	}
	return s[:most] + more
}

type operatorServer struct{ latch Latch }

func (s *operatorServer) Stop(_ context.Context, q *driverv1.StopRequest) (*driverv1.StopReply, error) {
	number := s.latch.Stop(reason(q))
	return &driverv1.StopReply{Number: number, Durable: s.latch.Kept(keepWithin)}, nil
}

func (s *operatorServer) Reset(_ context.Context, q *driverv1.ResetRequest) (*driverv1.ResetReply, error) {
	list, broken := answer(s.latch.Reset(q.GetNumber()))
	return &driverv1.ResetReply{Rejections: list}, broken
}

func (s *operatorServer) State(context.Context, *driverv1.StateRequest) (*driverv1.StateReply, error) {
	l := s.latch.Latch()
	return &driverv1.StateReply{Latch: latchPB(l), Holder: brief(s.latch.Holder(), maxHolder), Durable: s.latch.Kept(0) && l == s.latch.Latch()}, nil
}

// answer turns an error into refusals, which are data, or into an error of the call.
func answer(err error) ([]*driverv1.Rejection, error) {
	if err == nil {
		return nil, nil
	}
	if list, ok := rejectionsPB(err); ok {
		return list, nil
	}
	return nil, broken(err)
}

// broken gives an error of the body the code of the line. A refusal where the reply has no room for one is
// failed_precondition with the refusal as its detail.
func broken(err error) error {
	var r reject.Rejection
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		list, _ := rejectionsPB(err)
		e := connect.NewError(connect.CodeFailedPrecondition, errors.New(brief(err.Error(), maxText)))
		for _, p := range list {
			if d, detailErr := connect.NewErrorDetail(p); detailErr == nil {
				e.AddDetail(d)
			}
		}
		return e
	case errors.Is(err, body.ErrNotOpen):
		return connect.NewError(connect.CodeUnavailable, err)
	}
	return connect.NewError(connect.CodeInternal, errors.New(brief(err.Error(), maxText)))
}
