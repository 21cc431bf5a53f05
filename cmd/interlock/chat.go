package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"interlock/body"
	"interlock/brain/agent"
	"interlock/brain/llm"
	"interlock/brain/llm/phrase"
	contractv1 "interlock/contract/v1"
	"interlock/robot"
	"interlock/transport"
)

// chatFlags are how a conversation is set up.
type chatFlags struct {
	choice                 robotChoice
	contract, model, goal  string
	robot, token, operator string
	asJSON, noColour       bool
	folded                 bool // with a robot in this process, whatever runs
	found                  bool // robot was named by nobody: it is the one that runs
	alone                  bool // nobody asked for a robot in this process: none runs
	stops, cancels         []string
	patience               time.Duration

	provider llm.Provider                            // in place of the model named; nil but in tests
	through  func(transport.Client) transport.Client // what stands in the line to the robot; nil but in tests
}

func newChat() *cobra.Command {
	var f chatFlags
	c := &cobra.Command{
		Use:   "chat [ROBOT]",
		Short: "Type to a robot and watch what it does",
		Long: `Chat is a conversation with a robot. The brain is a built-in phrase reader unless
--model names another one.

ROBOT is one that runs elsewhere (interlock robot), by name or address. It may start
later, end and come back, or offer other verbs; a typed stop goes to its driver and
needs no robot. Without ROBOT it is the robot of this user that runs. If none does,
or with --folded or --contract, it is one in this process: the embedded simulator in
real time, with the contract's objects on the table.

"stop" goes from the keyboard to the driver, never through the brain; it latches,
and "reset N" permits motion again. It is a latched software stop, not an
emergency stop in the sense of ISO 13850. "cancel" and "never mind" end a request.
Without a goal a request is carried out and measured, and ends unverified.

New words supersede a request that is open. Lines that come in one piece through a
pipe are taken in turn. Ctrl-C stops the robot; a second one within 2 s quits.

Exit codes: 0 the conversation ended, 1 our error, or the last stop was not
confirmed, 2 bad input, 7 ended by Ctrl-C.`,
		Example: `  interlock chat
  interlock chat --goal 'held("red cube")'
  interlock chat so101
  interlock chat --folded
  printf 'pick up the red cube\nput it in the tray\n' | interlock chat --json`,
		Args: takes(robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) (err error) {
			if f.robot, err = f.choice.of(a, 0); err != nil {
				return err
			}
			if err := f.choose(cmd.Context(), cmd.Flags().Changed("contract")); err != nil {
				return err
			}
			signals := make(chan os.Signal, 2)
			signal.Notify(signals, os.Interrupt)
			defer signal.Stop(signals)
			return f.chat(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), signals)
		},
	}
	c.Flags().StringVar(&f.contract, "contract", "robots/so101-tabletop.yaml", "contract file of a robot in this process")
	c.Flags().BoolVar(&f.folded, "folded", false, "talk to a simulated robot in this process, whatever robots run")
	f.choice.add(c, 0, nil)
	c.Flags().Lookup("robot").Usage = "name or address of a robot that runs elsewhere, as the argument ROBOT (default: the one that runs)"
	c.Flags().StringVar(&f.token, "token-file", "", "with an address as ROBOT: the file of its token")
	c.Flags().StringVar(&f.operator, "operator", "", "with an address as ROBOT: where its driver is stopped and reset")
	c.Flags().StringVar(&f.model, "model", phrase.Name, "brain: "+phrase.Name+", "+modelForms)
	c.Flags().StringVar(&f.goal, "goal", "", "goal of the first request, as a condition over the contract's words")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object per event and line")
	c.Flags().BoolVar(&f.noColour, "no-colour", false, "print without colours (so does the variable NO_COLOR)")
	c.Flags().StringSliceVar(&f.stops, "stop-words", []string{"stop", "halt", "freeze", "stopp", "dur"}, "whole utterances that stop the robot")
	c.Flags().StringSliceVar(&f.cancels, "cancel-words", []string{"cancel", "never mind", "nevermind", "forget it"}, "whole utterances that cancel a request")
	c.Flags().DurationVar(&f.patience, "model-timeout", 2*time.Minute, "how long one reply of the model may take")
	return c
}

