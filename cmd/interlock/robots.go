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
	State    string `json:"state"` // ready, moving, stopped, waiting (for its driver), silent (it does not answer)
	Mode     string `json:"mode,omitempty"`
	Verbs    int    `json:"verbs,omitempty"`
	Mission  string `json:"mission,omitempty"`
	Stop     uint64 `json:"stop_number,omitempty"` // of the stop that is latched
	Manifest string `json:"manifest_hash,omitempty"`
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
used wherever a command takes a ROBOT, and so can its address.`,
		Args: takes(robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			list, err := f.those(a)
			if err != nil {
				return err
			}
			states := make([]robotState, len(list))
			var all sync.WaitGroup
			for i, e := range list {
				all.Go(func() { states[i] = look(cmd.Context(), e) })
			}
			all.Wait()
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

// those are the robots that are meant: one, or all there are.
func (r *robotChoice) those(a []string) ([]entry, error) {
	switch who, err := r.of(a, 0); {
	case err != nil:
		return nil, err
	case who != "":
		e, err := find(who)
		return []entry{e}, err
	}
	return entries()
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
		}
		return s
	}
	s.Mode, s.Verbs, s.Manifest = m.GetMode(), len(m.GetCapabilities()), m.GetManifestHash()
	o, err := l.Observe(ctx, &contractv1.ObserveRequest{})
	switch {
	case err != nil:
		s.State, s.Says = "waiting", err.Error()
	case o.GetStopped():
		s.State, s.Stop, s.Says = "stopped", o.GetStopNumber(), o.GetStopReason()
	case o.GetRunningMission() != "":
		s.State, s.Mission = "moving", o.GetRunningMission()
	default:
		s.State = "ready"
	}
	return s
}

func (s *robotState) text() string {
	text := fmt.Sprintf("%s  %s", cmp.Or(s.Name, shown(s.Address)), s.State)
	switch {
	case s.Stop != 0:
		text += fmt.Sprintf(" (stop %d: %s)", s.Stop, shown(s.Says))
	case s.Mission != "":
		text += " (mission " + shown(s.Mission) + ")"
	case s.Says != "":
		text += " (" + shown(s.Says) + ")"
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
func (f *robotFlags) line(a []string, n int) (*namedLine, error) {
	who, err := f.of(a, n)
	return newNamedLine(who, f.tokenFile), err
}

type describedVerb struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	ReadOnly    bool            `json:"read_only"`
	Holds       []string        `json:"holds,omitempty"`
	Changes     []string        `json:"changes,omitempty"`
	Audience    string          `json:"audience"`
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`
	Args        json.RawMessage `json:"args_schema"`
	Safety      json.RawMessage `json:"safety,omitempty"`
}

type describedWithdrawn struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

type described struct {
	Robot        string               `json:"robot"`
	Mode         string               `json:"mode"`
	Frame        string               `json:"frame"`
	ContractHash string               `json:"contract_hash"`
	ManifestHash string               `json:"manifest_hash"`
	Verbs        []describedVerb      `json:"capabilities"`
	Withdrawn    []describedWithdrawn `json:"withdrawn"`
	Facts        []string             `json:"facts"`
	Cannot       string               `json:"cannot"`
}

func newDescribe() *cobra.Command {
	var f robotFlags
	c := &cobra.Command{
		Use:   "describe [ROBOT]",
		Short: "Print what a running robot offers, and what it withdrew",
		Args:  takes(robotArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			l, err := f.line(a, 0)
			if err != nil {
				return err
			}
			defer l.end()
			m, err := l.Describe(cmd.Context())
			if err != nil {
				return l.status(err)
			}
			if f.asJSON {
				return printJSON(cmd.OutOrStdout(), describedOf(m))
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), describedText(m))
			return err
		},
	}
	f.add(c, 0)
	return c
}

func describedOf(m *contractv1.Manifest) described {
	d := described{
		Robot: m.GetRobot(), Mode: m.GetMode(), Frame: m.GetFrame(), ContractHash: m.GetContractHash(), ManifestHash: m.GetManifestHash(),
		Verbs: []describedVerb{}, Withdrawn: []describedWithdrawn{}, Cannot: m.GetCannot(),
	}
	for _, k := range m.GetCapabilities() {
		d.Verbs = append(d.Verbs, describedVerb{
			k.GetName(), k.GetDescription(), k.GetReadOnly(), k.GetHolds(), k.GetChanges(), k.GetAudience(), k.GetTimeoutMs(),
			raw(k.GetArgsSchemaJson()), raw(k.GetSafetyJson()),
		})
	}
	for _, w := range m.GetWithdrawn() {
		d.Withdrawn = append(d.Withdrawn, describedWithdrawn{w.GetCapability(), w.GetWhy()})
	}
	for _, fact := range m.GetFacts() {
		d.Facts = append(d.Facts, fact.GetName())
	}
	return d
}

// raw is JSON as it came, or null where it is none.
func raw(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

func describedText(m *contractv1.Manifest) string {
	text := fmt.Sprintf("%s (%s), contract %.12s, manifest %.12s\n", shown(m.GetRobot()), shown(m.GetMode()), shown(m.GetContractHash()), shown(m.GetManifestHash()))
	for _, k := range m.GetCapabilities() {
		text += fmt.Sprintf("  %-14s %s\n", shown(k.GetName()), shown(k.GetDescription()))
	}
	for _, w := range m.GetWithdrawn() {
		text += fmt.Sprintf("  %-14s withdrawn: %s\n", shown(w.GetCapability()), shown(w.GetWhy()))
	}
	return text
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
