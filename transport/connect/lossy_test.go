package connect_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"interlock/transport"
	"interlock/transport/connect"
)

// lossySeeds is how many lossy lines the suite reads a mission over.
func lossySeeds() int {
	if testing.Short() {
		return 30
	}
	return 150
}

// lossy joins a client to the server through a wire that is cut again and again, after as many bytes as the seed says,
// in either direction. That is all TCP can suffer: what is not lost comes once and in order.
func lossy(t *testing.T, server transport.Server, seed uint64) transport.Client {
	w := &wire{to: serve(t, "127.0.0.1:0", server, options()), rng: rand.New(rand.NewPCG(seed, 1))}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run(l)
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return dial(t, l.Addr().String(), connect.DialOptions{Token: secret, Reconnects: 1 + int(seed%4)})
}

// wire is a listener whose connections lead to another address until they are cut.
type wire struct {
	to  string
	mu  sync.Mutex
	rng *rand.Rand
}

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
	far, err := new(net.Dialer).DialContext(context.Background(), "tcp", w.to)
	if err != nil {
		_ = near.Close()
		return
	}
	cut := sync.OnceFunc(func() { _ = errors.Join(near.Close(), far.Close()) })
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			defer cut()
			_, _ = io.CopyN(way[0], way[1], w.life())
		})
	}
	both.Wait()
}
