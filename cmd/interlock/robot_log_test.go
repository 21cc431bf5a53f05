package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
	"interlock/transport/connect"
)

// faulty is a robot that panics when it is asked for something.
type faulty struct{ transport.Server }

func (faulty) Describe(context.Context) (*contractv1.Manifest, error) { panic("no \x1b[2J manifest") }

func (faulty) Observe(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	panic("no observation")
}

// A call that panics is told on standard error with its method, once however often it is made; its caller gets no word of ours.
//
// Verifies: U167
func TestAPanicIsToldOnce(t *testing.T) {
	var errOut bytes.Buffer
	s := &served{errOut: &errOut}
	o := connect.Options{Token: strings.Repeat("0a", 16), Log: newFaultLog(s.say)}
	l, err := connect.Listen(t.Context(), "127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- connect.Serve(ctx, l, faulty{}, o) }()
	client, closer, err := connect.Dial(l.Addr().String(), connect.DialOptions{Token: o.Token})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := client.Describe(t.Context()); err == nil || strings.Contains(err.Error(), "manifest") {
			t.Errorf("the caller is told %v", err)
		}
	}
	if _, err := client.Observe(t.Context(), &contractv1.ObserveRequest{}); err == nil {
		t.Error("an observation was made")
	}
	_ = closer.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	said := errOut.String()
	if strings.Count(said, "\n") != 2 || strings.Count(said, "Describe") != 1 || strings.Count(said, "Observe: ") != 1 || !strings.Contains(said, "no observation") || strings.Contains(said, "\x1b") {
		t.Errorf("standard error has %q", said)
	}
}
