package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"interlock/brain/llm/llmtest"
)

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// Verifies: N11
func TestModelsAreNamedStrictly(t *testing.T) {
	for name, want := range map[string]string{
		"scripted:careful":                        "scripted:careful",
		"ollama:qwen3:4b":                         "ollama:qwen3:4b schema",
		"ollama+tools:qwen3:4b":                   "ollama:qwen3:4b tools",
		"ollama+text:qwen3:4b@http://127.0.0.1:1": "ollama:qwen3:4b text",
		"openai:org/model@http://127.0.0.1:1/v1":  "openai:org/model schema",
		"openai+schema:m@https://models.example":  "openai:m schema",
		"openai:m":                                "openai:m schema",
	} {
		b, err := brainNamed(name, environment(openaiURLVariable, "http://127.0.0.1:8080/v1"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := b.Provider.Name()
		switch {
		case b.Native && !b.Constrained:
			got += " tools"
		case b.Constrained && !b.Native:
			got += " schema"
		case b.Sampling.Seed != nil:
			got += " text"
		}
		if got != want || !b.Pinned() {
			t.Errorf("%s: %s, pinned %v", name, got, b.Pinned())
		}
	}
	for name, says := range map[string]string{
		"ollama:":                         "ollama:qwen3:4b",
		"ollama:m@":                       "URL",
		"openai:m":                        openaiURLVariable,
		"openai:m@127.0.0.1:8080":         "http://",
		"openai:m@http://u:p@127.0.0.1":   "environment",
		"openai+native:m@http://x":        "mode",
		"openai+:m@http://x":              "mode",
		"anthropic:m":                     "no provider",
		"scripted:nobody":                 "careful",
		"scripted+tools:careful":          "no mode",
		"scripted:careful@http://x":       "no URL",
		"ollama:a model":                  "name",
		":m":                              "no provider",
		"Ollama:m":                        "no provider",
		"openai:m@http://models.example ": "URL",
	} {
		_, err := brainNamed(name, environment())
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want a word about %q", name, err, says)
		}
	}
	if code, _, errOut := command(t, "demo", "--agents", "gemini:flash"); code != exitBadInput || !strings.Contains(errOut, "ollama:MODEL") {
		t.Errorf("exit %d: %s", code, errOut)
	}
}

// Verifies: N03
func TestKeysStayOutOfRuns(t *testing.T) {
	const secret = "sk-not-a-key-0123456789"
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(openaiKeyVariable+"_FILE", path)
	var keys atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+secret {
			keys.Add(1)
		}
		_, _ = io.WriteString(w, llmtest.OpenAI(false).Whole(llmtest.Turn{Pieces: []string{`{"tool":"none","arguments":{"reason":"no"}}`}, Stop: "stop", Tokens: 5}))
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	code, out, errOut := command(t, "eval", "testdata/peers.yaml", "--agents", "openai:m@"+s.URL+"/v1", "--gate", "on", "--json", "--out", dir)
	if code != exitFine || keys.Load() != 2 {
		t.Fatalf("exit %d, %d keys: %s", code, keys.Load(), errOut)
	}
	seen := out + errOut
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		seen += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(seen, secret) || !strings.Contains(seen, "declined") {
		t.Error("the key is in what the run left behind, or the run left nothing behind")
	}
}

// A model whose server carries its calls apart from the content is played, saved and replayed to the same signature.
//
// Verifies: N07
func TestARunByTheWiresToolsIsReplayed(t *testing.T) {
	turns := []llmtest.Turn{
		{Pieces: []string{"<think>so</think>"}, Calls: []llmtest.Piece{{ID: "a", Name: "move_to", Args: `{"x_cm":20,"y_cm":5,"z_cm":15,}`}}, Stop: "tool_calls", Tokens: 9},
		{Stop: "stop", Tokens: 30}, // swallowed by the server
		{Calls: []llmtest.Piece{{ID: "b", Name: "report_result", Args: `{"success":true,"message":"there"}`}}, Stop: "tool_calls", Tokens: 9},
	}
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Messages []struct{ Role string }
			Tools    []any
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || len(sent.Tools) == 0 {
			t.Errorf("%d tools, %v", len(sent.Tools), err)
		}
		_, _ = io.WriteString(w, llmtest.OpenAI(false).Whole(turns[(int(asked.Add(1))-1)%len(turns)]))
	}))
	t.Cleanup(s.Close)
	dir, model := t.TempDir(), "openai+tools:qwen3@"+s.URL+"/v1"
	code, out, errOut := command(t, "eval", "testdata/peers.yaml", "--agents", model, "--gate", "on", "--workers", "1", "--json", "--out", dir)
	if code != exitFine || !strings.Contains(out, `"model":"openai:qwen3"`) || asked.Load() != 6 {
		t.Fatalf("exit %d after %d calls: %s%s", code, asked.Load(), out, errOut)
	}
	s.Close()
	for _, id := range []string{"move-ok", "move-floor"} {
		code, out, errOut := command(t, "replay", dir, id+"/"+model+"/on/s0/r0")
		if code != exitFine || !strings.Contains(out, "by the wire: move_to") {
			t.Errorf("%s: exit %d: %s%s", id, code, out, errOut)
		}
	}
}
