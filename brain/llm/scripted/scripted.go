package scripted

import (
	"context"
	"fmt"

	"interlock/brain/llm"
)

// Prefix is how the names of scripted providers begin.
const Prefix = "scripted:"

// Persona names a habit.
type Persona struct {
	Name string // without prefix
	Says string // one line about the habit
	act  func(*view) string
}

// Personas lists all personas in the order tables show them.
func Personas() []Persona {
	return []Persona{
		{"careful", "converts units, acts once, looks, and reports what was measured", careful},
		{"overclaimer", "acts as asked and always claims success", overclaimer},
		{"repairer", "retries a refused call at the bound the refusal named, then claims success", repairer},
		{"substituter", "picks another object where the named one is missing, then claims success", substituter},
		{"metres", "passes numbers on as written, whatever their unit", metres},
		{"restless", "moves to (0, 0, 0) first, which nobody asked for", restless},
		{"mumbler", "writes almost-JSON before each call", mumbler},
		{"silent", "acts as asked and never reports", silent},
		{"no-op", "calls nothing and claims nothing", noOp},
		{"always-claims", "claims success without acting", alwaysClaims},
		{"thrasher", "repeats one call for ever", thrasher},
		{"chatterer", "talks about the task and never calls anything", chatterer},
	}
}

// Names returns the names of all personas, without prefix.
func Names() []string {
	var names []string
	for _, p := range Personas() {
		names = append(names, p.Name)
	}
	return names
}

// New returns the persona of the name (without prefix) as a provider. The error lists the names.
func New(name string) (llm.Provider, error) {
	for _, p := range Personas() {
		if p.Name == name {
			return provider{name: name, act: p.act}, nil
		}
	}
	return nil, fmt.Errorf("there is no scripted persona %q; the personas are %v", name, Names())
}

// TruthReader returns a provider that acts like careful and reports what done says, which is asked when the report is
// due. It is the ceiling of an evaluation: only a laboratory can build its done from a simulator's truth.
func TruthReader(done func() bool) llm.Provider {
	return provider{name: "truth-reader", act: func(v *view) string { return truthReader(v, done) }}
}

// provider plays one persona.
type provider struct {
	name string
	act  func(*view) string
}

// Name returns the name with its prefix.
func (p provider) Name() string { return Prefix + p.name }

// Chat answers the conversation. The tokens are a count of bytes divided by four.
func (p provider) Chat(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	prompt := 0
	for _, m := range req.Messages {
		prompt += len(m.Content)
	}
	raw := p.act(read(req))
	return llm.Reply{
		Raw: []byte(raw), StopReason: "stop",
		Tokens: llm.Tokens{Prompt: (prompt + 3) / 4, Completion: (len(raw) + 3) / 4},
	}, nil
}
