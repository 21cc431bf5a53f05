package main

import (
	"fmt"
	"strings"

	"interlock/brain/action"
	"interlock/brain/llm"
	"interlock/brain/llm/ollama"
	"interlock/brain/llm/openai"
	"interlock/brain/llm/scripted"
	"interlock/eval/lab"
)

// Where a model server is found and known by. A key of another program is never sent to whatever URL a command line names,
// so the variables are our own.
const (
	openaiURLVariable = "INTERLOCK_OPENAI_URL"
	openaiKeyVariable = "INTERLOCK_OPENAI_KEY" // or INTERLOCK_OPENAI_KEY_FILE
	ollamaKeyVariable = "INTERLOCK_OLLAMA_KEY" // or INTERLOCK_OLLAMA_KEY_FILE
)

// modelForms says how a model is named.
const modelForms = "scripted:NAME, ollama:MODEL[@URL] or openai:MODEL[@URL] (ollama+tools:… and ollama+text:… ask by the wire's tools, or by words alone)"

// replyTokens bounds a reply: a call is far shorter, and a small model may not find the end.
const replyTokens = 256

// family is a line of models whose envelope departs from the plain one, by how their names begin.
type family struct{ prefix, profile string }

func families() []family {
	return []family{
		{"qwen3", "qwen3"}, {"qwq", "think"}, {"qwen2.5", "hermes"}, {"hermes", "hermes"}, {"deepseek-r1", "think"},
		{"mistral", "mistral"}, {"ministral", "mistral"}, {"gpt-oss", "harmony"},
	}
}

// isModel reports whether an agent's name names a model of a provider.
func isModel(name string) bool { return strings.Contains(name, ":") }

// brainsOf builds the brains of the agents that are models of a provider.
func brainsOf(agents []string, env func(string) (string, bool)) (map[string]lab.Brain, error) {
	brains := map[string]lab.Brain{}
	for _, a := range agents {
		if !isModel(a) {
			continue
		}
		b, err := brainNamed(a, env)
		if err != nil {
			return nil, badInput(err)
		}
		brains[a] = b
	}
	return brains, nil
}

// modelName is a model's name on a command line, taken apart: KIND[+MODE]:MODEL[@URL].
type modelName struct{ kind, mode, model, url string }

func parseModel(name string) (m modelName, err error) {
	kind, rest, _ := strings.Cut(name, ":")
	kind, mode, hasMode := strings.Cut(kind, "+")
	m = modelName{kind: kind, mode: mode, model: rest}
	if at := strings.Index(rest, "@"); at >= 0 {
		m.model, m.url = rest[:at], rest[at+1:]
		if m.url == "" {
			return m, fmt.Errorf("%q: a URL follows the @, such as http://127.0.0.1:8080/v1", name)
		}
	}
	switch kind {
	case "scripted":
		if hasMode || m.url != "" {
			return m, fmt.Errorf("%q: a scripted model has no mode and no URL", name)
		}
	case "ollama", "openai":
		if !hasMode {
			m.mode = "schema"
		} else if mode != "tools" && mode != "text" && mode != "schema" {
			return m, fmt.Errorf("%q: the mode is schema (the default), tools or text", name)
		}
	default:
		return m, fmt.Errorf("%q: there is no provider %q; a model is %s", name, kind, modelForms)
	}
	if m.model == "" || strings.ContainsAny(m.model, " \t\n\"'\\") {
		return m, fmt.Errorf("%q: a model's name follows the colon, such as ollama:qwen3:4b", name)
	}
	return m, nil
}

// brainNamed builds the brain that a name stands for. Nothing is sent to anybody.
func brainNamed(name string, env func(string) (string, bool)) (lab.Brain, error) {
	m, err := parseModel(name)
	if err != nil {
		return lab.Brain{}, err
	}
	if m.kind == "scripted" {
		p, err := scripted.New(m.model)
		zero := 0.0
		return lab.Brain{Provider: p, Sampling: llm.Sampling{Temperature: &zero}}, err
	}
	provider, err := m.provider(env)
	if err != nil {
		return lab.Brain{}, err
	}
	profile, err := action.ProfileNamed(m.profile())
	temperature, seed, tokens := 0.0, int64(1), replyTokens
	return lab.Brain{
		Provider: provider, Profile: profile, Native: m.mode == "tools", Constrained: m.mode == "schema",
		Sampling: llm.Sampling{Temperature: &temperature, Seed: &seed, MaxTokens: &tokens},
	}, err
}

// profile names the profile of the model's family.
func (m modelName) profile() string {
	base := strings.ToLower(m.model[strings.LastIndex(m.model, "/")+1:])
	for _, f := range families() {
		if strings.HasPrefix(base, f.prefix) {
			return f.profile
		}
	}
	return "plain"
}

func (m modelName) provider(env func(string) (string, bool)) (llm.Provider, error) {
	if m.kind == "ollama" {
		key, err := llm.KeyFrom(env, ollamaKeyVariable)
		if err != nil {
			return nil, err
		}
		return ollama.New(ollama.Config{Model: m.model, BaseURL: m.url, Key: key})
	}
	key, err := llm.KeyFrom(env, openaiKeyVariable)
	if err != nil {
		return nil, err
	}
	if m.url == "" {
		m.url, _ = env(openaiURLVariable)
	}
	if m.url == "" {
		return nil, fmt.Errorf("openai:%s: which server? Write openai:%s@http://HOST:PORT/v1, or set %s", m.model, m.model, openaiURLVariable)
	}
	return openai.New(openai.Config{Model: m.model, BaseURL: m.url, Key: key})
}
