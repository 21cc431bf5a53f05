package connect_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
	"interlock/transport/connect"
)

// Verifies: T07
func TestWhereNobodyListens(t *testing.T) {
	for name, c := range map[string]struct {
		addr string
		o    connect.Options
	}{
		"every interface":       {"0.0.0.0:0", options()},
		"every interface, IPv6": {"[::]:0", options()},
		"no host":               {":0", options()},
		"a name":                {"robot.example:0", options()},
		"no token":              {"127.0.0.1:0", connect.Options{}},
		"no port":               {"127.0.0.1", options()},
		"no socket":             {"unix:", connect.Options{}},
		"nothing":               {"", options()},
	} {
		if l, err := connect.Listen(t.Context(), c.addr, c.o); err == nil {
			t.Errorf("%s: listens at %v", name, l.Addr())
			_ = l.Close()
		}
	}
}

// Verifies: T07
func TestTheSocketIsItsUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robot.sock")
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false) //nolint:errcheck // what net.Listen returns for unix
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	server := &echo{}
	addr := serve(t, "unix:"+path, server, connect.Options{}) // in the place of the stale one
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode is %v, %v", info.Mode(), err)
	}
	if l, err := connect.Listen(t.Context(), addr, connect.Options{}); err == nil {
		t.Error("two listen at one socket")
		_ = l.Close()
	}
	if runtime.GOOS != "linux" {
		t.Skip("this system does not tell who is at the other end")
	}
	if _, err := dial(t, addr, connect.DialOptions{}).Observe(t.Context(), nil); err != nil {
		t.Errorf("the same user without a token: %v", err)
	}
	other := "unix:" + filepath.Join(t.TempDir(), "robot.sock")
	serve(t, other, server, connect.Options{Users: []uint32{uint32(os.Getuid()) + 1}, Token: secret})
	asked := server.asked.Load()
	if _, err := dial(t, other, connect.DialOptions{}).Observe(t.Context(), nil); err == nil || server.asked.Load() != asked {
		t.Errorf("another user without a token: %v", err)
	}
	if _, err := dial(t, other, connect.DialOptions{Token: secret}).Observe(t.Context(), nil); err != nil {
		t.Errorf("another user with the token: %v", err)
	}
}

// The owner is one caller by whichever way it comes: by its token over TCP or a unix socket, or as this user. Another one has
// its own name there too, and a token that is nobody's lets nobody in, this user neither.
//
// Verifies: U161
func TestTheOwnerIsOneCaller(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system does not tell who is at the other end")
	}
	var principal string
	server := &echo{start: func(ctx context.Context) (*contractv1.MissionAck, error) {
		principal = transport.PrincipalOf(ctx)
		return &contractv1.MissionAck{Accepted: true}, nil
	}}
	o := options()
	o.Callers = []connect.Caller{{Name: "guest", Token: secret + "00"}}
	socket, tcp := serve(t, "unix:"+filepath.Join(t.TempDir(), "robot.sock"), server, o), serve(t, "127.0.0.1:0", server, o)
	for name, c := range map[string]struct{ addr, token, want string }{
		"the token over TCP":       {tcp, secret, connect.Owner},
		"the token at the socket":  {socket, secret, connect.Owner},
		"the user at the socket":   {socket, "", connect.Owner},
		"a guest over TCP":         {tcp, secret + "00", "guest"},
		"a guest at the socket":    {socket, secret + "00", "guest"},
		"an old one at the socket": {socket, secret + "11", ""},
	} {
		principal = ""
		ack, err := dial(t, c.addr, connect.DialOptions{Token: c.token}).Start(t.Context(), &contractv1.StartRequest{MissionId: "m1"})
		if principal != c.want || ack.GetAccepted() != (c.want != "") {
			t.Errorf("%s: %q, want %q; %v %v", name, principal, c.want, ack, err)
		}
	}
}

// A file that is no socket is not taken away.
//
// Verifies: T07
func TestAFileInTheWayStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := connect.Listen(t.Context(), "unix:"+path, connect.Options{}); err == nil {
		t.Error("a file was replaced by a socket")
		_ = l.Close()
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// Verifies: T07
func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	if _, err := connect.ReadToken(path); err == nil {
		t.Error("a token was read from no file")
	}
	var all sync.Map
	var at sync.WaitGroup
	for range 8 {
		at.Go(func() {
			token, err := connect.Token(path)
			if err != nil {
				t.Error(err)
			}
			all.Store(token, true)
		})
	}
	at.Wait()
	n := 0
	all.Range(func(any, any) bool { n++; return true })
	token, err := connect.ReadToken(path)
	if err != nil || n != 1 || len(token) != 32 {
		t.Errorf("%d tokens of one file, one of %d letters, %v", n, len(token), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".token-*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if other, err := connect.Token(filepath.Join(dir, "other")); err != nil || other == token {
		t.Errorf("another file's token is %s, %v", other, err)
	}
	for name, c := range map[string]struct {
		text string
		mode fs.FileMode
	}{
		"others may read it": {token, 0o640}, "too short": {token[:30], 0o600}, "no hex": {strings.Repeat("x", 32), 0o600}, "empty": {"", 0o600},
	} {
		bad := filepath.Join(dir, "bad "+name)
		if err := os.WriteFile(bad, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := connect.Token(bad); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := os.Symlink(path, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := connect.Token(filepath.Join(dir, "link")); err == nil {
		t.Error("a link is taken for a token file")
	}
}

// A client opens no connection before it is asked something: the robot may start later, and come back.
//
// Verifies: T08
func TestStartOrderDoesNotMatter(t *testing.T) {
	addr := "unix:" + filepath.Join(t.TempDir(), "robot.sock")
	client := dial(t, addr, connect.DialOptions{})
	if _, err := client.Observe(t.Context(), &contractv1.ObserveRequest{}); err == nil {
		t.Fatal("nobody answered")
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		l, err := connect.Listen(t.Context(), addr, connect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- connect.Serve(ctx, l, &echo{}, connect.Options{}) }()
		if o, err := client.Observe(t.Context(), &contractv1.ObserveRequest{}); err != nil || o.GetAtMs() != 7 {
			t.Errorf("%v, %v", o, err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := client.Observe(t.Context(), &contractv1.ObserveRequest{}); err == nil {
			t.Error("a server that has ended answered")
		}
	}
}
