// Command interlock lets a language model drive a robot without being trusted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"interlock/contract"
)

// Exit codes, the same for every subcommand.
const (
	exitFine       = 0 // done or fine
	exitError      = 1 // our error
	exitBadInput   = 2 // bad file, JSON or arguments
	exitRefused    = 3 // refused by a condition, state or licence
	exitNotDone    = 4 // not done or failed
	exitUnverified = 5
	exitPerson     = 6 // a person is needed
	exitStopped    = 7
)

// exitStatus is an error that names its exit code.
type exitStatus struct {
	code int
	err  error
}

func (e exitStatus) Error() string { return e.err.Error() }
func (e exitStatus) Unwrap() error { return e.err }

// badInput marks an error as the caller's.
func badInput(err error) error { return exitStatus{exitBadInput, err} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code. Tests call it as a user would.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	strictCompletion(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitFine
	}
	_, _ = fmt.Fprintln(errOut, "interlock: "+err.Error())
	var status exitStatus
	var problems contract.Problems
	switch {
	case errors.As(err, &status):
		return status.code
	case errors.As(err, &problems):
		return exitBadInput
	}
	return exitError
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "interlock",
		Short: "Let a language model drive a robot without being trusted",
		Long: `Interlock lets a language model drive a robot without being trusted.
The model picks a verb; Interlock decides whether it may run, moves the robot,
measures what happened, and keeps the record.

ROBOT is a robot's name or address. It is always the last argument and may be left
out where there is one robot only; --robot ROBOT says the same.

Exit codes: 0 done or fine, 1 our error, 2 bad input, 3 refused, 4 not done,
5 unverified, 6 a person is needed, 7 stopped.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE:          group,
	}
	root.SetFlagErrorFunc(flagFault)
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		newApprove(), newAudit(), newBodytest(), newBench(), newCall(), newCancel(), newChat(), newCheck(), newDemo(), newDescribe(), newDriver(), newEval(), newEvents(),
		newExplain(), newInit(), newLabRobot(), newMissions(), newPlant(), newRead(), newReplay(), newReport(), newReset(), newResolve(), newRobot(), newRobots(), newStop(), newTake(), newVersion(),
	)
	return root
}
