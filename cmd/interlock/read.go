package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"interlock/brain/action"
	"interlock/brain/tool"
	"interlock/contract"
	"interlock/reject"
)

// readFlags are what read takes.
type readFlags struct {
	contract, profile, stop, corpus string
	tools                           []string
	asJSON                          bool
}

func newRead() *cobra.Command {
	var f readFlags
	c := &cobra.Command{
		Use:   "read FILE|-",
		Short: "Show what is made of a model's raw text, without calling anything",
		Long: `Read takes a model's raw text from a file ('-': from standard input) and shows how
it is read: as calls, as no call, or as a refusal with its place, and everything
that was set aside on the way, with its bytes.

With --corpus it reads a file of such texts instead, one JSON object a line with
the fields raw, finish_reason, model and constrained, and prints the rates by
model and grammar with their counts.

Exit codes: 0 calls, no call, or a corpus; 2 the text is refused or the file bad.`,
		Example: `  echo '{"tool": "home", "arguments": {},}' | interlock read -
  interlock read --corpus outputs.jsonl --profile action`,
		Args: takes(argument{"FILE", "a file with a model's raw text, or - for standard input", true}),
		RunE: func(cmd *cobra.Command, a []string) error {
			offer, err := f.offer()
			if err != nil {
				return err
			}
			switch {
			case (len(a) == 1) == (f.corpus != ""):
				return badInput(errors.New("read takes one FILE, or - for standard input, or --corpus FILE"))
			case f.corpus != "":
				return readCorpus(cmd.OutOrStdout(), f.corpus, offer, f.asJSON)
			}
			raw, err := rawText(a[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return printReading(cmd.OutOrStdout(), raw, action.Read(action.Output{Raw: raw, StopReason: f.stop}, offer), f.asJSON)
		},
	}
	c.Flags().StringVar(&f.contract, "contract", "robots/so101-tabletop.yaml", "contract file whose capabilities are the tools on offer")
	c.Flags().StringSliceVar(&f.tools, "tools", nil, "names of the tools on offer, instead of a contract's")
	c.Flags().StringVar(&f.profile, "profile", "plain", "how the model's envelope departs from the plain one: "+strings.Join(action.NamedProfiles(), ", "))
	c.Flags().StringVar(&f.stop, "stop", "stop", "the stop reason that came with the text")
	c.Flags().StringVar(&f.corpus, "corpus", "", "JSON-lines file of texts to read")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	_ = c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(action.NamedProfiles(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// offer returns what the model was offered.
func (f *readFlags) offer() (action.Offer, error) {
	profile, err := action.ProfileNamed(f.profile)
	if err != nil {
		return action.Offer{}, badInput(err)
	}
	if len(f.tools) > 0 {
		return action.Offer{Tools: f.tools, Profile: profile}, nil
	}
	c, _, err := loadContract(f.contract)
	return action.Offer{Tools: append(modelTools(c), tool.ReportName), Profile: profile}, err
}

// modelTools lists a contract's capabilities for models; none without a contract.
func modelTools(c *contract.Contract) (names []string) {
	if c == nil {
		return nil
	}
	for _, k := range c.Capabilities {
		if k.Audience != contract.AudiencePerson {
			names = append(names, k.Name)
		}
	}
	return names
}

// rawText reads the text, whole and as it is.
func rawText(name string, in io.Reader) ([]byte, error) {
	if name == "-" {
		return callText(name, in)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, badInput(err)
	}
	raw, err := callText("-", f)
	return raw, errors.Join(err, f.Close())
}

// readingJSON is a reading as --json prints it.
type readingJSON struct {
	Kind       string            `json:"kind"`
	Calls      []readCall        `json:"calls"`
	Changes    []readChange      `json:"changes"`
	Refusal    *reject.Rejection `json:"refusal"`
	Offset     int               `json:"offset"`
	Open       string            `json:"open,omitempty"`
	Candidates int               `json:"candidates,omitempty"`
	Identical  bool              `json:"identical,omitempty"`
}

type readCall struct {
	Tool  string `json:"tool"`
	Args  string `json:"arguments"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

type readChange struct {
	Code  string `json:"code"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

func readingOf(raw []byte, r action.Reading) readingJSON {
	out := readingJSON{
		Kind: r.Kind.String(), Calls: []readCall{}, Changes: []readChange{}, Refusal: r.Refusal, Offset: r.Offset,
		Open: r.Open, Candidates: r.Candidates, Identical: r.Identical,
	}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, readCall{c.Tool, string(c.Args), c.Start, c.End})
	}
	for _, c := range r.Changes {
		out.Changes = append(out.Changes, readChange{c.Code, c.Start, c.End, string(raw[c.Start:c.End])})
	}
	return out
}

// printReading prints a reading; the error carries the exit code of a refusal.
func printReading(out io.Writer, raw []byte, r action.Reading, asJSON bool) error {
	shown := readingOf(raw, r)
	var b strings.Builder
	if asJSON {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(shown); err != nil {
			return err
		}
	} else {
		shown.write(&b)
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return err
	}
	if r.Refusal != nil {
		return exitStatus{reject.ExitCode(r.Refusal.Code), *r.Refusal}
	}
	return nil
}

// write writes the reading for a person.
func (r *readingJSON) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n", r.Kind)
	for _, c := range r.Calls {
		fmt.Fprintf(b, "  call     %s %s  (bytes %d to %d)\n", c.Tool, c.Args, c.Start, c.End)
	}
	for _, c := range r.Changes {
		fmt.Fprintf(b, "  change   %s: %q set aside  (bytes %d to %d)\n", c.Code, c.Text, c.Start, c.End)
	}
	if r.Refusal == nil {
		return
	}
	fmt.Fprintf(b, "  refusal  %s", r.Refusal.Code)
	for _, part := range []struct{ name, value string }{{"rule", r.Refusal.Rule}, {"field", r.Refusal.Field}, {"open", r.Open}} {
		if part.value != "" {
			fmt.Fprintf(b, ", %s %s", part.name, part.value)
		}
	}
	if r.Candidates > 0 {
		fmt.Fprintf(b, ", %d candidates, identical %t", r.Candidates, r.Identical)
	}
	fmt.Fprintf(b, ", at byte %d\n", r.Offset)
}
