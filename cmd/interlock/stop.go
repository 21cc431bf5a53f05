package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"interlock/body/remote"
)

// Marks of a driver's default sockets: of its operator line, and of the line that robots reach.
const (
	operatorSuffix = ".operator"
	driverSuffix   = ".driver"
)

// operators are the operator lines that a person may mean: of one robot, or of every robot of this user. A robot need not
// run, or ever have run: the driver's own socket is enough.
func operators(who, addr string) (list map[string]string, err error) {
	if addr != "" {
		return map[string]string{who: addr}, checkAddress("--operator", addr)
	}
	known, err := knownOperators()
	switch {
	case err != nil || who == "":
		return known, err
	case known[who] != "":
		return map[string]string{who: known[who]}, nil
	}
	e, err := find(who)
	if err != nil {
		return nil, err
	}
	if e.Operator == "" {
		return nil, badInput(fmt.Errorf("it is not known where the driver of %s is stopped; --operator ADDR says it", who))
	}
	return map[string]string{e.Name: e.Operator}, nil
}

func knownOperators() (map[string]string, error) {
	dir, err := runtimeFolder()
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	for _, f := range files {
		if name, is := strings.CutSuffix(f.Name(), operatorSuffix+".sock"); is && f.Type() == fs.ModeSocket && !leftBehind(filepath.Join(dir, f.Name())) {
			list[name] = cmp.Or(list[name], "unix:"+filepath.Join(dir, f.Name()))
		}
		name, is := strings.CutSuffix(f.Name(), entrySuffix)
		if !is {
			continue
		}
		if e, err := entryOf(name); err == nil && e.Operator != "" { // a damaged entry must not keep a stop from the others
			list[name] = e.Operator
		}
	}
	return list, nil
}

// withoutOperator are the robots of this user that none of these operator lines belongs to, as stops that cannot be tried.
func withoutOperator(list map[string]string) (lost []stopSaid, err error) {
	robots, bad, err := entries()
	for _, e := range robots {
		if list[e.Name] == "" {
			lost = append(lost, stopSaid{Robot: e.Name, Says: "it is not known where its driver is stopped; --operator ADDR says it"})
		}
	}
	for _, d := range bad {
		if list[d.name] == "" {
			lost = append(lost, stopSaid{Robot: d.name, Says: d.Error()})
		}
	}
	return lost, err
}

