package action_test

import (
	"testing"

	"interlock/brain/action"
	"interlock/reject"
)

type refusedText struct {
	name, raw string
	kind      action.Kind
}

// expectRefused reads each text and wants its kind of refusal, and no call.
func expectRefused(t *testing.T, texts []refusedText) {
	t.Helper()
	for _, c := range texts {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.raw)
			if r.Kind != c.kind || r.Calls != nil || r.Refusal == nil {
				t.Errorf("%v (%v), want %v", r.Kind, r.Refusal, c.kind)
			}
		})
	}
}

// Verifies: P31
// Verifies: A05
func TestNothingIsRepaired(t *testing.T) {
	expectRefused(t, []refusedText{
		{"missing comma", `{"tool":"move_to" "arguments":{}}`, action.Malformed},
		{"missing colon", `{"tool" "move_to","arguments":{}}`, action.Malformed},
		{"missing value", `{"tool":"move_to","arguments":{"x_cm":,"y_cm":1}}`, action.Malformed},
		{"missing end quote", `{"tool":"move_to,"arguments":{"x_cm":1}}`, action.Malformed},
		{"unescaped quote", `{"tool":"pick","arguments":{"name":"the "red" cube"}}`, action.Malformed},
		{"unescaped quote with comma", `{"tool":"pick","arguments":{"name":"the "red", cube"}}`, action.Malformed},
		{"bareword value", `{"tool":pick,"arguments":{}}`, action.Malformed},
		{"bareword key", `{tool:"pick",arguments:{}}`, action.Malformed},
		{"NaN", `{"tool":"move_to","arguments":{"x_cm":NaN}}`, action.Malformed},
		{"Infinity", `{"tool":"move_to","arguments":{"x_cm":-Infinity}}`, action.Malformed},
		{"undefined", `{"tool":"move_to","arguments":{"x_cm":undefined}}`, action.Malformed},
		{"leading zero", `{"tool":"move_to","arguments":{"x_cm":007}}`, action.Malformed},
		{"plus", `{"tool":"move_to","arguments":{"x_cm":+1}}`, action.Malformed},
		{"leading dot", `{"tool":"move_to","arguments":{"x_cm":.5}}`, action.Malformed},
		{"trailing dot", `{"tool":"move_to","arguments":{"x_cm":5.}}`, action.Malformed},
		{"hexadecimal", `{"tool":"move_to","arguments":{"x_cm":0x14}}`, action.Malformed},
		{"thousand separator", `{"tool":"move_to","arguments":{"x_cm":1_000}}`, action.Malformed},
		{"decimal comma", `{"tool":"move_to","arguments":{"x_cm":1,5}}`, action.Malformed},
		{"range", `{"tool":"move_to","arguments":{"x_cm":10-20}}`, action.Malformed},
		{"fraction", `{"tool":"move_to","arguments":{"x_cm":1/2}}`, action.Malformed},
		{"expression", `{"tool":"move_to","arguments":{"x_cm":10+10}}`, action.Malformed},
		{"unit", `{"tool":"move_to","arguments":{"x_cm":20 cm}}`, action.Malformed},
		{"percent", `{"tool":"move_to","arguments":{"x_cm":20%}}`, action.Malformed},
		{"comment", `{"tool":"pick", /* the cube */ "arguments":{}}`, action.Malformed},
		{"ellipsis", `{"tool":"move_to","arguments":{"x_cm":20, ...}}`, action.Malformed},
		{"extra closer", `{"tool":"pick","arguments":{}}}`, action.Ambiguous},
		{"mismatched closers", `{"tool":"pick","arguments":{"q":[1}]}`, action.Malformed},
		{"two trailing commas", `{"tool":"pick","arguments":{},,}`, action.Malformed},
		{"a comma alone", `{"tool":"pick","arguments":{,}}`, action.Malformed},
		{"a comma before the colon's value", `{"tool":,}`, action.Malformed},
		{"concatenation", `{"tool":"pick","arguments":{"name":"red" + " cube"}}`, action.Malformed},
		{"escaped JSON string", `"{\"tool\":\"pick\",\"arguments\":{}}"`, action.Malformed},
		{"backslash-escaped object", `{\"tool\":\"pick\",\"arguments\":{}}`, action.Malformed},
		{"raw newline in a string", "{\"tool\":\"pick\",\"arguments\":{\"name\":\"red\ncube\"}}", action.Malformed},
		{"smart quotes", `{“tool”:“pick”,“arguments”:{}}`, action.Malformed},
		{"single quotes", `{'tool':'pick','arguments':{}}`, action.Malformed},
		{"Python literals", `{"tool":"report_result","arguments":{"success":True}}`, action.Malformed},
		{"function-call syntax", `move_to(20, 5, 15)`, action.Malformed},
		{"function-call syntax in a fence", "```python\nmove_to(x_cm=20)\n```", action.Malformed},
		{"JSONP of broken JSON", `cb({tool: move_to})`, action.Malformed},
		{"lone surrogate", `{"tool":"pick","arguments":{"name":"\ud800"}}`, action.Malformed},
		{"bad escape", `{"tool":"pick","arguments":{"name":"red\_cube"}}`, action.Malformed},
		{"invalid UTF-8", "{\"tool\":\"pick\",\"arguments\":{\"name\":\"\xff\"}}", action.Malformed},
		{"set", `{"tool":"pick","arguments":{"red cube"}}`, action.Malformed},
		{"tuple", `{"tool":"move_to","arguments":(20,5,15)}`, action.Malformed},
		{"numeric key", `{"tool":"pick","arguments":{1:2}}`, action.Malformed},
		{"wrapper without closer", "<tool_call>\n" + `{"tool":"pick","arguments":{}`, action.Truncated},
		{"wrapper of another model", `[TOOL_CALLS] pick`, action.Malformed},
	})
}

