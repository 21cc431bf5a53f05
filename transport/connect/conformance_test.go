package connect_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"interlock/transport"
	"interlock/transport/connect"
	"interlock/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the token of the servers here.
const secret = "00112233445566778899aabbccddeeff"

// serve serves the robot at addr until the test ends and returns where it really listens.
func serve(t *testing.T, addr string, server transport.Server, o connect.Options) string {
	t.Helper()
	l, err := connect.Listen(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- connect.Serve(ctx, l, server, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	if l.Addr().Network() == "unix" {
		return addr
	}
	return l.Addr().String()
}

// dial returns a client that is closed before the servers are.
func dial(t *testing.T, addr string, o connect.DialOptions) transport.Client {
	t.Helper()
	c, closer, err := connect.Dial(addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// nowhere is an address that nobody listens at.
func nowhere(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// patience is how long a reader may take before it is dropped, where one is to be.
const patience = 700 * time.Millisecond

// calm is how long a connection may say nothing here, and a reader or a request take: a machine that is busy with other tests
// loses none.
const calm = time.Minute

func options() connect.Options {
	return connect.Options{Token: secret, Limits: connect.Limits{SlowReader: calm, Header: calm, Body: calm}}
}

// forCheck makes the options those of a check of the suite: in one of them a reader is to be dropped.
func forCheck(t *testing.T, o connect.Options) connect.Options {
	if strings.Contains(t.Name(), "slow_reader") {
		o.Limits.SlowReader = patience
	}
	return o
}

// Verifies: T03
func TestConformanceOverTCP(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, server transport.Server) transport.Client {
		addr := nowhere(t)
		if server != nil {
			addr = serve(t, "127.0.0.1:0", server, forCheck(t, options()))
		}
		return dial(t, addr, connect.DialOptions{Token: secret, Quiet: calm})
	}, transporttest.Lossy(lossySeeds(150), overTCP), transporttest.Principals(func(t *testing.T, server transport.Server) (one, another transport.Client) {
		addr := serve(t, "127.0.0.1:0", server, withGuest(options()))
		return dial(t, addr, connect.DialOptions{Token: secret}), dial(t, addr, connect.DialOptions{Token: guests})
	}))
}

// guests is the token of the second caller here.
const guests = secret + "00"

func withGuest(o connect.Options) connect.Options {
	o.Callers = []connect.Caller{{Name: "guest", Token: guests}}
	return o
}

// tokenless lets in this user alone, over a unix socket.
func tokenless() connect.Options {
	return connect.Options{Limits: options().Limits}
}

// Verifies: T03, T36
func TestConformanceOverUnixSocket(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, server transport.Server) transport.Client {
		addr := "unix:" + filepath.Join(t.TempDir(), "robot.sock")
		if server != nil {
			serve(t, addr, server, forCheck(t, tokenless()))
		}
		return dial(t, addr, connect.DialOptions{Quiet: calm})
	}, transporttest.Lossy(lossySeeds(60), overUnix), transporttest.Principals(func(t *testing.T, server transport.Server) (one, another transport.Client) {
		addr := serve(t, "unix:"+filepath.Join(t.TempDir(), "robot.sock"), server, withGuest(tokenless()))
		return dial(t, addr, connect.DialOptions{}), dial(t, addr, connect.DialOptions{Token: guests})
	}))
}
