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
	"interlock/transport/connect"
)

// soFar is how long a command that does not follow waits for one more event of a mission that goes on.
const soFar = 300 * time.Millisecond

func refusals(err error) (l reject.List, is bool) { return l, errors.As(err, &l) && len(l) > 0 }

// Where the state of a mission comes from.
const (
	fromRobot  = "robot"
	fromRecord = "record" // what the robot had written down: it does not answer, or does not keep the mission any more
)

// missionState is a mission as `interlock missions` finds it.
type missionState struct {
	begun
	State  string `json:"state"` // the last event's kind, in small letters; intended: there is none on record yet
	Reason string `json:"reason,omitempty"`
	Final  bool   `json:"final"`
	Source string `json:"source"`           // fromRobot or fromRecord
	Record uint64 `json:"record,omitempty"` // from the record: the number of the line that says so
	Says   string `json:"says,omitempty"`   // why it is not the robot's own word
}

func newMissions() *cobra.Command {
	var f robotFlags
	c := &cobra.Command{
		Use:   "missions [ROBOT]",
		Short: "List the latest missions of a robot, newest last",
		Long: `Missions lists the latest missions of a robot of this user and how each stands. A
robot that does not answer, or has ended, has its record: then the list says so, and
beside each mission the number of the record that its state is from. What happened
since is not known; interlock robots tells how the robot is. A mission of a further
caller (interlock robot --caller) is told from the record too, with the caller's name.`,
		Args: takes(robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			who, err := f.warned(cmd, a, 0)
			if err != nil {
				return err
			}
			e, err := withRecord(who)
			if err != nil {
				return err
			}
			return f.missions(cmd, e)
		},
	}
	f.add(c, 0)
	return c
}

// withRecord is the robot that is meant, if it keeps a record here: one that runs, was left behind, or has ended.
func withRecord(who string) (entry, error) {
	e, err := find(who)
	if err == nil {
		if e.Audit == "" {
			return e, badInput(fmt.Errorf("ROBOT: missions are listed for the robots of this user, by name, and %s is none", robotSaid(e.Name, e.Address)))
		}
		return e, nil
	}
	known, recordErr := auditDirs()
	robots, _, robotsErr := entries()
	switch dir := known[who]; {
	case recordErr != nil || robotsErr != nil || who == "" && (len(robots) > 0 || len(known) != 1):
		return e, err
	case who == "":
		for name, only := range known {
			return entry{Name: name, Audit: only}, nil
		}
	case dir != "":
		return entry{Name: who, Audit: dir}, nil
	}
	return e, err
}

func (f *robotFlags) missions(cmd *cobra.Command, e entry) error {
	list, upTo, err := begunOf(e.Audit)
	if err != nil {
		return err
	}
	l := newNamedLine(e.Name, f.tokenFile)
	defer l.end()
	silent := silence(cmd.Context(), l, e)
	if silent != "" && !f.asJSON {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s; what follows is from its record up to number %d\n", silent, upTo); err != nil {
			return err
		}
	}
	if len(list) == 0 && !f.asJSON {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), e.Name+" has begun no mission")
		return err
	}
	for _, b := range list {
		s := b.onRecord(silent)
		if silent == "" {
			s = stateOfMission(cmd.Context(), l, b)
		}
		if err := f.printMission(cmd.OutOrStdout(), &s); err != nil {
			return err
		}
	}
	return nil
}

// silence is why a robot does not speak for itself; empty: it does.
func silence(ctx context.Context, l *namedLine, e entry) string {
	if e.Address == "" {
		return e.Name + " does not run"
	}
	ctx, done := context.WithTimeout(ctx, lineWithin)
	defer done()
	if _, err := l.Describe(ctx); err != nil {
		if r, refused := refusals(err); refused {
			return e.Name + " cannot say: " + shown(r[0].Says)
		}
		return e.Name + " does not answer: " + shown(err.Error())
	}
	return ""
}