// Verifies: P31
// Verifies: A05
func TestOnlyTheEnvelopeIsACall(t *testing.T) {
	expectRefused(t, []refusedText{
		{"duplicate tool", `{"tool":"get_state","tool":"pick","arguments":{}}`, action.DuplicateKey},
		{"duplicate argument by escape", `{"tool":"move_to","arguments":{"x_cm":1,"\u0078_cm":2}}`, action.DuplicateKey},
		{"duplicate in prose", `So: {"tool":"move_to","arguments":{"x_cm":1,"x_cm":2}}`, action.DuplicateKey},
		{"case-variant key", `{"Tool":"pick","arguments":{}}`, action.Malformed},
		{"tool twice, by case", `{"tool":"pick","TOOL":"dock","arguments":{}}`, action.Malformed},
		{"no tool", `{"arguments":{}}`, action.Malformed},
		{"no arguments", `{"tool":"get_state"}`, action.Malformed},
		{"empty object", `{}`, action.Malformed},
		{"another object", `{"id":13476,"name":"Ery"}`, action.Malformed},
		{"empty list", `[]`, action.Malformed},
		{"a list of one", `[{"tool":"pick","arguments":{}}]`, action.Malformed},
		{"a further key", `{"tool":"pick","arguments":{},"why":"asked"}`, action.Malformed},
		{"arguments beside", `{"tool":"pick","name":"red cube"}`, action.Malformed},
		{"null arguments", `{"tool":"get_state","arguments":null}`, action.Malformed},
		{"arguments as a string", `{"tool":"get_state","arguments":"{}"}`, action.Malformed},
		{"arguments as a list", `{"tool":"get_state","arguments":[]}`, action.Malformed},
		{"a number for a name", `{"tool":1,"arguments":{}}`, action.Malformed},
		{"a nested call", `{"tool":{"name":"pick"},"arguments":{}}`, action.Malformed},
		{"the wire format as content", `{"type":"function","function":{"name":"pick","arguments":"{}"}}`, action.Malformed},
	})
}

// Verifies: A06
func TestOnlyOfferedNamesAreTools(t *testing.T) {
	for _, name := range []string{"undock", "dock2", "Dock", " dock", "dock ", "dockdock", "functions.dock", "dосk", "move to", "Move the gripper tip", "", "move_to(20,5,15)", "dock\\u0000"} {
		r := read(`{"tool":"` + name + `","arguments":{}}`)
		if r.Kind != action.UnknownTool || r.Refusal.Code != reject.UnknownCapability || r.Refusal.Field != "tool" {
			t.Errorf("%q: %v %v", name, r.Kind, r.Refusal)
		}
	}
}

