package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"interlock/brain/action"
	"interlock/brain/tool"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot"
	"interlock/robot/gate"
)

func newExplain() *cobra.Command {
	var contractName string
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain CALL|-",
		Short: "Say how the robot would decide about one call, and why, without moving",
		Long: `Explain reads one call as raw model text ('-' reads it from standard input) and
prints each stage of the decision: the rules with both sides of their comparisons,
the readings they rest on with their ages, and the verdict. Nothing moves. The
table holds one cube at (22, 3) cm, as for interlock call.

Exit codes: 0 the call would be accepted, 2 bad text or arguments, 3 refused,
6 a person is needed, 7 stopped.`,
		Example: `  interlock explain '{"tool": "move_to", "arguments": {"x_cm": 20, "y_cm": 0, "z_cm": -5}}'
  interlock explain '{"tool": "pick", "arguments": {"name": "red cube"}}' --json`,
		Args: takes(callArgument()),
		RunE: func(cmd *cobra.Command, a []string) error {
			c, _, err := loadContract(contractName)
			if err != nil {
				return err
			}
			raw, err := callText(a[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return explain(cmd.Context(), cmd.OutOrStdout(), c, raw, asJSON)
		},
	}
	c.Flags().StringVar(&contractName, "contract", "robots/so101-tabletop.yaml", "contract file")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// explain puts one call to a robot of its own, which explains instead of moving; the error carries the exit code.
func explain(ctx context.Context, out io.Writer, c *contract.Contract, raw []byte, asJSON bool) (err error) {
	f, err := fold(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.end()) }()
	manifest, err := f.client.Describe(ctx)
	if err != nil {
		return err
	}
	registry, err := tool.New(manifest, f.client, tool.Options{})
	if err != nil {
		return err
	}
	call, err := oneCall(raw, registry.Names())
	if err != nil {
		return err
	}
	if t, _ := registry.Tool(call.Tool); t.Effect == tool.Report {
		return badInput(fmt.Errorf("%s is for the brain's report; the robot does not judge it", tool.ReportName))
	}
	e, err := f.robot.Explain(ctx, &contractv1.StartRequest{Capability: call.Tool, ArgsJson: call.Args})
	if err != nil {
		return err
	}
	told := toldOf(call.Tool, &e)
	if err := told.print(out, asJSON); err != nil {
		return err
	}
	if l := e.Refusals(); len(l) > 0 {
		return exitStatus{reject.ExitCode(l[0].Code), errors.New(string(l[0].Code) + ": " + shown(l[0].Says))}
	}
	return nil
}

// oneCall reads raw text as exactly one call of an offered tool.
func oneCall(raw []byte, tools []string) (action.Call, error) {
	reading := action.Read(action.Output{Raw: raw, StopReason: "stop"}, action.Offer{Tools: tools})
	switch {
	case reading.Kind == action.NoCall:
		return action.Call{}, badInput(errors.New("the text holds no call; a call is {\"tool\": NAME, \"arguments\": {…}}"))
	case reading.Refusal != nil:
		return action.Call{}, exitStatus{reject.ExitCode(reading.Refusal.Code), *reading.Refusal}
	case len(reading.Calls) != 1:
		return action.Call{}, badInput(fmt.Errorf("the text holds %d calls; one at a time", len(reading.Calls)))
	}
	return reading.Calls[0], nil
}

// told is an explanation as it is printed.
type told struct {
	Tool     string            `json:"tool"`
	Args     json.RawMessage   `json:"args,omitempty"`
	Bound    map[string]string `json:"bound,omitempty"`
	Before   []chatRefusal     `json:"before,omitempty"` // what refuses every motion
	Stages   []toldStage       `json:"stages"`
	Accepted bool              `json:"accepted"`
	Refusals []chatRefusal     `json:"refusals,omitempty"`
	TakesMS  int64             `json:"takes_ms,omitempty"`
}

type toldStage struct {
	Number   int           `json:"number"`
	Name     string        `json:"name"`
	State    string        `json:"state"`
	Rules    []toldRule    `json:"rules,omitempty"`
	Facts    []toldFact    `json:"facts,omitempty"`
	Refusals []chatRefusal `json:"refusals,omitempty"`
}

type toldRule struct {
	ID          string           `json:"id"`
	That        string           `json:"that,omitempty"`
	Truth       string           `json:"truth"`
	Soft        bool             `json:"soft,omitempty"`
	Error       string           `json:"error,omitempty"`
	Comparisons []toldComparison `json:"comparisons,omitempty"`
	Facts       []toldFact       `json:"facts,omitempty"`
}

type toldComparison struct {
	Text  string `json:"text,omitempty"`
	Got   string `json:"got,omitempty"`
	Op    string `json:"op,omitempty"`
	Limit string `json:"limit,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

type toldFact struct {
	Name     string `json:"fact"`
	Witness  string `json:"witness"`
	Value    string `json:"value,omitempty"` // JSON
	AgeMS    *int64 `json:"age_ms"`          // null: not known
	MaxAgeMS int64  `json:"max_age_ms"`
	Fresh    bool   `json:"fresh"`
}

func toldOf(tool string, e *robot.Explanation) *told {
	t := &told{Tool: tool, Args: e.Gate.ArgsJSON, Before: toldRefusals(e.Before), Refusals: toldRefusals(e.Refusals()), TakesMS: e.Gate.Takes.Milliseconds()}
	t.Accepted = len(t.Refusals) == 0
	for _, b := range e.Gate.Bound {
		if t.Bound == nil {
			t.Bound = map[string]string{}
		}
		t.Bound[b.Name] = contract.ValueJSON(b.Value)
	}
	for _, s := range e.Gate.Stages {
		stage := toldStage{Number: s.Number, Name: s.Name, State: string(s.State), Facts: toldFacts(s.Facts), Refusals: toldRefusals(s.Refusals)}
		for _, r := range s.Rules {
			rule := toldRule{ID: r.ID, That: r.That, Truth: r.Truth.String(), Soft: r.Soft, Error: r.Err, Facts: toldFacts(r.Facts)}
			for _, c := range r.Comparisons {
				rule.Comparisons = append(rule.Comparisons, toldComparison{c.Text, c.Got, c.Op, c.Limit, c.Unit})
			}
			stage.Rules = append(stage.Rules, rule)
		}
		t.Stages = append(t.Stages, stage)
	}
	return t
}

func toldRefusals(l reject.List) (out []chatRefusal) {
	for _, r := range l {
		out = append(out, chatRefusal{string(r.Code), r.Rule, r.Field, r.Got, r.Limit, r.Unit, r.Says})
	}
	return out
}

func toldFacts(l []gate.FactUse) (out []toldFact) {
	for _, f := range l {
		fact := toldFact{Name: f.Name, Witness: f.Witness, Value: f.Observed, MaxAgeMS: f.MaxAge.Milliseconds(), Fresh: f.Fresh}
		if age := f.Age.Milliseconds(); f.Observed != "" {
			fact.AgeMS = &age
		}
		out = append(out, fact)
	}
	return out
}

func (t *told) print(out io.Writer, asJSON bool) error {
	if asJSON {
		b, err := json.Marshal(t)
		if err != nil {
			return err
		}
		_, err = out.Write(append(asciiControls(b), '\n'))
		return err
	}
	_, err := io.WriteString(out, t.text())
	return err
}

func (t *told) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", shown(t.Tool), shown(string(t.Args)))
	for name, value := range t.Bound {
		fmt.Fprintf(&b, "  bound %s = %s\n", name, shown(value))
	}
	for _, r := range t.Before {
		fmt.Fprintf(&b, "  before the gate: %s\n", refusalText(r))
	}
	for i := range t.Stages {
		t.Stages[i].write(&b)
	}
	switch {
	case !t.Accepted:
		b.WriteString("refused; nothing would move\n")
	case t.TakesMS > 0:
		fmt.Fprintf(&b, "would be accepted; the planned motion takes %d ms. Nothing was moved.\n", t.TakesMS)
	default:
		b.WriteString("would be answered from readings; nothing would move\n")
	}
	return b.String()
}

func (s *toldStage) write(b *strings.Builder) {
	fmt.Fprintf(b, "  %d %-46s %s\n", s.Number, s.Name, strings.ReplaceAll(s.State, "_", " "))
	for _, f := range s.Facts {
		fmt.Fprintf(b, "      looks at %s\n", f.text())
	}
	for _, r := range s.Rules {
		soft := ""
		if r.Soft {
			soft = " (a person may allow it)"
		}
		fmt.Fprintf(b, "      %s%s: %s\n", shown(r.ID), soft, r.Truth)
		for _, c := range r.Comparisons {
			fmt.Fprintf(b, "        %s\n", c.text())
		}
		for _, f := range r.Facts {
			fmt.Fprintf(b, "        rests on %s\n", f.text())
		}
		if r.Error != "" {
			fmt.Fprintf(b, "        could not be evaluated: %s\n", shown(r.Error))
		}
	}
	for _, r := range s.Refusals {
		fmt.Fprintf(b, "      ✗ %s\n", refusalText(r))
	}
}

func (c toldComparison) text() string {
	got := "got " + c.Got
	if c.Got == "" {
		got = "got nothing: unknown"
	}
	if c.Unit != "" && c.Got != "" {
		got += " " + c.Unit
	}
	if c.Text == "" {
		return shown(got)
	}
	return shown(c.Text + "   " + got)
}

func (f toldFact) text() string {
	if f.AgeMS == nil {
		return shown(fmt.Sprintf("%s (%s): no reading", f.Name, f.Witness))
	}
	word := "fresh"
	if !f.Fresh {
		word = "too old"
	}
	return shown(fmt.Sprintf("%s = %s (%s, %d ms old of at most %d: %s)", f.Name, f.Value, f.Witness, *f.AgeMS, f.MaxAgeMS, word))
}

func refusalText(r chatRefusal) string {
	parts := []string{r.Code}
	if r.Rule != "" {
		parts = append(parts, r.Rule)
	}
	if r.Field != "" {
		parts = append(parts, "in "+r.Field)
	}
	return shown(strings.Join(parts, " ") + ": " + r.Says)
}
