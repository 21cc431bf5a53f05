package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	rpc "connectrpc.com/connect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// refusal is a list of rejections as an error of the line: the first one's code decides the status, each is a detail.
func refusal(l reject.List) *rpc.Error {
	e := rpc.NewError(status(l[0].Code), errors.New(l.Error()))
	for _, r := range l {
		if d, err := rpc.NewErrorDetail(message(r)); err == nil {
			e.AddDetail(d)
		}
		if r.AfterMS > 0 {
			e.Meta().Set("Retry-After", strconv.Itoa((r.AfterMS+999)/1000))
		}
	}
	return e
}

// refused is refusal for one reason.
func refused(r reject.Rejection) *rpc.Error { return refusal(reject.List{r}) }

// turnAway writes a refusal at the door in the caller's protocol. One that HTTP itself has a status for is JSON with that
// status to whoever does not speak gRPC: whatever was sent, it was no call that a stream could answer.
func turnAway(w http.ResponseWriter, r *http.Request, errs *rpc.ErrorWriter, code rpc.Code, l reject.Rejection) {
	e := refused(l)
	turned := rpc.NewError(code, e.Unwrap())
	for _, d := range e.Details() {
		turned.AddDetail(d)
	}
	for k, v := range e.Meta() {
		turned.Meta()[k] = v
	}
	if plain := plainStatus(l); plain != 0 && !grpcSpoken(r) {
		if plain == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		w, r = &statusWriter{w, plain}, &http.Request{Method: http.MethodPost} // of no protocol: that is JSON
	}
	_ = errs.Write(w, r, turned) // a caller that is gone needs no answer
}

// plainStatus is HTTP's own status for a refusal at the door; 0: it has none.
func plainStatus(l reject.Rejection) int {
	switch l.Rule {
	case "procedure":
		return http.StatusNotFound
	case "method":
		return http.StatusMethodNotAllowed
	case "content_type":
		return http.StatusUnsupportedMediaType
	case "http_version":
		return http.StatusHTTPVersionNotSupported
	}
	return 0
}

// grpcSpoken reports whether the caller reads what it is told in gRPC's own places.
func grpcSpoken(r *http.Request) bool {
	kind, of, _ := strings.Cut(r.Header.Get("Content-Type"), "/")
	of, _, _ = strings.Cut(of, "+")
	return r.Method == http.MethodPost && kind == "application" && (of == "grpc" || of == "grpc-web")
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(int) { w.ResponseWriter.WriteHeader(w.status) }

// ending is what callers are told while the server comes to its end. It says nothing about the call: for a client of ours
// the line is lost.
func ending(after time.Duration) reject.Rejection {
	r := reject.New(reject.Overloaded, "the robot's server is ending").By(endingRule)
	r.AfterMS = int(after.Milliseconds())
	return r
}

const endingRule = "ending"

// status is the code that peers without our details go by.
func status(c reject.Code) rpc.Code {
	switch c {
	case reject.Malformed, reject.DuplicateKey, reject.WrongType, reject.MissingArgument, reject.UnknownArgument,
		reject.NotInEnum, reject.NotFinite, reject.OutOfRange, reject.TooLarge, reject.UnknownCapability:
		return rpc.CodeInvalidArgument
	case reject.Overloaded:
		return rpc.CodeResourceExhausted
	case reject.NotPermitted, reject.NotInScope:
		return rpc.CodePermissionDenied
	case reject.StaleFact, reject.AuditUnavailable:
		return rpc.CodeUnavailable
	default: // the request is fine and the world is not, or not yet
		return rpc.CodeFailedPrecondition
	}
}

// failure turns what a robot returned as an error into one of the line.
func failure(ctx context.Context, err error) error {
	var list reject.List
	var one reject.Rejection
	switch {
	case errors.As(err, &list) && len(list) > 0:
		return refusal(list)
	case errors.As(err, &one):
		return refused(one)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return rpc.NewError(rpc.CodeUnavailable, err)
}

func message(r reject.Rejection) *contractv1.Rejection {
	return &contractv1.Rejection{
		Code: string(r.Code), Rule: r.Rule, Field: r.Field, Got: r.Got, Limit: r.Limit, Unit: r.Unit,
		Retry: string(r.Retry), AfterMs: int64(r.AfterMS), Says: r.Says,
	}
}

func messages(l reject.List) []*contractv1.Rejection {
	out := make([]*contractv1.Rejection, len(l))
	for i, r := range l {
		out[i] = message(r)
	}
	return out
}

// rejections are the details of an error that came over the line, if it is a refusal. A server that is ending refuses
// nothing: its line is lost.
func rejections(err error) (l reject.List) {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return nil
	}
	for _, d := range e.Details() {
		if v, err := d.Value(); err == nil {
			if m, ok := v.(*contractv1.Rejection); ok && m.GetRule() != endingRule {
				l = append(l, reject.Rejection{
					Code: reject.Code(m.GetCode()), Rule: m.GetRule(), Field: m.GetField(), Got: m.GetGot(), Limit: m.GetLimit(),
					Unit: m.GetUnit(), Retry: reject.Retry(m.GetRetry()), AfterMS: int(m.GetAfterMs()), Says: m.GetSays(),
				})
			}
		}
	}
	return l
}

// reason is the ack's one-line reason for a start that the line refused, spelled as the robot spells its own.
func reason(capability string, l reject.List) string {
	return "rejected_" + strings.ToLower(string(l[0].Code)) + ":" + capability
}

// slowReader is what a dropped reader is told: the sequence number to go on from is the limit.
func slowReader(next uint64) reject.Rejection {
	r := reject.New(reject.Overloaded, fmt.Sprintf("the events were not read fast enough; go on from %d", next))
	r.AfterMS = 1
	return r.In("from_seq").By("slow_reader").Saw("", strconv.FormatUint(next, 10), "")
}
