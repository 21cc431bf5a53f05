package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// robotChoice is the robot that a person's verb is about. One rule holds for all of them: it is the last argument, or
// --robot, and may be left out where there is only one.
type robotChoice struct{ flag string }

// add lets a command whose argument number n (from 0) is ROBOT take it. complete completes the arguments before it; nil:
// nothing does.
func (r *robotChoice) add(c *cobra.Command, n int, complete cobra.CompletionFunc) {
	c.Flags().StringVar(&r.flag, "robot", "", "the robot's name or address, as the argument ROBOT (default: the only one there is)")
	_ = c.RegisterFlagCompletionFunc("robot", completeRobots) // the flag is there
	c.ValidArgsFunction = func(c *cobra.Command, a []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(a) == n:
			return completeRobots(c, a, typed)
		case len(a) < n && complete != nil:
			return complete(c, a, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// of is what names the robot, in the arguments from number n on or by the flag; empty: nothing does.
func (r *robotChoice) of(a []string, n int) (string, error) {
	if len(a) <= n || a[n] == "" || a[n] == r.flag {
		return r.flag, nil
	}
	if r.flag != "" {
		return "", badInput(fmt.Errorf("which robot, %q or --robot %q? one of them names it", a[n], r.flag))
	}
	return a[n], nil
}
