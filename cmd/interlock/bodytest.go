package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"interlock/body"
	"interlock/body/bodytest"
	"interlock/body/remote"
)

func newBodytest() *cobra.Command {
	var addr string
	c := &cobra.Command{
		Use:   "bodytest --driver ADDR [-- CMD ...]",
		Short: "Hold any driver process against the conformance suite",
		Long: `Bodytest reaches a driver process at --driver and runs the conformance suite on
it as a black box, in real time. With a command after --, it starts that first and
ends it afterwards. The suite moves the first joint by 0.05 rad: with hardware,
stand clear. It exits with 4 if a check fails.`,
		Example: "  interlock bodytest --driver unix:d.sock -- interlock driver sim --contract robots/so101-tabletop.yaml --listen unix:d.sock",
		RunE: func(cmd *cobra.Command, a []string) error {
			end, err := startCommand(a, cmd.ErrOrStderr())
			if err != nil {
				return badInput(err)
			}
			return errors.Join(testBody(cmd.Context(), addr, cmd.OutOrStdout()), end())
		},
	}
	c.Flags().StringVar(&addr, "driver", "", "where the driver process listens")
	_ = c.MarkFlagRequired("driver")
	return c
}

// startCommand starts a process; end asks it to end, kills it if it does not, and waits.
func startCommand(line []string, errOut io.Writer) (end func() error, err error) {
	if len(line) == 0 {
		return func() error { return nil }, nil
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stderr = errOut
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() error {
		kill := time.AfterFunc(2*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return errors.Join(fmt.Errorf("the driver process had ended: %w", err), cmd.Wait())
		}
		_ = cmd.Wait() // how it ends on a signal is its own affair
		return nil
	}, nil
}

// bodyThere is how long a driver process may take until it answers.
const bodyThere = 10 * time.Second

func testBody(ctx context.Context, addr string, out io.Writer) error {
	failed := 0
	checks := bodytest.RealTimeChecks()
	for _, c := range checks {
		says := "ok"
		if err := testOnce(ctx, addr, c); err != nil {
			says, failed = "FAILED: "+err.Error(), failed+1
		}
		if _, err := fmt.Fprintf(out, "%-50s %s\n", c.Name, says); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exitStatus{exitNotDone, fmt.Errorf("%d of %d checks failed", failed, len(checks))}
	}
	return nil
}

func testOnce(ctx context.Context, addr string, c bodytest.Check) error {
	within, cancel := context.WithTimeout(ctx, bodyThere)
	defer cancel()
	var d *remote.Driver
	err := whenThere(within, io.Discard, func() (err error) {
		d, err = remote.Dial(within, addr, remote.Options{Holder: "bodytest"})
		return err
	})
	if err != nil {
		return fmt.Errorf("no driver answers at %s: %w", addr, err)
	}
	return errors.Join(c.Run(waiting{d, ctx}), d.Close())
}

// waiting is a driver whose time moves by itself.
type waiting struct {
	*remote.Driver
	ctx context.Context //nolint:containedctx // Advance has none
}

// Advance implements body.Stepper by waiting.
func (w waiting) Advance(by time.Duration) error {
	switch {
	case !w.Opened():
		return body.ErrNotOpen
	case by <= 0:
		return fmt.Errorf("cannot wait for %v", by)
	}
	select {
	case <-time.After(by):
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}
