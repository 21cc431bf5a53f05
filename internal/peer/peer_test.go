package peer_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/peer"
)

// Verifies: D40
func TestUserOf(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	uid, known := peer.UserOf(other.(*net.UnixConn))
	if known != peer.Known || known && uid != uint32(os.Getuid()) {
		t.Errorf("user %d, known %v; this is user %d", uid, known, os.Getuid())
	}
	_ = other.Close()
	if _, known := peer.UserOf(other.(*net.UnixConn)); known {
		t.Error("a closed connection has a user")
	}
}
