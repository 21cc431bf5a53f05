package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	contractv1 "interlock/contract/v1"
)

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
			l, err := f.line(cmd, a, 0)
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
