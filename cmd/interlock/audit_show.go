package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"interlock/robot/audit"
)

// auditPoll is how often a followed record is looked at.
const auditPoll = 200 * time.Millisecond

// auditFilter is what of a record is shown.
type auditFilter struct {
	robotChoice
	dir           string // of the record
	mission, kind string
	last          int
	follow        bool
	asJSON        bool
}

func newAuditShow() *cobra.Command {
	var f auditFilter
	c := &cobra.Command{
		Use:   "show [ROBOT | DIR]",
		Short: "Print what a robot wrote down, oldest first",
		Long: `Show prints a record, one line each: its number, the wall clock's time, its kind and
what it says. It checks the chain as it goes and stops at a fault; "interlock
audit verify" checks more.

Exit codes: 0 fine, 2 bad input, 4 a fault was found.`,
		Example: `  interlock audit show so101 -n 20 --follow
  interlock audit show --mission m1 --json`,
		Args: takes(recordArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			if f.kind != "" && !slices.Contains(auditKinds(), f.kind) {
				return badInput(fmt.Errorf("--kind %q is none of %s", f.kind, strings.Join(auditKinds(), ", ")))
			}
			if f.last < 0 {
				return badInput(fmt.Errorf("-n %d: there is no such number of records", f.last))
			}
			dir, err := f.record(cmd, a)
			if err != nil {
				return err
			}
			r, err := audit.NewReader(dir)
			if err != nil {
				return badInput(err)
			}
			f.dir = dir
			return errors.Join(f.show(cmd.Context(), r, cmd.OutOrStdout()), r.Close())
		},
	}
	f.add(c, 0, nil)
	c.ValidArgsFunction = completeRecord
	c.Flags().StringVar(&f.mission, "mission", "", "only what names this mission")
	c.Flags().StringVar(&f.kind, "kind", "", "only records of this kind: "+strings.Join(auditKinds(), ", "))
	c.Flags().IntVarP(&f.last, "last", "n", 0, "only the last N of them (default: all)")
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on as the robot writes, until interrupted")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object per record")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(auditKinds(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// show prints what there is, and what comes.
func (f *auditFilter) show(ctx context.Context, r *audit.Reader, out io.Writer) error {
	if err := f.printSoFar(r, out); err != nil {
		return err
	}
	for f.follow {
		if !waited(ctx, auditPoll) {
			return nil
		}
		if err := f.each(r, func(e *audit.Entry) error { return f.print(out, e) }); err != nil {
			return err
		}
	}
	return f.settled(ctx, r, out)
}

// printSoFar prints what is there now, the last records of it if only those are asked for.
func (f *auditFilter) printSoFar(r *audit.Reader, out io.Writer) error {
	var kept []*audit.Entry
	err := f.each(r, func(e *audit.Entry) error {
		if f.last == 0 {
			return f.print(out, e)
		}
		if len(kept) == f.last {
			kept = kept[1:]
		}
		kept = append(kept, e)
		return nil
	})
	for _, e := range kept {
		if printErr := f.print(out, e); printErr != nil {
			return printErr
		}
	}
	return err
}

// settled prints what a robot was just writing, and tells half a line that stays one.
func (f *auditFilter) settled(ctx context.Context, r *audit.Reader, out io.Writer) error {
	for torn := r.Torn(); torn > 0; torn = r.Torn() {
		if !waited(ctx, auditSettle) {
			return nil
		}
		if err := f.each(r, func(e *audit.Entry) error { return f.print(out, e) }); err != nil {
			return err
		}
		if torn == r.Torn() {
			return exitStatus{exitNotDone, fmt.Errorf("the record ends in the middle of a line, %d bytes in; interlock audit verify %s says where", torn, word(f.dir))}
		}
	}
	return nil
}

// each calls do for every record that is asked for, until there are no more so far.
func (f *auditFilter) each(r *audit.Reader, do func(*audit.Entry) error) error {
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return auditStatus(err)
		}
		if f.kind != "" && auditKind(e.Record) != f.kind || f.mission != "" && auditMission(e.Record) != f.mission {
			continue
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

// auditLine is a record as --json prints it.
type auditLine struct {
	Seq    uint64          `json:"seq"`
	Hash   string          `json:"hash"`
	File   string          `json:"file"`
	Line   int             `json:"line"`
	Kind   string          `json:"kind"`
	Record json.RawMessage `json:"record"` // as it stands in the file
}

func (f *auditFilter) print(out io.Writer, e *audit.Entry) error {
	if f.asJSON {
		var b strings.Builder
		if err := printJSON(&b, auditLine{e.Seq, fmt.Sprintf("%x", e.Hash), e.File, e.Line, auditKind(e.Record), e.Text}); err != nil {
			return err
		}
		_, err := out.Write(asciiControls([]byte(b.String())))
		return err
	}
	at := time.UnixMilli(e.Record.GetWallMs()).Format("2006-01-02 15:04:05.000")
	_, err := fmt.Fprintf(out, "%6d  %s  %-8s  %s\n", e.Seq, at, auditKind(e.Record), auditWords(e.Record))
	return err
}

// waited waits, and reports whether that was not interrupted.
func waited(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
