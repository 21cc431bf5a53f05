package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

// printJSON prints one object on one line.
func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// robotState is a robot as `interlock robots` finds it.
type robotState struct {
	entry
	State    string `json:"state"` // ready, moving, stopped, waiting (for its driver), silent (it does not answer), damaged (its entry)
	Mode     string `json:"mode,omitempty"`
	Verbs    int    `json:"verbs,omitempty"`
	Mission  string `json:"mission,omitempty"`
	Stop     uint64 `json:"stop_number,omitempty"` // of the stop that is latched
	Manifest string `json:"manifest_hash,omitempty"`
	TakenBy  string `json:"taken_by,omitempty"`
	Waiting  int    `json:"waiting,omitempty"` // calls that wait for a person
	Says     string `json:"says,omitempty"`
}

func newRobots() *cobra.Command {
	var f robotChoice
	var asJSON bool
	c := &cobra.Command{
		Use:   "robots [ROBOT]",
		Short: "List the robots of this user, or one of them",
		Long: `Robots lists the robots that were started by this user: running, waiting for their
driver, stopped, or not answering any more. Each begins with its name, which can be
used wherever a command takes a ROBOT, and so can its address. One whose entry is
damaged is known by its name only.`,
		Args: takes(robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			list, bad, err := f.those(a)
			if err != nil {
				return err
			}
			states := make([]robotState, len(list))
			var all sync.WaitGroup
			for i, e := range list {
				all.Go(func() { states[i] = look(cmd.Context(), e) })
			}
			all.Wait()
			for _, d := range bad {
				states = append(states, robotState{entry: entry{Name: d.name}, State: stateDamaged, Says: d.Error()})
			}
			for _, s := range states {
				if asJSON {
					err = printJSON(cmd.OutOrStdout(), s)
				} else {
					_, err = fmt.Fprint(cmd.OutOrStdout(), s.text())
				}
				if err != nil {
					return err
				}
			}
			if len(states) == 0 && !asJSON {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "no robot of this user is known; "+startOne)
			}
			return err
		},
	}
	f.add(c, 0, nil)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per robot")
	return c
}

// startOne is what a person without a robot can run.
const startOne = "interlock robot robots/so101-tabletop.yaml starts one"

// stateDamaged is the state of a robot whose entry cannot be read.
const stateDamaged = "damaged"

// those are the robots that are meant: one, or all there are.
func (r *robotChoice) those(a []string) ([]entry, []damaged, error) {
	who, err := r.of(a, 0)
	if err != nil {
		return nil, nil, err
	}
	if who == "" {
		return entries()
	}
	e, err := find(who)
	if d := (damaged{}); errors.As(err, &d) {
		return nil, []damaged{d}, nil
	}
	return []entry{e}, nil, err
}

// look asks a robot how it is.
func look(ctx context.Context, e entry) robotState {
	s := robotState{entry: e, State: "silent"}
	l := newNamedLine(cmp.Or(e.Name, e.Address), "")
	defer l.end()
	ctx, done := context.WithTimeout(ctx, lineWithin)
	defer done()
	m, err := l.Describe(ctx)
	if err != nil {
		s.Says = err.Error()
		if answers(err) {
			s.State = "waiting"
		} else if e.PID > 0 && !alive(e.PID) {
			s.Says = "its process is gone; interlock robot FILE starts it again"
		}
		return s
	}
	s.Mode, s.Verbs, s.Manifest = m.GetMode(), len(m.GetCapabilities()), m.GetManifestHash()
	o, err := l.Observe(ctx, &contractv1.ObserveRequest{})
	switch {
	case err != nil:
		s.State, s.Says = "waiting", "its driver does not answer: "+err.Error()
	case o.GetStopped():
		s.State, s.Stop, s.Says = "stopped", o.GetStopNumber(), o.GetStopReason()
	case o.GetRunningMission() != "":
		s.State, s.Mission = "moving", o.GetRunningMission()
	default:
		s.State = "ready"
	}
	s.askPerson(ctx)
	return s
}

// askPerson asks what a person is told at the robot's other line. A robot that does not say has no more to say.
func (s *robotState) askPerson(ctx context.Context) {
	if s.Person == "" {
		return
	}
	c := operator.Dial(s.Person)
	defer c.Close()
	list, err := c.ListPending(ctx, &contractv1.ListPendingRequest{})
	if err != nil {
		return
	}
	s.TakenBy = list.GetTakenBy()
	for _, p := range list.GetPending() {
		if !p.GetApproved() {
			s.Waiting++
		}
	}
}

func (s *robotState) text() string {
	if s.State == stateDamaged {
		return fmt.Sprintf("%s  %s\n    %s\n", s.Name, s.State, s.Says)
	}
	text := fmt.Sprintf("%s  %s", cmp.Or(s.Name, shown(s.Address)), s.State)
	switch {
	case s.Stop != 0:
		text += fmt.Sprintf(" (stop %d: %s)", s.Stop, shown(s.Says))
	case s.Mission != "":
		text += " (mission " + shown(s.Mission) + ")"
	case s.Says != "":
		text += " (" + shown(s.Says) + ")"
	}
	if s.TakenBy != "" {
		text += ", taken by " + shown(s.TakenBy)
	}
	if s.Waiting > 0 {
		text += fmt.Sprintf(", %d waiting for a person (interlock approve %s)", s.Waiting, s.Name)
	}
	if s.Mode != "" {
		text += fmt.Sprintf(", %s, %d verbs", s.Mode, s.Verbs)
	}
	return text + fmt.Sprintf("\n    at %s, process %d; stop and reset: %s\n", shown(s.Address), s.PID, shown(s.Operator))
}

// robotFlags are what every command that talks to a robot takes.
type robotFlags struct {
	robotChoice
	tokenFile string
	asJSON    bool
}

// add adds them; n is the place of ROBOT among the arguments.
func (f *robotFlags) add(c *cobra.Command, n int) {
	f.robotChoice.add(c, n, nil)
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "the token's file (default: the one the robot's name leads to)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// line is the line to the robot that is meant. Nothing is asked yet.
func (f *robotFlags) line(c *cobra.Command, a []string, n int) (*namedLine, error) {
	who, err := f.warned(c, a, n)
	return newNamedLine(who, f.tokenFile), err
}

// status gives an error of the line its exit code: that of the first refusal, where it is one. A robot that does not
// answer is said to do so.
func (l *namedLine) status(err error) error {
	if list, is := refusals(err); is {
		return exitStatus{reject.ExitCode(list[0].Code), err}
	}
	var told exitStatus
	if err == nil || errors.As(err, &told) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s does not answer (interlock robots tells how it is): %w", l.name(), err)
}
