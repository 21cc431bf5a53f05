package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// killsAfter is how long after the signal that ends a driver another one is the same: a terminal that is closed, and timeout(1), send
// theirs twice, and a driver needs a moment to end in good order.
const killsAfter = time.Second

// untilSignal is ctx until a signal ends the driver in good order. One that comes later kills it, whatever it hangs on and whoever
// else listens.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	all := endings()
	ctx, end := signal.NotifyContext(ctx, all...)
	over := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-over:
			return
		}
		select {
		case <-time.After(killsAfter):
			signal.Reset(all...)
		case <-over:
		}
	}()
	return ctx, func() { close(over); end() }
}

// endings are the signals that end a driver in good order: a person's, and the end of the terminal that it was started in, unless
// it is to outlive that.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
