package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"interlock/body"
	"interlock/body/guard"
	"interlock/body/plant"
	"interlock/body/remote"
	"interlock/body/sim"
	"interlock/contract"
	"interlock/eval/lab"
)

// driverOptions are the flags of `interlock driver`.
type driverOptions struct {
	name, contract, listen, operator, latchFile, plant, labSocket, plantLab string

	owned bool // it ends when its standard input does
}

func newDriver() *cobra.Command {
	var o driverOptions
	c := &cobra.Command{
		Use:   "driver NAME",
		Short: "Own a body: its stop latch, its limits, and its hold on silence",
		Long: `Driver owns one body, in a process of its own beside the hardware. It refuses
setpoints that are expired, too fast or from anybody but the holder of the lease;
it decelerates and holds 300 ms after the robot fell silent; it owns the stop latch
with its number and its file, which no other driver may keep meanwhile, and comes up
stopped if it was stopped, or if the driver before it died, in a motion or at rest.

Robots reach it on --listen, where there is a stop and no reset. A person reaches
stop and reset on --operator, a unix socket that hears this user alone. The latch is a latched software stop, not an
emergency stop in the sense of ISO 13850.

Drivers: sim (with the simulator inside, or --plant ADDR of an interlock plant) and
remote (any process at --plant ADDR that speaks the driver protocol: bring a robot
in another language that way). Other addresses are unix:PATH or a loopback HOST:PORT.`,
		Example: "  interlock driver sim --contract robots/so101-tabletop.yaml",
		Args:    takes(argument{name: "NAME", says: driverNames}),
		RunE: func(cmd *cobra.Command, a []string) error {
			o.name = a[0]
			if err := o.validate(); err != nil {
				return err
			}
			k, _, err := loadContract(o.contract)
			if err != nil {
				return err
			}
			if err := o.fill(k.Robot); err != nil {
				return err
			}
			ctx := cmd.Context()
			if o.owned {
				var end func()
				ctx, end = untilEOF(ctx, cmd.InOrStdin())
				defer end()
			}
			return ownBody(ctx, k, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.contract, "contract", "", "the contract file, which must be given; its limits are the ceiling")
	f.StringVar(&o.listen, "listen", "", "where robots reach it (default: a unix socket of this user)")
	f.StringVar(&o.operator, "operator", "", "unix:PATH where a person stops and resets it (default: a socket of this user)")
	f.StringVar(&o.latchFile, "latch-file", "", "where the stop latch outlives the process (default: in the user's state folder)")
	f.StringVar(&o.plant, "plant", "", "the plant's address; without it the simulator is inside")
	f.StringVar(&o.labSocket, "lab-socket", "", "serve set-up, truth and lockstep to an evaluation here")
	f.StringVar(&o.plantLab, "plant-lab", "", "the plant's lab socket: its world and its time are an evaluation's, which comes in by --lab-socket; no latch is kept")
	f.BoolVar(&o.owned, "owned", false, "end when standard input does, which is when the process that started it is gone")
	return c
}

// driverNames are the drivers there are.
const driverNames = "sim, or remote with --plant ADDR"

// untilEOF is a context that ends with the reader.
func untilEOF(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, r)
	}()
	return ctx, cancel
}

// validate refuses flags that cannot be meant; the error is bad input.
func (o *driverOptions) validate() (err error) {
	switch {
	case o.name != "sim" && o.name != "remote":
		err = fmt.Errorf("NAME: there is no driver %q; it is %s", o.name, driverNames)
	case o.contract == "":
		err = errors.New("--contract is missing: the contract file, such as robots/so101-tabletop.yaml; its limits are the driver's")
	case o.name == "remote" && o.plant == "":
		err = errors.New("--plant is missing: driver remote stands in front of a body at that address, unix:PATH or HOST:PORT")
	case o.operator != "" && !strings.HasPrefix(o.operator, "unix:"):
		err = fmt.Errorf("--operator: %q is no unix:PATH, and a person is heard nowhere else: whoever reaches a port could reset a stop", o.operator)
	case o.labSocket != "" && o.plant != "" && o.plantLab == "":
		err = errors.New("--lab-socket: the plant is another process; give the flag to it, or name its own with --plant-lab")
	case o.plantLab != "" && (o.name != "sim" || o.plant == "" || o.labSocket == "" || o.latchFile != ""):
		err = errors.New("--plant-lab is for driver sim with --plant and --lab-socket, and without --latch-file")
	default:
		return checkAddresses("--listen", o.listen, "--operator", o.operator, "--plant", o.plant, "--lab-socket", o.labSocket, "--plant-lab", o.plantLab)
	}
	return badInput(err)
}

func (o *driverOptions) fill(robot string) error {
	err := errors.Join(
		orElse(&o.listen, runtimeAddr, robot+".driver"),
		orElse(&o.operator, runtimeAddr, robot+".operator"),
	)
	if o.plantLab != "" { // nothing outlives an evaluation
		return err
	}
	return errors.Join(err, orElse(&o.latchFile, stateFile, robot+".latch"))
}

