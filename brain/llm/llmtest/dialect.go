package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Turn is what a fake server answers.
type Turn struct {
	Pieces []string // of the content; each is a chunk of its own in a stream. Written as JSON literals where they begin with a quote
	Calls  []Piece
	Stop   string // empty: no terminal event, or no reason in it
	Tokens int    // that the model wrote, as the server says
}

// Piece is a tool call, or the next piece of one.
type Piece struct {
	Index    int
	ID, Name string
	Args     string // JSON text, or the next piece of it
}

// Dialect is how the servers of one kind write.
type Dialect struct {
	Name   string
	Stream bool
	Whole  func(Turn) string // the answer's body
	// Merges says that a stream sends calls in pieces, so that the provider puts them together.
	Merges bool
	// Failure is a message in the place of an answer, which came with the status 200.
	Failure func(says string) string
}

// literal writes a piece of content as a JSON string; one that is a literal already stays as it is.
func literal(s string) string {
	if strings.HasPrefix(s, `"`) {
		return s
	}
	b, _ := json.Marshal(s) // a string always has a JSON form
	return string(b)
}

// joined concatenates JSON string literals.
func joined(pieces []string) string {
	var b strings.Builder
	for _, p := range pieces {
		l := literal(p)
		b.WriteString(l[1 : len(l)-1])
	}
	return `"` + b.String() + `"`
}

// Ollama is the dialect of /api/chat.
func Ollama(stream bool) Dialect {
	d := Dialect{Name: "ollama", Stream: stream, Whole: ollamaWhole, Failure: func(says string) string { return `{"error":` + literal(says) + "}\n" }}
	if stream {
		d.Name, d.Whole = "ollama stream", ollamaStream
	}
	return d
}

// ollamaCalls writes calls as Ollama does: the arguments are an object, and every index is 0.
func ollamaCalls(calls []Piece) string {
	var parts []string
	for _, c := range calls {
		parts = append(parts, fmt.Sprintf(`{"id":%q,"function":{"index":0,"name":%q,"arguments":%s}}`, c.ID, c.Name, c.Args))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func ollamaEnd(t Turn) string {
	if t.Stop == "" {
		return `"done":false`
	}
	return fmt.Sprintf(`"done":true,"done_reason":%q,"prompt_eval_count":7,"eval_count":%d,"total_duration":1`, t.Stop, t.Tokens)
}

func ollamaWhole(t Turn) string {
	calls := ""
	if len(t.Calls) > 0 {
		calls = `,"tool_calls":` + ollamaCalls(t.Calls)
	}
	return fmt.Sprintf(`{"model":"fake","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":%s%s},%s}`, joined(t.Pieces), calls, ollamaEnd(t))
}

func ollamaStream(t Turn) string {
	var b strings.Builder
	for _, p := range t.Pieces {
		fmt.Fprintf(&b, `{"model":"fake","message":{"role":"assistant","content":%s},"done":false}`+"\n", literal(p))
	}
	for _, c := range t.Calls {
		fmt.Fprintf(&b, `{"model":"fake","message":{"role":"assistant","content":"","tool_calls":%s},"done":false}`+"\n", ollamaCalls([]Piece{c}))
	}
	if t.Stop != "" {
		fmt.Fprintf(&b, `{"model":"fake","message":{"role":"assistant","content":""},%s}`+"\n", ollamaEnd(t))
	}
	return b.String()
}

// OpenAI is the dialect of /chat/completions.
func OpenAI(stream bool) Dialect {
	d := Dialect{Name: "openai", Stream: stream, Whole: openaiWhole, Failure: func(says string) string {
		return `{"error":{"code":500,"message":` + literal(says) + `,"type":"server_error"}}`
	}}
	if stream {
		d.Name, d.Whole, d.Merges = "openai stream", openaiStream, true
		d.Failure = func(says string) string { return `data: {"error":{"message":` + literal(says) + "}}\n\n" }
	}
	return d
}

func openaiCall(c Piece) string {
	id, name := "", ""
	if c.ID != "" {
		id = fmt.Sprintf(`"id":%q,"type":"function",`, c.ID)
	}
	if c.Name != "" {
		name = fmt.Sprintf(`"name":%q,`, c.Name)
	}
	return fmt.Sprintf(`{"index":%d,%s"function":{%s"arguments":%s}}`, c.Index, id, name, quoted(c.Args))
}

// quoted writes a text as a JSON string whatever it begins with.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always has a JSON form
	return string(b)
}

func reason(stop string) string {
	if stop == "" {
		return "null"
	}
	return quoted(stop)
}

func openaiWhole(t Turn) string {
	calls := ""
	if len(t.Calls) > 0 {
		var parts []string
		for _, c := range t.Calls {
			parts = append(parts, openaiCall(c))
		}
		calls = `,"tool_calls":[` + strings.Join(parts, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s%s},"finish_reason":%s}],"usage":{"prompt_tokens":7,"completion_tokens":%d}}`,
		joined(t.Pieces), calls, reason(t.Stop), t.Tokens)
}

func openaiStream(t Turn) string {
	var b strings.Builder
	event := func(delta, finish string) {
		fmt.Fprintf(&b, `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	}
	b.WriteString(": a comment\n\n")
	event(`{"role":"assistant","content":null}`, "null")
	for _, p := range t.Pieces {
		event(`{"content":`+literal(p)+`}`, "null")
	}
	for _, c := range t.Calls {
		event(`{"tool_calls":[`+openaiCall(c)+`]}`, "null")
	}
	if t.Stop != "" {
		event(`{}`, quoted(t.Stop))
		fmt.Fprintf(&b, `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":%d}}`+"\n\n", t.Tokens)
	}
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}
