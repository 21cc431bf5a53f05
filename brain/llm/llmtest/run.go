package llmtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"interlock/brain/llm"
)

// suite is one provider under test in one dialect.
type suite struct {
	build   func(*testing.T, Setup) llm.Provider
	dialect Dialect
}

// Run runs the suite. build makes a provider that speaks the dialect to the server of the set-up.
func Run(t *testing.T, build func(*testing.T, Setup) llm.Provider, d Dialect) {
	s := suite{build, d}
	t.Run("replies", s.replies)
	t.Run("ends", s.ends)
	t.Run("calls", s.calls)
	t.Run("merging", s.merging)
	t.Run("bytes", s.bytes)
	t.Run("faults", s.faults)
	t.Run("swallowed", s.swallowed)
	t.Run("bounds", s.bounds)
	t.Run("keys", s.keys)
	t.Run("requests", s.requests)
	t.Run("conversation", s.conversation)
}

// ask sends one request to a server with the answer.
func (s suite) ask(t *testing.T, answer http.HandlerFunc, req llm.Request) (llm.Reply, *llm.Fault) {
	t.Helper()
	return chat(t, s.build(t, Setup{BaseURL: serve(t, answer).url}), req)
}

// chat calls the provider and wants its error to be a fault.
func chat(t *testing.T, p llm.Provider, req llm.Request) (llm.Reply, *llm.Fault) {
	t.Helper()
	reply, err := p.Chat(context.Background(), req)
	if err == nil {
		return reply, nil
	}
	var f *llm.Fault
	if !errors.As(err, &f) {
		t.Fatalf("the error is no fault: %v", err)
	}
	return reply, f
}

// turn asks for a turn and wants a reply.
func (s suite) turn(t *testing.T, turn Turn, req llm.Request) llm.Reply {
	t.Helper()
	reply, f := s.ask(t, body(http.StatusOK, s.dialect.Whole(turn)), req)
	if f != nil {
		t.Fatalf("no reply: %v", f)
	}
	return reply
}

// Request is a request as an agent makes it: two tools, pinned sampling.
func Request() llm.Request {
	temperature, seed, tokens := 0.0, int64(7), 64
	empty := []byte(`{"type":"object","properties":{},"additionalProperties":false}`)
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "You drive a robot."}, {Role: llm.User, Content: "undock"}},
		Tools:    []llm.ToolSpec{{Name: "dock", Description: "Dock.", ParametersJSON: empty}, {Name: "undock", Description: "Undock.", ParametersJSON: empty}},
		Sampling: llm.Sampling{Temperature: &temperature, Seed: &seed, MaxTokens: &tokens},
	}
}

// native is the same request with the tools in the wire's own field.
func native() llm.Request {
	r := Request()
	r.Native = true
	return r
}

func (s suite) replies(t *testing.T) {
	turn := Turn{Pieces: []string{` {"tool":"undock",`, "\t\"arguments\":{}}\n", "é\\n"}, Stop: "stop", Tokens: 9}
	text := s.dialect.Whole(turn)
	reply, f := s.ask(t, body(http.StatusOK, text), Request())
	if f != nil {
		t.Fatal(f)
	}
	if want := strings.Join(turn.Pieces, ""); string(reply.Raw) != want || reply.StopReason != "stop" || reply.Tokens != (llm.Tokens{Prompt: 7, Completion: 9}) || reply.ToolCalls != nil {
		t.Errorf("%+v", reply)
	}
	// What follows the terminal event belongs to nobody; all before it is kept as it came.
	if !strings.HasPrefix(text, string(reply.Wire)) || len(reply.Wire) < len(text)/2 {
		t.Errorf("the wire's bytes are %q, and %q was sent", reply.Wire, text)
	}
	if s.dialect.Stream {
		if reply, f := s.ask(t, held(text), Request()); f != nil || reply.StopReason != "stop" {
			t.Errorf("the server keeps the line open behind the end: %+v, %v", reply, f)
		}
	}
}

