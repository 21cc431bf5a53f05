package remote

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"interlock/internal/peer"
)

// unixPrefix marks an address as a unix socket: "unix:/path/to/socket". Others are HOST:PORT.
const unixPrefix = "unix:"

// Listen opens a listener: a unix socket that only this user may reach, or a loopback TCP port. Anything else is
// refused: the line has no password. A socket that a process left behind is replaced, one that answers is not.
func Listen(addr string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, unixPrefix); ok {
		return listenUnix(path)
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %q is neither unix:PATH nor HOST:PORT", addr)
	}
	if !loopback(host) {
		return nil, fmt.Errorf("listen: %q is no loopback address, and the line has no password", host)
	}
	return net.Listen("tcp", addr)
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func listenUnix(path string) (net.Listener, error) {
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		return nil, errors.Join(fmt.Errorf("listen: a process answers at %s already", path), c.Close())
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// ListenPerson opens the listener of a person's line: a unix socket that only this user may reach, and nothing else.
func ListenPerson(addr string) (net.Listener, error) {
	path, is := strings.CutPrefix(addr, unixPrefix)
	if !is {
		return nil, fmt.Errorf("listen: %q is no unix:PATH, and a person is heard nowhere else: whoever reaches a port could reset a stop", addr)
	}
	return listenUnix(path)
}

// Serve serves until ctx ends, over HTTP/1.1 and HTTP/2 without TLS; what is under way then is cut off, since every
// caller has a deadline of its own.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	return serve(ctx, &crowd{Listener: l}, h)
}

// ServePerson is Serve for a person's line: it hears this user alone, where the system tells who calls, and however many
// connections are held open there, a new one is let in at the cost of the oldest: a stop is a new one.
func ServePerson(ctx context.Context, l net.Listener, h http.Handler) error {
	uid := uint32(os.Getuid())
	mine := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller, known := r.Context().Value(userKey{}).(uint32); known != peer.Known || known && caller != uid {
			http.Error(w, "only for the user whose driver this is", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
	return serve(ctx, &crowd{Listener: l, yields: true}, mine)
}

func serve(ctx context.Context, l *crowd, h http.Handler) error {
	s := &http.Server{
		Handler: h, Protocols: new(http.Protocols), ReadHeaderTimeout: 2 * time.Second, ReadTimeout: 5 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0), ConnContext: withUser,
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	ended := context.AfterFunc(ctx, func() { _ = s.Close() })
	err := s.Serve(l)
	if !ended() && errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// userKey is where a connection's context holds the user at the other end of a unix socket, a uint32.
type userKey struct{}

func withUser(ctx context.Context, c net.Conn) context.Context {
	if m, ok := c.(*member); ok {
		if u, ok := m.Conn.(*net.UnixConn); ok {
			if uid, known := peer.UserOf(u); known {
				return context.WithValue(ctx, userKey{}, uid)
			}
		}
	}
	return ctx
}

// maxConnections are open at once on one listener. So nobody who opens connections to a driver uses up the descriptors
// that a person's stop needs.
const maxConnections = 256

// crowd is a listener with at most maxConnections open. One more is closed on arrival, or, where it yields, the oldest is.
type crowd struct {
	net.Listener
	yields bool

	mu   sync.Mutex
	open list.List // of *member, the oldest first
}

// member is a connection of a crowd.
type member struct {
	net.Conn
	crowd *crowd
	place *list.Element // nil: it left
}

// Accept implements net.Listener.
func (w *crowd) Accept() (net.Conn, error) {
	for {
		c, err := w.Listener.Accept()
		if err != nil {
			return nil, err
		}
		m := &member{Conn: c, crowd: w}
		leaves, enters := w.enter(m)
		if leaves != nil {
			_ = leaves.Close()
		}
		if enters {
			return m, nil
		}
	}
}

// enter takes the connection in, if there is room or is made, and returns the one that must leave for it.
func (w *crowd) enter(m *member) (leaves net.Conn, enters bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open.Len() >= maxConnections {
		if !w.yields {
			return m.Conn, false
		}
		oldest := w.open.Front()
		gone := oldest.Value.(*member)
		w.open.Remove(oldest)
		gone.place = nil
		leaves = gone.Conn
	}
	m.place = w.open.PushBack(m)
	return leaves, true
}

// Close implements net.Conn.
func (m *member) Close() error {
	m.crowd.mu.Lock()
	if m.place != nil {
		m.crowd.open.Remove(m.place)
		m.place = nil
	}
	m.crowd.mu.Unlock()
	return m.Conn.Close()
}

// screen refuses what a browser sends before anything of it is read: a page must not reach a robot through the person's
// own machine.
func screen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if r.Header.Get("Origin") != "" || !loopback(strings.Trim(host, "[]")) {
			http.Error(w, "not for browsers, and only by a loopback name", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// handlerOptions make decoding strict: what the protocol does not know is refused, not dropped.
func handlerOptions() []connect.HandlerOption {
	return []connect.HandlerOption{connect.WithReadMaxBytes(maxMessage), connect.WithCodec(strictJSON{}), connect.WithCodec(strictBinary{})}
}

type strictJSON struct{}

func (strictJSON) Name() string { return "json" }

func (strictJSON) Marshal(m any) ([]byte, error) {
	p, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", m)
	}
	return protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(p)
}

func (strictJSON) Unmarshal(src []byte, m any) error {
	p, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", m)
	}
	if len(src) == 0 {
		return errors.New("no JSON")
	}
	return protojson.UnmarshalOptions{RecursionLimit: 16}.Unmarshal(src, p)
}

type strictBinary struct{}

func (strictBinary) Name() string { return "proto" }

func (strictBinary) Marshal(m any) ([]byte, error) {
	p, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", m)
	}
	return proto.Marshal(p)
}

func (strictBinary) Unmarshal(src []byte, m any) error {
	p, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", m)
	}
	if err := (proto.UnmarshalOptions{RecursionLimit: 16}).Unmarshal(src, p); err != nil {
		return err
	}
	if len(p.ProtoReflect().GetUnknown()) > 0 {
		return errors.New("the message has a field that this version does not know")
	}
	return nil
}
