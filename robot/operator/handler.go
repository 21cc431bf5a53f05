package operator

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/internal/peer"
	"interlock/reject"
)

// Person is the robot as the person beside it reaches it. Methods come from any goroutine. A refusal is an error that is
// a reject.Rejection or a reject.List, and the client gets it as such.
type Person interface {
	ListPending(context.Context, *contractv1.ListPendingRequest) (*contractv1.PendingList, error)
	Approve(context.Context, *contractv1.ApproveRequest) (*contractv1.Pending, error)
	Deny(context.Context, *contractv1.DenyRequest) (*contractv1.Pending, error)
	Take(context.Context, *contractv1.TakeRequest) (*contractv1.TakeReply, error)
	GiveBack(context.Context, *contractv1.GiveBackRequest) (*contractv1.TakeReply, error)
	Resolve(context.Context, *contractv1.ResolveRequest) (*contractv1.Task, error)
}

// Bounds of the line.
const (
	maxRequest = 2 * MaxDisplayed // bytes; the longest holds the displayed text once
	maxCalls   = 16               // that are served at once
)

// contentType is the one form of a request: a message in protobuf's binary form.
const contentType = "application/proto"

// newHandler serves the person's methods to the user of this id. A request passes these doors in this order: who is at
// the other end; no browser; POST, the content type, no compression; a known method; a place; the length; every field
// known, given once and well-formed; then the method itself.
func newHandler(p Person, uid uint32, now func() time.Time) http.Handler {
	options := connect.WithHandlerOptions(
		connect.WithReadMaxBytes(maxRequest), connect.WithCompression("gzip", nil, nil), connect.WithRequireConnectProtocolHeader(),
		connect.WithRecover(func(context.Context, connect.Spec, http.Header, any) error {
			return connect.NewError(connect.CodeInternal, errors.New("the robot failed to answer"))
		}),
	)
	_, next := contractv1connect.NewOperatorHandler(&service{person: p, approvals: rate{now: now}}, options)
	h := &handler{uid: uid, methods: map[string]protoreflect.MethodDescriptor{}, places: make(chan struct{}, maxCalls), next: next, errors: connect.NewErrorWriter(options)}
	s := contractv1.File_operator_service_proto.Services().ByName("Operator")
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		h.methods["/"+string(s.FullName())+"/"+string(m.Name())] = m
	}
	return h
}

type handler struct {
	uid     uint32
	methods map[string]protoreflect.MethodDescriptor
	places  chan struct{}
	next    http.Handler
	errors  *connect.ErrorWriter
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refusal := h.door(r); refusal != nil {
		_ = h.errors.Write(w, r, refusalOf(reject.List{*refusal})) // a caller that is gone needs no answer
		return
	}
	method, known := h.methods[r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	default:
		busy := reject.New(reject.Overloaded, "too much is asked at once; try again").By("places")
		busy.AfterMS = 250
		_ = h.errors.Write(w, r, refusalOf(reject.List{busy}))
		return
	}
	if refusal := read(w, r, method.Input()); refusal != nil {
		_ = h.errors.Write(w, r, refusalOf(reject.List{*refusal}))
		return
	}
	h.next.ServeHTTP(w, r)
}

// door decides from the header alone who is heard.
func (h *handler) door(r *http.Request) *reject.Rejection {
	uid, known := r.Context().Value(userKey{}).(uint32)
	var refusal reject.Rejection
	switch {
	case known && uid != h.uid, peer.Known && !known:
		refusal = reject.New(reject.NotPermitted, "only the robot's own user is heard here").By("user")
	case len(r.Header["Origin"]) > 0, r.Header.Get("Sec-Fetch-Site") != "":
		refusal = reject.New(reject.NotPermitted, "no page of a browser is heard here").By("origin").In("Origin")
	case r.Method != http.MethodPost:
		refusal = reject.New(reject.Malformed, "calls are made by POST").By("method")
	case len(r.Header["Content-Type"]) != 1 || r.Header.Get("Content-Type") != contentType:
		refusal = reject.New(reject.Malformed, "a request is "+contentType).By("content_type").In("Content-Type")
	case r.Header.Get("Content-Encoding") != "" && r.Header.Get("Content-Encoding") != "identity":
		refusal = reject.New(reject.Malformed, "compressed requests are not read").By("encoding").In("Content-Encoding")
	default:
		return nil
	}
	return &refusal
}

// read takes the whole body, holds it against the method's request and puts it back.
func read(w http.ResponseWriter, r *http.Request, request protoreflect.MessageDescriptor) *reject.Rejection {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var past *http.MaxBytesError
	switch {
	case errors.As(err, &past):
		refusal := reject.New(reject.TooLarge, "the request is too long").By("body").Saw("", strconv.Itoa(maxRequest), "bytes")
		return &refusal
	case err != nil:
		refusal := reject.New(reject.Malformed, "the body broke off or took too long").By("body")
		return &refusal
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return checkFlat(body, request)
}
