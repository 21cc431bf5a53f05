package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"interlock/body"
	"interlock/contract"
	"interlock/robot"
	"interlock/robot/audit"
	"interlock/robot/gate"
	"interlock/robot/operator"
	"interlock/transport/connect"
	"interlock/units"
)

// robotOptions are the flags of `interlock robot`.
type robotOptions struct {
	contract, name, listen, driver, operator, plant, latchFile, audit string

	callers []string
}

func newRobot() *cobra.Command {
	var o robotOptions
	c := &cobra.Command{
		Use:   "robot FILE",
		Short: "Serve the robot of a contract file to brains and people",
		Long: `Robot serves the contract in FILE: it judges calls, moves the arm through its
driver, measures, and keeps the record of missions. Brains reach it on --listen, a
loopback HOST:PORT with a token or unix:PATH for this user; nothing there resets a
stop.

Its driver is a process of its own. Without --driver it is started here, ends with
the robot and is started again if it dies; with --driver the robot joins one that
runs, in whatever order they start. A driver that is lost is a fault that the robot
survives. What no sensor of the driver can fill is withdrawn, and said.

Asked to end (Ctrl-C, SIGTERM) it halts what moves and waits for standstill, at
most 5 s. Other commands find it by its name: interlock robots lists them.

What it does is on record before it moves (interlock audit). Without a record that
can be written nothing moves; a stop always works. What needs a person waits for
one (interlock approve).`,
		Example: `  interlock robot robots/so101-tabletop.yaml
  interlock robot robots/so101-tabletop.yaml --driver unix:driver.sock --operator unix:operator.sock`,
		Args: takes(contractArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			o.contract = a[0]
			k, _, err := loadContract(o.contract)
			if err != nil {
				return err
			}
			if err := o.fill(k.Robot); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			s := &served{options: o, contract: k, out: cmd.OutOrStdout(), errOut: cmd.ErrOrStderr(), program: sync.OnceValue(version)}
			return s.run(ctx)
		},
	}
	f := c.Flags()
	f.StringVar(&o.name, "name", "", "what other commands call it (default: the contract's name)")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "where brains reach it: HOST:PORT on the loopback, or unix:PATH")
	f.StringVar(&o.driver, "driver", "", "join the driver at this address instead of starting one")
	f.StringVar(&o.operator, "operator", "", "where a person stops and resets the driver (default: a unix socket of this user)")
	f.StringVar(&o.plant, "plant", "", "the plant of the driver that is started; without it the simulator is inside")
	f.StringVar(&o.latchFile, "latch-file", "", "the latch file of the driver that is started")
	f.StringVar(&o.audit, "audit", "", "folder of the record (default: one in the state folder of this user, by name)")
	f.StringSliceVar(&o.callers, "caller", nil, "name a further caller with a token of its own (NAME.token beside the robot's); what one starts no other can end while it moves or holds a lease")
	return c
}

func (o *robotOptions) fill(robot string) error {
	if o.name == "" {
		o.name = robot
	}
	switch {
	case !robotName.MatchString(o.name):
		return badInput(fmt.Errorf("--name: %q is no name: small letters, digits, _ and -, at most 40", o.name))
	case o.driver != "" && (o.plant != "" || o.latchFile != ""):
		return badInput(errors.New("--plant and --latch-file are for a driver that is started here; --driver names one that runs"))
	}
	for i, c := range o.callers {
		if !robotName.MatchString(c) || slices.Contains(o.callers[:i], c) || c == connect.Owner {
			return badInput(fmt.Errorf("--caller: %q is no name, or is another's: small letters, digits, _ and -, at most 40", c))
		}
	}
	if err := orElse(&o.audit, stateFile, o.name+".audit"); err != nil {
		return err
	}
	if err := orElse(&o.operator, runtimeAddr, o.name+".operator"); err != nil {
		return err
	}
	if err := checkAddresses("--listen", o.listen, "--driver", o.driver, "--operator", o.operator, "--plant", o.plant); err != nil {
		return err
	}
	for _, addr := range []*string{&o.listen, &o.driver, &o.operator, &o.plant} { // others, in other folders, are told of them
		if err := wholePath(addr); err != nil {
			return err
		}
	}
	return nil
}

