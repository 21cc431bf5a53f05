package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	rpc "connectrpc.com/connect"

	"interlock/transport"
)

// Listen opens "HOST:PORT" (port 0: any free one) or "unix:PATH". Only the loopback is taken, since the line is not encrypted,
// and over TCP there must be a token. The socket's file belongs to this user alone; a stale one is replaced.
func Listen(ctx context.Context, addr string, o Options) (net.Listener, error) {
	network, where, err := split(addr)
	if err != nil {
		return nil, err
	}
	if network == "unix" {
		return listenUnix(ctx, where)
	}
	if o.Token == "" && len(o.Callers) == 0 {
		return nil, fmt.Errorf("connect: %s: callers over TCP must bring a token, and there is none", addr)
	}
	if !loopback(where) {
		return nil, fmt.Errorf("connect: %s is not on the loopback, and the line is not encrypted", addr)
	}
	return new(net.ListenConfig).Listen(ctx, network, where)
}

// split reads an address: "unix:PATH" or "HOST:PORT".
func split(addr string) (network, where string, err error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if path == "" {
			return "", "", errors.New("connect: unix: names no socket")
		}
		return "unix", path, nil
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return "", "", fmt.Errorf("connect: %q is neither HOST:PORT nor unix:PATH: %w", addr, err)
	}
	return "tcp", addr, nil
}

func loopback(where string) bool {
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
		return nil, errors.Join(fmt.Errorf("connect: %s: somebody listens there", path), c.Close())
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Serve serves the robot on the listener until ctx ends. Then streams end, calls get Limits.Shutdown to finish, and the
// listener is closed. It returns nil if it was asked to end.
func Serve(ctx context.Context, l net.Listener, server transport.Server, o Options) error {
	o = o.orDefaults()
	busy := &tally{next: NewHandler(server, o), errors: rpc.NewErrorWriter(), retryAfter: o.Limits.RetryAfter, none: make(chan struct{})}
	s := newServer(ctx, busy, o)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(&counted{Listener: l, most: int64(o.Limits.Connections)}) }()
	select {
	case err := <-ended:
		return errors.Join(err, s.Close())
	case <-ctx.Done():
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Limits.Shutdown)
	defer cancel()
	down := make(chan struct{})
	go func() {
		defer close(down)
		_ = s.Shutdown(within) // tells everybody; it would wait a second for connections that are idle, so it is cut short
	}()
	busy.end()
	select {
	case <-busy.none:
		within, cancel := context.WithTimeout(within, flush)
		<-within.Done()
		cancel()
	case <-within.Done():
	}
	cancel()
	_ = s.Close() // whoever is still there is cut off
	<-down
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// flush is how long the last replies may take to leave after they were written.
const flush = 20 * time.Millisecond

func newServer(ctx context.Context, h http.Handler, o Options) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: h, Protocols: &protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 128, MaxReceiveBufferPerStream: 128 << 10, MaxReceiveBufferPerConnection: 512 << 10,
			SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second,
		},
		ReadHeaderTimeout: o.Limits.Header, IdleTimeout: o.Limits.Idle, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: withUser,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
}

// tally counts the requests under way and tells when, after the end, there are none.
type tally struct {
	next       http.Handler
	errors     *rpc.ErrorWriter
	retryAfter time.Duration
	none       chan struct{}

	mu    sync.Mutex
	n     int
	ended bool
}

// ServeHTTP implements http.Handler.
func (t *tally) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		turnAway(w, r, t.errors, rpc.CodeUnavailable, ending(t.retryAfter))
		return
	}
	t.n++
	t.mu.Unlock()
	defer t.leave()
	t.next.ServeHTTP(w, r)
}

func (t *tally) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.ended && t.n == 0 {
		close(t.none)
	}
}

func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended = true; t.n == 0 {
		close(t.none)
	}
}

// counted is a listener that closes connections beyond a number on arrival, before anything is read from them.
type counted struct {
	net.Listener
	most int64
	now  atomic.Int64
}

// Accept implements net.Listener.
func (l *counted) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.now.Add(1) <= l.most {
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
