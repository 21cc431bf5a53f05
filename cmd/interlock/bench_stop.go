package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"interlock/bench"
	"interlock/body/plant"
	"interlock/body/remote"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
	"interlock/units"
)

// stopAim is what the 99th percentile of a stop under a flood promises to stay under.
const stopAim = 25 * time.Millisecond

// movingEach is how many stops there are for one that comes while the arm moves: those take a second each.
const movingEach = 10

func newBenchStop() *cobra.Command {
	var n int
	var clients []int
	var asJSON bool
	c := &cobra.Command{
		Use:   "stop",
		Short: "Measure how long a stop takes, at rest and under a flood of calls to the robot",
		Long: `A plant, a driver and a robot are started as processes, as a user starts them, and a
person's stop goes to the driver's operator socket over a connection of its own, as
that of "interlock stop" does. In force is the time until another connection sees
the latch closed; confirmed, until the driver has answered; on disk, until its latch
file is known to hold the stop. Before every tenth stop a mission moves the arm, and
if it still does when the stop comes, stands is the time until the tip last moved by
more than ` + fmt.Sprint(stillMM) + ` mm, on the plant's own clock and by its truth. The flood is a process too:
so many clients, each with a connection, that call the robot as fast as it answers.

Times are wall time on a machine that does all of this at once: the clients of a
flood take their share of the cores, and the disk is that of the temporary folder
(TMPDIR). The aim is a 99th percentile of ` + fmt.Sprint(stopAim) + ` under a flood.`,
		Example: "  interlock bench stop\n  interlock bench stop --n 1000 --clients 0,64,512 --json",
		Args:    takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > mostRuns {
				return badInput(fmt.Errorf("--n is %d; it can be 1 to %d", n, mostRuns))
			}
			for _, k := range clients {
				if k < 0 || k > mostClients {
					return badInput(fmt.Errorf("--clients has %d; each can be 0 to %d", k, mostClients))
				}
			}
			rows, err := benchStop(c.Context(), n, clients)
			if err != nil {
				return err
			}
			if asJSON {
				return printRows(c.OutOrStdout(), rows)
			}
			return printStop(c.OutOrStdout(), rows)
		},
	}
	c.Flags().IntVar(&n, "n", 300, "stops under each load")
	c.Flags().IntSliceVar(&clients, "clients", []int{0, 64, 512}, "how many clients flood the robot, load by load")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per load")
	return c
}

// stopRow is what stops took under one load.
type stopRow struct {
	Clients   int             `json:"clients"`
	InForce   bench.Spread    `json:"in_force"`
	Confirmed bench.Spread    `json:"confirmed"`
	Stands    bench.Spread    `json:"stands"`
	OnDisk    bench.Spread    `json:"on_disk"`
	Asked     int             `json:"asked_in_motion"` // stops that a mission was started for
	Durable   int             `json:"durable"`         // stops that were on disk when they were confirmed
	P99Ratio  float64         `json:"p99_ratio"`       // of confirmed to the first load's
	AimUS     float64         `json:"aim_us"`
	Calls     float64         `json:"calls_per_s"` // that the robot was asked for meanwhile
	Shed      float64         `json:"shed_share"`  // of them
	Failed    int64           `json:"failed_calls"`
	Took      []stopHistogram `json:"histogram"`
}

func benchStop(ctx context.Context, n int, clients []int) (rows []stopRow, err error) {
	s, err := newBenchSite()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	if _, err := s.plant(ctx); err != nil {
		return nil, err
	}
	if _, err := s.driver(ctx, "--plant", s.socket("plant")); err != nil {
		return nil, err
	}
	if _, err := s.robot(ctx); err != nil {
		return nil, err
	}
	brain, closer, err := s.brain()
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer.Close() }()
	if err := eventually(ctx, "the robot", func() error { _, err := brain.Observe(ctx, &contractv1.ObserveRequest{}); return err }); err != nil {
		return nil, err
	}
	lab := plant.DialLab(s.socket("lab"))
	defer lab.Close()
	looker := remote.DialOperator(s.socket("operator"))
	defer looker.Close()
	for _, k := range clients {
		b := stopBench{site: s, brain: brain, lab: lab, looker: looker}
		row, err := b.under(ctx, n, k)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		if first := rows[0].Confirmed.P99US; first > 0 {
			rows[len(rows)-1].P99Ratio = row.Confirmed.P99US / first
		}
	}
	return rows, nil
}

// stopBench is the stops under one load.
type stopBench struct {
	site     *benchSite
	brain    transport.Client
	lab      *plant.Lab
	looker   *remote.Operator
	missions int

	inForce, confirmed, onDisk, stands []time.Duration
	durable, asked                     int
}

// under makes n stops while so many clients flood the robot.
func (b *stopBench) under(ctx context.Context, n, clients int) (row stopRow, err error) {
	var flood *benchProcess
	if clients > 0 {
		if flood, err = b.site.start(ctx, "flood", "bench", "flood", "--addr", b.site.socket("robot"), "--clients", fmt.Sprint(clients)); err != nil {
			return row, err
		}
		if _, err := io.WriteString(flood.in, "begin\n"); err != nil {
			return row, err
		}
		if _, err := flood.line(ctx); err != nil {
			return row, err
		}
	}
	begun := time.Now()
	for i := range n {
		if err := b.once(ctx, i%movingEach == 0); err != nil {
			return row, fmt.Errorf("stop %d under %d clients: %w", i, clients, err)
		}
	}
	took := time.Since(begun)
	row = stopRow{
		Clients: clients, AimUS: float64(stopAim.Microseconds()), Took: histogramOf(b.confirmed), Durable: b.durable,
		InForce: bench.Of(b.inForce), Confirmed: bench.Of(b.confirmed), OnDisk: bench.Of(b.onDisk), Stands: bench.Of(b.stands), Asked: b.asked,
	}
	if flood == nil {
		return row, nil
	}
	if _, err := io.WriteString(flood.in, "end\n"); err != nil {
		return row, err
	}
	said, err := flood.line(ctx)
	if err != nil {
		return row, err
	}
	var served, shed int64
	if _, err := fmt.Sscan(said, &served, &shed, &row.Failed); err != nil {
		return row, fmt.Errorf("the flood says %q: %w", said, err)
	}
	all := float64(served + shed + row.Failed)
	row.Calls, row.Shed = all/took.Seconds(), float64(shed)/max(all, 1)
	return row, b.site.stop(flood)
}

