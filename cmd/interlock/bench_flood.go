package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport/connect"
)

const mostClients = 2000

// newBenchFlood is the flood of `bench stop`, a process of its own, so that whoever stops the robot waits for nobody but the
// driver. It floods from one line on its standard input to the next, and says what came of it.
func newBenchFlood() *cobra.Command {
	var addr string
	var clients int
	c := &cobra.Command{
		Use:    "flood",
		Short:  "Flood a robot with calls, between two lines on standard input",
		Hidden: true,
		Args:   takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if clients < 1 || clients > mostClients {
				return badInput(fmt.Errorf("--clients is %d; it can be 1 to %d", clients, mostClients))
			}
			if addr == "" {
				return badInput(errors.New("--addr is missing: the robot's address"))
			}
			in := bufio.NewScanner(c.InOrStdin())
			if _, err := fmt.Fprintln(c.OutOrStdout(), "ready"); err != nil {
				return err
			}
			if !in.Scan() {
				return in.Err()
			}
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			f, end, err := startFlood(ctx, addr, clients)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(c.OutOrStdout(), "flooding"); err != nil {
				return err
			}
			in.Scan() // or the end of whoever started it
			cancel()
			end()
			_, err = fmt.Fprintln(c.OutOrStdout(), f.served.Load(), f.shed.Load(), f.other.Load())
			return errors.Join(err, in.Err())
		},
	}
	c.Flags().StringVar(&addr, "addr", "", "the robot's address")
	c.Flags().IntVar(&clients, "clients", 64, "how many clients, each with a connection of its own")
	return c
}

// flooded counts what the calls of a flood came to.
type flooded struct{ served, shed, other atomic.Int64 }

// startFlood lets clients call as fast as they are answered: half of them observe, the others describe. End waits for them.
func startFlood(ctx context.Context, addr string, clients int) (f *flooded, end func(), err error) {
	f = &flooded{}
	var all sync.WaitGroup
	var closers []io.Closer
	for k := range clients {
		c, closer, err := connect.Dial(addr, connect.DialOptions{})
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, closer)
		call := func() error { _, err := c.Observe(ctx, &contractv1.ObserveRequest{}); return err }
		if k%2 == 1 {
			call = func() error { _, err := c.Describe(ctx); return err }
		}
		all.Go(func() {
			for ctx.Err() == nil {
				f.count(ctx, call())
			}
		})
	}
	return f, func() {
		all.Wait()
		for _, c := range closers {
			_ = c.Close()
		}
	}, nil
}

func (f *flooded) count(ctx context.Context, err error) {
	var l reject.List
	switch {
	case err == nil:
		f.served.Add(1)
	case errors.As(err, &l) && l[0].Code == reject.Overloaded:
		f.shed.Add(1)
	case ctx.Err() == nil:
		f.other.Add(1)
	}
}
