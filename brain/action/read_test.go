package action_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"interlock/brain/action"
	"interlock/reject"
)

func offer() action.Offer {
	return action.Offer{Tools: []string{"get_state", "find_object", "move_to", "pick", "dock", "report_result"}}
}

func read(raw string) action.Reading {
	return action.Read(action.Output{Raw: []byte(raw), StopReason: "stop"}, offer())
}

const (
	move = `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`
	pick = `{"tool":"pick","arguments":{"name":"red cube"}}`
)

func codes(r action.Reading) string {
	var codes []string
	for _, c := range r.Changes {
		codes = append(codes, c.Code)
	}
	return strings.Join(codes, " ")
}

// Verifies: A01
func TestOneCallIsRead(t *testing.T) {
	for _, c := range []struct{ name, raw, tool, args, changes string }{
		{"plain", move, "move_to", `{"x_cm":20,"y_cm":5,"z_cm":15}`, ""},
		{"arguments placed before the name", `{"arguments":{"x_cm":1},"tool":"move_to"}`, "move_to", `{"x_cm":1}`, ""},
		{"no arguments", `{"tool":"get_state","arguments":{}}`, "get_state", `{}`, ""},
		{"white space inside", "{ \"tool\" :\t\"get_state\" ,\r\n \"arguments\" : { } }", "get_state", `{ }`, ""},
		{"white space outside", " \n" + move + "\n\n", "move_to", `{"x_cm":20,"y_cm":5,"z_cm":15}`, "N1 N1"},
		{"byte-order mark", "\ufeff" + pick, "pick", `{"name":"red cube"}`, "N1"},
		{"fence", "```json\n" + pick + "\n```", "pick", `{"name":"red cube"}`, "N2 N2"},
		{"fence without info", "```\n" + pick + "\n```\n", "pick", `{"name":"red cube"}`, "N1 N2 N2"},
		{"fence on one line", "```json" + pick + "```", "pick", `{"name":"red cube"}`, "N2 N2"},
		{"trailing comma in the envelope", `{"tool":"pick","arguments":{"name":"red cube"},}`, "pick", `{"name":"red cube"}`, "N4"},
		{"trailing commas at every level", `{"tool":"pick","arguments":{"q":[1, 2 , ],"on":true,},}`, "pick", `{"q":[1, 2   ],"on":true }`, "N4 N4 N4"},
		{"trailing comma behind the call", pick + ",", "pick", `{"name":"red cube"}`, "N4"},
		{"trailing comma in a fence", "```\n{\"tool\":\"get_state\",\"arguments\":{},}\n```", "get_state", `{}`, "N2 N2 N4"},
		{"a comma and a brace inside a string", `{"tool":"pick","arguments":{"name":"a,} \",]"}}`, "pick", `{"name":"a,} \",]"}`, ""},
		{"numbers stay as written", `{"tool":"move_to","arguments":{"x_cm":2.50e1,"y_cm":-0,"z_cm":1e999}}`, "move_to", `{"x_cm":2.50e1,"y_cm":-0,"z_cm":1e999}`, ""},
		{"wrong types are the gate's matter", `{"tool":"move_to","arguments":{"x_cm":"20","y_cm":"0","z_cm":null}}`, "move_to", `{"x_cm":"20","y_cm":"0","z_cm":null}`, ""},
		{"a name written with an escape", `{"tool":"\u0070ick","arguments":{}}`, "pick", `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.raw)
			if r.Kind != action.Calls || len(r.Calls) != 1 || r.Refusal != nil {
				t.Fatalf("%v %+v", r.Kind, r.Refusal)
			}
			got := r.Calls[0]
			if got.Tool != c.tool || string(got.Args) != c.args || codes(r) != c.changes {
				t.Errorf("%s %s with %q, want %s %s with %q", got.Tool, got.Args, codes(r), c.tool, c.args, c.changes)
			}
			if c.raw[got.Start] != '{' || c.raw[got.End-1] != '}' {
				t.Errorf("the call lies at %d to %d: %q", got.Start, got.End, c.raw[got.Start:got.End])
			}
		})
	}
}

// Everything that is set aside is recorded with its place.
func TestChangesCarryTheirPlaces(t *testing.T) {
	raw := "\ufeff \n```json\n{\"tool\":\"get_state\",\"arguments\":{},}\n``` \n"
	var aside []string
	for _, c := range read(raw).Changes {
		aside = append(aside, c.Code+" "+raw[c.Start:c.End])
	}
	want := []string{"N1 \ufeff \n", "N1  \n", "N2 ```json\n", "N2 \n```", "N4 ,"}
	if !slices.Equal(aside, want) {
		t.Errorf("%q, want %q", aside, want)
	}
}

// Verifies: A02
func TestProseIsNoCall(t *testing.T) {
	for _, raw := range []string{
		"", " \n\t", "\ufeff", "Done.", "I moved the arm to (20, 5, 15) cm.", "I cannot do that; the target is below the table.",
		"1. find_object\n2. pick\n3. report_result", "I would call move_to, but it is out of reach.", "```\nDone.\n```",
		"The set {1, 2, 3} is small.", "Bounds are [2, 30] cm.", "```python\nprint(20)\n```", "20", "null", "-5.0 cm", `"done"`,
	} {
		if r := read(raw); r.Kind != action.NoCall || r.Refusal != nil || r.Calls != nil {
			t.Errorf("%q: %v %v", raw, r.Kind, r.Refusal)
		}
	}
}

// Verifies: P31
// Verifies: A03
func TestEveryCutIsTruncated(t *testing.T) {
	full := `{"tool":"move_to","arguments":{"x_cm":-2.5e+1,"on":true,"off":null,"q":[1,2],"name":"r\u00e9d"}}`
	for cut := 1; cut < len(full); cut++ {
		if r := read(full[:cut]); r.Kind != action.Truncated || r.Offset != cut || !strings.HasPrefix(r.Open, "{") {
			t.Errorf("cut at %d: %v %+v", cut, r.Kind, r)
		}
		if r := read("```json\n" + full[:cut]); r.Kind != action.Truncated && cut > 5 {
			t.Errorf("cut at %d in a fence: %v", cut, r.Kind)
		}
		if r := read("The call is " + full[:cut]); r.Kind != action.Truncated && cut > 6 {
			t.Errorf("cut at %d in prose: %v", cut, r.Kind)
		}
	}
	for raw, open := range map[string]string{
		`{"tool":"pi`:                         `{"`,
		`{"tool":"pick","arguments":{"q":[1,`: `{{[`,
		"```json\n" + pick:                    "```",
		pick + ",\n{\"tool\":\"move":          `{"`,
	} {
		if r := read(raw); r.Kind != action.Truncated || r.Open != open {
			t.Errorf("%q: %v, open %q, want %q", raw, r.Kind, r.Open, open)
		}
	}
}

// A whole call is refused too where the stop reason says that the output was cut: further calls may be missing.
//
// Verifies: A03
func TestStopReasonCuts(t *testing.T) {
	for _, reason := range []string{"length", "max_tokens", "model_context_window_exceeded", "", "pause_turn", "content_filter", "refusal", "load", "STOP", "whatever"} {
		for _, raw := range []string{move, "Done.", "", `{"tool":"get_state","arguments":{}}`} {
			r := action.Read(action.Output{Raw: []byte(raw), StopReason: reason}, offer())
			if r.Kind != action.Truncated || r.Refusal.Rule != "truncated" || r.Calls != nil {
				t.Errorf("stop reason %q, %q: %v", reason, raw, r.Kind)
			}
		}
	}
	for _, reason := range []string{"stop", "end_turn", "stop_sequence", "tool_calls", "tool_use"} {
		if r := action.Read(action.Output{Raw: []byte(move), StopReason: reason}, offer()); r.Kind != action.Calls {
			t.Errorf("stop reason %q: %v", reason, r.Kind)
		}
	}
}

// Verifies: P31
// Verifies: A04
func TestSeveralCandidatesAreNeverPickedFrom(t *testing.T) {
	for _, c := range []struct {
		name, raw  string
		candidates int
		identical  bool
	}{
		{"two bare", move + pick, 2, false},
		{"two on two lines", move + "\n" + pick, 2, false},
		{"two identical", move + "\n" + move, 2, true},
		{"comma-joined", move + ",\n" + pick + ",\n" + move, 3, false},
		{"two in prose", "First " + move + " and then " + pick + ".", 2, false},
		{"a list of two", "[" + move + "," + pick + "]", 2, false},
		{"two in one fence", "```json\n" + move + "\n" + pick + "\n```", 2, false},
		{"two fences", "```json\n" + move + "\n```\n```json\n" + pick + "\n```", 2, false},
		{"an example, then the real one", "For example " + pick + "\n\n" + move, 2, false},
		{"thinking, then the real one", "<think>maybe " + pick + "</think>\n" + move, 2, false},
		{"prose before", "Here is the call: " + move, 1, false},
		{"prose behind", move + "\nHow would you implement this?", 1, false},
		{"a refusal around a call", "I will not call " + move, 1, false},
		{"prose around a fence", "Never run this:\n```json\n" + move + "\n```", 1, false},
		{"JSONP", "callback(" + move + ");", 1, false},
		{"harmony analysis channel", "<|channel|>analysis<|message|>" + move + "<|end|>", 1, false},
		{"a wrapper no profile declares", "<tool_call>\n" + move + "\n</tool_call>", 1, false},
		{"quoted twice", "```json\n" + pick + "\n```\n" + pick, 2, true},
		{"with other keys", `{"action":"pick","args":{}} {"name":"move_to","parameters":{}}`, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.raw)
			if r.Kind != action.Ambiguous || r.Candidates != c.candidates || r.Identical != c.identical || r.Calls != nil {
				t.Errorf("%v with %d candidates, identical %v (%v)", r.Kind, r.Candidates, r.Identical, r.Refusal)
			}
		})
	}
}

// Prose around a fence is allowed where the model's profile says so and the prose could be nothing else.
func TestProseAroundFenceIsAMatterOfTheProfile(t *testing.T) {
	fenced := "```json\n" + move + "\n```"
	for raw, want := range map[string]action.Kind{
		"Sure:\n" + fenced + "\nThis moves the tip.": action.Calls,
		"I will not call move_to:\n" + fenced:        action.Ambiguous,
		"{\"a\":1}\n" + fenced:                       action.Ambiguous,
		"<think>no</think>" + fenced:                 action.Ambiguous,
		fenced + "\nor\n" + fenced:                   action.Ambiguous,
		"Sure:\n```json\n" + move:                    action.Ambiguous,
	} {
		o := offer()
		o.Profile.ProseAroundFence = true
		if r := action.Read(action.Output{Raw: []byte(raw), StopReason: "stop"}, o); r.Kind != want {
			t.Errorf("%q: %v, want %v", raw, r.Kind, want)
		}
		if r := read(raw); r.Kind == action.Calls {
			t.Errorf("%q is a call without the profile", raw)
		}
	}
}

func TestAliasesOnlyByProfile(t *testing.T) {
	aliased := offer()
	aliased.Profile = action.Profile{Tool: []string{"name", "action"}, Arguments: []string{"args", "parameters"}}
	for raw, want := range map[string]action.Kind{
		`{"name":"pick","parameters":{}}`:              action.Calls,
		`{"args":{},"action":"pick"}`:                  action.Calls,
		`{"tool":"pick","arguments":{}}`:               action.Calls,
		`{"tool":"pick","name":"pick","arguments":{}}`: action.Malformed,
		`{"name":"pick","arguments":{},"args":{}}`:     action.Malformed,
		`{"function":"pick","arguments":{}}`:           action.Malformed,
		`{"Name":"pick","arguments":{}}`:               action.Malformed,
		`{"name":"pick","arguments":{},"id":"call_1"}`: action.Malformed,
	} {
		if r := action.Read(action.Output{Raw: []byte(raw), StopReason: "stop"}, aliased); r.Kind != want {
			t.Errorf("%s: %v, want %v", raw, r.Kind, want)
		}
	}
	for _, raw := range []string{`{"name":"pick","parameters":{}}`, `{"action":"pick","args":{}}`, `{"tool":"pick","args":{}}`} {
		if r := read(raw); r.Kind != action.Malformed {
			t.Errorf("%s: %v without a profile", raw, r.Kind)
		}
	}
}

func TestRealOutputs(t *testing.T) {
	src, err := os.ReadFile("testdata/real-outputs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(src)); lines.Scan(); {
		var c struct {
			Why, Kind, Tool, Raw, Stop string
			Aliases                    bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		o := offer()
		if c.Aliases {
			o.Profile = action.Profile{Tool: []string{"action"}, Arguments: []string{"args"}}
		}
		if c.Stop == "" {
			c.Stop = "stop"
		}
		r := action.Read(action.Output{Raw: []byte(c.Raw), StopReason: c.Stop}, o)
		if r.Kind.String() != c.Kind {
			t.Errorf("%s: %v, want %s", c.Why, r.Kind, c.Kind)
		}
		if c.Tool != "" && (len(r.Calls) != 1 || r.Calls[0].Tool != c.Tool) {
			t.Errorf("%s: %+v", c.Why, r.Calls)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, raw := range []string{
		strings.Repeat("x", 1<<16+1),
		`{"tool":"pick","arguments":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
		`{"tool":"pick","arguments":{"q":[` + strings.Repeat("1,", 1100) + `1]}}`,
	} {
		if r := read(raw); r.Kind != action.TooLarge || r.Refusal.Code != reject.TooLarge {
			t.Errorf("%.40q: %v %v", raw, r.Kind, r.Refusal)
		}
	}
	// Texts built to make a reader slow are refused all the same.
	for _, raw := range []string{"pick " + strings.Repeat("{", 60_000), "pick " + strings.Repeat(`["`, 30_000), strings.Repeat("[[1,", 15_000) + "move_to"} {
		if r := read(raw); r.Kind == action.Calls || r.Kind == action.NoCall {
			t.Errorf("%.20q: %v", raw, r.Kind)
		}
	}
}
