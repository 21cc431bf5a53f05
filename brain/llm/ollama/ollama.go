package ollama

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock/brain/llm"
)

// DefaultURL is where Ollama listens unless told otherwise.
const DefaultURL = "http://127.0.0.1:11434"

// Prefix is how the names of these providers begin.
const Prefix = "ollama:"

// Config says which model to ask and how. Only Model is needed.
type Config struct {
	Model     string
	BaseURL   string        // default DefaultURL
	Key       llm.Key       // for a server behind a proxy that wants one
	NumCtx    int           // tokens of context, default 8192: the server's own default cuts the prompt in silence
	KeepAlive time.Duration // how long the server keeps the model loaded, default 5 minutes
	Think     bool          // let a reasoning model think; the default asks it not to
	Stream    bool          // ask for the answer piece by piece
	Timeout   time.Duration // of one reply, default llm.DefaultTimeout
	MaxBytes  int64         // of one answer, default llm.DefaultMaxBytes
}

// Model is one model behind an Ollama server. It is safe for concurrent use.
type Model struct {
	cfg  Config
	line *llm.Line
}

var _ llm.Provider = (*Model)(nil)

// New checks the config and builds the provider; nothing is sent.
func New(cfg Config) (*Model, error) {
	if cfg.Model == "" {
		return nil, errors.New("ollama: a model's name is needed")
	}
	if cfg.NumCtx < 0 || cfg.KeepAlive < 0 {
		return nil, errors.New("ollama: num_ctx or keep_alive is negative")
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultURL
	}
	if cfg.NumCtx == 0 {
		cfg.NumCtx = 8192
	}
	if cfg.KeepAlive == 0 {
		cfg.KeepAlive = 5 * time.Minute
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
		each = r.chunk
	}
	wire, err := m.line.Post(ctx, "/api/chat", body, each)
	if err != nil {
		return llm.Reply{}, err
	}
	if !m.cfg.Stream {
		r.chunk(wire)
	}
	return r.reply(wire)
}

// request puts a request on the wire.
func (m *Model) request(req llm.Request) (chatRequest, error) {
	if req.Native && req.Constrained {
		return chatRequest{}, errors.New("a request is native or constrained, not both")
	}
	think := m.cfg.Think
	out := chatRequest{
		Model: m.cfg.Model, Stream: m.cfg.Stream, Think: &think, KeepAlive: fmt.Sprintf("%ds", int64(m.cfg.KeepAlive.Seconds())),
		Options: options{NumCtx: m.cfg.NumCtx, NumPredict: req.Sampling.MaxTokens, Seed: req.Sampling.Seed, Temperature: req.Sampling.Temperature},
	}
	for _, msg := range llm.Folded(req.Messages, req.Native) {
		out.Messages = append(out.Messages, wireMessage(msg))
	}
	if req.Native {
		for _, t := range req.Tools {
			out.Tools = append(out.Tools, toolSpec{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.ParametersJSON}})
		}
	}
	if req.Constrained {
		schema, err := llm.CallSchema(req.Tools)
		if err != nil {
			return chatRequest{}, err
		}
		out.Format = schema
	}
	return out, nil
}
