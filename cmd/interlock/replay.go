package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interlock/brain/llm"
	"interlock/eval"
	"interlock/eval/lab"
)

func newReplay() *cobra.Command {
	return &cobra.Command{
		Use:   "replay DIR EPISODE",
		Short: "Print a saved episode step by step and judge every call again",
		Long: `Replay takes an episode of a run that was saved with --out, lets the model say
again, byte by byte, what it said, and has the gate judge and the simulator play
every call anew. It prints each verdict beside the recorded one.

Exit codes: 0 every verdict is the same, 2 no such run or episode, 4 one differs.`,
		Example: "  interlock demo --out run && interlock replay run move-floor/repairer/on/s0/r0",
		Args:    takes(runArgument(), argument{name: "EPISODE", says: "the id of an episode, such as move-floor/repairer/on/s0/r0"}),
		RunE: func(cmd *cobra.Command, a []string) error {
			run, err := eval.LoadRun(a[0])
			if err != nil {
				return badInput(err)
			}
			then, ok := run.Episode(a[1])
			if !ok {
				return badInput(fmt.Errorf("%s holds no episode %q; one of its %d is %q", a[0], a[1], len(run.Episodes), run.Episodes[0].ID))
			}
			recording, err := recordingOf(a[0], then)
			if err != nil {
				return badInput(err)
			}
			now, err := replay(cmd.Context(), a[0], then, recording)
			if err != nil {
				return err
			}
			return compare(cmd.OutOrStdout(), then, now, recording.Replies)
		},
		ValidArgsFunction: func(_ *cobra.Command, a []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(a) != 1 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			run, err := eval.LoadRun(a[0])
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			ids := make([]string, len(run.Episodes))
			for i := range run.Episodes {
				ids[i] = run.Episodes[i].ID
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// recordingOf reads what the model said in the episode from its trace.
func recordingOf(dir string, e *eval.Episode) (recording *lab.Recording, err error) {
	if e.Record.Trace == "" {
		return nil, fmt.Errorf("no trace of %s was kept; run with --out", e.ID)
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(e.Record.Trace)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return lab.ReadRecording(f)
}

// replay plays the episode again in a fresh world.
func replay(ctx context.Context, dir string, e *eval.Episode, recording *lab.Recording) (*eval.Episode, error) {
	t, err := loadTrial(filepath.Join(dir, suiteCopy), filepath.Join(dir, contractCopy))
	if err != nil {
		return nil, err
	}
	t.suite.Scenarios = slices.DeleteFunc(t.suite.Scenarios, func(s eval.Scenario) bool { return s.ID != e.Record.Scenario })
	if len(t.suite.Scenarios) != 1 {
		return nil, badInput(fmt.Errorf("the saved suite has no scenario %q", e.Record.Scenario))
	}
	t.suite.Scenarios[0].Seeds = []int64{e.Record.Seed}
	l, err := lab.New(t.contract, lab.Options{Replay: recording})
	if err != nil {
		return nil, err
	}
	r, err := eval.Run(ctx, t.suite, eval.Plan{Agents: []string{e.Record.Agent}, Gates: []bool{e.Record.Gate == "on"}, Body: e.Record.Body}, l)
	if err != nil {
		return nil, err
	}
	return &r.Episodes[0], nil
}

// compare prints the calls of both and fails when a verdict differs.
func compare(out io.Writer, then, now *eval.Episode, replies []llm.Reply) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", then.ID, then.Request)
	for i, r := range replies {
		fmt.Fprintf(&b, "  reply %d  %s\n", i+1, strings.Join(strings.Fields(string(r.Raw)), " "))
		for _, c := range r.ToolCalls {
			fmt.Fprintf(&b, "           by the wire: %s %s\n", c.Name, c.ArgumentsText)
		}
	}
	same := 0
	for i := range max(len(then.Calls), len(now.Calls)) {
		was, is := verdictOf(then.Calls, i), verdictOf(now.Calls, i)
		mark := "DIFFERS: "
		if was == is {
			mark = "same: "
			same++
		}
		fmt.Fprintf(&b, "  call %d   %s\n          %s%s\n", i+1, callOf(then.Calls, now.Calls, i), mark, is)
		if was != is {
			fmt.Fprintf(&b, "          recorded: %s\n", was)
		}
	}
	fmt.Fprintf(&b, "  task     %s (recorded %s), judged done %t (%t), claimed %s (%s)\n",
		now.Record.Task, then.Record.Task, now.Record.Done, then.Record.Done, claim(now.Record.Claimed), claim(then.Record.Claimed))
	fmt.Fprintf(&b, "%d of %d verdicts the same; signature %s\n", same, max(len(then.Calls), len(now.Calls)), now.Signature)
	if _, err := io.WriteString(out, b.String()); err != nil {
		return err
	}
	if now.Signature != then.Signature {
		return exitStatus{exitNotDone, fmt.Errorf("the replay differs from the record (signature %s)", then.Signature)}
	}
	return nil
}

func callOf(then, now []eval.Call, i int) string {
	calls := then
	if i >= len(then) {
		calls = now
	}
	return calls[i].Tool + " " + calls[i].Args
}

func verdictOf(calls []eval.Call, i int) string {
	if i >= len(calls) {
		return "no such call"
	}
	return strings.TrimSpace(strings.Join([]string{calls[i].Verdict, strings.Join(calls[i].Codes, ","), calls[i].Mission}, " "))
}

func claim(c *bool) string {
	if c == nil {
		return "nothing"
	}
	return fmt.Sprint(*c)
}
