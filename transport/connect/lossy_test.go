package connect_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"interlock/transport"
	"interlock/transport/connect"
)

// lossySeeds is how many lossy lines the suite reads a mission over, at most.
func lossySeeds(most int) int {
	if testing.Short() {
		return 30
	}
	return most
}

// overTCP and overUnix join a client to the server through a wire that is cut again and again, after as many bytes as the
// seed says, in either direction. That is all such a wire can suffer: what is not lost comes once and in order.
func overTCP(t *testing.T, server transport.Server, seed uint64) (client transport.Client, harm func() int) {
	w := wireTo(t, "tcp", serve(t, "127.0.0.1:0", server, options()), "127.0.0.1:0", seed)
	return dial(t, w.addr, connect.DialOptions{Token: secret, Reconnects: 1 + int(seed%4)}), w.harm
}

func overUnix(t *testing.T, server transport.Server, seed uint64) (client transport.Client, harm func() int) {
	folder := t.TempDir()
	robot := filepath.Join(folder, "robot")
	serve(t, "unix:"+robot, server, tokenless())
	w := wireTo(t, "unix", robot, filepath.Join(folder, "wire"), seed)
	return dial(t, "unix:"+w.addr, connect.DialOptions{Reconnects: 1 + int(seed%4)}), w.harm
}

// wire is a listener at addr whose connections lead to another address until they are cut.
type wire struct {
	network, addr, to string
	cuts              atomic.Int64
	over              chan struct{} // closed: what is still open is cut, and does not count
	mu                sync.Mutex
	rng               *rand.Rand
}

// wireTo runs a wire from a free address to another until the test ends.
func wireTo(t *testing.T, network, to, free string, seed uint64) *wire {
	l, err := new(net.ListenConfig).Listen(t.Context(), network, free)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{network: network, addr: l.Addr().String(), to: to, over: make(chan struct{}), rng: rand.New(rand.NewPCG(seed, 1))}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run(l)
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		close(w.over) // a client may keep a connection that it has just used
		<-ended
	})
	return w
}

// harm is how often the wire was cut.
func (w *wire) harm() int { return int(w.cuts.Load()) }

// life is how many bytes a connection lives, either way. A handshake takes some 300.
func (w *wire) life() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return 20 + w.rng.Int64N(2500)
}

func (w *wire) run(l net.Listener) {
	var open sync.WaitGroup
	defer open.Wait()
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		open.Go(func() { w.carry(near) })
	}
}

// carry copies both ways until one direction has carried what it may, then cuts both.
func (w *wire) carry(near net.Conn) {
	far, err := new(net.Dialer).DialContext(context.Background(), w.network, w.to)
	if err != nil {
		_ = near.Close()
		return
	}
	cut := sync.OnceFunc(func() { _ = errors.Join(near.Close(), far.Close()) })
	var both sync.WaitGroup
	carried := make(chan struct{})
	go func() {
		select {
		case <-w.over:
			cut()
		case <-carried:
		}
	}()
	defer close(carried)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			defer cut()
			if _, err := io.CopyN(way[0], way[1], w.life()); err == nil {
				w.cuts.Add(1)
			}
		})
	}
	both.Wait()
}
