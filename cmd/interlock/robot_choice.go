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

// warned is of, and warns on the command's error output where nothing names the robot and entries are damaged: then the only one
// there is may not be.
func (r *robotChoice) warned(c *cobra.Command, a []string, n int) (string, error) {
	who, err := r.of(a, n)
	if err != nil || who != "" {
		return who, err
	}
	list, bad, err := entries()
	if err != nil || len(list) == 0 { // where none can be read that is the answer
		return "", err
	}
	for _, d := range bad {
		if _, err := fmt.Fprintf(c.ErrOrStderr(), "warning: %v\n", d); err != nil {
			return "", err
		}
	}
	return "", nil
}

// sure is of, and refuses to take the only robot that can be read for the only one there is: what is said of it by a number that
// every robot has, such as that of a stop, would be taken by the wrong one.
func (r *robotChoice) sure(a []string, n int) (string, error) {
	who, err := r.of(a, n)
	if err != nil || who != "" {
		return who, err
	}
	_, bad, err := entries()
	if len(bad) > 0 {
		err = badInput(fmt.Errorf("which robot? ROBOT, the last argument, is missing: %w", allDamaged(bad)))
	}
	return "", err
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