func (f *robotFlags) printMission(out io.Writer, s *missionState) error {
	if f.asJSON {
		return printJSON(out, s)
	}
	text := fmt.Sprintf("%s  %-12s %s %s", s.At.Local().Format(time.TimeOnly), s.State, shown(s.Mission), shown(s.Capability+" "+s.Args))
	if s.Reason != "" {
		text += "  " + shown(s.Reason)
	}
	if s.Caller != connect.Owner && s.Caller != "" {
		text += "  (of " + shown(s.Caller) + ")"
	}
	if s.Source == fromRecord {
		text += fmt.Sprintf("  (record %d)", s.Record)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// begun is a mission that was begun, as the record tells it.
type begun struct {
	Mission    string    `json:"mission"`
	Caller     string    `json:"caller,omitempty"` // who started it
	Capability string    `json:"capability"`
	Task       string    `json:"task,omitempty"`
	Args       string    `json:"args"`
	At         time.Time `json:"at"`

	record uint64            // number of the line that last names it
	last   *contractv1.Event // on record; nil: none
}

const (
	keptBegun    = 64  // latest missions that are listed
	maxShownArgs = 512 // bytes of arguments that are shown
)

// begunOf is the list of the latest missions in a record, which is read up to the number upTo.
func begunOf(dir string) (list []begun, upTo uint64, err error) {
	r, err := audit.NewReader(dir)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, upTo, nil
		}
		if err != nil {
			return nil, 0, auditStatus(err)
		}
		list, upTo = withLine(list, line), line.Seq
	}
}

// withLine is the list after one more line of the record.
func withLine(list []begun, line *audit.Entry) []begun {
	at := func(mission string) int {
		return slices.IndexFunc(list, func(b begun) bool { return b.Mission == mission })
	}
	switch what := line.Record.GetWhat().(type) {
	case *contractv1.AuditRecord_Intent:
		i := what.Intent
		args := i.GetArgsJson()
		list = append(list, begun{
			Mission: i.GetMissionId(), Caller: i.GetPrincipal(), Capability: i.GetCapability(), Task: i.GetTaskId(), Args: string(args[:min(len(args), maxShownArgs)]),
			At: time.UnixMilli(line.Record.GetWallMs()), record: line.Seq,
		})
		return list[max(0, len(list)-keptBegun):]
	case *contractv1.AuditRecord_Event:
		if i := at(what.Event.GetMissionId()); i >= 0 {
			list[i].last, list[i].record = what.Event, line.Seq
		}
	case *contractv1.AuditRecord_Void:
		if i := at(what.Void.GetMissionId()); i >= 0 {
			return slices.Delete(list, i, i+1)
		}
	}
	return list
}

// onRecord is the mission as it is on record, and why nothing newer is known.
func (b begun) onRecord(says string) missionState {
	s := missionState{begun: b, State: "intended", Source: fromRecord, Record: b.record, Says: says}
	if b.last != nil {
		s.told(b.last)
	}
	return s
}

func (s *missionState) told(e *contractv1.Event) {
	s.State, s.Reason, s.Final = strings.ToLower(e.GetKind().String()), e.GetReason(), e.GetFinal()
}

// stateOfMission asks the robot, and falls back on the record for a mission of which it says nothing, or less than is written
// there: it may be slow, and it tells a further caller's mission to nobody else.
func stateOfMission(ctx context.Context, l transport.Client, b begun) missionState {
	s := missionState{begun: b, Source: fromRobot}
	says, told := "the robot says nothing of it", uint64(0)
	for e, err := range eventsSoFar(ctx, l, b.Mission, 1) {
		if err != nil {
			says = err.Error()
			break
		}
		s.told(e)
		says, told = "the robot did not say the rest in time", e.GetSeq()
	}
	if told == 0 || told < b.last.GetSeq() {
		return b.onRecord(says)
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
