package connect_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/transport/connect"
)

// The bare echo is what Connect itself costs: the generated handler without any of the doors.
func BenchmarkObserve(b *testing.B) {
	server := &echo{}
	b.Run("bare echo", func(b *testing.B) {
		var p http.Protocols
		p.SetUnencryptedHTTP2(true)
		mux := http.NewServeMux()
		mux.Handle(contractv1connect.NewRobotHandler(bare{}))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		s := &http.Server{Handler: mux, Protocols: &p}
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(l) }()
		line := &http.Transport{Protocols: &p, DialContext: new(net.Dialer).DialContext}
		stub := contractv1connect.NewRobotClient(&http.Client{Transport: line}, "http://"+l.Addr().String())
		for b.Loop() {
			if _, err := stub.Observe(b.Context(), &contractv1.ObserveRequest{}); err != nil {
				b.Fatal(err)
			}
		}
		line.CloseIdleConnections()
		if err := s.Close(); err != nil {
			b.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			b.Error(err)
		}
	})
	b.Run("through the doors", func(b *testing.B) {
		ctx, cancel := context.WithCancel(b.Context())
		l, err := connect.Listen(ctx, "127.0.0.1:0", options())
		if err != nil {
			b.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- connect.Serve(ctx, l, server, options()) }()
		client, closer, err := connect.Dial(l.Addr().String(), connect.DialOptions{Token: secret})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := client.Observe(b.Context(), &contractv1.ObserveRequest{}); err != nil {
				b.Fatal(err)
			}
		}
		_ = closer.Close()
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
}

// bare answers Observe and nothing else.
type bare struct {
	contractv1connect.UnimplementedRobotHandler
}

// Observe implements contractv1connect.RobotHandler.
func (bare) Observe(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return &contractv1.Observation{AtMs: 7}, nil
}
