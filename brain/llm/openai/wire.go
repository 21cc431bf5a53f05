package openai

import (
	"encoding/json"

	"interlock/brain/llm"
)

// chatRequest is the body of a request to /chat/completions.
type chatRequest struct {
	Model             string          `json:"model"`
	Messages          []message       `json:"messages"`
	Tools             []toolSpec      `json:"tools,omitempty"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls,omitempty"`
	ResponseFormat    *responseFormat `json:"response_format,omitempty"`
	Stream            bool            `json:"stream"`
	StreamOptions     *streamOptions  `json:"stream_options,omitempty"`
	Temperature       *float64        `json:"temperature,omitempty"`
	Seed              *int64          `json:"seed,omitempty"`
	MaxTokens         *int            `json:"max_tokens,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema namedSchema `json:"json_schema"`
}

type namedSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Function calledFunction `json:"function"`
}

type calledFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
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
	out := message{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, toolCall{ID: c.ID, Type: "function", Function: calledFunction{c.Name, c.ArgumentsText}})
	}
	return out
}

// answer is a whole answer, or one event of a stream; the two differ in where a choice keeps its message.
type answer struct {
	Choices []struct {
		Index        int     `json:"index"`
		Message      *delta  `json:"message"`
		Delta        *delta  `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// delta is what a choice says, or the next piece of it.
type delta struct {
	Content   json.RawMessage `json:"content"`
	Reasoning json.RawMessage `json:"reasoning_content"`
	ToolCalls []piece         `json:"tool_calls"`
}

// piece is a tool call, or a piece of one.
type piece struct {
	Index    *int            `json:"index"`
	ID       json.RawMessage `json:"id"`
	Function struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}
