package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"interlock/robot/audit"
)

const (
	auditSuffix = ".audit"
	// auditSettle is how long a fault in a record must stay the same before it is told: a robot that writes the record
	// finishes a write in less.
	auditSettle = 300 * time.Millisecond
)

func newAudit() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Read and verify what a robot wrote down",
		Long: `Audit reads the record of a robot: what it was asked, what it meant to do, what
happened and what was measured, in files that chain each line to the one before.
It works on the robot's files, with or without the robot.

ROBOT is a robot of this user; DIR is the folder of any record. Without either it
is the only record there is. --robot ROBOT says the same.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(newAuditShow(), newAuditVerify())
	return c
}

// recordArgument is a record, by its robot or by its folder.
func recordArgument() argument {
	return argument{"ROBOT | DIR", "a robot of this user, or the folder of a record", true}
}

// record is the folder of the record that is meant.
func (r *robotChoice) record(c *cobra.Command, a []string) (string, error) {
	who, err := r.warned(c, a, 0)
	if err != nil {
		return "", err
	}
	return auditDir(who)
}

// auditDir is the folder of the record that a person means.
func auditDir(who string) (string, error) {
	known, err := auditDirs()
	if err != nil {
		return "", err
	}
	names := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
	switch info, err := os.Stat(who); {
	case who == "" && len(known) == 0:
		return "", badInput(errors.New("no robot of this user has a record; " + startOne))
	case who == "" && len(known) > 1:
		return "", badInput(fmt.Errorf("which record? ROBOT, the last argument, is missing: there are %s", names))
	case who == "":
		for _, dir := range known {
			return dir, nil
		}
	case known[who] != "":
		return known[who], nil
	case err == nil && info.IsDir():
		return who, nil
	}
	return "", badInput(fmt.Errorf("%q is no folder and no robot with a record; there are: %s", who, orNone(names)))
}

// auditDirs are the records of this user's robots, by name: the folder that a robot says it writes, or the usual one.
func auditDirs() (map[string]string, error) {
	pattern, err := stateFile("*" + auditSuffix)
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	for _, path := range found {
		name := strings.TrimSuffix(filepath.Base(path), auditSuffix)
		if info, err := os.Stat(path); err == nil && info.IsDir() && robotName.MatchString(name) {
			known[name] = path
		}
	}
	robots, _, err := entries()
	for _, e := range robots {
		if e.Audit != "" {
			known[e.Name] = e.Audit
		}
	}
	return known, err
}

// completeRecord completes the name of a record, or a folder.
func completeRecord(_ *cobra.Command, a []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(a) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known, err := auditDirs()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(known)), cobra.ShellCompDirectiveDefault
}

// auditStatus gives what was found its exit code.
func auditStatus(err error) error {
	var f *audit.Fault
	if errors.As(err, &f) {
		return exitStatus{exitNotDone, err}
	}
	return badInput(err)
}

func newAuditVerify() *cobra.Command {
	var f robotChoice
	var checkpoint string
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify [ROBOT | DIR]",
		Short: "Check that nothing in a record was changed, and that it says what a robot may do",
		Long: `Verify reads a whole record. It finds every change to what is there, from the files
alone, and holds the records to the rules: no motion without an intent before it,
events without gaps, no event after an end, no success without evidence, no
approval used twice.

That lines are missing from the end shows only against a checkpoint: verify prints
one, and takes an earlier one with --checkpoint. Keep it where the robot cannot
reach it.

Exit codes: 0 all of it verifies, 2 bad input, 4 a fault was found.`,
		Example: `  interlock audit verify so101
  interlock audit verify so101 --checkpoint 812:6f0c…`,
		Args: takes(recordArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			o := audit.VerifyOptions{Settle: auditSettle}
			if cmd.Flags().Changed("checkpoint") {
				c, err := audit.ParseCheckpoint(checkpoint)
				if err != nil {
					return badInput(err)
				}
				o.Checkpoint = &c
			}
			dir, err := f.record(cmd, a)
			if err != nil {
				return err
			}
			r, err := audit.Verify(dir, o)
			if err != nil {
				return badInput(err)
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), struct {
					Dir string `json:"dir"`
					audit.Report
				}{dir, r})
			} else {
				_, err = fmt.Fprint(cmd.OutOrStdout(), verifiedText(dir, &r))
			}
			if err == nil && r.Fault != nil {
				return exitStatus{exitNotDone, fmt.Errorf("the record is broken: %w", r.Fault)}
			}
			return err
		},
	}
	f.add(c, 0, nil)
	c.ValidArgsFunction = completeRecord
	c.Flags().StringVar(&checkpoint, "checkpoint", "", "SEQ:HASH of a line that the record once held")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func verifiedText(dir string, r *audit.Report) string {
	text := fmt.Sprintf("%s: %d records of %d missions in %d segments verify\n", shown(dir), r.Records, r.Missions, r.Segments)
	if r.Gaps > 0 {
		text += fmt.Sprintf("gaps: at %d places records may be missing that the disk did not take; interlock audit show --kind lost %s tells them\n", r.Gaps, word(dir))
	}
	if len(r.SetAside) > 0 {
		text += "aside, no part of the record: " + strings.Join(r.SetAside, ", ") + "\n"
	}
	if f := r.Fault; f != nil {
		return text + fmt.Sprintf("FAULT %s at %s: %s\n", f.Rule, shown(f.Place()), shown(f.Why))
	}
	return text + fmt.Sprintf("checkpoint %s\n", r.Head)
}
