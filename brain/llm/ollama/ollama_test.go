package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"interlock/brain/llm"
	"interlock/brain/llm/llmtest"
	"interlock/brain/llm/ollama"
)

func build(t *testing.T, s llmtest.Setup, stream bool) llm.Provider {
	t.Helper()
	m, err := ollama.New(ollama.Config{Model: "fake", BaseURL: s.BaseURL, Key: s.Key, Timeout: s.Timeout, MaxBytes: s.MaxBytes, Stream: stream})
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
		d := llmtest.Ollama(stream)
		t.Run(d.Name, func(t *testing.T) {
			llmtest.Run(t, func(t *testing.T, s llmtest.Setup) llm.Provider { return build(t, s, stream) }, d)
		})
	}
}

func TestTheRequestPinsWhatTheServerWouldChoose(t *testing.T) {
	var got map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			t.Errorf("asked at %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, llmtest.Ollama(false).Whole(llmtest.Turn{Stop: "stop"}))
	}))
	t.Cleanup(s.Close)
	m, err := ollama.New(ollama.Config{Model: "qwen3:4b", BaseURL: s.URL + "/", KeepAlive: time.Minute, NumCtx: 4096})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Chat(t.Context(), llmtest.Request()); err != nil {
		t.Fatal(err)
	}
	options := got["options"].(map[string]any)
	if got["model"] != "qwen3:4b" || got["think"] != false || got["keep_alive"] != "60s" || options["num_ctx"] != 4096.0 || options["num_predict"] != 64.0 {
		t.Errorf("%v", got)
	}
	if m.Name() != "ollama:qwen3:4b" {
		t.Error(m.Name())
	}
}

// A thinking model that says nothing else was not swallowed, and its thoughts are not its words.
func TestThoughtsAreNoContent(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"message":{"role":"assistant","content":"","thinking":"{\"tool\":\"dock\"}"},"done":true,"done_reason":"stop","eval_count":40}`)
	}))
	t.Cleanup(s.Close)
	req := llmtest.Request()
	req.Native = true
	reply, err := build(t, llmtest.Setup{BaseURL: s.URL}, false).Chat(t.Context(), req)
	if err != nil || len(reply.Raw) != 0 || !strings.Contains(string(reply.Wire), "thinking") {
		t.Errorf("%+v, %v", reply, err)
	}
}

// Verifies: N04
func TestBadConfigsAreRefused(t *testing.T) {
	key, err := llm.NewKey("0123456789")
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]ollama.Config{
		"no model": {}, "negative context": {Model: "m", NumCtx: -1}, "negative time": {Model: "m", KeepAlive: -1},
		"no scheme": {Model: "m", BaseURL: "localhost:11434"}, "another scheme": {Model: "m", BaseURL: "file:///etc/passwd"},
		"a password": {Model: "m", BaseURL: "http://u:p4ssw0rd@127.0.0.1"}, "a query": {Model: "m", BaseURL: "http://127.0.0.1?key=1"},
		"negative bound":        {Model: "m", MaxBytes: -1},
		"a key in the clear":    {Model: "m", BaseURL: "http://models.example", Key: key},
		"a URL that is no text": {Model: "m", BaseURL: "http://u:p4ssw0rd@127.0.0.1:x/%zz"},
	} {
		if _, err := ollama.New(cfg); err == nil || strings.Contains(err.Error(), "p4ssw0rd") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, cfg := range []ollama.Config{{Model: "m"}, {Model: "m", BaseURL: "https://models.example", Key: key}, {Model: "m", BaseURL: "http://[::1]:1", Key: key}} {
		if _, err := ollama.New(cfg); err != nil {
			t.Error(err)
		}
	}
}