// inner is the body of the driver. inside is the simulator, where it is in this process.
func (o *driverOptions) inner(ctx context.Context, k *contract.Contract, errOut io.Writer) (b body.Driver, inside *sim.Driver, err error) {
	options := remote.Options{Holder: "driver of " + k.Robot}
	if o.name == "remote" { // what it is only it can say
		options.JSON = true
		err = whenThere(ctx, errOut, func() (err error) { b, err = remote.Dial(ctx, o.plant, options); return err })
		return b, nil, err
	}
	if inside, err = sim.New(tableFor(k, [2]float64{0.22, 0.03})); err != nil {
		return nil, nil, err
	}
	if o.plant != "" {
		return remote.Expect(o.plant, inside.Describe(), options), nil, nil
	}
	return inside, inside, nil
}

// stand is what the process serves: the body behind its guard.
func (o *driverOptions) stand(ctx context.Context, k *contract.Contract, errOut io.Writer) (*stand, error) {
	cfg := lab.GuardConfig(k)
	cfg.Leased, cfg.LatchFile = true, o.latchFile
	if o.plantLab != "" {
		table, err := sim.New(sim.DefaultConfig()) // every simulated body is described alike
		if err != nil {
			return nil, err
		}
		return newPacedStand(&paced{addr: o.plant, desc: table.Describe(), lab: plant.DialLab(o.plantLab)}, cfg), nil
	}
	inner, inside, err := o.inner(ctx, k, errOut)
	if err != nil {
		return nil, err
	}
	s := newStand(inside, cfg)
	s.now = guard.New(inner, s.cfg)
	return s, nil
}

// ownBody serves the body until ctx ends, or a person ends it.
func ownBody(ctx context.Context, k *contract.Contract, o driverOptions, stdout, stderr io.Writer) (err error) {
	ctx, stop := untilSignal(ctx) // from before the latch file says that it runs
	defer stop()
	signal.Ignore(syscall.SIGPIPE) // whether anybody reads what it says is no matter of the body's
	out, errOut := newTeller(stdout), newTeller(stderr)
	defer endTelling(out, errOut)
	unlock, err := o.lockLatch(ctx)
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	defer func() { _ = unlock() }()
	s, err := o.stand(ctx, k, errOut)
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	if err := s.guard().Recall(); err != nil {
		return o.latchFault(err)
	}
	defer func() {
		if !s.began() { // as where a listener cannot be opened
			err = errors.Join(err, s.guard().Close())
		}
	}()
	s.say = func(words string) { _, _ = fmt.Fprintf(out, "driver %s: %s\n", o.name, words) }
	s.operator = o.operator
	services := []service{
		{flag: "--listen", addr: o.listen, handler: remote.DriverHandlerOf(s, k.Hash())},
		{flag: "--operator", addr: o.operator, handler: remote.OperatorHandler(s), person: true},
	}
	s.untold() // what the first line says
	says := fmt.Sprintf("driver %s: %s; stop and reset: %s; %s", o.name, o.listen, o.operator, latchWords(s.Latch(), o.operator))
	if o.labSocket != "" {
		services = append(services, service{flag: "--lab-socket", addr: o.labSocket, handler: remote.LabHandler(plant.Serve(s))})
		says += "; lab: " + o.labSocket
	}
	ready := func() error { return out.told(ctx, says+"\n") }
	err = together(ctx, services, ready, func(ctx context.Context) error { return s.run(ctx, errOut) })
	if !s.began() {
		return ignoreEnd(ctx, err) // it was ended before anybody read that it is ready
	}
	return err
}

// Times of a latch file that another driver keeps.
const (
	lockWithin = time.Second // that driver is given to end in, where its robot was killed and this one's was started at once
	lockRetry  = 20 * time.Millisecond
)

// lockLatch claims the latch file until the process ends, and goes by its own name from then on. A driver that a robot started waits
// a little for the one before it, which ends; to a person it is said at once.
func (o *driverOptions) lockLatch(ctx context.Context) (unlock func() error, err error) {
	if o.latchFile == "" {
		return func() error { return nil }, nil
	}
	for waited := time.Duration(0); ; waited += lockRetry {
		var kept string
		if kept, unlock, err = guard.LockLatch(o.latchFile); err == nil {
			o.latchFile = kept
			return unlock, nil
		}
		if !o.owned || waited >= lockWithin || !errors.Is(err, guard.ErrLatchTaken) {
			return nil, o.latchFault(err)
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (o *driverOptions) latchFault(err error) error {
	help := "--latch-file names another place"
	if errors.Is(err, guard.ErrLatchTaken) {
		help = "end that driver, or name another file"
	}
	return badInput(fmt.Errorf("--latch-file %s: %w; %s", word(o.latchFile), err, help))
}

// latchWords says how a latch stands, and how a person opens it at this address.
func latchWords(l body.Latch, operator string) string {
	if !l.Stopped {
		return "ready"
	}
	_ = wholePath(&operator) // a path that cannot be made whole is shown as it was given
	return fmt.Sprintf("stopped, number %d (%s); to permit motion: interlock reset %d --operator %s", l.Number, shown(l.Reason), l.Number, word(operator))
}

// openRetry is the pause between two attempts to open a body that is not there yet.
const openRetry = 200 * time.Millisecond

// whenThere tries until it works; start order does not matter. It says once why it waits.
func whenThere(ctx context.Context, errOut io.Writer, try func() error) error {
	for told := false; ; told = true {
		err := try()
		if err == nil {
			return nil
		}
		if !told {
			if _, err := fmt.Fprintf(errOut, "driver: waiting for the body: %v\n", err); err != nil {
				return err
			}
		}
		select {
		case <-time.After(openRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
