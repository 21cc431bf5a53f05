package action_test

import (
	"slices"
	"strings"
	"testing"

	"interlock/brain/action"
)

// profiled reads a text under a named profile.
func profiled(t *testing.T, profile, raw string) action.Reading {
	t.Helper()
	p, err := action.ProfileNamed(profile)
	if err != nil {
		t.Fatal(err)
	}
	o := offer()
	o.Profile = p
	return action.Read(action.Output{Raw: []byte(raw), StopReason: "stop"}, o)
}

// A wrapper is opened only where the profile declares it, and only whole.
//
// Verifies: N05
func TestWrappersByProfile(t *testing.T) {
	named := `{"name":"pick","parameters":{"name":"red cube"}}`
	for _, c := range []struct {
		profile, raw string
		kind         action.Kind
		changes      string
	}{
		{"hermes", "<tool_call>\n" + pick + "\n</tool_call>", action.Calls, "N5 N5"},
		{"hermes", " <tool_call>" + named + "</tool_call>\n", action.Calls, "N1 N1 N5 N5"},
		{"hermes", "<tool_call>" + strings.TrimSuffix(pick, "}}") + "},}</tool_call>", action.Calls, "N5 N5 N4"},
		{"hermes", pick, action.Calls, ""},
		{"hermes", "<tool_call>" + pick, action.Truncated, ""},
		{"hermes", "<tool_call>" + pick[:20], action.Truncated, ""},
		{"hermes", "<tool_call>" + pick + "</tool_call", action.Truncated, ""},
		{"hermes", "<tool_call>" + pick[:20] + "</tool_call>", action.Truncated, ""},
		{"hermes", "<tool_call>" + pick + "</tool_call> Done.", action.Ambiguous, ""},
		{"hermes", "Now: <tool_call>" + pick + "</tool_call>", action.Ambiguous, ""},
		{"hermes", "<tool_call>" + pick + "</tool_call><tool_call>" + pick + "</tool_call>", action.Ambiguous, ""},
		{"hermes", "<tool_call>" + pick + pick + "</tool_call>", action.Ambiguous, ""},
		{"hermes", "<tool_call></tool_call>", action.Malformed, ""},
		{"hermes", "<tool_call>pick(1)</tool_call>", action.Malformed, ""},
		{"hermes", `<tool_call>{"name":"pickup","arguments":{}}</tool_call>`, action.UnknownTool, ""},
		{"mistral", "[TOOL_CALLS][" + named + "]", action.Calls, "N5"},
		{"mistral", "[TOOL_CALLS] [" + named + "," + named + "]", action.Ambiguous, ""},
		{"mistral", "[TOOL_CALLS] [" + named, action.Truncated, ""},
		{"mistral", "[TOOL_CALLS] [" + named + "] and so on", action.Malformed, ""},
		{"mistral", "[TOOL_CALLS]" + named, action.Malformed, ""},
		{"mistral", "[TOOL_CALLS][]", action.Malformed, ""},
		{"harmony", `<|channel|>commentary to=functions.pick <|constrain|>json<|message|>{"name":"red cube",}<|call|>`, action.Calls, "N5 N5 N4"},
		{"harmony", `<|channel|>commentary to=functions.pickpick <|constrain|>json<|message|>{}<|call|>`, action.UnknownTool, ""},
		{"harmony", `<|channel|>commentary to=functions.pick <|constrain|>json<|message|>{"name":"red`, action.Truncated, ""},
		{"harmony", `<|channel|>commentary to=functions.pick{}<|call|>`, action.Malformed, ""},
		{"harmony", "<|channel|>analysis<|message|>" + pick + "<|end|><|start|>assistant<|channel|>commentary to=functions.dock <|constrain|>json<|message|>{}<|call|>", action.Calls, "T1 N5 N5"},
		{"plain", "<tool_call>" + pick + "</tool_call>", action.Ambiguous, ""},
		{"plain", "[TOOL_CALLS][" + pick + "]", action.Malformed, ""},
	} {
		r := profiled(t, c.profile, c.raw)
		if r.Kind != c.kind || codes(r) != c.changes {
			t.Errorf("%s: %s: %v with %q (%v), want %v with %q", c.profile, c.raw, r.Kind, codes(r), r.Refusal, c.kind, c.changes)
		}
		for _, call := range r.Calls {
			if c.raw[call.Start] != '{' || c.raw[call.End-1] != '}' {
				t.Errorf("%s: the call lies at %q", c.raw, c.raw[call.Start:call.End])
			}
		}
	}
}

// Thoughts are set aside whole, never searched, and only where the profile declares them.
//
// Verifies: N06
func TestThoughtsByProfile(t *testing.T) {
	for _, c := range []struct {
		profile, raw string
		kind         action.Kind
		tool         string
	}{
		{"think", "<think>maybe " + pick + "</think>\n" + move, action.Calls, "move_to"},
		{"think", "<think></think>" + move, action.Calls, "move_to"},
		{"think", "<think>\n{\"tool\":\"pi</think>\n```json\n" + move + "\n```", action.Calls, "move_to"},
		{"qwen3", "<think>hm</think><tool_call>" + pick + "</tool_call>", action.Calls, "pick"},
		{"think", "<think>" + pick + "</think>Done.", action.NoCall, ""},
		{"think", "<think>" + pick + "</think>", action.NoCall, ""},
		{"think", "<think>" + pick, action.Truncated, ""},
		{"think", "<think>a</think>" + pick + "<think>b</think>" + move, action.Ambiguous, ""},
		{"think", "I think <think>a</think>" + pick, action.Ambiguous, ""},
		{"think", "<think>a<think>b</think>" + pick + "</think>" + move, action.Ambiguous, ""},
		{"think", "a</think>" + pick, action.Ambiguous, ""},
		{"plain", "<think>maybe</think>\n" + move, action.Ambiguous, ""},
	} {
		r := profiled(t, c.profile, c.raw)
		if r.Kind != c.kind || c.tool != "" && r.Calls[0].Tool != c.tool {
			t.Errorf("%s: %s: %v %+v (%v)", c.profile, c.raw, r.Kind, r.Calls, r.Refusal)
		}
		if r.Kind == action.Calls && (r.Changes[0].Code != "T1" || c.raw[r.Changes[0].Start:r.Changes[0].End] != c.raw[:r.Changes[0].End]) {
			t.Errorf("%s: %+v", c.raw, r.Changes)
		}
	}
	// Beside a call of the wire format, thoughts are no second candidate, and other text is.
	o := offer()
	o.Native = true
	o.Profile, _ = action.ProfileNamed("think")
	for raw, want := range map[string]action.Kind{"<think>" + pick + "</think>": action.Calls, pick: action.Ambiguous} {
		out := action.Output{Raw: []byte(raw), StopReason: "tool_calls", Native: []action.Native{{Name: "dock", Arguments: []byte("{}")}}}
		if r := action.Read(out, o); r.Kind != want {
			t.Errorf("%s beside a native call: %v", raw, r.Kind)
		}
	}
}

func TestProfilesHaveNames(t *testing.T) {
	for _, name := range action.NamedProfiles() {
		if _, err := action.ProfileNamed(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := action.ProfileNamed("gpt"); err == nil || !slices.Contains(action.NamedProfiles(), "plain") {
		t.Error("an unknown profile is taken")
	}
}
