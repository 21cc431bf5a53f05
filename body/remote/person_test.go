package remote_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/body/remote"
	"interlock/internal/peer"
)

// servePerson serves a person's line until the test ends.
func servePerson(t *testing.T, l net.Listener, h http.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- remote.ServePerson(ctx, l, h) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func personSocket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "il")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// However many connections are held open at a person's line, a stop gets through: the oldest make room.
//
// Verifies: P04, F42, D41
func TestAStopGetsThroughACrowd(t *testing.T) {
	path := personSocket(t)
	l, err := remote.ListenPerson("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	servePerson(t, l, remote.OperatorHandler(f))
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	for range 600 { // more than twice of what is held open at most
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if _, err := c.Write([]byte("POST /interlock.driver.v1.Operator/Stop HTTP/1.1\r\nHost: localhost\r\n")); err != nil && len(held) < 200 {
			t.Fatal(err)
		}
	}
	o := remote.DialOperator("unix:" + path)
	defer o.Close()
	if number, _, err := o.Stop(t.Context(), "a person"); err != nil || number != 1 {
		t.Errorf("stop %d, %v", number, err)
	}
}

// A person's line is a unix socket, never a port; and whoever is not known to be this user is not heard.
//
// Verifies: P02, D41
func TestAPersonIsHeardNowhereElse(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", "0.0.0.0:0", "s", ""} {
		if l, err := remote.ListenPerson(addr); err == nil {
			t.Errorf("a person's line at %q (%v)", addr, l.Close())
		}
	}
	if !peer.Known {
		t.Skip("this system does not tell who calls; the socket's mode keeps others out")
	}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	servePerson(t, port, remote.OperatorHandler(f))
	o := remote.DialOperator(port.Addr().String())
	defer o.Close()
	if err := o.Reset(t.Context(), 4); err == nil || len(f.reset) > 0 {
		t.Errorf("an unknown caller's reset was answered by %v", err)
	}
}

// A process that speaks another version of the driver protocol is told so, before anything is asked of it.
//
// Verifies: D19
func TestAnotherProtocolIsRefused(t *testing.T) {
	for _, says := range []string{`{"protocol": 2, "name": "fake"}`, `{"name": "fake"}`} {
		addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(says))
		}))
		d, err := remote.Dial(t.Context(), addr, remote.Options{JSON: true})
		if err == nil || !strings.Contains(err.Error(), "protocol") {
			t.Errorf("%s: dialled, %v", says, errors.Join(err, d.Close()))
		}
	}
}
