package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"interlock/bench"
	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/transport"
	"interlock/transport/connect"
)

// What the line between a brain and a robot promises.
const (
	aimRatio  = 1.3    // describe and observe, beside a bare Connect echo of the same bytes
	aimReady  = 150.0  // ms from exec to the first answer
	aimRSS    = 40.0   // MiB of an idle robot
	aimEvents = 10_000 // deliveries a second, summed over ten watchers
	watchers  = 10
)

func newBenchLine() *cobra.Command {
	var n int
	var watch time.Duration
	var asJSON bool
	c := &cobra.Command{
		Use:   "line",
		Short: "Measure the line between a brain and a robot",
		Long: `A driver and a robot are started as processes, and beside them one that answers with
the same bytes over a bare Connect handler, without a robot and without our doors.
Describe and observe are called over one connection each, in turns with the echo, on
unix sockets. An observation asks the driver, which is another process, so the same
call is made on an echo that knows its answer.

Ready is the time from exec to the first answer, of a robot whose driver runs. Event
deliveries are summed over ten watchers: once of a robot's finished mission, read
again and again, and once of the line alone, from a server that has events without
end.`,
		Example: "  interlock bench line\n  interlock bench line --n 10000 --json",
		Args:    takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > mostRuns {
				return badInput(fmt.Errorf("--n is %d; it can be 1 to %d", n, mostRuns))
			}
			if watch <= 0 || watch > time.Hour {
				return badInput(fmt.Errorf("--watch is %v; it can be up to 1h", watch))
			}
			rows, err := benchLine(c.Context(), n, watch)
			if err != nil {
				return err
			}
			if asJSON {
				return printRows(c.OutOrStdout(), rows)
			}
			return printLine(c.OutOrStdout(), n, rows)
		},
	}
	c.Flags().IntVar(&n, "n", 3_000, "calls of each kind")
	c.Flags().DurationVar(&watch, "watch", 2*time.Second, "how long the watchers read")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line of the table")
	return c
}

// lineRow is one figure beside its aim.
type lineRow struct {
	What     string        `json:"what"`
	Unit     string        `json:"unit"`
	Aim      float64       `json:"aim"`
	AtLeast  bool          `json:"at_least"` // the aim is a least; else a most
	Measured float64       `json:"measured"`
	Bytes    int           `json:"bytes,omitempty"` // of the reply
	Beside   float64       `json:"beside,omitempty"`
	Robot    *bench.Spread `json:"robot,omitempty"`
	Echo     *bench.Spread `json:"echo,omitempty"`
}

func (r *lineRow) met() bool {
	if r.AtLeast {
		return r.Measured >= r.Aim
	}
	return r.Measured <= r.Aim
}

// lineBench is the processes that are measured, and the lines to them.
type lineBench struct {
	site  *benchSite
	brain transport.Client
}

func benchLine(ctx context.Context, n int, watch time.Duration) (rows []lineRow, err error) {
	s, err := newBenchSite()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	if _, err := s.driver(ctx); err != nil {
		return nil, err
	}
	b := &lineBench{site: s}
	ready, robot, err := b.ready(ctx)
	if err != nil {
		return nil, err
	}
	brain, closer, err := s.brain()
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer.Close() }()
	b.brain = brain
	rows = append(rows, ready)
	for _, measure := range []func() ([]lineRow, error){
		func() ([]lineRow, error) { return b.idle(robot) },
		func() ([]lineRow, error) { return b.calls(ctx, n) },
		func() ([]lineRow, error) { return b.events(ctx, watch) },
	} {
		more, err := measure()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// starts is how often a robot is started; the median counts.
const starts = 9

// ready starts the robot some times, and leaves the last one running.
func (b *lineBench) ready(ctx context.Context) (row lineRow, robot *benchProcess, err error) {
	var took []time.Duration
	for i := range starts {
		if robot, err = b.site.robot(ctx); err != nil {
			return row, nil, err
		}
		brain, closer, err := b.site.brain()
		if err != nil {
			return row, nil, err
		}
		err = eventually(ctx, "the robot", func() error { _, err := brain.Describe(ctx); return err })
		took = append(took, time.Since(robot.began))
		_ = closer.Close()
		if err == nil && i < starts-1 {
			err = b.site.stop(robot)
		}
		if err != nil {
			return row, nil, err
		}
	}
	s := bench.Of(took)
	return lineRow{What: "robot ready from exec (median)", Unit: "ms", Aim: aimReady, Measured: s.MedianUS / 1000, Robot: &s}, robot, nil
}

// idle is the memory of a robot that nobody asks anything, a while after it started.
func (b *lineBench) idle(robot *benchProcess) ([]lineRow, error) {
	time.Sleep(time.Second)
	mib, err := robot.residentMiB()
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	return []lineRow{{What: "robot's memory, idle", Unit: "MiB", Aim: aimRSS, Measured: mib}}, nil
}

// calls times describe and observe beside an echo of the same bytes.
func (b *lineBench) calls(ctx context.Context, n int) ([]lineRow, error) {
	m, err := b.brain.Describe(ctx)
	if err != nil {
		return nil, err
	}
	var o *contractv1.Observation
	if err := eventually(ctx, "an observation", func() (err error) {
		o, err = b.brain.Observe(ctx, &contractv1.ObserveRequest{})
		return err
	}); err != nil {
		return nil, err
	}
	for name, message := range map[string]proto.Message{echoManifest: m, echoObservation: o} {
		text, err := proto.Marshal(message)
		if err == nil {
			err = os.WriteFile(filepath.Join(b.site.dir, name), text, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := b.site.start(ctx, "echo", "bench", "echo", "--dir", b.site.dir); err != nil {
		return nil, err
	}
	bare := bareLine(b.site.socket(echoSocket))
	defer bare.CloseIdleConnections()
	echo := contractv1connect.NewRobotClient(&http.Client{Transport: asItIs{bare}}, "http://localhost")
	spreads, err := bench.Measure(n,
		func() error { _, err := b.brain.Describe(ctx); return err },
		func() error { _, err := echo.Describe(ctx, &contractv1.DescribeRequest{}); return err },
		func() error { _, err := b.brain.Observe(ctx, &contractv1.ObserveRequest{}); return err },
		func() error { _, err := echo.Observe(ctx, &contractv1.ObserveRequest{}); return err },
	)
	if err != nil {
		return nil, err
	}
	var rows []lineRow
	for i, c := range []struct {
		name    string
		message proto.Message
	}{{"describe", m}, {"observe", o}} {
		robot, echo := spreads[2*i], spreads[2*i+1]
		rows = append(rows, lineRow{
			What: c.name + ", p50 beside a bare echo's", Unit: "×", Aim: aimRatio, Measured: robot.MedianUS / max(echo.MedianUS, 1),
			Bytes: proto.Size(c.message), Robot: &robot, Echo: &echo,
		})
	}
	return rows, nil
}

// bareLine is an HTTP client of a socket that speaks the same HTTP as our line, and nothing else of it.
func bareLine(addr string) *http.Transport {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{
		Protocols: &protocols, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(addr, "unix:"))
		},
	}
}

// asItIs asks for bytes that are not compressed, as our line does.
type asItIs struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a asItIs) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Accept-Encoding")
	return a.next.RoundTrip(r)
}