// leftBehind reports whether nobody listens at the socket.
func leftBehind(path string) bool {
	c, err := net.DialTimeout("unix", path, operatorWithin)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

type stopSaid struct {
	Robot    string `json:"robot"`
	Operator string `json:"operator"`
	Stopped  bool   `json:"stopped"` // the driver confirmed it
	Number   uint64 `json:"number,omitempty"`
	Durable  bool   `json:"durable"`
	Says     string `json:"says,omitempty"`

	byAddress bool // the address was given, and the name may lead elsewhere, or nowhere
}

func newStop() *cobra.Command {
	var f robotChoice
	var operator, reason string
	var asJSON bool
	c := &cobra.Command{
		Use:   "stop [ROBOT]",
		Short: "Stop a robot at its driver, and latch; without a name: every robot of this user",
		Long: `Stop halts the arm and latches, at the driver's own operator socket: no robot, brain
or lease is needed for it. "interlock reset N" permits motion again.

` + notEstop + `

Exit codes: 0 every driver confirmed it, 1 one did not: use the robot's own switch;
2 it is not known which robot is meant, and nothing was stopped. A robot of which it
is not known where its driver is stopped counts as one that did not confirm it.`,
		Args: takes(robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			who, err := f.of(a, 0)
			if err != nil {
				return notStopped(err)
			}
			list, err := operators(who, operator)
			if err != nil {
				return notStopped(err)
			}
			var lost []stopSaid
			if who == "" && operator == "" {
				if lost, err = withoutOperator(list); err != nil {
					return notStopped(err)
				}
			}
			if len(list)+len(lost) == 0 {
				return notStopped(badInput(errors.New("no robot and no driver of this user is known; --operator ADDR names one")))
			}
			said := append(stopAll(cmd.Context(), list, reason), lost...)
			if err := printStops(cmd.Context(), cmd.OutOrStdout(), said, operator != "", asJSON); err != nil {
				return err
			}
			if i := slices.IndexFunc(said, func(s stopSaid) bool { return !s.Stopped }); i >= 0 {
				return fmt.Errorf("NOT STOPPED: %s did not confirm it; use the robot's own switch", said[i].driver())
			}
			return nil
		},
	}
	f.add(c, 0, nil)
	c.Flags().StringVar(&operator, "operator", "", "the driver's operator address")
	c.Flags().StringVar(&reason, "reason", "interlock stop", "what the latch is to say")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per robot")
	return c
}

// notStopped says first what matters most about a stop that could not even be tried.
func notStopped(err error) error { return fmt.Errorf("NOT STOPPED: %w", err) }

// stopAll stops them all at once.
func stopAll(ctx context.Context, list map[string]string, reason string) []stopSaid {
	var mu sync.Mutex
	var all sync.WaitGroup
	var said []stopSaid
	for name, addr := range list {
		all.Go(func() {
			s := stopOne(ctx, name, addr, reason)
			mu.Lock()
			defer mu.Unlock()
			said = append(said, s)
		})
	}
	all.Wait()
	slices.SortFunc(said, func(a, b stopSaid) int { return strings.Compare(a.Robot, b.Robot) })
	return said
}

func stopOne(ctx context.Context, name, addr, reason string) (s stopSaid) {
	s = stopSaid{Robot: name, Operator: addr}
	number, durable, err := stopDriver(ctx, addr, reason)
	if err != nil {
		s.Says = err.Error()
		return s
	}
	s.Stopped, s.Number, s.Durable = true, number, durable
	return s
}

// durableWithin is how long a stop that is in force is looked after until it is on disk.
const durableWithin = time.Second

// keep waits until the driver's latch file holds the stop.
func (s *stopSaid) keep(ctx context.Context) {
	if !s.Stopped || s.Durable {
		return
	}
	ctx, done := context.WithTimeout(ctx, durableWithin)
	defer done()
	o := remote.DialOperator(s.Operator)
	defer o.Close()
	s.Durable = o.Durable(ctx)
}

// printStops says what came of the stops: for people at once, and afterwards of which one the driver would know nothing if
// it ended now.
func printStops(ctx context.Context, out io.Writer, said []stopSaid, byAddress, asJSON bool) error {
	for i := range said {
		s := &said[i]
		s.byAddress = byAddress
		if asJSON {
			s.keep(ctx)
		}
		if err := s.print(out, asJSON); err != nil {
			return err
		}
	}
	if asJSON {
		return nil
	}
	for i := range said {
		s := &said[i]
		if s.keep(ctx); s.Stopped && !s.Durable {
			if _, err := fmt.Fprintf(out, "%s: the stop is in force, and not known to be on disk: a driver that ends now may come up without it\n", s.name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *stopSaid) print(out io.Writer, asJSON bool) (err error) {
	switch {
	case asJSON:
		return printJSON(out, s)
	case !s.Stopped:
		_, err = fmt.Fprintf(out, "%s: NOT CONFIRMED: %s\n", s.name(), shown(s.Says))
	default:
		_, err = fmt.Fprintf(out, "%s: stopped, number %d. To permit motion again: %s\n", s.name(), s.Number, s.resetting())
	}
	return err
}

// name is the robot's, for people; without one it is where its driver is stopped.
func (s *stopSaid) name() string { return driverSaid(s.Robot, s.Operator) }

func (s *stopSaid) driver() string {
	if s.Robot != "" {
		return "the driver of " + s.Robot
	}
	return s.name()
}

func driverSaid(robot, operator string) string {
	if robot != "" {
		return robot
	}
	return "the driver at " + operator
}

// resetting is the command that resets the stop, whole.
func (s *stopSaid) resetting() string {
	if s.Robot == "" || s.byAddress {
		return fmt.Sprintf("interlock reset %d --operator %s", s.Number, word(s.Operator))
	}
	return fmt.Sprintf("interlock reset %d %s", s.Number, word(s.Robot))
}