// ends: a stop reason is what the terminal event says, and nothing where none came.
func (s suite) ends(t *testing.T) {
	call := `{"tool":"undock","arguments":{}}`
	for _, stop := range []string{"length", "stop", "load", "content_filter", "whatever"} {
		if r := s.turn(t, Turn{Pieces: []string{call}, Stop: stop}, Request()); r.StopReason != stop || string(r.Raw) != call {
			t.Errorf("%q: %+v", stop, r)
		}
	}
	if r := s.turn(t, Turn{Pieces: []string{call}}, Request()); r.StopReason != "" || string(r.Raw) != call {
		t.Errorf("no reason: %+v", r)
	}
	whole := s.dialect.Whole(Turn{Pieces: []string{"one", "two", "three"}, Stop: "stop", Tokens: 3})
	for cut := 1; cut < len(whole)-1; cut += 7 {
		for name, answer := range map[string]http.HandlerFunc{"cut": broken(whole[:cut]), "ended early": body(http.StatusOK, whole[:cut])} {
			reply, f := s.ask(t, answer, Request())
			ended := s.dialect.Stream && (strings.Contains(whole[:cut], `"done":true`) || strings.Contains(whole[:cut], `"finish_reason":"stop"`))
			switch {
			case f != nil && f.Kind != llm.Dropped:
				t.Errorf("%s at %d: %v", name, cut, f)
			case f == nil && reply.StopReason != "" && !ended:
				t.Errorf("%s at %d: stop reason %q came from nowhere", name, cut, reply.StopReason)
			case !strings.HasPrefix("onetwothree", string(reply.Raw)):
				t.Errorf("%s at %d: %q", name, cut, reply.Raw)
			}
		}
	}
}

// calls: what the wire calls a tool call is handed on as it is, beside the content, for somebody else to judge.
func (s suite) calls(t *testing.T) {
	r := s.turn(t, Turn{Calls: []Piece{{ID: "a", Name: "dock", Args: `{"n":1e400,"n":2}`}}, Stop: "tool_calls", Tokens: 9}, native())
	if len(r.ToolCalls) != 1 || r.ToolCalls[0].Name != "dock" || r.ToolCalls[0].ArgumentsText != `{"n":1e400,"n":2}` || r.ToolCalls[0].ID != "a" || len(r.Raw) != 0 {
		t.Errorf("one call: %+v", r)
	}
	if r.ToolCalls[0].Decoded == strings.HasPrefix(s.dialect.Name, "ollama") {
		t.Errorf("decoded is %v", r.ToolCalls[0].Decoded)
	}
	r = s.turn(t, Turn{Calls: []Piece{{ID: "a", Name: "dock", Args: `{"n":1}`}, {ID: "b", Name: "undock", Args: `{"n":2}`}}, Stop: "stop"}, native())
	if got := spell(r.ToolCalls); got != `dock {"n":1}; undock {"n":2}` {
		t.Errorf("two calls, both with index 0: %s", got)
	}
	r = s.turn(t, Turn{Calls: []Piece{{ID: "a", Name: "dock", Args: `{}`}}, Stop: "length"}, native())
	if r.StopReason != "length" || spell(r.ToolCalls) != "dock {}" {
		t.Errorf("a cut call that arrives as {}: %+v", r)
	}
	r = s.turn(t, Turn{Pieces: []string{"I must undock first."}, Calls: []Piece{{ID: "a", Name: "dock", Args: `{}`}}, Stop: "stop"}, native())
	if string(r.Raw) != "I must undock first." || spell(r.ToolCalls) != "dock {}" {
		t.Errorf("a call that the server found inside a word: %+v", r)
	}
	r = s.turn(t, Turn{Pieces: []string{"```json\n{\"name\":\"undock\",\"arguments\":{}}\n```"}, Stop: "stop"}, native())
	if r.ToolCalls != nil || !strings.HasPrefix(string(r.Raw), "```json") {
		t.Errorf("tools were offered and the call came as content: %+v", r)
	}
}