// events counts deliveries to ten watchers.
func (b *lineBench) events(ctx context.Context, watch time.Duration) ([]lineRow, error) {
	const id = "bench"
	err := eventually(ctx, "a mission", func() error {
		ack, err := b.brain.Start(ctx, &contractv1.StartRequest{MissionId: id, Capability: "move_to", ArgsJson: []byte(`{"x_cm": 20, "y_cm": 10, "z_cm": 15}`)})
		if err == nil && !ack.GetAccepted() {
			err = fmt.Errorf("refused: %s", ack.GetReason())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, err := range b.brain.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) { // to its end
		if err != nil {
			return nil, err
		}
	}
	replayed, err := deliveries(ctx, b.site.socket("robot"), id, watch)
	if err != nil {
		return nil, err
	}
	endless, err := deliveries(ctx, b.site.socket(endlessSocket), id, watch)
	if err != nil {
		return nil, err
	}
	return []lineRow{
		{What: "events a second to ten watchers, a mission's read again and again", Unit: "1/s", Aim: aimEvents, AtLeast: true, Measured: replayed},
		{What: "events a second to ten watchers, the line alone", Unit: "1/s", Aim: aimEvents, AtLeast: true, Measured: endless},
	}, nil
}

// deliveries is how many events a second ten watchers get in all, each over a line of its own.
func deliveries(ctx context.Context, addr, id string, watch time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, watch)
	defer cancel()
	var got atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, watchers)
	begun := time.Now()
	for k := range watchers {
		c, closer, err := connect.Dial(addr, connect.DialOptions{})
		if err != nil {
			return 0, err
		}
		defer func() { _ = closer.Close() }()
		all.Go(func() {
			for ctx.Err() == nil && errs[k] == nil {
				errs[k] = deliver(ctx, c, id, &got)
			}
		})
	}
	all.Wait()
	took := time.Since(begun)
	return float64(got.Load()) / took.Seconds(), errors.Join(slices.Concat(errs)...)
}

func deliver(ctx context.Context, c transport.Client, id string, got *atomic.Int64) error {
	for _, err := range c.Events(ctx, &contractv1.EventsRequest{MissionId: id, FromSeq: 1}) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		got.Add(1)
	}
	return nil
}

func printLine(out io.Writer, n int, rows []lineRow) error {
	t := plainTable()
	t.AppendHeader(table.Row{"the line between a brain and a robot", "aim", "measured", "unit", "", "robot p50 µs", "p99 µs", "echo p50 µs", "p99 µs", "bytes"})
	for _, r := range rows {
		aim, verdict := fmt.Sprintf("≤ %g", r.Aim), "met"
		if r.AtLeast {
			aim = fmt.Sprintf("≥ %g", r.Aim)
		}
		if !r.met() {
			verdict = "MISSED"
		}
		row := table.Row{r.What, aim, fmt.Sprintf("%.4g", r.Measured), r.Unit, verdict}
		for _, s := range []*bench.Spread{r.Robot, r.Echo} {
			if s == nil {
				row = append(row, "", "")
				continue
			}
			row = append(row, fmt.Sprintf("%.0f", s.MedianUS), fmt.Sprintf("%.0f", s.P99US))
		}
		if r.Bytes > 0 {
			row = append(row, r.Bytes)
		}
		t.AppendRow(row)
	}
	_, err := fmt.Fprintf(out, "%d calls of each kind; %s %s/%s, %d cores\n%s\n", n, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), t.Render())
	return err
}