// spots are where a conversation's objects lie, in metres: in reach, and outside the tray.
func spots() [][2]float64 { return [][2]float64{{0.22, 0.03}, {0.20, 0.12}, {0.24, -0.05}} }

// chat converses until the person ends it.
func (f *chatFlags) chat(ctx context.Context, in io.Reader, out io.Writer, signals <-chan os.Signal) (err error) {
	s, err := f.session(ctx)
	if err != nil {
		return err
	}
	stopAll, cancelAll := context.WithCancel(context.WithoutCancel(ctx)) // a Ctrl-C is ours to answer, not the context's
	s.ctx = stopAll
	if f.through != nil {
		s.robot.client = f.through(s.robot.client)
	}
	src, screen, closeSource, err := f.open(in, out, s.interrupt)
	if err != nil {
		cancelAll()
		return errors.Join(err, s.robot.end())
	}
	c := newConsole(screen, f.asJSON, palette{f.colours(out)})
	s.tell, s.echo = c.tell, !src.live() || f.asJSON
	s.greet(f)
	if f.found {
		s.note(f.robot + " runs, so this conversation is with it; interlock chat --folded is one with a simulated robot of its own")
	}
	if s.distant != nil {
		s.wg.Go(func() { s.distant.watch(s.ctx, s.note) })
	}
	if f.found || f.alone {
		s.wg.Go(func() { f.watchForRobots(s.ctx, s.tell) })
	}
	s.converse(ctx, src, signals)
	err = errors.Join(s.leave(cancelAll), c.close(), closeSource())
	if err == nil && s.killed {
		return exitStatus{exitStopped, errors.New("ended by Ctrl-C; the robot was stopped first")}
	}
	return err
}

// session builds the brain, and the robot or the line to it.
func (f *chatFlags) session(ctx context.Context) (*session, error) {
	s := &session{
		goal: f.goal, stops: listOf(f.stops), cancels: listOf(f.cancels), slow: &lateness{},
		changed: make(chan struct{}), over: make(chan struct{}),
	}
	var err error
	switch {
	case len(s.stops) == 0:
		return nil, badInput(errors.New("--stop-words: a conversation without a word that stops the robot is not begun"))
	case f.patience <= 0:
		return nil, badInput(errors.New("--model-timeout: it must be above zero"))
	case f.robot == "" && (f.token != "" || f.operator != ""):
		return nil, badInput(errors.New("--token-file and --operator are for a robot that runs elsewhere, which ROBOT names"))
	}
	if err := checkAddress("--operator", f.operator); err != nil {
		return nil, err
	}
	if s.agent, err = f.brain(); err != nil {
		return nil, err
	}
	if f.robot != "" {
		return s, f.distant(s)
	}
	return s, f.here(ctx, s)
}

// here folds the robot into this process.
func (f *chatFlags) here(ctx context.Context, s *session) (err error) {
	if s.contract, _, err = loadContract(f.contract); err != nil {
		return err
	}
	if f.goal != "" {
		if _, err := s.contract.Goal(f.goal); err != nil {
			return badInput(fmt.Errorf("--goal: %w", err))
		}
	}
	looks := map[string]bool{}
	for _, k := range s.contract.Capabilities {
		looks[k.Name] = k.ReadOnly
	}
	s.looks = func(verb string) bool { return looks[verb] }
	s.name, s.mode = s.contract.Robot, string(body.ModeSim)
	cfg := tableFor(s.contract, spots()...)
	cfg.Tray = true
	s.robot, err = foldPaced(context.WithoutCancel(ctx), s.contract, cfg, func(d body.Stepper) robot.Pacer { return robot.RealTime(d, s.slow.note) })
	return err
}

// brain is the agent's set-up for the model that the flags name.
func (f *chatFlags) brain() (agent.Config, error) {
	start := time.Now()
	cfg := agent.Config{Now: func() time.Duration { return time.Since(start) }}
	switch {
	case f.provider != nil:
		cfg.Provider = patient{f.provider, f.patience}
		return cfg, nil
	case f.model == phrase.Name:
		cfg.Provider = patient{phrase.New(), f.patience}
		return cfg, nil
	}
	b, err := brainNamed(f.model, os.LookupEnv)
	if err != nil {
		return cfg, badInput(err)
	}
	cfg.Provider, cfg.Profile, cfg.Sampling = patient{b.Provider, f.patience}, b.Profile, b.Sampling
	cfg.Native, cfg.Constrained = b.Native, b.Constrained
	return cfg, nil
}

