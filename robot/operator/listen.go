package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"interlock/internal/peer"
)

// unixPrefix begins every address: "unix:PATH". There is no other kind of line to a person.
const unixPrefix = "unix:"

// maxPath is the longest path of a socket, in bytes, that every system takes (sun_path has 104 on BSD and macOS).
const maxPath = 103

// Times of the listener.
const (
	headerWithin   = 2 * time.Second
	requestWithin  = 5 * time.Second
	replyWithin    = 10 * time.Second
	idleWithin     = time.Minute
	shutdownWithin = 500 * time.Millisecond
	probeWithin    = time.Second
)

// Listen opens the socket, for this user alone. A socket that a process left behind is replaced; one at which somebody
// answers is not, nor is a file that is none.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	path, err := pathOf(addr)
	if err != nil {
		return nil, err
	}
	probing, done := context.WithTimeout(ctx, probeWithin)
	defer done()
	if c, err := new(net.Dialer).DialContext(probing, "unix", path); err == nil {
		return nil, errors.Join(fmt.Errorf("operator: somebody listens at %s already", path), c.Close())
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
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

func pathOf(addr string) (string, error) {
	path, is := strings.CutPrefix(addr, unixPrefix)
	switch {
	case !is || path == "":
		return "", fmt.Errorf("operator: %q is no unix:PATH, and a person is heard nowhere else", addr)
	case len(path) > maxPath:
		return "", fmt.Errorf("operator: the path of a socket has at most %d bytes, this one has %d: %s", maxPath, len(path), path)
	}
	return path, nil
}

// Serve lets the person reach the robot until ctx ends, and closes the listener. It takes no listener but a unix socket,
// and nobody there but the user of this process. It returns nil if it was asked to end.
func Serve(ctx context.Context, l net.Listener, person Person) error {
	if l.Addr().Network() != "unix" {
		return errors.Join(fmt.Errorf("operator: %s is no unix socket", l.Addr()), l.Close())
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	s := &http.Server{
		Handler: newHandler(person, uint32(os.Getuid()), time.Now), Protocols: &protocols, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: headerWithin, ReadTimeout: requestWithin, WriteTimeout: replyWithin, IdleTimeout: idleWithin,
		ConnContext: withUser, ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return errors.Join(err, s.Close())
	case <-ctx.Done():
	}
	within, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
	defer done()
	_ = s.Shutdown(within) // what is under way may finish
	_ = s.Close()          // whoever is still there is cut off
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// userKey is where a connection's context holds the user at the other end, a uint32.
type userKey struct{}

// withUser notes who is at the other end, where the system can tell.
func withUser(ctx context.Context, c net.Conn) context.Context {
	if u, ok := c.(*net.UnixConn); ok {
		if uid, ok := peer.UserOf(u); ok {
			return context.WithValue(ctx, userKey{}, uid)
		}
	}
	return ctx
}
