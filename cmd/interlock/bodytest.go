package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"interlock/body"
	"interlock/body/bodytest"
	"interlock/body/remote"
)

// bodytestOptions are the flags of `interlock bodytest`.
type bodytestOptions struct {
	driver, operator, body, speak string

	only   []string
	asJSON bool
}

func newBodytest() *cobra.Command {
	var o bodytestOptions
	c := &cobra.Command{
		Use:   "bodytest {--driver ADDR [--operator ADDR] | --body ADDR} [-- CMD ...]",
		Short: "Hold any driver or body process against the conformance suite",
		Long: `Bodytest reaches a process that speaks the driver protocol and runs the conformance
suite on it as a black box, in real time. With a command after --, it starts that
first, once more for what only a restart shows, and ends it afterwards.

--driver is a driver process, which owes everything; with --operator, where a person
stops and resets it, the suite asks for its latch too, and says so where it does not.
--body is a body in any language that "interlock driver remote" is to stand in front
of: it owes neither latch nor limits nor expiry, and speaks JSON.

The suite moves the first joint by 0.05 rad, and a driver that fails may move it
further: with hardware, stand clear. It resets no stop but its own; a driver that is
stopped when it begins is not touched.

Exit codes: 0 all passed; 4 a check failed; 7 it was stopped when the suite began; 1
nothing answered.`,
		Example: `  interlock bodytest --body 127.0.0.1:7460 -- python3 body/remote/example/driver.py 7460
  interlock bodytest --driver unix:d.sock --operator unix:o.sock -- \
      interlock driver sim --contract robots/so101-tabletop.yaml --listen unix:d.sock --operator unix:o.sock --latch-file latch.json`,
		RunE: func(cmd *cobra.Command, a []string) error {
			if dash := cmd.ArgsLenAtDash(); dash > 0 || dash < 0 && len(a) > 0 {
				return badInput(fmt.Errorf("%q is too much; the command to start stands behind -- (usage: %s)", a[0], cmd.UseLine()))
			}
			suite, err := o.suite(len(a) > 0)
			if err != nil {
				return badInput(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if suite.command, ctx, err = startCommand(ctx, a, cmd.ErrOrStderr()); err != nil {
				return badInput(err)
			}
			return errors.Join(suite.run(ctx, cmd.OutOrStdout()), suite.command.end())
		},
	}
	f := c.Flags()
	f.StringVar(&o.driver, "driver", "", "where a driver process listens")
	f.StringVar(&o.operator, "operator", "", "where a person stops and resets that driver")
	f.StringVar(&o.body, "body", "", "where a body process listens")
	f.StringVar(&o.speak, "speak", "proto", "how to speak to a driver: proto (as robots do) or json")
	f.StringArrayVar(&o.only, "only", nil, "run this check only; may be given again")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object per check")
	return c
}

// bodySuite is what one run asks of one process.
type bodySuite struct {
	bodytestOptions
	addr    string
	line    remote.Options
	checks  []bodytest.Check
	unable  []checkSaid // what cannot be asked, and what that needs
	command *started    // what was started for it; nil: nothing
}

func (o *bodytestOptions) suite(ours bool) (*bodySuite, error) {
	s := &bodySuite{bodytestOptions: *o, line: remote.Options{Holder: "bodytest", CallTimeout: time.Second}}
	switch {
	case (o.driver == "") == (o.body == ""):
		return nil, errors.New("--driver ADDR or --body ADDR, one of them, says what is tested")
	case o.operator != "" && o.driver == "":
		return nil, errors.New("--operator is a driver's; a body has no latch")
	case o.speak != "proto" && o.speak != "json":
		return nil, fmt.Errorf("--speak: %q is neither proto nor json", o.speak)
	case o.body != "":
		s.addr, s.line.JSON, s.checks = o.body, true, bodytest.BareChecks()
	case o.operator != "":
		s.addr, s.line.JSON, s.checks = o.driver, o.speak == "json", append(bodytest.ProcessChecks(), bodytest.LatchChecks()...)
	default:
		s.addr, s.line.JSON, s.checks = o.driver, o.speak == "json", bodytest.ProcessChecks()
		s.cannot(bodytest.LatchChecks(), "it needs --operator")
	}
	if ours {
		s.checks = append(s.checks, bodytest.RestartChecks()...)
	} else {
		s.cannot(bodytest.RestartChecks(), "it needs the command that starts it, behind --")
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(s.checks, func(c bodytest.Check) bool { return c.Name == name }) {
			return nil, fmt.Errorf("--only: there is no check %q here", name)
		}
	}
	if len(o.only) > 0 {
		left := func(c bodytest.Check) bool { return !slices.Contains(o.only, c.Name) }
		s.checks, s.unable = slices.DeleteFunc(s.checks, left), nil
	}
	return s, checkAddresses("--driver", o.driver, "--operator", o.operator, "--body", o.body)
}

func (s *bodySuite) cannot(checks []bodytest.Check, why string) {
	for _, c := range checks {
		s.unable = append(s.unable, checkSaid{Check: c.Name, Result: "not asked", Says: why})
	}
}

// run holds the process against the suite, check by check, each on a line of its own.
func (s *bodySuite) run(ctx context.Context, out io.Writer) error {
	failed := 0
	if err := s.there(ctx); err != nil {
		return err
	}
	for _, c := range s.checks {
		err := errors.Join(s.check(ctx, c), s.tidy(ctx))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		said := checkSaid{Check: c.Name, Result: "ok"}
		if err != nil {
			failed++
			said.Result, said.Says = "failed", err.Error()
		}
		if err := said.print(out, s.asJSON); err != nil {
			return err
		}
	}
	for _, said := range s.unable {
		if err := said.print(out, s.asJSON); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exitStatus{exitNotDone, fmt.Errorf("%d of %d checks failed", failed, len(s.checks))}
	}
	return nil
}

// maxReply is how much of a reply is read.
const maxReply = 1 << 20

// checkSaid is what came of a check.
type checkSaid struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok, failed, not asked
	Says   string `json:"says,omitempty"`
}

func (c *checkSaid) print(out io.Writer, asJSON bool) (err error) {
	if asJSON {
		return printJSON(out, c)
	}
	text := c.Result
	if c.Result == "failed" {
		text = "FAILED"
	}
	if c.Says != "" {
		text += ": " + shown(c.Says)
	}
	_, err = fmt.Fprintf(out, "%-50s %s\n", c.Check, text)
	return err
}

// bodyThere is how long a process may take until it answers.
const bodyThere = 10 * time.Second

// there waits until the process answers. One that is stopped is a person's matter.
func (s *bodySuite) there(ctx context.Context) error {
	switch latch, err := s.answers(ctx); {
	case err != nil:
		return err
	case latch.Stopped:
		return exitStatus{exitStopped, fmt.Errorf("it is stopped, number %d (%s): whoever knows why resets it first%s", latch.Number, shown(latch.Reason), s.resetting(latch.Number))}
	}
	return nil
}

// answers waits until the process answers, and tells its latch.
func (s *bodySuite) answers(ctx context.Context) (latch body.Latch, err error) {
	within, cancel := context.WithTimeout(ctx, bodyThere)
	defer cancel()
	err = whenThere(within, io.Discard, func() (err error) { latch, err = s.latch(within); return err })
	switch {
	case ctx.Err() != nil:
		return latch, context.Cause(ctx)
	case err != nil:
		_, err = s.latch(ctx)
		return latch, fmt.Errorf("no body answers at %s: %w", s.addr, err)
	}
	return latch, nil
}

// resetting is the command that resets a stop, where the person's line is known.
func (s *bodySuite) resetting(number uint64) string {
	if s.operator == "" {
		return ""
	}
	return fmt.Sprintf(": interlock reset %d --operator %s", number, word(s.operator))
}

func (s *bodySuite) latch(ctx context.Context) (body.Latch, error) {
	d, err := remote.Dial(ctx, s.addr, s.line)
	if err != nil {
		return body.Latch{}, err
	}
	o, err := d.Watch()
	return o.Latch, errors.Join(err, d.Close())
}

// check runs one check.
func (s *bodySuite) check(ctx context.Context, c bodytest.Check) error {
	d, err := remote.Dial(ctx, s.addr, s.line)
	if err != nil {
		return err
	}
	return errors.Join(c.Run(&bodyLine{d, ctx, s, time.Now()}), d.Close())
}

// tidy resets a stop that a check left behind. A check that passes leaves none: the driver stopped by itself.
func (s *bodySuite) tidy(ctx context.Context) error {
	l, err := s.latch(ctx)
	if err != nil || !l.Stopped {
		return err
	}
	err = fmt.Errorf("it is left stopped, number %d (%s)", l.Number, l.Reason)
	if s.operator != "" {
		err = errors.Join(err, s.person().Reset(l.Number))
	}
	return err
}

func (s *bodySuite) person() latch {
	return distantLatch{func() (string, error) { return s.operator, nil }}
}

// bodyLine is a line to a process whose time moves by itself.
type bodyLine struct {
	*remote.Driver
	ctx   context.Context //nolint:containedctx // Advance has none
	suite *bodySuite
	began time.Time
}

var (
	_ bodytest.Process   = (*bodyLine)(nil)
	_ bodytest.Restarted = (*bodyLine)(nil)
)

// Advance implements body.Stepper by waiting.
func (l *bodyLine) Advance(by time.Duration) error {
	switch {
	case !l.Opened():
		return body.ErrNotOpen
	case by <= 0:
		return fmt.Errorf("cannot wait for %v", by)
	}
	return l.Wait(by)
}

// Wait implements bodytest.Line.
func (l *bodyLine) Wait(by time.Duration) error {
	select {
	case <-time.After(by):
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

// Passed implements bodytest.Clocked.
func (l *bodyLine) Passed() time.Duration { return time.Since(l.began) }

// Post implements bodytest.Line.
func (l *bodyLine) Post(method, text string, header ...string) (status int, reply []byte, err error) {
	client, base, _ := remote.LabLine(l.suite.addr) // the client of any line
	defer client.CloseIdleConnections()
	if !strings.HasPrefix(method, "/") {
		method = "/interlock.driver.v1.Driver/" + method
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.suite.line.CallTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, base+method, strings.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(header, 2) {
		q.Header.Set(pair[0], pair[1])
	}
	r, err := client.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = r.Body.Close() }()
	reply, err = io.ReadAll(io.LimitReader(r.Body, maxReply))
	return r.StatusCode, reply, err
}

// Another implements bodytest.Line.
func (l *bodyLine) Another() body.Stepper {
	o := l.suite.line
	o.OpenWithin = time.Second
	return &bodyLine{remote.Expect(l.suite.addr, l.Describe(), o), l.ctx, l.suite, l.began}
}

// Person implements bodytest.Process.
func (l *bodyLine) Person() bodytest.Latch { return l.suite.person() }
