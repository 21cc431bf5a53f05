package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"interlock/body/remote"
	"interlock/reject"
)

func newReset() *cobra.Command {
	var f robotChoice
	var operator string
	var asJSON bool
	c := &cobra.Command{
		Use:   "reset N [ROBOT]",
		Short: "Permit motion again after stop number N; nothing is restarted",
		Args:  takes(argument{name: "N", says: "the number of the stop; interlock robots tells it, and so does the stop itself"}, robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			number, err := strconv.ParseUint(a[0], 10, 64)
			if err != nil {
				return badInput(fmt.Errorf("reset N: %q is no number of a stop; interlock robots tells it, and so does the stop itself", a[0]))
			}
			who, err := f.sure(a, 1)
			if operator != "" {
				who, err = f.of(a, 1)
			}
			if err != nil {
				return err
			}
			list, err := operators(who, operator)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return badInput(errors.New("no robot and no driver of this user is known; --operator ADDR names one"))
			}
			if len(list) > 1 {
				return badInput(fmt.Errorf("which robot? ROBOT, the last argument, is missing: there are %s", strings.Join(slices.Sorted(maps.Keys(list)), ", ")))
			}
			for name, addr := range list {
				was := reasonAt(cmd.Context(), addr, number)
				err := distantLatch{func() (string, error) { return addr, nil }}.Reset(number)
				var r reject.Rejection
				switch {
				case errors.As(err, &r):
					return exitStatus{reject.ExitCode(r.Code), fmt.Errorf("%w; interlock robots tells the number", err)}
				case err != nil:
					return err
				case asJSON:
					return printJSON(cmd.OutOrStdout(), map[string]any{"robot": name, "reset": number, "reason": was})
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: stop %d is reset%s: motion is permitted, nothing was restarted\n", driverSaid(name, addr), number, because(was))
				return err
			}
			return nil
		},
	}
	f.add(c, 1, nil)
	c.Flags().StringVar(&operator, "operator", "", "the driver's operator address")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// reasonAt is why the driver is stopped under the number, every cause of it: a robot may have found more since the number was told.
// Empty: it does not say.
func reasonAt(ctx context.Context, addr string, number uint64) string {
	ctx, done := context.WithTimeout(ctx, operatorWithin)
	defer done()
	o := remote.DialOperator(addr)
	defer o.Close()
	l, _, err := o.State(ctx)
	if err != nil || !l.Stopped || l.Number != number {
		return ""
	}
	return l.Reason
}

// because is a reason behind what it is the reason of.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + shown(reason) + ")"
}