func TestRefusalsNameThePlace(t *testing.T) {
	for _, c := range []struct {
		raw    string
		code   reject.Code
		rule   string
		field  string
		offset int
	}{
		{` {"tool":"move_to","arguments":{"x_cm":NaN}}`, reject.NotFinite, "", "arguments.x_cm", 39},
		{`{"tool":"pick","arguments":{"a":1,"a":2}}`, reject.DuplicateKey, "", "arguments.a", 34},
		{`{"tool":"pick","arguments":{},"why":"x"}`, reject.Malformed, "envelope", "why", 36},
		{`{"tool":"pick","arguments":[]}`, reject.Malformed, "envelope", "arguments", 27},
		{`{"tool":"pick","arg`, reject.Malformed, "truncated", "", 19},
		{"```\n{\"tool\":\"pick\",,}\n```", reject.Malformed, "", "", 19},
		{`x {"tool":"pick","arguments":{}}`, reject.Malformed, "text_beside_call", "", 0},
		{`pick(1)`, reject.Malformed, "not_strict_json", "", 0},
	} {
		r := read(c.raw)
		if r.Refusal == nil || r.Refusal.Code != c.code || r.Refusal.Rule != c.rule || r.Refusal.Field != c.field || r.Offset != c.offset {
			t.Errorf("%s: %+v at %d", c.raw, r.Refusal, r.Offset)
		}
	}
}

func TestNativeCalls(t *testing.T) {
	native := func(name, args string) action.Native {
		return action.Native{Name: name, Arguments: []byte(args), Decoded: true}
	}
	for _, c := range []struct {
		name, raw string
		calls     []action.Native
		kind      action.Kind
		changes   string
	}{
		{"one", "", []action.Native{native("pick", `{"name":"red cube"}`)}, action.Calls, "N6"},
		{"one beside prose", "I will pick it up.", []action.Native{native("pick", `{}`)}, action.Calls, "N6"},
		{"two", "", []action.Native{native("get_state", `{}`), native("pick", `{}`)}, action.Calls, "N6 N6"},
		{"trailing comma", "", []action.Native{native("pick", `{"name":"a",}`)}, action.Calls, "N6 N4"},
		{"beside another call in the content", move, []action.Native{native("move_to", `{}`)}, action.Ambiguous, ""},
		{"beside a broken call in the content", `{"tool": move_to`, []action.Native{native("pick", `{}`)}, action.Ambiguous, ""},
		{"no arguments text", "", []action.Native{native("get_state", ``)}, action.Truncated, ""},
		{"cut arguments", "", []action.Native{native("pick", `{"name":"re`)}, action.Truncated, ""},
		{"null arguments", "", []action.Native{native("pick", `null`)}, action.Malformed, ""},
		{"decoded once, not twice", "", []action.Native{native("pick", `"{}"`)}, action.Malformed, ""},
		{"two documents", "", []action.Native{native("pick", `{}{}`)}, action.Malformed, ""},
		{"duplicate key", "", []action.Native{native("pick", `{"a":1,"a":1}`)}, action.DuplicateKey, ""},
		{"a substring of a name", "", []action.Native{native("doc", `{}`)}, action.UnknownTool, ""},
		{"one good, one unknown", "", []action.Native{native("pick", `{}`), native("fly", `{}`)}, action.UnknownTool, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := offer()
			o.Native = true
			out := action.Output{Raw: []byte(c.raw), StopReason: "tool_calls", Native: c.calls}
			r := action.Read(out, o)
			if r.Kind != c.kind || codes(r) != c.changes {
				t.Fatalf("%v %q %v", r.Kind, codes(r), r.Refusal)
			}
			if c.kind == action.Calls && len(r.Calls) != len(c.calls) {
				t.Errorf("%d calls of %d", len(r.Calls), len(c.calls))
			}
			if c.kind != action.Calls && r.Calls != nil {
				t.Error("calls beside a refusal")
			}
			if r := action.Read(out, offer()); r.Kind == action.Calls {
				t.Error("a native call was taken although no tools were offered natively")
			}
			out.StopReason = "max_tokens"
			if r := action.Read(out, o); r.Kind != action.Truncated {
				t.Errorf("cut by the limit: %v", r.Kind)
			}
		})
	}
	o := offer()
	o.Native = true
	if r := action.Read(action.Output{Raw: []byte(move), StopReason: "stop"}, o); r.Kind != action.Calls {
		t.Errorf("tools were offered and the call came as content: %v", r.Kind)
	}
}
