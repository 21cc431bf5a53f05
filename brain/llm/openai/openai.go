package openai

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock/brain/llm"
)

// Prefix is how the names of these providers begin.
const Prefix = "openai:"

// Config says which model to ask and how. Model and BaseURL are needed.
type Config struct {
	Model    string
	BaseURL  string        // up to where /chat/completions begins: http://127.0.0.1:8080/v1
	Key      llm.Key       // zero: none is sent
	Stream   bool          // ask for the answer piece by piece
	Timeout  time.Duration // of one reply, default llm.DefaultTimeout
	MaxBytes int64         // of one answer, default llm.DefaultMaxBytes
}

// Model is one model behind a server. It is safe for concurrent use.
type Model struct {
	cfg  Config
	line *llm.Line
}

var _ llm.Provider = (*Model)(nil)

// New checks the config and builds the provider; nothing is sent.
func New(cfg Config) (*Model, error) {
	switch {
	case cfg.Model == "":
		return nil, errors.New("openai: a model's name is needed")
	case cfg.BaseURL == "":
		return nil, errors.New("openai: a base URL is needed, such as http://127.0.0.1:8080/v1")
	}
	line, err := llm.NewLine(llm.LineConfig{Provider: Prefix + cfg.Model, BaseURL: cfg.BaseURL, Key: cfg.Key, Timeout: cfg.Timeout, MaxBytes: cfg.MaxBytes})
	if err != nil {
		return nil, err
	}
	return &Model{cfg: cfg, line: line}, nil
}

// Name implements llm.Provider.
func (m *Model) Name() string { return Prefix + m.cfg.Model }

// Chat implements llm.Provider. The error is a *llm.Fault.
func (m *Model) Chat(ctx context.Context, req llm.Request) (llm.Reply, error) {
	body, err := m.request(req)
	if err != nil {
		return llm.Reply{}, m.line.Fault(llm.BadRequest, err.Error(), nil)
	}
	r := reader{line: m.line, native: req.Native}
	var each func([]byte) bool
	if m.cfg.Stream {
		each = r.event
	}
	wire, err := m.line.Post(ctx, "/chat/completions", body, each)
	if err != nil {
		return llm.Reply{}, err
	}
	if !m.cfg.Stream {
		r.whole(wire)
	}
	return r.reply(wire)
}

// request puts a request on the wire.
func (m *Model) request(req llm.Request) (chatRequest, error) {
	if req.Native && req.Constrained {
		return chatRequest{}, errors.New("a request is native or constrained, not both")
	}
	out := chatRequest{
		Model: m.cfg.Model, Stream: m.cfg.Stream,
		Temperature: req.Sampling.Temperature, Seed: req.Sampling.Seed, MaxTokens: req.Sampling.MaxTokens,
	}
	if m.cfg.Stream {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	for _, msg := range llm.Folded(req.Messages, req.Native) {
		out.Messages = append(out.Messages, wireMessage(msg))
	}
	if req.Native {
		if err := out.offer(req.Tools); err != nil {
			return chatRequest{}, err
		}
	}
	if req.Constrained {
		schema, err := llm.CallSchema(req.Tools)
		if err != nil {
			return chatRequest{}, err
		}
		out.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: namedSchema{Name: "call", Schema: schema}}
	}
	return out, nil
}

// offer puts the tools into the request's own field. A name that the wire does not take is refused, not rewritten.
func (r *chatRequest) offer(tools []llm.ToolSpec) error {
	for _, t := range tools {
		if !plainName(t.Name) {
			return fmt.Errorf("the wire takes no tool named %q: at most 64 of A-Z a-z 0-9 _ -", t.Name)
		}
		r.Tools = append(r.Tools, toolSpec{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.ParametersJSON}})
	}
	one := false
	r.ParallelToolCalls = &one
	return nil
}

func plainName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 64
}
