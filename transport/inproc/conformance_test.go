package inproc_test

import (
	"testing"

	"go.uber.org/goleak"

	"interlock/transport"
	"interlock/transport/inproc"
	"interlock/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Verifies: T03
func TestConformance(t *testing.T) {
	transporttest.Run(t, func(_ *testing.T, server transport.Server) transport.Client { return inproc.New(server) },
		transporttest.Direct("a call runs in its caller's goroutine, and an event is copied when its reader takes it"),
		transporttest.Lossless("a call is a function's, and nothing carries it that could lose it"),
		transporttest.OneCaller("both ends are one program, and nobody else is in it"))
}