// wholePath makes the path of a unix socket one that is the same from every folder.
func wholePath(addr *string) error {
	path, unix := strings.CutPrefix(*addr, "unix:")
	if !unix || path == "" {
		return nil
	}
	whole, err := filepath.Abs(path)
	*addr = "unix:" + whole
	return err
}

// served is a robot process.
type served struct {
	options     robotOptions
	contract    *contract.Contract
	out, errOut io.Writer

	speaks sync.Mutex
	robot  *robot.Robot // made once the driver's body is known
	log    *audit.Log
	past   *audit.History
	person string // address of the person's listener

	program func() string // which program this is; the first call takes the time to read it
}

// say tells whoever looks at the process.
func (s *served) say(text string) {
	s.speaks.Lock()
	defer s.speaks.Unlock()
	_, _ = fmt.Fprintln(s.errOut, "robot: "+text) // nobody may be looking
}

// standWithin is how long a robot that is asked to end may take to stand still and close its driver's line. With a second
// for its listener and one for its own driver that makes 5 s in all.
const standWithin = 3 * time.Second

// run serves until ctx ends.
func (s *served) run(ctx context.Context) (err error) {
	me := entry{
		Name: s.options.name, Driver: s.options.driver, Operator: s.options.operator, Audit: s.options.audit,
		ContractHash: s.contract.Hash(), PID: os.Getpid(), Started: time.Now().UTC(),
	}
	if me.Person, err = runtimeAddr(me.Name + ".person"); err != nil {
		return err
	}
	s.person = me.Person
	if _, err := plannerFor(s.contract); err != nil { // before anybody waits for a driver
		return badInput(inFile(s.options.contract, err))
	}
	if err := nobodyCalled(ctx, me.Name); err != nil {
		return err
	}
	l, options, err := s.listen(ctx, &me)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	if s.log, s.past, err = audit.Open(s.options.audit, audit.Options{}); err != nil {
		return badInput(err)
	}
	if whose := s.past.Robot; whose != "" && whose != s.contract.Robot {
		return badInput(errors.Join(fmt.Errorf("%s is the record of a robot %q; --audit names another folder", s.options.audit, whose), s.log.Close()))
	}
	defer func() { err = errors.Join(err, s.closeRecord()) }()
	if me.Driver == "" {
		if me.Driver, err = runtimeAddr(me.Name + ".driver"); err != nil {
			return err
		}
		owned := &ownedDriver{options: s.options, addr: me.Driver, say: s.say}
		end := owned.start(ctx)
		defer end()
	}
	go s.program() // while the driver comes up
	if err := me.write(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, me.remove()) }()
	f := &front{}
	serving, endServing := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- connect.Serve(serving, l, f, options) }()
	if _, err = fmt.Fprintf(s.out, "robot %s: %s; token: %s; stop and reset: %s\n", me.Name, me.Address, orNone(me.TokenFile), me.Operator); err == nil {
		err = s.drive(ctx, f, me.Driver)
	}
	endServing() // after the last events were written
	return errors.Join(err, <-ended)
}

// closeRecord closes the record. A disk that does not answer must not keep a robot that was asked to end.
func (s *served) closeRecord() error {
	closed := make(chan error, 1)
	go func() { closed <- s.log.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(recordWithin):
		return errors.New("the record was not closed: its disk does not answer")
	}
}

// recordWithin is how long the record may take to be closed.
const recordWithin = time.Second

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// listen opens the listener of the brains, and fills in where it is.
func (s *served) listen(ctx context.Context, me *entry) (net.Listener, connect.Options, error) {
	dir, err := runtimeFolder()
	if err != nil {
		return nil, connect.Options{}, err
	}
	me.TokenFile = filepath.Join(dir, me.Name+".token")
	token, err := connect.Token(me.TokenFile)
	if err != nil {
		return nil, connect.Options{}, err
	}
	o := connect.Options{Token: token, Log: newFaultLog(s.say)}
	for _, name := range s.options.callers {
		token, err := connect.Token(filepath.Join(dir, me.Name+"."+name+".token"))
		if err != nil {
			return nil, o, err
		}
		o.Callers = append(o.Callers, connect.Caller{Name: name, Token: token})
	}
	l, err := connect.Listen(ctx, s.options.listen, o)
	if err != nil {
		return nil, o, badInput(err)
	}
	me.Address = l.Addr().String()
	if l.Addr().Network() == "unix" {
		me.Address = "unix:" + me.Address
	}
	return l, o, nil
}

