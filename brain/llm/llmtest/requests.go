package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"interlock/brain/llm"
)

// secret is no key of anybody.
const secret = "sk-not-a-key-0123456789"

// keys: a key goes to the server and nowhere else, whatever the server does with it.
func (s suite) keys(t *testing.T) {
	key, err := llm.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	good := s.dialect.Whole(Turn{Pieces: []string{"hello"}, Stop: "stop"})
	for name, answer := range map[string]http.HandlerFunc{
		"a reply":                    body(http.StatusOK, good),
		"a reply that quotes it":     body(http.StatusOK, s.dialect.Whole(Turn{Pieces: []string{"your key is " + secret}, Stop: "stop"})),
		"a refusal that quotes it":   body(http.StatusUnauthorized, `{"error":{"message":"bad key `+secret+`"}}`),
		"a failure that quotes it":   body(http.StatusOK, s.dialect.Failure("bad key "+secret)),
		"a page that quotes it":      body(http.StatusOK, "<"+secret+">"),
		"a cut line behind it":       broken(secret),
		"an unparsed call around it": body(http.StatusInternalServerError, `{"error":"error parsing tool call: raw='`+secret+`'"}`),
	} {
		f := serve(t, answer)
		p := s.build(t, Setup{BaseURL: f.url, Key: key})
		reply, chatErr := p.Chat(t.Context(), Request())
		if f.auth[0] != "Bearer "+secret {
			t.Errorf("%s: the server got %q", name, f.auth[0])
		}
		if strings.Contains(string(f.got[0]), secret) {
			t.Errorf("%s: the key stands in the request's body", name)
		}
		text, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		seen := fmt.Sprintf("%s %s %v %+v %#v %s %+v", text, reply.Wire, chatErr, chatErr, chatErr, reply.Raw, p)
		var fault *llm.Fault
		if errors.As(chatErr, &fault) {
			seen += fmt.Sprintf("%s %s %+v %v", fault.Raw, fault.Wire, *fault, fault.Err)
		}
		if strings.Contains(seen, secret) {
			t.Errorf("%s: the key is in what came back", name)
		}
		if quotes := name != "a reply"; quotes != (chatErr != nil) {
			t.Errorf("%s: %v", name, chatErr)
		}
	}
}

// requests: tools and schema are sent where they are asked for and only there, and a schema has a way to decline.
func (s suite) requests(t *testing.T) {
	good := body(http.StatusOK, s.dialect.Whole(Turn{Pieces: []string{"hello"}, Stop: "stop"}))
	for _, c := range []struct{ native, constrained bool }{{false, false}, {true, false}, {false, true}} {
		f := serve(t, good)
		req := Request()
		req.Native, req.Constrained = c.native, c.constrained
		if _, fault := chat(t, s.build(t, Setup{BaseURL: f.url}), req); fault != nil {
			t.Fatal(fault)
		}
		sent, raw := f.request(t)
		if sent["stream"] != s.dialect.Stream {
			t.Errorf("stream is %v", sent["stream"])
		}
		if _, offered := sent["tools"]; offered != c.native {
			t.Errorf("native %v: tools in the request: %v", c.native, offered)
		}
		if declines := strings.Contains(string(raw), `{"const":"`+llm.DeclineName+`"}`); declines != c.constrained {
			t.Errorf("constrained %v: a way to decline: %v", c.constrained, declines)
		}
		for _, pinned := range []string{`"temperature":0`, `"seed":7`, ":64"} {
			if !strings.Contains(string(raw), pinned) {
				t.Errorf("%s is not in the request", pinned)
			}
		}
		if strings.Contains(string(raw), "Authorization") || f.auth[0] != "" {
			t.Error("a key was sent, and there is none")
		}
	}
	for name, change := range map[string]func(*llm.Request){
		"native and constrained":        func(r *llm.Request) { r.Native, r.Constrained = true, true },
		"a tool named like the decline": func(r *llm.Request) { r.Constrained, r.Tools[0].Name = true, llm.DeclineName },
		"a schema that is no JSON":      func(r *llm.Request) { r.Constrained, r.Tools[0].ParametersJSON = true, []byte("{") },
	} {
		req := Request()
		change(&req)
		f := serve(t, good)
		if _, fault := chat(t, s.build(t, Setup{BaseURL: f.url}), req); fault == nil || fault.Kind != llm.BadRequest || len(f.got) != 0 {
			t.Errorf("%s: %v, %d requests sent", name, fault, len(f.got))
		}
	}
}

// conversation: results go back in a form that servers take, whether the call came by the wire or as content.
func (s suite) conversation(t *testing.T) {
	req := native()
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Content: `{"tool":"undock","arguments":{}}`},
		llm.Message{Role: llm.ToolRole, ToolName: "undock", Content: `{"verdict":"ok"}`},
		llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{Name: "dock", ArgumentsText: `{"n": 1}`}, {Name: "dock", ArgumentsText: "{}"}}},
		llm.Message{Role: llm.ToolRole, ToolName: "dock", Content: `{"verdict":"rejected"}`},
		llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{Name: "dock", ArgumentsText: `{"n": `}}},
		llm.Message{Role: llm.User, Content: "Your last message called nothing."},
	)
	f := serve(t, body(http.StatusOK, s.dialect.Whole(Turn{Pieces: []string{"hello"}, Stop: "stop"})))
	if _, fault := chat(t, s.build(t, Setup{BaseURL: f.url}), req); fault != nil {
		t.Fatal(fault)
	}
	sent, _ := f.request(t)
	var roles []string
	for _, m := range sent["messages"].([]any) {
		m := m.(map[string]any)
		role := fmt.Sprint(m["role"])
		if calls, ok := m["tool_calls"].([]any); ok {
			role += fmt.Sprintf("+%d", len(calls))
		}
		roles = append(roles, role)
	}
	if got, want := strings.Join(roles, " "), "system user assistant user assistant+2 tool tool assistant user"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
