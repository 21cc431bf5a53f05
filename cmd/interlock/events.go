package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// othersRule is the rule by which a robot refuses to tell or end what another caller started.
const othersRule = "principal"

func newEvents() *cobra.Command {
	var f robotFlags
	var follow bool
	var from uint64
	c := &cobra.Command{
		Use:   "events MISSION [ROBOT]",
		Short: "Print the events of a mission",
		Long: `Events prints what happened to a mission, one line per event, without a gap. With
-f it follows the mission to its end, over connections that break.

Exit codes with -f: that of the mission's end, 0 for measured success.`,
		Args: takes(missionArgument(), robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			l, err := f.line(cmd, a, 1)
			if err != nil {
				return err
			}
			defer l.end()
			return f.events(cmd, l, a[0], max(1, from), follow)
		},
	}
	f.add(c, 1)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "follow the mission to its end")
	c.Flags().Uint64Var(&from, "from", 1, "the number of the first event to print")
	return c
}

// events prints a mission's events, up to the last so far or to its end.
func (f *robotFlags) events(cmd *cobra.Command, l *namedLine, mission string, from uint64, follow bool) error {
	events := l.Events(cmd.Context(), &contractv1.EventsRequest{MissionId: mission, FromSeq: from})
	if !follow {
		events = eventsSoFar(cmd.Context(), l, mission, from)
	}
	none := true
	for e, err := range events {
		if r, refused := refusals(err); refused && r[0].Rule == othersRule {
			return exitStatus{exitRefused, fmt.Errorf("%w, who alone is told of it; interlock missions %s says how it stands, and interlock audit show %[2]s --mission %s has all of it", err, word(l.name()), word(mission))}
		}
		if err != nil {
			return l.unknown(err)
		}
		none = false
		if err := f.print(cmd, e); err != nil {
			return err
		}
		if e.GetFinal() && follow {
			return endStatus(e)
		}
	}
	if e := endOf(cmd.Context(), l, mission); follow && e != nil { // it had ended before what was asked for
		return endStatus(e)
	}
	if none { // a line that breaks is taken up again, so that silence has no error
		return l.silent(cmd.Context())
	}
	return nil
}

// unknown is status, and says where the missions are listed to whoever named one that there is not.
func (l *namedLine) unknown(err error) error {
	if r, refused := refusals(err); refused && r.Has(reject.NotInEnum) {
		return exitStatus{reject.ExitCode(r[0].Code), fmt.Errorf("%w; interlock missions %s lists them", err, word(l.name()))}
	}
	return l.status(err)
}

func (f *robotFlags) print(cmd *cobra.Command, e *contractv1.Event) error {
	if f.asJSON {
		return printJSON(cmd.OutOrStdout(), missionEvent(e))
	}
	text := fmt.Sprintf("%4d  %8d ms  %s", e.GetSeq(), e.GetAtMs(), strings.ToLower(e.GetKind().String()))
	for _, more := range []string{e.GetPhase(), e.GetReason(), furtherReason(e.GetReason(), e.GetFailure().GetReplanReason())} {
		if more != "" {
			text += "  " + shown(more)
		}
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}

// furtherReason is what a failure adds to the reason of a mission's end; empty: it says the same.
func furtherReason(reason, further string) string {
	if reason == further || strings.HasPrefix(reason, further+":") {
		return ""
	}
	if rest, same := strings.CutPrefix(further, reason+": "); same && reason != "" {
		return rest
	}
	return further
}

// ended prints the last word of a mission that a cancel came too late for.
func (f *robotFlags) ended(cmd *cobra.Command, mission string, e *contractv1.Event) error {
	if !f.asJSON {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), shown(mission)+" had ended before:"); err != nil {
			return err
		}
	}
	return f.print(cmd, e)
}

// endStatus is the exit code of a mission's end. Why it ended was printed with its last event.
func endStatus(e *contractv1.Event) error {
	says := errors.New("the mission ended " + strings.ToLower(e.GetKind().String()))
	codes := map[contractv1.EventKind]int{contractv1.EventKind_UNVERIFIED: exitUnverified, contractv1.EventKind_ABORTED: exitStopped}
	switch code, known := codes[e.GetKind()]; {
	case e.GetKind() == contractv1.EventKind_VERIFIED:
		return nil
	case known:
		return exitStatus{code, says}
	}
	return exitStatus{exitNotDone, says}
}

// endOf is the last word of a mission that has had it; nil: it has not, or is not known.
func endOf(ctx context.Context, l transport.Client, mission string) (end *contractv1.Event) {
	for e, err := range eventsSoFar(ctx, l, mission, 1) {
		if err == nil && e.GetFinal() {
			end = e
		}
	}
	return end
}

func newCancel() *cobra.Command {
	var f robotFlags
	c := &cobra.Command{
		Use:   "cancel MISSION [ROBOT]",
		Short: "End a mission, and wait until standstill was measured",
		Long: `Cancel ends a mission the way its capability says, and follows it to its end:
"cancelled" means that standstill was measured. "interlock stop" always works. A
mission of a further caller (interlock robot --caller) is ended by that caller, by
interlock take, or by a stop.

Exit codes: 0 cancelled, or ended by itself before; 3 refused; 7 aborted.`,
		Args: takes(missionArgument(), robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			l, err := f.line(cmd, a, 1)
			if err != nil {
				return err
			}
			defer l.end()
			ack, err := l.Cancel(cmd.Context(), &contractv1.CancelRequest{MissionId: a[0]})
			if err != nil {
				return l.status(err)
			}
			if r := ack.GetRejections(); !ack.GetAccepted() && len(r) > 0 {
				if e := endOf(cmd.Context(), l, a[0]); e != nil { // there is nothing left to end
					return f.ended(cmd, a[0], e)
				}
				says := r[0].GetCode() + ": " + r[0].GetSays()
				if r[0].GetCode() == string(reject.NotInEnum) {
					says += fmt.Sprintf("; interlock missions %s lists them", word(l.name()))
				}
				if r[0].GetRule() == othersRule {
					says += fmt.Sprintf("; only that one can cancel it, and a person ends what moves by: interlock take %s (nobody else moves the robot then), or interlock stop %[1]s", word(l.name()))
				}
				return exitStatus{reject.ExitCode(reject.Code(r[0].GetCode())), errors.New(says)}
			}
			for e, err := range l.Events(cmd.Context(), &contractv1.EventsRequest{MissionId: a[0], FromSeq: 1}) {
				if r, refused := refusals(err); refused && r.Has(reject.NotInEnum) {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), shown(a[0])+" had not begun, and will not")
					return err
				}
				if err != nil {
					return l.status(err)
				}
				if e.GetFinal() {
					if err := f.print(cmd, e); err != nil || e.GetKind() == contractv1.EventKind_CANCELLED {
						return err
					}
					return endStatus(e)
				}
			}
			return nil
		},
	}
	f.add(c, 1)
	return c
}