// drive joins the driver and runs the robot until ctx ends. What moves then stands still before it returns.
func (s *served) drive(ctx context.Context, f *front, addr string) error {
	line := newLink(addr, "robot "+s.options.name, s.contract.Hash(), s.say)
	if err := line.join(ctx, func(d body.Description) error { return s.make(line, d) }); err != nil {
		return ignoreEnd(ctx, err)
	}
	f.open(s.robot)
	endListening, err := s.listenToPersons(ctx)
	if err != nil {
		return err
	}
	defer endListening()
	keeping, endKeeping := context.WithCancel(context.WithoutCancel(ctx))
	var keeper sync.WaitGroup
	keeper.Go(func() {
		line.keep(keeping, func(d body.Description) error { return s.another(keeping, d) })
	})
	ended := make(chan error, 1)
	go func() { ended <- s.robot.Run(ctx) }()
	defer func() { endKeeping(); keeper.Wait() }()
	select {
	case err := <-ended:
		return s.atEnd(err)
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return s.atEnd(err)
	case <-time.After(standWithin):
		return fmt.Errorf("the robot did not come to an end within %v: whether the arm stands was not seen; a driver ends any motion by itself after %v without its robot, and its lease lapses after %v",
			standWithin, units.Silence, units.LeaseTTL)
	}
}

// atEnd tells what the driver did not answer any more as the robot ended. A robot that was asked to end has ended all the same,
// and its driver holds by itself; only a motion whose standstill nobody saw is a failure.
func (s *served) atEnd(err error) error {
	if e, is := errors.AsType[*robot.EndError](err); is && !e.NotStill {
		s.say(e.Error())
		return nil
	}
	return err
}

// aligned holds the contract against a body.
func (s *served) aligned(d body.Description) (contract.Alignment, *gate.Gate, error) {
	planner, err := plannerFor(s.contract)
	if err != nil {
		return contract.Alignment{}, nil, badInput(err)
	}
	a := robot.Align(s.contract, d, planner)
	for _, k := range s.contract.Capabilities {
		if why := a.Withdrawn[k.Name]; why != "" {
			s.say("withdrawn: " + k.Name + ": " + why)
		}
	}
	s.say(fmt.Sprintf("driver %s (%s): %d of %d capabilities", d.Name, d.Mode, len(s.contract.Capabilities)-len(a.Withdrawn), len(s.contract.Capabilities)))
	return a, gate.New(s.contract, a, planner), nil
}

// make makes the robot for the body.
func (s *served) make(line *link, d body.Description) error {
	a, g, err := s.aligned(d)
	if err != nil {
		return err
	}
	s.robot, err = robot.New(robot.Config{
		Contract: s.contract, Alignment: a, Gate: g, Body: line, Pacer: robot.Waiting(), MaxMissions: missionBudget, Beat: units.Beat,
		Journal: s.log, Past: s.past, Version: s.program(), Desk: operator.NewDesk(operator.Config{FirstNumber: s.past.RequestNumber + 1}),
	})
	return err
}

// listenToPersons opens the listener for what a person decides at the robot. end closes it.
func (s *served) listenToPersons(ctx context.Context) (end func(), err error) {
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l, err := operator.Listen(ctx, s.person)
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- operator.Serve(serving, l, s.robot.Person()) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			s.say("the person's listener: " + err.Error())
		}
	}, nil
}

// another takes a body that came back as another one. Joints that differ are not moved: limits and kinematics are theirs.
func (s *served) another(ctx context.Context, d body.Description) error {
	a, g, err := s.aligned(d)
	if err != nil {
		return err
	}
	return s.robot.Realign(ctx, a, g)
}

// nobodyCalled refuses a name that another robot answers to.
func nobodyCalled(ctx context.Context, name string) error {
	e, err := entryOf(name)
	if err != nil || !alive(e.PID) {
		return nil //nolint:nilerr // there is none, or a damaged one, which this robot's takes the place of
	}
	l := newNamedLine(name, "")
	defer l.end()
	ctx, done := context.WithTimeout(ctx, lineWithin)
	defer done()
	if _, err := l.Describe(ctx); answers(err) {
		return exitStatus{exitRefused, fmt.Errorf("a robot %q of this user runs already, as process %d; --name gives this one another", name, e.PID)}
	}
	return nil
}

func alive(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }
