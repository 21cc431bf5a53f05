package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"interlock/brain/llm"
	"interlock/brain/llm/llmtest"
	"interlock/brain/llm/openai"
)

func build(t *testing.T, s llmtest.Setup, stream bool) llm.Provider {
	t.Helper()
	m, err := openai.New(openai.Config{Model: "fake", BaseURL: s.BaseURL, Key: s.Key, Timeout: s.Timeout, MaxBytes: s.MaxBytes, Stream: stream})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Verifies: N01
// Verifies: N02
// Verifies: N03
func TestSuite(t *testing.T) {
	for _, stream := range []bool{false, true} {
		d := llmtest.OpenAI(stream)
		t.Run(d.Name, func(t *testing.T) {
			llmtest.Run(t, func(t *testing.T, s llmtest.Setup) llm.Provider { return build(t, s, stream) }, d)
		})
	}
}

// answers starts a server with one answer and returns what it was last asked.
func answers(t *testing.T, text string) (url string, asked *map[string]any) {
	asked = new(map[string]any)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			t.Errorf("asked at %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(asked); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

func TestToolsAreOfferedOneCallAtATime(t *testing.T) {
	url, asked := answers(t, llmtest.OpenAI(false).Whole(llmtest.Turn{Pieces: []string{"x"}, Stop: "stop"}))
	req := llmtest.Request()
	req.Native = true
	if _, err := build(t, llmtest.Setup{BaseURL: url}, false).Chat(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if (*asked)["parallel_tool_calls"] != false || (*asked)["max_tokens"] != 64.0 {
		t.Errorf("%v", *asked)
	}
	for _, name := range []string{"", "move.to", "move to", strings.Repeat("x", 65), "dоck"} {
		req.Tools[0].Name = name
		if _, err := build(t, llmtest.Setup{BaseURL: url}, false).Chat(t.Context(), req); err == nil {
			t.Errorf("%q was sent as a tool's name", name)
		}
	}
}

func TestOtherShapesAreNotOfTheProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		kind   llm.FaultKind
	}{
		"two choices":         {`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"},{"index":1,"message":{"content":"b"},"finish_reason":"stop"}]}`, llm.OffProtocol},
		"another choice":      {`{"choices":[{"index":1,"message":{"content":"b"},"finish_reason":"stop"}]}`, llm.OffProtocol},
		"content in parts":    {`{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"stop"}]}`, llm.OffProtocol},
		"a name that is none": {`{"choices":[{"index":0,"message":{"tool_calls":[{"function":{"name":1}}]},"finish_reason":"stop"}]}`, llm.OffProtocol},
		"a list":              {`[]`, llm.OffProtocol},
	} {
		url, _ := answers(t, c.answer)
		reply, err := build(t, llmtest.Setup{BaseURL: url}, false).Chat(t.Context(), llmtest.Request())
		var f *llm.Fault
		if !errors.As(err, &f) || f.Kind != c.kind {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	// Arguments as an object instead of a text of one: kept as they are, and not marked as decoded.
	url, _ := answers(t, `{"choices":[{"index":0,"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"dock","arguments":{"n": 1.0}}}]},"finish_reason":"tool_calls"}]}`)
	reply, err := build(t, llmtest.Setup{BaseURL: url}, false).Chat(t.Context(), llmtest.Request())
	if err != nil || len(reply.ToolCalls) != 1 || reply.ToolCalls[0].ArgumentsText != `{"n": 1.0}` || reply.ToolCalls[0].Decoded {
		t.Errorf("%+v, %v", reply, err)
	}
	// Something behind a finish reason takes it back.
	url, _ = answers(t, `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}`+"\n\ndata: [DONE]\n\n")
	reply, err = build(t, llmtest.Setup{BaseURL: url}, true).Chat(t.Context(), llmtest.Request())
	if err != nil || reply.StopReason != "" || string(reply.Raw) != "ab" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// Verifies: N04
func TestBadConfigsAreRefused(t *testing.T) {
	for name, cfg := range map[string]openai.Config{
		"no model": {BaseURL: "http://127.0.0.1/v1"}, "no URL": {Model: "m"}, "a password": {Model: "m", BaseURL: "https://u:p@models.example/v1"},
		"negative bound": {Model: "m", BaseURL: "http://127.0.0.1/v1", Timeout: -1},
	} {
		if _, err := openai.New(cfg); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