// open makes lines of the input and a screen of the output.
func (f *chatFlags) open(in io.Reader, out io.Writer, interrupt func()) (source, io.Writer, func() error, error) {
	file, isFile := in.(*os.File)
	screen, onScreen := out.(*os.File)
	if !isFile || !onScreen || f.asJSON || !term.IsTerminal(int(file.Fd())) || !term.IsTerminal(int(screen.Fd())) {
		return newPiped(in), out, func() error { return nil }, nil
	}
	k, err := openKeyboard(file, screen, interrupt)
	if err != nil {
		return nil, nil, nil, err
	}
	return k, k.term, k.restore, nil
}

func (f *chatFlags) colours(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && !f.noColour && !f.asJSON && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

func (s *session) greet(f *chatFlags) {
	says := "Say what it should do"
	if s.distant == nil { // one that runs elsewhere is asked beside the conversation, which must hear a stop at once
		m, err := s.robot.client.Describe(s.ctx)
		if err == nil {
			says += suchAs(m)
		}
	}
	s.tell(chatEvent{
		Event: evHello, Robot: s.name, Mode: s.mode, Where: s.where, Model: s.agent.Provider.Name(),
		Says: says + ". \"" + s.stops[0] + "\" stops it at once; \"help\" lists the rest.",
	})
	if f.goal != "" {
		s.showGoal(f.goal)
	}
}

// suchAs are two utterances that the robot's verbs allow; empty: none is known.
func suchAs(m *contractv1.Manifest) string {
	list := phrase.Examples(func(verb string) bool {
		return slices.ContainsFunc(m.GetCapabilities(), func(c *contractv1.Capability) bool { return c.GetName() == verb })
	})
	if len(list) == 0 {
		return ""
	}
	return ", such as \"" + strings.Join(list[:min(2, len(list))], "\" or \"") + "\""
}

// converse takes lines until the person ends, the input does and what was asked is carried out, or ctx ends other than by
// a signal.
func (s *session) converse(ctx context.Context, src source, signals <-chan os.Signal) {
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			l, err := src.next()
			if err != nil {
				return
			}
			s.take(l)
		}
	}()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-heard:
			if !src.live() {
				s.settled(s.over)
			}
		case <-s.over:
		}
	}()
	ended := ctx.Done()
	for {
		select {
		case <-finished:
			s.end(false)
			return
		case <-signals:
			s.interrupt()
		case <-ended:
			ended = nil
			if context.Cause(ctx) == ctx.Err() { //nolint:errorlint // else it was a signal, which comes through signals as well and calls itself a Canceled too
				s.end(false)
			}
		}
	}
}

// leave ends what is under way, and then the robot, which halts and closes its body. It waits for both within bounds.
func (s *session) leave(cancelAll context.CancelFunc) error {
	s.mu.Lock()
	x := s.current
	s.mu.Unlock()
	if x != nil {
		s.cancel()
	}
	give := make(chan struct{})
	t := time.AfterFunc(endWithin, func() { close(give) })
	s.settled(give)
	t.Stop()
	cancelAll()
	last := make(chan struct{})
	t = time.AfterFunc(endWithin, func() { close(last) })
	s.settled(last)
	t.Stop()
	err := s.robot.end()
	s.wg.Wait()
	says := "bye"
	s.mu.Lock()
	unsure := s.unsure
	s.mu.Unlock()
	switch l := s.robot.guard.Latch(); {
	case l.Stopped:
		says = "bye; the robot was left stopped"
		if s.distant != nil {
			says += "; to permit motion again: " + s.distant.resetting(l.Number, s.operator)
		}
	case unsure:
		says = "bye; " + errNotStopped.Error()
		err = errors.Join(err, errNotStopped)
	}
	s.tell(chatEvent{Event: evBye, Says: says})
	return err
}