func spell(calls []llm.ToolCall) string {
	var parts []string
	for _, c := range calls {
		parts = append(parts, c.Name+" "+c.ArgumentsText)
	}
	return strings.Join(parts, "; ")
}

// merging: pieces of a call are put together by index and id.
func (s suite) merging(t *testing.T) {
	if !s.dialect.Merges {
		return
	}
	for name, c := range map[string]struct {
		pieces []Piece
		want   string
	}{
		"in pieces":                    {[]Piece{{0, "a", "dock", ""}, {0, "", "", `{"n"`}, {0, "", "", `:1}`}}, `dock {"n":1}`},
		"a name that is sent again":    {[]Piece{{0, "a", "dock", `{"n"`}, {0, "a", "dock", `:1}`}}, `dock {"n":1}`},
		"a new id on a used index":     {[]Piece{{0, "a", "dock", `{}`}, {0, "b", "undock", `{"n"`}, {0, "b", "", `:2}`}}, `dock {}; undock {"n":2}`},
		"the same tool, another id":    {[]Piece{{0, "a", "dock", `{}`}, {0, "b", "dock", `{}`}}, `dock {}; dock {}`},
		"two indices, interleaved":     {[]Piece{{0, "a", "dock", `{`}, {1, "b", "undock", `{`}, {0, "", "", `}`}, {1, "", "", `}`}}, `dock {}; undock {}`},
		"two ids on an index, mixed":   {[]Piece{{0, "a", "dock", `{`}, {0, "b", "undock", `{`}, {0, "a", "", `}`}, {0, "b", "", `}`}}, `dock {}; undock {}`},
		"no ids, another name":         {[]Piece{{0, "", "dock", `{}`}, {0, "", "undock", `{}`}}, `dock {}; undock {}`},
		"no ids, the same name":        {[]Piece{{0, "", "dock", `{}`}, {0, "", "dock", `{}`}}, `dock {}{}`}, // two documents: refused by who reads it
		"a name in two pieces":         {[]Piece{{0, "a", "un", ""}, {0, "", "dock", ""}, {0, "", "", `{}`}}, `undock {}`},
		"arguments that never arrive":  {[]Piece{{0, "a", "dock", ""}}, `dock `},
		"the id comes after the start": {[]Piece{{0, "", "dock", ""}, {0, "a", "", `{}`}}, `dock {}`},
	} {
		if got := spell(s.turn(t, Turn{Calls: c.pieces, Stop: "tool_calls"}, native()).ToolCalls); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// bytes: what is not UTF-8 stays so, and nothing becomes a replacement character.
func (s suite) bytes(t *testing.T) {
	for literal, want := range map[string]string{
		"\"a\xffb\"": "a\xffb", `"\ud83e\udd16"`: "🤖", `"\u00e9\/\b\f\n\r\t\"\\"`: "é/\b\f\n\r\t\"\\", `"\u0000"`: "\x00", "\"\ufffd\"": "\ufffd",
	} {
		if r := s.turn(t, Turn{Pieces: []string{literal}, Stop: "stop"}, Request()); string(r.Raw) != want {
			t.Errorf("%q: %q, want %q", literal, r.Raw, want)
		}
	}
	if r := s.turn(t, Turn{Pieces: []string{`"a\ud800b"`}, Stop: "stop"}, Request()); utf8.Valid(r.Raw) || strings.Contains(string(r.Raw), "\ufffd") {
		t.Errorf("a lone surrogate: %q", r.Raw)
	}
}

func (s suite) faults(t *testing.T) {
	unparsed := `error parsing tool call: raw='{"name":"dock", "arguments": }', err=invalid character '}'`
	cases := map[string]struct {
		answer http.HandlerFunc
		kind   llm.FaultKind
	}{
		"the server cannot parse the call": {body(http.StatusInternalServerError, fmt.Sprintf(`{"error":%q}`, unparsed)), llm.ToolUnparsed},
		"the same as an object":            {body(http.StatusInternalServerError, fmt.Sprintf(`{"error":{"message":%q}}`, unparsed)), llm.ToolUnparsed},
		"the same in place of an answer":   {body(http.StatusOK, s.dialect.Failure(unparsed)), llm.ToolUnparsed},
		"another failure":                  {body(http.StatusInternalServerError, `{"error":"out of memory"}`), llm.Refused},
		"a failure in place of an answer":  {body(http.StatusOK, s.dialect.Failure("out of memory")), llm.Refused},
		"no such model":                    {body(http.StatusNotFound, `{"error":"model 'x' not found"}`), llm.Refused},
		"no JSON at all":                   {body(http.StatusBadGateway, "<html>"), llm.Refused},
		"a redirect":                       {redirect, llm.Refused},
		"an empty answer":                  {body(http.StatusOK, ""), llm.Dropped},
		"the line is cut at once":          {broken(""), llm.Dropped},
	}
	if !s.dialect.Stream {
		cases["a page"] = struct {
			answer http.HandlerFunc
			kind   llm.FaultKind
		}{body(http.StatusOK, "<html>welcome</html>"), llm.OffProtocol}
	}
	for name, c := range cases {
		reply, f := s.ask(t, c.answer, native())
		if f == nil || f.Kind != c.kind {
			t.Errorf("%s: %+v, %v, want %s", name, reply, f, c.kind)
			continue
		}
		if f.OfModel() != (c.kind == llm.ToolUnparsed || c.kind == llm.Dropped) {
			t.Errorf("%s: whose fault it is: %v", name, f.OfModel())
		}
		if c.kind == llm.ToolUnparsed && string(f.Raw) != `{"name":"dock", "arguments": }` {
			t.Errorf("%s: the model's text is %q", name, f.Raw)
		}
	}
	p := s.build(t, Setup{BaseURL: "http://127.0.0.1:1"})
	if _, f := chat(t, p, Request()); f == nil || f.Kind != llm.Unreachable {
		t.Errorf("nobody listens: %v", f)
	}
}

// redirect sends the client somewhere else, where it must not go with its key and its conversation.
func redirect(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/elsewhere" {
		panic("the redirect was followed")
	}
	http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
}

// swallowed: tokens that arrive nowhere are a fault where the server parses calls, and silence is silence.
func (s suite) swallowed(t *testing.T) {
	silent, lost := body(http.StatusOK, s.dialect.Whole(Turn{Stop: "stop", Tokens: 1})), body(http.StatusOK, s.dialect.Whole(Turn{Stop: "stop", Tokens: 40}))
	if r, f := s.ask(t, silent, native()); f != nil || len(r.Raw) != 0 || r.StopReason != "stop" {
		t.Errorf("silence: %+v, %v", r, f)
	}
	if r, f := s.ask(t, lost, native()); f == nil || f.Kind != llm.Swallowed || !f.OfModel() {
		t.Errorf("40 tokens and an empty message: %+v, %v", r, f)
	}
}

func (s suite) bounds(t *testing.T) {
	piece := Turn{Pieces: []string{strings.Repeat("x", 900)}}
	long := s.dialect.Whole(piece)
	if !s.dialect.Stream {
		long = strings.Repeat("x", 900) + "\n"
	}
	p := s.build(t, Setup{BaseURL: serve(t, endless(strings.ReplaceAll(long, "data: [DONE]\n\n", ""))).url, MaxBytes: 8 << 10})
	if _, f := chat(t, p, Request()); f == nil || f.Kind != llm.Oversized || f.Wire != nil || !f.OfModel() {
		t.Errorf("a body without end: %v", f)
	}
	slow := serve(t, held(""))
	if _, f := chat(t, s.build(t, Setup{BaseURL: slow.url, Timeout: time.Millisecond}), Request()); f == nil || f.Kind != llm.TimedOut {
		t.Errorf("a server that never answers: %v", f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	leaving := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	_, err := s.build(t, Setup{BaseURL: leaving.url}).Chat(ctx, Request())
	var f *llm.Fault
	if !errors.As(err, &f) || f.Kind != llm.Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("the caller leaves: %v", err)
	}
}
