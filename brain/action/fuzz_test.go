package action_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"interlock/brain/action"
)

// FuzzRead: every output has exactly one reading, and a call stands literally in the text, save for the recorded commas.
func FuzzRead(f *testing.F) {
	for _, raw := range []string{move, pick + ",", "```json\n" + move + "\n```", move + pick, "x " + move, "\ufeff" + pick, `{"tool":"pick","arguments":{"q":[1,],},}`, `{"tool":"pi`, `move_to(1)`, `{"a":"\ud800"}`, `[{"tool":"pick"}`} {
		f.Add([]byte(raw), uint8(0), []byte(nil))
		f.Add([]byte("<think>no</think><tool_call>"+raw+"</tool_call>"), uint8(4), []byte(nil))
		f.Add([]byte("[TOOL_CALLS]["+raw+"]"), uint8(8), []byte(nil))
		f.Add([]byte(raw), uint8(1), []byte(`{"name":"red cube",}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte, flags uint8, native []byte) {
		out := action.Output{Raw: raw, StopReason: "stop"}
		o := offer()
		if flags&1 != 0 {
			out.Native, o.Native = []action.Native{{Name: "pick", Arguments: native}}, true
		}
		if flags&2 != 0 {
			o.Profile = action.Profile{Tool: []string{"name"}, Arguments: []string{"args"}, ProseAroundFence: true}
		}
		for flag, name := range map[uint8]string{4: "qwen3", 8: "mistral"} {
			if flags&flag != 0 {
				o.Profile, _ = action.ProfileNamed(name)
			}
		}
		kept := bytes.Clone(raw)
		r := action.Read(out, o)
		if !bytes.Equal(raw, kept) {
			t.Fatal("the output was changed")
		}
		if r.Kind != action.Calls {
			if len(r.Calls) != 0 || (r.Refusal == nil) != (r.Kind == action.NoCall) {
				t.Fatalf("%v with %d calls and %v", r.Kind, len(r.Calls), r.Refusal)
			}
			return
		}
		source := bytes.Clone(raw)
		if flags&1 != 0 {
			source = bytes.Clone(native)
		}
		for _, c := range r.Changes {
			if c.Code == "N4" {
				if source[c.Start] != ',' || c.End != c.Start+1 {
					t.Fatalf("N4 at %d is no comma", c.Start)
				}
				source[c.Start] = ' '
			}
		}
		if len(r.Calls) != 1 {
			t.Fatalf("%d calls out of one text", len(r.Calls))
		}
		call := r.Calls[0]
		if !bytes.Contains(source[call.Start:call.End], call.Args) || !json.Valid(source[call.Start:call.End]) || !json.Valid(call.Args) {
			t.Fatalf("%q is not in %q", call.Args, source[call.Start:call.End])
		}
		if !slices.Contains(o.Tools, call.Tool) {
			t.Fatalf("%q is not offered", call.Tool)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	out, o := action.Output{Raw: []byte(move), StopReason: "stop"}, offer()
	b.ReportAllocs()
	for b.Loop() {
		if r := action.Read(out, o); r.Kind != action.Calls {
			b.Fatal(r.Kind)
		}
	}
}
