package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	rpc "connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/reject"
	"interlock/transport"
)

// NewHandler serves the robot in gRPC, gRPC-Web and Connect, with server reflection, behind the doors of the package's
// comment. Serve puts it on a listener; a server of one's own must speak HTTP/2 without TLS for gRPC.
func NewHandler(server transport.Server, o Options) http.Handler {
	o = o.orDefaults()
	options := rpc.WithHandlerOptions(
		rpc.WithReadMaxBytes(o.Limits.BodyBytes),
		rpc.WithCompression("gzip", nil, nil), // none: requests are read as they are
		rpc.WithRecover(recovered(o.Log)),
	)
	mux := http.NewServeMux()
	mux.Handle(contractv1connect.NewRobotHandler(&service{server: server, slow: o.Limits.SlowReader}, options))
	reflector := grpcreflect.NewStaticReflector(contractv1connect.RobotName)
	mux.Handle(grpcreflect.NewHandlerV1(reflector, options))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector, options))
	return &handler{
		door: newDoor(o), places: newPlaces(o), limits: o.Limits, methods: methods(),
		errors: rpc.NewErrorWriter(options), next: mux,
	}
}

// handler is everything a request passes before the robot's service hears of it.
type handler struct {
	door    *door
	places  places
	limits  Limits
	methods map[string]protoreflect.MethodDescriptor
	errors  *rpc.ErrorWriter
	next    http.Handler
}

// methods are the robot's methods by path; nil is the reflection's.
func methods() map[string]protoreflect.MethodDescriptor {
	all := map[string]protoreflect.MethodDescriptor{}
	s := contractv1.File_robot_service_proto.Services().ByName("Robot")
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		all["/"+string(s.FullName())+"/"+string(m.Name())] = m
	}
	for _, name := range []string{grpcreflect.ReflectV1ServiceName, grpcreflect.ReflectV1AlphaServiceName} {
		all["/"+name+"/ServerReflectionInfo"] = nil
	}
	return all
}

// longestPath is how much of a path that leads nowhere is told again, in bytes.
const longestPath = 128

// nowhere refuses a call of what there is not.
func nowhere(path string) reject.Rejection {
	return reject.New(reject.NotInEnum, "the robot has no such call").By("procedure").In("path").Saw(strconv.Quote(path[:min(len(path), longestPath)]), "", "")
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(h.limits.Body + h.limits.Reply)) // whoever does not read its refusal is cut off
	if l := known(r); l != nil {
		turnAway(w, r, h.errors, rpc.CodePermissionDenied, *l)
		return
	}
	principal, l := h.door.trusted(r)
	if l != nil {
		turnAway(w, r, h.errors, rpc.CodeUnauthenticated, *l)
		return
	}
	method, there := h.methods[r.URL.Path]
	if !there {
		turnAway(w, r, h.errors, rpc.CodeUnimplemented, nowhere(r.URL.Path))
		return
	}
	f, bad := formOf(r, method)
	if bad != nil {
		turnAway(w, r, h.errors, rpc.CodeInvalidArgument, *bad)
		return
	}
	place := h.places.of(method)
	if !place.take(principal) {
		turnAway(w, r, h.errors, rpc.CodeResourceExhausted, h.places.shed(method))
		return
	}
	defer place.leave(principal)
	if method != nil {
		if code, l := read(w, r, f, method.Input(), h.limits); l != nil {
			turnAway(w, r, h.errors, code, *l)
			return
		}
	}
	h.serve(control, w, r.WithContext(transport.WithPrincipal(r.Context(), principal)), method)
}

// serve hands the request on. The clock for writing runs while something is written, never while the robot thinks.
func (h *handler) serve(control *http.ResponseController, w http.ResponseWriter, r *http.Request, method protoreflect.MethodDescriptor) {
	_ = control.SetWriteDeadline(time.Time{})
	ctx := context.WithValue(r.Context(), controlKey{}, control)
	if method == nil || !method.IsStreamingServer() {
		w = &replyWriter{ResponseWriter: w, control: control, within: h.limits.Reply}
	}
	h.next.ServeHTTP(w, r.WithContext(ctx))
}

// replyWriter gives a reply a deadline once its first byte is written.
type replyWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	begun   bool
}

// Write implements http.ResponseWriter.
func (w *replyWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.begun = true
		_ = w.control.SetWriteDeadline(time.Now().Add(w.within))
	}
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher: reflection is a stream in both directions.
func (w *replyWriter) Flush() { _ = w.control.Flush() }

// Unwrap lets a ResponseController reach the writer below.
func (w *replyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// places are how many calls of each class may be served at once. A cancel has places of its own: it must get through
// whatever else the robot is asked. Reflection, which lists what there is and is nobody's work, has few.
type places struct {
	calls, cancels, streams, reflections *place
	retryAfter                           time.Duration
}

func newPlaces(o Options) places {
	l := o.Limits
	share := func(n int) int {
		if len(o.Callers) == 0 { // there is one caller, and nobody to leave room for
			return n
		}
		return max(1, n/2)
	}
	of := func(n int) *place { return &place{most: n, each: share(n), by: map[string]int{}} }
	return places{of(l.Calls), of(l.Cancels), of(l.Streams), of(l.Reflections), l.RetryAfter}
}

// of returns the places of a method.
func (p *places) of(m protoreflect.MethodDescriptor) *place {
	switch {
	case m == nil:
		return p.reflections
	case m.IsStreamingServer():
		return p.streams
	case m.Name() == "Cancel":
		return p.cancels
	}
	return p.calls
}

func (p *places) shed(m protoreflect.MethodDescriptor) reject.Rejection {
	r := reject.New(reject.Overloaded, fmt.Sprintf("%d of these calls are being served; come back later", p.of(m).each)).By("places")
	r.AfterMS = int(p.retryAfter.Milliseconds())
	return r
}

// place is a counting semaphore that nobody waits for, with a share for each caller.
type place struct {
	most, each int

	mu  sync.Mutex
	all int
	by  map[string]int
}

func (p *place) take(caller string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= p.most || p.by[caller] >= p.each {
		return false
	}
	p.all++
	p.by[caller]++
	return true
}

func (p *place) leave(caller string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.by[caller]--; p.by[caller] == 0 {
		delete(p.by, caller)
	}
}

// recovered is what a caller gets when serving it panicked: that it did, and nothing about us.
func recovered(log *slog.Logger) func(context.Context, rpc.Spec, http.Header, any) error {
	return func(ctx context.Context, s rpc.Spec, _ http.Header, p any) error {
		log.ErrorContext(ctx, "a call panicked", "procedure", s.Procedure, "panic", p)
		return rpc.NewError(rpc.CodeInternal, errors.New("the robot failed to answer"))
	}
}

// controlKey is where a request's context holds the *http.ResponseController of its reply.
type controlKey struct{}
