package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// DeclineName is the tool of the branch by which a model declines to call anything. It is no tool of a registry, and a
// registry that has one of this name cannot be offered as a schema.
const DeclineName = "none"

// declineBranch lets a model say why it calls nothing. Its length is bounded, since a small model may not find the end.
const declineBranch = `{"type":"object","properties":{"tool":{"const":"` + DeclineName + `"},"arguments":{"type":"object","properties":` +
	`{"reason":{"type":"string","maxLength":200}},"required":["reason"],"additionalProperties":false}},` +
	`"required":["tool","arguments"],"additionalProperties":false}`

// CallSchema returns the JSON Schema of one call in the plain envelope: a branch per tool and, always, one to decline. It
// is the only place that makes a schema for constrained output: without a way to decline, a model that is asked to stop
// moves. The order of keys is the order in which a constrained model writes them.
func CallSchema(tools []ToolSpec) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"anyOf":[`)
	for _, t := range tools {
		if t.Name == DeclineName {
			return nil, fmt.Errorf("llm: a tool is named %q, which is how a model declines", DeclineName)
		}
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, fmt.Errorf("llm: tool %q: %w", t.Name, err)
		}
		if !json.Valid(t.ParametersJSON) {
			return nil, fmt.Errorf("llm: the schema of %q is no JSON", t.Name)
		}
		fmt.Fprintf(&b, `{"type":"object","properties":{"tool":{"const":%s},"arguments":%s},"required":["tool","arguments"],"additionalProperties":false},`,
			name, t.ParametersJSON)
	}
	b.WriteString(declineBranch + `]}`)
	return b.Bytes(), nil
}
