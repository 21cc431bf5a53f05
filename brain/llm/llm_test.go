package llm_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"interlock/brain/llm"
)

func specs() []llm.ToolSpec {
	return []llm.ToolSpec{
		{Name: "home", ParametersJSON: []byte(`{"type":"object","properties":{},"additionalProperties":false}`)},
		{Name: "pick", ParametersJSON: []byte(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`)},
	}
}

// The schema holds exactly one call of an offered tool, or the way out, whatever the tools are.
//
// Verifies: N10
func TestASchemaAlwaysHasAWayOut(t *testing.T) {
	for n, tools := range [][]llm.ToolSpec{nil, specs()[:1], specs()} {
		text, err := llm.CallSchema(tools)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("call.json", doc); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("call.json")
		if err != nil {
			t.Fatal(err)
		}
		for call, want := range map[string]bool{
			`{"tool":"none","arguments":{"reason":"no"}}`:          true,
			`{"tool":"home","arguments":{}}`:                       n > 0,
			`{"tool":"pick","arguments":{"name":"red cube"}}`:      n > 1,
			`{"tool":"pick","arguments":{}}`:                       false,
			`{"tool":"home","arguments":{"name":"red cube"}}`:      false,
			`{"tool":"home","arguments":{},"why":1}`:               false,
			`{"tool":"none","arguments":{}}`:                       false,
			`{"tool":"none","arguments":{"reason":"no","name":1}}`: false,
			`{"tool":"fly","arguments":{}}`:                        false,
			`[]`:                                                   false,
		} {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(call))
			if err != nil {
				t.Fatal(err)
			}
			if got := schema.Validate(v) == nil; got != want {
				t.Errorf("%d tools: %s: %v", n, call, got)
			}
		}
	}
}

// A key is printed by nothing that prints.
//
// Verifies: N03
func TestAKeyIsNeverPrinted(t *testing.T) {
	const secret = "sk-not-a-key-0123456789"
	key, err := llm.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	holder := struct {
		Key    llm.Key
		hidden llm.Key
	}{key, key}
	text, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("asked", "key", key, "holder", holder)
	slog.New(slog.NewTextHandler(&log, nil)).Info("asked", "key", key, "holder", holder)
	seen := string(text) + log.String() + key.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		seen += fmt.Sprintf(verb+verb+verb, key, &key, holder)
	}
	if strings.Contains(seen, secret) || strings.Contains(seen, fmt.Sprintf("%x", secret)) {
		t.Errorf("the key is in %s", seen)
	}
	for _, bad := range []string{"", "short", "with space 0123", "line\nbreak0123", strings.Repeat("x", 5000), "schlüssel-0123"} {
		if _, err := llm.NewKey(bad); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestKeysComeFromTheEnvironmentOrAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env     map[string]string
		set, ok bool
	}{
		"neither":       {nil, false, true},
		"variable":      {map[string]string{"K": "0123456789"}, true, true},
		"file":          {map[string]string{"K_FILE": path}, true, true},
		"variable wins": {map[string]string{"K": "0123456789", "K_FILE": path + "x"}, true, true},
		"empty":         {map[string]string{"K": ""}, false, false},
		"no such file":  {map[string]string{"K_FILE": path + "x"}, false, false},
		"a folder":      {map[string]string{"K_FILE": t.TempDir()}, false, false},
	} {
		key, err := llm.KeyFrom(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }, "K")
		if key.Set() != c.set || (err == nil) != c.ok {
			t.Errorf("%s: set %v, %v", name, key.Set(), err)
		}
	}
}

// FuzzText: a literal that encoding/json decodes without loss is decoded to the same text.
func FuzzText(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83e\udd16"`, `"\ud800"`, `"\ud800\u0041"`, `"\u00`, `"\x"`, `null`, ``, `1`, "\"\xff\"", `"\\\"\/\b\f\n\r\t"`, `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, literal []byte) {
		text, ok := llm.Text(literal)
		var want string
		if json.Unmarshal(literal, &want) != nil || len(literal) == 0 || literal[0] != '"' || literal[len(literal)-1] != '"' {
			return
		}
		if !ok {
			t.Fatalf("%q is a string", literal)
		}
		if utf8.Valid(text) && string(text) != want {
			t.Fatalf("%q: %q, want %q", literal, text, want)
		}
		if !utf8.Valid(text) && !strings.Contains(want, "\ufffd") {
			t.Fatalf("%q: %q is not UTF-8, and %q lost nothing", literal, text, want)
		}
	})
}

func TestFoldedGivesEveryNativeCallOneResult(t *testing.T) {
	calls := []llm.ToolCall{{Name: "home", ArgumentsText: "{}"}, {ID: "x", Name: "home", ArgumentsText: "{}"}, {ID: "x", Name: "pick", ArgumentsText: "{}"}}
	in := []llm.Message{
		{Role: llm.User, Content: "go"}, {Role: llm.Assistant, ToolCalls: calls},
		{Role: llm.ToolRole, ToolName: "home", Content: "1"}, {Role: llm.ToolRole, ToolName: "pick", Content: "2"},
	}
	out := llm.Folded(in, true)
	ids, results := map[string]int{}, map[string]int{}
	for _, m := range out {
		for _, c := range m.ToolCalls {
			ids[c.ID]++
		}
		if m.Role == llm.ToolRole {
			results[m.ToolCallID]++
		}
	}
	if len(ids) != 3 || fmt.Sprint(ids) != fmt.Sprint(results) || calls[0].ID != "" {
		t.Errorf("calls %v, results %v", ids, results)
	}
	if last := llm.Folded(in[:2], true); len(last) != 5 || last[4].Role != llm.ToolRole {
		t.Errorf("calls at the end without results: %+v", last)
	}
	for _, m := range llm.Folded(in, false) {
		if m.Role == llm.ToolRole || m.ToolCalls != nil {
			t.Errorf("%+v", m)
		}
	}
}
