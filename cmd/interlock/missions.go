package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/audit"
	"interlock/transport"
)

// soFar is how long a command that does not follow waits for one more event of a mission that goes on.
const soFar = 300 * time.Millisecond

func refusals(err error) (l reject.List, is bool) { return l, errors.As(err, &l) && len(l) > 0 }

// missionState is a mission as `interlock missions` finds it.
type missionState struct {
	begun
	State  string `json:"state"` // the last event's kind, in small letters; unknown: the robot does not keep it any more
	Reason string `json:"reason,omitempty"`
	Final  bool   `json:"final"`
}

func newMissions() *cobra.Command {
	var f robotFlags
	c := &cobra.Command{
		Use:   "missions",
		Short: "List the latest missions of a running robot, newest last",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := find(f.robot)
			if err != nil {
				return err
			}
			list, err := begunOf(e)
			if err != nil {
				return err
			}
			l := newNamedLine(f.robot, f.tokenFile)
			defer l.end()
			for _, b := range list {
				s := stateOfMission(cmd.Context(), l, b)
				if f.asJSON {
					err = printJSON(cmd.OutOrStdout(), s)
				} else {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s  %-12s %s %s\n", b.At.Local().Format(time.TimeOnly), s.State, shown(b.Mission), shown(b.Capability+" "+b.Args))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	f.add(c, true)
	return c
}

// begun is a mission that was begun, as the record tells it.
type begun struct {
	Mission    string    `json:"mission"`
	Capability string    `json:"capability"`
	Task       string    `json:"task,omitempty"`
	Args       string    `json:"args"`
	At         time.Time `json:"at"`
}

const (
	keptBegun    = 64  // latest missions that are listed
	maxShownArgs = 512 // bytes of arguments that are shown
)

// begunOf is the list of the latest missions in the robot's record.
func begunOf(e entry) (list []begun, err error) {
	if e.Audit == "" {
		return nil, badInput(errors.New("missions are listed for the robots of this user, by name"))
	}
	r, err := audit.NewReader(e.Audit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if i := line.Record.GetIntent(); i != nil {
			args := i.GetArgsJson()
			at := time.UnixMilli(line.Record.GetWallMs())
			list = append(list, begun{i.GetMissionId(), i.GetCapability(), i.GetTaskId(), string(args[:min(len(args), maxShownArgs)]), at})
			list = list[max(0, len(list)-keptBegun):]
		}
		if v := line.Record.GetVoid(); v != nil {
			list = slices.DeleteFunc(list, func(b begun) bool { return b.Mission == v.GetMissionId() })
		}
	}
}

func stateOfMission(ctx context.Context, l transport.Client, b begun) missionState {
	s := missionState{begun: b, State: "unknown"}
	for e, err := range eventsSoFar(ctx, l, b.Mission, 1) {
		if err != nil {
			break
		}
		s.State, s.Reason, s.Final = strings.ToLower(e.GetKind().String()), e.GetReason(), e.GetFinal()
	}
	return s
}

// eventsSoFar yields the events there are, and no error where there are only none yet.
func eventsSoFar(ctx context.Context, l transport.Client, mission string, from uint64) func(func(*contractv1.Event, error) bool) {
	return func(yield func(*contractv1.Event, error) bool) {
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		enough := time.AfterFunc(soFar, cancel)
		defer enough.Stop()
		for e, err := range l.Events(reading, &contractv1.EventsRequest{MissionId: mission, FromSeq: from}) {
			if reading.Err() != nil && ctx.Err() == nil {
				return
			}
			enough.Reset(soFar)
			if !yield(e, err) {
				return
			}
		}
	}
}

func newEvents() *cobra.Command {
	var f robotFlags
	var follow bool
	var from uint64
	c := &cobra.Command{
		Use:   "events MISSION",
		Short: "Print the events of a mission",
		Long: `Events prints what happened to a mission, one line per event, without a gap. With
-f it follows the mission to its end, over connections that break.

Exit codes with -f: that of the mission's end, 0 for measured success.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			l := newNamedLine(f.robot, f.tokenFile)
			defer l.end()
			events := l.Events(cmd.Context(), &contractv1.EventsRequest{MissionId: a[0], FromSeq: max(1, from)})
			if !follow {
				events = eventsSoFar(cmd.Context(), l, a[0], max(1, from))
			}
			for e, err := range events {
				if err != nil {
					return lineStatus(err)
				}
				if err := f.print(cmd, e); err != nil {
					return err
				}
				if e.GetFinal() && follow {
					return endStatus(e)
				}
			}
			if e := endOf(cmd.Context(), l, a[0]); follow && e != nil { // it had ended before what was asked for
				return endStatus(e)
			}
			return nil
		},
	}
	f.add(c, true)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "follow the mission to its end")
	c.Flags().Uint64Var(&from, "from", 1, "the number of the first event to print")
	return c
}

func (f *robotFlags) print(cmd *cobra.Command, e *contractv1.Event) error {
	if f.asJSON {
		return printJSON(cmd.OutOrStdout(), missionEvent(e))
	}
	text := fmt.Sprintf("%4d  %8d ms  %s", e.GetSeq(), e.GetAtMs(), strings.ToLower(e.GetKind().String()))
	for _, more := range []string{e.GetPhase(), e.GetReason(), e.GetFailure().GetReplanReason()} {
		if more != "" {
			text += "  " + shown(more)
		}
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}

// endStatus is the exit code of a mission's end.
func endStatus(e *contractv1.Event) error {
	says := errors.New("the mission ended " + strings.ToLower(e.GetKind().String()) + ": " + e.GetReason())
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
		Use:   "cancel MISSION",
		Short: "End a mission, and wait until standstill was measured",
		Long: `Cancel ends a mission the way its capability says, and follows it to its end:
"cancelled" means that standstill was measured. "interlock stop" always works.

Exit codes: 0 cancelled, or ended by itself before; 3 refused; 7 aborted.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			l := newNamedLine(f.robot, f.tokenFile)
			defer l.end()
			ack, err := l.Cancel(cmd.Context(), &contractv1.CancelRequest{MissionId: a[0]})
			if err != nil {
				return lineStatus(err)
			}
			if r := ack.GetRejections(); !ack.GetAccepted() && len(r) > 0 {
				if e := endOf(cmd.Context(), l, a[0]); e != nil { // there is nothing left to end
					return f.print(cmd, e)
				}
				return exitStatus{reject.ExitCode(reject.Code(r[0].GetCode())), errors.New(r[0].GetCode() + ": " + r[0].GetSays())}
			}
			for e, err := range l.Events(cmd.Context(), &contractv1.EventsRequest{MissionId: a[0], FromSeq: 1}) {
				if r, refused := refusals(err); refused && r.Has(reject.NotInEnum) {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), shown(a[0])+" had not begun, and will not")
					return err
				}
				if err != nil {
					return lineStatus(err)
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
	f.add(c, true)
	return c
}
