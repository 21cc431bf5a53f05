package llm

import "context"

// Role is who said a message.
type Role string

// The closed list of roles.
const (
	System    Role = "system"
	User      Role = "user"      // the person, or the agent speaking about the conversation itself
	Assistant Role = "assistant" // the model, byte by byte as it came
	ToolRole  Role = "tool"      // the result of a call, as JSON text
)

// Message is one message of a conversation.
type Message struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	ToolName   string     `json:"tool_name,omitempty"`    // of a tool's result: which tool
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool's result: which native call it answers; Folded fills it
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of a model's message: calls the wire carried apart from Content
}

// ToolSpec is one tool as a model sees it.
type ToolSpec struct {
	Name           string
	Description    string
	ParametersJSON []byte // JSON Schema 2020-12 of the arguments object
}

// Sampling pins how a model chooses its words. A nil field leaves the choice to the provider, and the run is unpinned.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
}

// Request asks for one reply.
type Request struct {
	Messages []Message
	Tools    []ToolSpec // what may be called now; the system message describes the tools too
	// Native passes Tools through the wire's own tools field; Constrained lets the wire hold the reply to CallSchema(Tools).
	// At most one of them is set; with neither, only the messages speak of tools.
	Native, Constrained bool
	Sampling            Sampling
}

// Reply is one reply of a model.
type Reply struct {
	Raw        []byte // the content, byte by byte
	StopReason string // as the wire says it; empty where no terminal event came
	ToolCalls  []ToolCall
	Tokens     Tokens
	Wire       []byte // the answer as it came over the line, byte by byte; nil: there is no line
}

// ToolCall is a call that the wire carried apart from the content.
type ToolCall struct {
	ID            string `json:"id,omitempty"` // as the wire has it; empty: it had none
	Name          string `json:"name"`
	ArgumentsText string `json:"arguments"`         // JSON text, byte by byte; empty where the wire had none
	Decoded       bool   `json:"decoded,omitempty"` // the wire held it as a JSON string, decoded once
}

// Tokens counts what a reply cost, as the provider reports it.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

// Provider talks to one model.
type Provider interface {
	// Name is the provider and the model, such as "scripted:careful".
	Name() string
	// Chat returns the model's reply. An error means that there is none; where a line is involved it is a *Fault.
	// Providers are safe for concurrent use.
	Chat(context.Context, Request) (Reply, error)
}
