package agent

import (
	"fmt"
	"strings"

	"interlock/brain/llm"
	"interlock/brain/tool"
	contractv1 "interlock/contract/v1"
)

// SystemPrompt returns the system message for a robot and its tools: the envelope, the tools with their schemas, what the
// robot cannot do, and how a task ends. The closing tool is the way to decline, which every model needs to have.
func SystemPrompt(m *contractv1.Manifest, tools []tool.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You operate the robot %q by calling tools. Answer with exactly one JSON object and nothing else:\n", m.GetRobot())
	b.WriteString(`{"tool": "NAME", "arguments": {...}}` + "\n")
	b.WriteString("No text before or after it, no second object, no further keys. Both keys are always there; a tool without arguments takes {}.\n\nTools:\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "- %s: %s\n  arguments: %s\n", t.Name, t.Description, t.SchemaJSON)
	}
	fmt.Fprintf(&b, "\nNumbers are in the unit their name ends in: x_cm is in centimetres. Positions are in the frame %q: x forward, y left, z up.\n", m.GetFrame())
	if cannot := strings.TrimSpace(m.GetCannot()); cannot != "" {
		b.WriteString("\n" + cannot + "\n")
	}
	fmt.Fprintf(&b, "\nEvery call is checked, and its result holds what was measured. Do only what was asked. When it is done, or cannot or should not be done, call %s; only that call is a report.\n", tool.ReportName)
	return b.String()
}

// declineLine tells a constrained model the way out that its schema leaves it. It stands last, where a small model reads it.
const declineLine = "\nOnly where no tool fits what was asked, answer {\"tool\": \"" + llm.DeclineName + "\", \"arguments\": {\"reason\": \"why\"}}; that is no report.\n"

// specs turns tools into what a provider may pass on. Without motion, only what cannot move is listed.
func specs(tools []tool.Tool, motion bool) []llm.ToolSpec {
	var out []llm.ToolSpec
	for _, t := range tools {
		if t.Effect == tool.Motion && !motion {
			continue
		}
		out = append(out, llm.ToolSpec{Name: t.Name, Description: t.Description, ParametersJSON: t.SchemaJSON})
	}
	return out
}
