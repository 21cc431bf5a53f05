package action

import (
	"bytes"
	"fmt"
	"strings"

	"interlock/internal/strictjson"
)

// Profile declares how the envelope of one model departs from the plain one. The zero value is the plain envelope.
type Profile struct {
	Tool             []string  `json:"tool,omitempty"`               // further keys for "tool": "name", "action"
	Arguments        []string  `json:"arguments,omitempty"`          // further keys for "arguments": "args", "parameters"
	ProseAroundFence bool      `json:"prose_around_fence,omitempty"` // N2 also with prose around the fence that holds no second candidate
	Wrappers         []Wrapper `json:"wrappers,omitempty"`           // N5
	Think            []Think   `json:"think,omitempty"`              // T1
}

// Wrapper is what a model writes around a call.
type Wrapper struct {
	Open string `json:"open"`
	// NameEnd: the tool's name stands between Open and NameEnd, and the value behind is the arguments object alone. Empty:
	// the value is the envelope.
	NameEnd string `json:"name_end,omitempty"`
	Close   string `json:"close,omitempty"` // empty: the wrapper ends with the output
	List    bool   `json:"list,omitempty"`  // the value is a list of exactly one envelope
}

// Think is what a model writes around its thoughts.
type Think struct {
	Open  string `json:"open"`
	Close string `json:"close"`
}

// NamedProfiles lists the profiles that have a name, in the order help texts show them.
func NamedProfiles() []string {
	return []string{"plain", "action", "hermes", "qwen3", "think", "mistral", "harmony"}
}

// ProfileNamed returns the profile of the name; the error lists the names.
func ProfileNamed(name string) (Profile, error) {
	keys := Profile{Tool: []string{"name"}, Arguments: []string{"parameters"}}
	think := []Think{{"<think>", "</think>"}}
	switch name {
	case "plain":
		return Profile{}, nil
	case "action": // models that were prompted with {"action": …, "args": {…}}
		return Profile{Tool: []string{"action"}, Arguments: []string{"args"}}, nil
	case "hermes": // Hermes, Qwen 2.5
		keys.Wrappers = []Wrapper{{Open: "<tool_call>", Close: "</tool_call>"}}
		return keys, nil
	case "qwen3":
		keys.Wrappers, keys.Think = []Wrapper{{Open: "<tool_call>", Close: "</tool_call>"}}, think
		return keys, nil
	case "think": // DeepSeek R1 and other models that think aloud
		return Profile{Think: think}, nil
	case "mistral":
		keys.Wrappers = []Wrapper{{Open: "[TOOL_CALLS]", List: true}}
		return keys, nil
	case "harmony": // gpt-oss, where the server does not read the channels itself
		return Profile{
			Wrappers: []Wrapper{{Open: "<|channel|>commentary to=functions.", NameEnd: " <|constrain|>json<|message|>", Close: "<|call|>"}},
			Think:    []Think{{"<|channel|>analysis<|message|>", "<|end|><|start|>assistant"}},
		}, nil
	}
	return Profile{}, fmt.Errorf("there is no profile %q; the profiles are %s", name, strings.Join(NamedProfiles(), ", "))
}

// thoughts sets a block of thoughts at the body's beginning aside (T1). A block without its end is a cut output: what was
// thought is not what was said.
func (t *text) thoughts() *Reading {
	for _, b := range t.offer.Profile.Think {
		if !bytes.HasPrefix(t.body(), []byte(b.Open)) {
			continue
		}
		inside := t.body()[len(b.Open):]
		end := bytes.Index(inside, []byte(b.Close))
		if end < 0 {
			r := truncated("the output ends inside the thoughts; write the call", b.Open, t.to)
			return &r
		}
		from := t.from
		t.from += len(b.Open) + end + len(b.Close)
		t.shrink()
		t.note("T1", from, t.from)
		return nil
	}
	return nil
}

// wrapped reads a body that is one declared wrapper and nothing else (N5). isWrapped is false where the body does not
// begin with one.
func (t *text) wrapped() (r Reading, isWrapped bool) {
	for _, w := range t.offer.Profile.Wrappers {
		if w.Open != "" && bytes.HasPrefix(t.body(), []byte(w.Open)) {
			return t.unwrap(w), true
		}
	}
	return Reading{}, false
}

// unwrap reads the value inside the wrapper that the body begins with.
func (t *text) unwrap(w Wrapper) Reading {
	in := text{raw: t.raw, offer: t.offer, from: t.from + len(w.Open), to: t.to, changes: t.changes}
	closed := bytes.HasSuffix(in.body(), []byte(w.Close))
	if closed {
		in.to -= len(w.Close)
	}
	name := ""
	if w.NameEnd != "" {
		at := bytes.Index(in.body(), []byte(w.NameEnd))
		if at < 0 {
			return malformed("wrapper", "tool", fmt.Sprintf("%q does not follow the tool's name", w.NameEnd), in.from)
		}
		name = string(in.body()[:at])
		in.from += at + len(w.NameEnd)
	}
	in.shrink()
	switch {
	case !closed && bytes.Contains(in.body(), []byte(w.Close)):
		// Text follows the closer: it is read as prose around whatever the wrapper holds.
		return t.prose()
	case !closed:
		return truncated("the output ends before "+w.Close+"; write the whole call", w.Open+open(in.body()), t.to)
	}
	in.note("N5", t.from, in.from)
	in.note("N5", in.to, t.to)
	r := in.inside(w, name)
	t.changes = in.changes
	return r
}

// inside reads the wrapper's value: an envelope, a list of one, or the arguments of the named tool.
func (t *text) inside(w Wrapper, name string) Reading {
	switch {
	case w.NameEnd != "":
		r := nativeCall(Native{Name: name, Arguments: t.body()}, t.offer)
		for _, c := range r.Changes {
			t.note(c.Code, c.Start+t.from, c.End+t.from)
		}
		for i := range r.Calls {
			r.Calls[i].Start, r.Calls[i].End = r.Calls[i].Start+t.from, r.Calls[i].End+t.from
		}
		r.Offset += t.from
		return r
	case t.from == t.to || t.raw[t.from] != '{' && t.raw[t.from] != '[':
		return malformed("wrapper", "", "the wrapper holds no JSON value", t.from)
	case !w.List:
		return t.value()
	}
	n, end, fault := strictjson.Scan(t.body(), strictjson.DefaultLimits())
	switch {
	case fault != nil:
		return t.faulty(fault)
	case end < len(t.body()):
		return t.beside(n, end)
	case n.Kind != strictjson.Array || len(n.Items) != 1 || n.Items[0].Kind != strictjson.Object:
		return t.list(n)
	}
	return t.envelope(n.Items[0])
}
