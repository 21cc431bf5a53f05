package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"

	"interlock/brain/llm"
)

// chatRequest is the body of a request to /api/chat.
type chatRequest struct {
	Model     string          `json:"model"`
	Messages  []message       `json:"messages"`
	Tools     []toolSpec      `json:"tools,omitempty"`
	Stream    bool            `json:"stream"`
	Think     *bool           `json:"think"`
	Format    json.RawMessage `json:"format,omitempty"`
	Options   options         `json:"options"`
	KeepAlive string          `json:"keep_alive"`
}

type options struct {
	NumCtx      int      `json:"num_ctx"`
	NumPredict  *int     `json:"num_predict,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

type message struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolName  string     `json:"tool_name,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Function calledFunction `json:"function"`
}

type calledFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type toolSpec struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func wireMessage(m llm.Message) message {
	out := message{Role: string(m.Role), Content: m.Content, ToolName: m.ToolName}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, toolCall{calledFunction{c.Name, json.RawMessage(c.ArgumentsText)}})
	}
	return out
}

// chatChunk is one line of an answer, or the whole of one.
type chatChunk struct {
	Message *struct {
		Content   json.RawMessage `json:"content"`
		Thinking  json.RawMessage `json:"thinking"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      json.RawMessage `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done            bool            `json:"done"`
	DoneReason      string          `json:"done_reason"`
	PromptEvalCount int             `json:"prompt_eval_count"`
	EvalCount       int             `json:"eval_count"`
	Error           json.RawMessage `json:"error"`
}

// reader makes a reply of an answer's chunks.
type reader struct {
	line    *llm.Line
	native  bool
	out     llm.Reply
	thought bool
	seen    int
	broke   bool // the last line is unfinished
	bad     *llm.Fault
}

// chunk takes one line and reports whether the answer ends with it.
func (r *reader) chunk(text []byte) (end bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return false
	}
	r.seen++
	var c chatChunk
	if err := json.Unmarshal(text, &c); err != nil {
		if r.broke = llm.Unfinished(text); r.broke {
			return true
		}
		r.bad = r.line.Fault(llm.OffProtocol, fmt.Sprintf("line %d of the answer: %v", r.seen, err), nil)
		return true
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		r.bad = r.line.Complaint(text)
		return true
	}
	if r.bad = r.take(&c); r.bad != nil {
		return true
	}
	if c.Done {
		r.out.StopReason = c.DoneReason
		r.out.Tokens = llm.Tokens{Prompt: c.PromptEvalCount, Completion: c.EvalCount}
	}
	return c.Done
}

// take appends what a chunk's message holds.
func (r *reader) take(c *chatChunk) *llm.Fault {
	if c.Message == nil {
		if c.Done {
			return nil
		}
		return r.line.Fault(llm.OffProtocol, "the answer holds no message", nil)
	}
	content, ok := llm.Text(c.Message.Content)
	if !ok {
		return r.line.Fault(llm.OffProtocol, "the content is no text", nil)
	}
	r.out.Raw = append(r.out.Raw, content...)
	r.thought = r.thought || len(c.Message.Thinking) > len(`""`)
	for _, call := range c.Message.ToolCalls {
		name, ok := llm.Text(call.Function.Name)
		if !ok {
			return r.line.Fault(llm.OffProtocol, "a tool call's name is no text", nil)
		}
		args, decoded := arguments(call.Function.Arguments)
		r.out.ToolCalls = append(r.out.ToolCalls, llm.ToolCall{ID: call.ID, Name: string(name), ArgumentsText: args, Decoded: decoded})
	}
	return nil
}

// arguments returns the text of a call's arguments. This wire holds an object; some servers that imitate it hold a string
// of JSON, which is decoded once.
func arguments(raw json.RawMessage) (text string, decoded bool) {
	if len(raw) > 0 && raw[0] == '"' {
		if inner, ok := llm.Text(raw); ok {
			return string(inner), true
		}
	}
	return string(raw), false
}

// reply returns what came, or the fault that kept it from being one.
func (r *reader) reply(wire []byte) (llm.Reply, error) {
	if r.bad != nil {
		r.bad.Wire = wire
		return llm.Reply{}, r.bad
	}
	if r.seen == 0 || r.seen == 1 && r.broke {
		return llm.Reply{}, r.line.Fault(llm.Dropped, "the answer broke off before it could be read", wire)
	}
	nothing := len(r.out.Raw) == 0 && len(r.out.ToolCalls) == 0 && !r.thought
	if r.native && nothing && r.out.Tokens.Completion > 1 {
		says := fmt.Sprintf("the model wrote %d tokens, and the server hands on an empty message", r.out.Tokens.Completion)
		return llm.Reply{}, r.line.Fault(llm.Swallowed, says, wire)
	}
	r.out.Wire = wire
	return r.out, nil
}
