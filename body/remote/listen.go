package remote

import (
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
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
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

// Serve serves until ctx ends, over HTTP/1.1 and HTTP/2 without TLS; what is under way then is cut off, since every
// caller has a deadline of its own.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler: h, Protocols: new(http.Protocols), ReadHeaderTimeout: 2 * time.Second, ReadTimeout: 5 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	ended := context.AfterFunc(ctx, func() { _ = s.Close() })
	err := s.Serve(&counted{Listener: l})
	if !ended() && errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// maxConnections are open at once on one listener; more are closed on arrival. So nobody who opens connections to the
// robot's line uses up the descriptors that a person's stop needs.
const maxConnections = 256

type counted struct {
	net.Listener
	now atomic.Int64
}

// Accept implements net.Listener.
func (l *counted) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.now.Add(1) <= maxConnections {
			return &countedConn{Conn: c, leave: sync.OnceFunc(func() { l.now.Add(-1) })}, nil
		}
		l.now.Add(-1)
		_ = c.Close()
	}
}

type countedConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
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
