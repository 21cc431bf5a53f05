package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
)

// What a person can say became of a task.
const (
	wordAchieved    = "achieved"
	wordNotAchieved = "not_achieved"
)

// resolveSaid is a task with a person's word beside its verdict.
type resolveSaid struct {
	Robot    string `json:"robot"`
	Task     string `json:"task"`
	State    string `json:"state"` // the verdict, in small letters; the word does not change it
	By       string `json:"by"`
	Achieved bool   `json:"achieved"`
	Note     string `json:"note"`
}

func newResolve() *cobra.Command {
	var f personFlags
	var note string
	c := &cobra.Command{
		Use:   "resolve TASK achieved|not_achieved [ROBOT]",
		Short: "Write a person's word beside a task's verdict",
		Long: `Resolve is for a task that could not be measured, or that needs a person: your word
is recorded beside the verdict. It never changes the verdict: "done" is measured.

Exit codes: 0 written, 2 no such task, 3 refused.`,
		Args: takes(
			argument{name: "TASK", says: "the id of a task, such as task-1; interlock audit show --kind task lists them"},
			argument{name: "achieved|not_achieved", says: "one of these two words"}, robotArgument(),
		),
		RunE: func(cmd *cobra.Command, a []string) error {
			if a[1] != wordAchieved && a[1] != wordNotAchieved {
				return badInput(fmt.Errorf("achieved|not_achieved: %q is neither %s nor %s", a[1], wordAchieved, wordNotAchieved))
			}
			who, err := f.sure(a, 2)
			if f.person != "" {
				who, err = f.of(a, 2)
			}
			if err != nil {
				return err
			}
			l, err := f.lineTo(who)
			if err != nil {
				return err
			}
			defer l.Close()
			task, err := l.Resolve(cmd.Context(), &contractv1.ResolveRequest{TaskId: a[0], By: f.who(), Achieved: a[1] == wordAchieved, Note: note})
			if err != nil {
				return l.status(err)
			}
			r := task.GetResolution()
			said := resolveSaid{l.robot, task.GetTaskId(), taskState(task), r.GetBy(), r.GetAchieved(), r.GetNote()}
			if f.asJSON {
				return printSafe(cmd.OutOrStdout(), said)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s is %s, as %s saw it; the verdict stays %s\n", l.name(), shown(said.Task), said.word(), shown(said.By), said.State)
			return err
		},
	}
	f.add(c, 2, func(_ *cobra.Command, a []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(a) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{wordAchieved, wordNotAchieved}, cobra.ShellCompDirectiveNoFileComp
	})
	c.Flags().StringVar(&note, "note", "", "what you saw, for the record")
	return c
}

func (r *resolveSaid) word() string {
	if r.Achieved {
		return "achieved"
	}
	return "not achieved"
}

// taskState is a task's state as the robot's documents spell it.
func taskState(t *contractv1.Task) string {
	return strings.TrimPrefix(strings.ToLower(t.GetState().String()), "task_")
}
