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
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"interlock/body/remote"
	"interlock/reject"
)

// operatorSuffix marks the default socket of a driver's operator line.
const operatorSuffix = ".operator"

// operators are the operator lines that a person may mean: of one robot, or of every robot of this user. A robot need not
// run, or ever have run: the driver's own socket is enough.
func operators(who, addr string) (list map[string]string, err error) {
	if addr != "" {
		return map[string]string{orNone(who): addr}, nil
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
}

func newStop() *cobra.Command {
	var operator, reason string
	var asJSON bool
	c := &cobra.Command{
		Use:   "stop [ROBOT]",
		Short: "Stop a robot at its driver, and latch; without a name: every robot of this user",
		Long: `Stop halts the arm and latches, at the driver's own operator socket: no robot, brain
or lease is needed for it. "interlock reset N" permits motion again.

` + notEstop + `

Exit codes: 0 every driver confirmed it, 1 one did not: use the robot's own switch.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			list, err := operators(first(a), operator)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return badInput(errors.New("no robot and no driver of this user is known; --operator ADDR names one"))
			}
			said := stopAll(cmd.Context(), list, reason)
			for _, s := range said {
				if err := s.print(cmd.OutOrStdout(), asJSON); err != nil {
					return err
				}
			}
			if i := slices.IndexFunc(said, func(s stopSaid) bool { return !s.Stopped }); i >= 0 {
				return fmt.Errorf("NOT STOPPED: the driver of %s did not confirm it; use the robot's own switch", said[i].Robot)
			}
			return nil
		},
	}
	c.Flags().StringVar(&operator, "operator", "", "the driver's operator address")
	c.Flags().StringVar(&reason, "reason", "interlock stop", "what the latch is to say")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per robot")
	return c
}

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
	o := remote.DialOperator(addr)
	defer o.Close()
	for range stopTries {
		trying, done := context.WithTimeout(ctx, operatorWithin)
		number, durable, err := o.Stop(trying, reason)
		done()
		if err == nil {
			s.Stopped, s.Number, s.Durable, s.Says = true, number, durable, ""
			return s
		}
		s.Says = err.Error()
	}
	return s
}

func (s *stopSaid) print(out io.Writer, asJSON bool) (err error) {
	switch {
	case asJSON:
		return printJSON(out, s)
	case !s.Stopped:
		_, err = fmt.Fprintf(out, "%s: NOT CONFIRMED: %s\n", s.Robot, shown(s.Says))
	default:
		_, err = fmt.Fprintf(out, "%s: stopped, number %d. To permit motion again: interlock reset %d %s\n", s.Robot, s.Number, s.Number, s.Robot)
	}
	return err
}

func newReset() *cobra.Command {
	var operator string
	var asJSON bool
	c := &cobra.Command{
		Use:   "reset N [ROBOT]",
		Short: "Permit motion again after stop number N; nothing is restarted",
		Args:  args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, a []string) error {
			number, err := strconv.ParseUint(a[0], 10, 64)
			if err != nil {
				return badInput(fmt.Errorf("%q is no number of a stop", a[0]))
			}
			list, err := operators(first(a[1:]), operator)
			if err != nil {
				return err
			}
			if len(list) != 1 {
				return badInput(fmt.Errorf("which robot? there are %d", len(list)))
			}
			for name, addr := range list {
				err := distantLatch{func() (string, error) { return addr, nil }}.Reset(number)
				var r reject.Rejection
				switch {
				case errors.As(err, &r):
					return exitStatus{reject.ExitCode(r.Code), err}
				case err != nil:
					return err
				case asJSON:
					return printJSON(cmd.OutOrStdout(), map[string]any{"robot": name, "reset": number})
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: stop %d is reset: motion is permitted, nothing was restarted\n", name, number)
				return err
			}
			return nil
		},
	}
	c.Flags().StringVar(&operator, "operator", "", "the driver's operator address")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
