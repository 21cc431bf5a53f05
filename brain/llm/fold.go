package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// notCalled is the result of a native call that was never answered, since servers demand a result for each.
const notCalled = `{"verdict":"not called"}`

// Folded returns the conversation as servers take it. A result that answers a native call keeps its role and gets the
// call's id; every native call has exactly one result behind it. All other results become messages of the user, for a
// tool role without a call is refused by some servers and dropped by others. Where native is false, or a call's arguments
// are no JSON object, which servers choke on, the call is folded into the text too. The messages given stay as they are.
func Folded(messages []Message, native bool) []Message {
	var out []Message
	var open []ToolCall // native calls that wait for their results
	settle := func() {
		for _, c := range open {
			out = append(out, Message{Role: ToolRole, ToolName: c.Name, ToolCallID: c.ID, Content: notCalled})
		}
		open = nil
	}
	for n, m := range messages {
		if m.Role == ToolRole && len(open) > 0 && open[0].Name == m.ToolName {
			m.ToolCallID = open[0].ID
			out, open = append(out, m), open[1:]
			continue
		}
		settle()
		switch {
		case m.Role == ToolRole:
			m = Message{Role: User, Content: "The result of " + m.ToolName + ":\n" + m.Content}
		case len(m.ToolCalls) > 0 && native && objects(m.ToolCalls):
			m.ToolCalls = identified(m.ToolCalls, n)
			open = m.ToolCalls
		case len(m.ToolCalls) > 0:
			m = spelled(m)
		}
		out = append(out, m)
	}
	settle()
	return out
}

// objects reports whether every call's arguments are a JSON object.
func objects(calls []ToolCall) bool {
	for _, c := range calls {
		text := bytes.TrimSpace([]byte(c.ArgumentsText))
		if !json.Valid(text) || text[0] != '{' {
			return false
		}
	}
	return true
}

// identified gives every call an id of its own.
func identified(calls []ToolCall, message int) []ToolCall {
	out, used := make([]ToolCall, len(calls)), map[string]bool{}
	for i, c := range calls {
		if c.ID == "" || used[c.ID] {
			c.ID = fmt.Sprintf("call_%d_%d", message, i)
		}
		used[c.ID], out[i] = true, c
	}
	return out
}

// spelled writes a message's native calls as text.
func spelled(m Message) Message {
	var b strings.Builder
	b.WriteString(m.Content)
	for _, c := range m.ToolCalls {
		fmt.Fprintf(&b, "\n%s %s", c.Name, c.ArgumentsText)
	}
	return Message{Role: m.Role, Content: strings.TrimPrefix(b.String(), "\n")}
}