// once stops the robot once, in a mission or at rest, and resets the stop.
func (b *stopBench) once(ctx context.Context, moving bool) error {
	if moving {
		b.asked++
		if err := b.move(ctx); err != nil {
			return err
		}
	}
	before, speed, err := b.look()
	if err != nil {
		return err
	}
	if err := b.stop(ctx); err != nil {
		return err
	}
	if moving && speed > movingMPS { // else the flood ended the mission first
		took, err := b.untilStill(before)
		if err != nil {
			return err
		}
		b.stands = append(b.stands, took)
	}
	return b.permit(ctx)
}

// look tells the plant's time now and how fast the tip went just before, in m/s.
func (b *stopBench) look() (now units.Instant, speed float64, err error) {
	before, err := b.lab.Look()
	if err != nil {
		return 0, 0, err
	}
	for {
		after, err := b.lab.Look()
		if err != nil {
			return 0, 0, err
		}
		if d := after.Now().Sub(before.Now()); d >= speedOver {
			return after.Now(), after.TipInBase().Distance(before.TipInBase()) / d.Seconds(), nil
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// stop makes one stop over a connection of its own, while another one looks whether it is in force.
func (b *stopBench) stop(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, benchAnswers)
	defer done()
	if err := b.permit(ctx); err != nil { // and its connection is open
		return err
	}
	o := remote.DialOperator(b.site.socket("operator"))
	defer o.Close()
	begun := time.Now()
	seen := make(chan error, 1)
	go func() {
		for {
			l, _, err := b.looker.State(ctx)
			if err == nil && l.Stopped {
				b.inForce = append(b.inForce, time.Since(begun))
			}
			if err != nil || l.Stopped {
				seen <- err
				return
			}
		}
	}()
	_, durable, err := o.Stop(ctx, "bench")
	b.confirmed = append(b.confirmed, time.Since(begun))
	if durable {
		b.durable++
	} else if err == nil {
		durable = o.Durable(ctx)
	}
	if durable {
		b.onDisk = append(b.onDisk, time.Since(begun))
	}
	return errors.Join(err, <-seen)
}

// How the arm moves before it is stopped, and when it stands.
const (
	stillMM    = 2.0
	stillOver  = 150 * time.Millisecond
	movingMPS  = 0.02
	speedOver  = 20 * time.Millisecond
	sideCM     = 14.0
	stopRandom = 300 * time.Millisecond
)

// move starts a mission to the far side, as often as the flood lets it be refused, and returns once the tip moves.
func (b *stopBench) move(ctx context.Context) error {
	return eventually(ctx, "the arm does not move", func() error {
		at, err := b.lab.Look()
		if err != nil {
			return err
		}
		side := -sideCM
		if at.TipInBase()[1] < 0 {
			side = sideCM
		}
		b.missions++
		ack, err := b.brain.Start(ctx, &contractv1.StartRequest{
			MissionId: fmt.Sprint("bench-", b.missions), Capability: "move_to",
			ArgsJson: fmt.Appendf(nil, `{"x_cm": 20, "y_cm": %v, "z_cm": 15, "speed_mps": 0.3}`, side),
		})
		switch {
		case err != nil:
			return err
		case !ack.GetAccepted():
			return errors.Join(fmt.Errorf("refused: %s", ack.GetReason()), b.permit(ctx))
		}
		for begun := time.Now(); time.Since(begun) < time.Second; {
			time.Sleep(5 * time.Millisecond)
			now, err := b.lab.Look()
			if err != nil {
				return err
			}
			if d := now.Now().Sub(at.Now()).Seconds(); d > 0 && now.TipInBase().Distance(at.TipInBase())/d > movingMPS {
				time.Sleep(rand.N(stopRandom))
				return nil
			}
			at = now
		}
		return errors.New("a mission that was accepted moves nothing")
	})
}

// permit resets a stop of the robot's own: one whose driver let it wait too long, as under a flood, stops it. Another such
// stop may come between the look and the reset.
func (b *stopBench) permit(ctx context.Context) error {
	for {
		l, _, err := b.looker.State(ctx)
		if err != nil || !l.Stopped {
			return err
		}
		var refused reject.Rejection
		if err := b.looker.Reset(ctx, l.Number); !errors.As(err, &refused) || refused.Code != reject.Conflict {
			return err
		}
	}
}

// untilStill returns how long after an instant of the plant's time the tip last moved.
func (b *stopBench) untilStill(since units.Instant) (time.Duration, error) {
	last, err := b.lab.Look()
	if err != nil {
		return 0, err
	}
	for now := last; now.Now().Sub(last.Now()) < stillOver; time.Sleep(2 * time.Millisecond) {
		if now, err = b.lab.Look(); err != nil {
			return 0, err
		}
		if now.TipInBase().Distance(last.TipInBase())*1000 > stillMM {
			last = now
		}
		if now.Now().Sub(since) > benchAnswers {
			return 0, errors.New("the arm goes on moving")
		}
	}
	return max(0, last.Now().Sub(since)), nil
}
