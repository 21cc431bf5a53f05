package action

import (
	"bytes"
	"fmt"
	"slices"

	"interlock/internal/strictjson"
	"interlock/reject"
)

// Output is one reply of a model as it came.
type Output struct {
	Raw        []byte // the content, byte by byte
	StopReason string // as the provider says it; empty: no terminal event came, so the output counts as cut
	Native     []Native
}

// Native is a call that the provider's wire format carries apart from the content.
type Native struct {
	Name      string
	Arguments []byte // JSON text
	Decoded   bool   // the wire format held Arguments as a JSON string, which was decoded once (N6)
}

// Offer is what a model was offered.
type Offer struct {
	Tools   []string // names, in the order they were listed
	Native  bool     // they were offered through the provider's own tools field too
	Profile Profile
	index   map[string]struct{} // of Tools, if there is one
}

// Indexed returns the offer with an index of its tools, with which the reading of a call does not take longer the more
// tools there are. The tools must not be changed afterwards.
func (o Offer) Indexed() Offer {
	o.index = make(map[string]struct{}, len(o.Tools))
	for _, name := range o.Tools {
		o.index[name] = struct{}{}
	}
	return o
}

// has reports whether the tool was offered, byte by byte.
func (o *Offer) has(name string) bool {
	if o.index == nil {
		return slices.Contains(o.Tools, name)
	}
	_, offered := o.index[name]
	return offered
}

// Read reads one output. It decides in this order: size, stop reason, calls of the wire format, content.
func Read(out Output, offer Offer) Reading {
	lim := strictjson.DefaultLimits()
	if len(out.Raw) > lim.Bytes {
		says := fmt.Sprintf("the output has %d bytes; at most %d are read", len(out.Raw), lim.Bytes)
		return refused(TooLarge, reject.New(reject.TooLarge, says).Saw(fmt.Sprint(len(out.Raw)), fmt.Sprint(lim.Bytes), "bytes"), lim.Bytes)
	}
	if cut(out.StopReason) {
		says := fmt.Sprintf("the output was cut (stop reason %q), so nothing in it is taken for whole", out.StopReason)
		return truncated(says, open(out.Raw), len(out.Raw))
	}
	t := text{raw: out.Raw, offer: offer}
	t.trim()
	if cut := t.thoughts(); cut != nil {
		return *cut
	}
	if len(out.Native) > 0 {
		return t.native(out.Native)
	}
	r := t.content()
	if r.Kind == Calls {
		r.Changes = t.changes
	}
	return r
}

// cut reports whether the stop reason says anything but that the model had finished. The list of ends is closed, since
// an unknown reason may be a new name for a cut.
func cut(stopReason string) bool {
	switch stopReason {
	case "stop", "end_turn", "stop_sequence", "tool_calls", "tool_use":
		return false
	}
	return true
}

// text is one output under reading. body is raw[from:to]; blanked is raw with trailing commas blanked, once needed.
type text struct {
	raw      []byte
	offer    Offer
	from, to int
	changes  []Change
}

// trim sets the body to the text without byte-order mark and outer white space (N1).
func (t *text) trim() {
	t.to = len(t.raw)
	if bytes.HasPrefix(t.raw, []byte("\ufeff")) {
		t.from = len("\ufeff")
	}
	t.shrink()
	t.note("N1", 0, t.from)
	t.note("N1", t.to, len(t.raw))
}

// shrink moves the body's ends past white space.
func (t *text) shrink() {
	for t.from < t.to && space(t.raw[t.from]) {
		t.from++
	}
	for t.from < t.to && space(t.raw[t.to-1]) {
		t.to--
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// note records a change unless it is empty.
func (t *text) note(code string, start, end int) {
	if start < end {
		t.changes = append(t.changes, Change{Code: code, Start: start, End: end})
	}
}

func (t *text) body() []byte { return t.raw[t.from:t.to] }

// content reads the body as no call, one call or a refusal.
func (t *text) content() Reading {
	if t.from == t.to {
		return Reading{Kind: NoCall}
	}
	if r, isWrapped := t.wrapped(); isWrapped {
		return r
	}
	if r, isFence := t.fence(); isFence {
		return r
	}
	if c := t.raw[t.from]; c == '{' || c == '[' {
		return t.value()
	}
	return t.prose()
}

// value reads a body that begins like a JSON value and must be exactly that.
func (t *text) value() Reading {
	blanked, commas := blankCommas(t.body())
	n, end, fault := strictjson.Scan(blanked, strictjson.DefaultLimits())
	if fault != nil {
		return t.faulty(fault)
	}
	rest := t.body()[end:]
	behind := bytes.TrimLeft(rest, " \t\r\n")
	if len(behind) == 1 && behind[0] == ',' {
		commas = append(commas, len(t.body())-1)
	} else if len(behind) > 0 {
		return t.beside(n, end)
	}
	if n.Kind == strictjson.Array {
		return t.list(n)
	}
	for _, at := range commas {
		t.note("N4", t.from+at, t.from+at+1)
	}
	return t.envelope(n)
}

// faulty turns a fault of strict JSON into a reading.
func (t *text) faulty(fault *strictjson.Fault) Reading {
	at := t.from + fault.Offset
	switch {
	case fault.Unfinished:
		return truncated(fmt.Sprintf("the output ends at byte %d inside a value; write the whole call", at), open(t.body()), at)
	case fault.Rejection.Code == reject.DuplicateKey:
		return refused(DuplicateKey, fault.Rejection, at)
	case fault.Rejection.Code == reject.TooLarge:
		return refused(TooLarge, fault.Rejection, at)
	}
	return refused(Malformed, fault.Rejection, at)
}

// beside reads a body in which text follows the first value n, which ends at the offset.
func (t *text) beside(n *strictjson.Node, end int) Reading {
	found := t.search(t.from + end)
	if likeCall(n) {
		found.whole = slices.Insert(found.whole, 0, n.Raw)
	}
	if r, ok := found.reading(t); ok {
		return r
	}
	return malformed("trailing_text", "", fmt.Sprintf("text follows the JSON value at byte %d; write the call alone", t.from+end), t.from+end)
}

// list refuses a list: the envelope is one object.
func (t *text) list(n *strictjson.Node) Reading {
	var calls [][]byte
	for _, item := range n.Items {
		if likeCall(item) {
			calls = append(calls, item.Raw)
		}
	}
	if len(calls) > 1 {
		return ambiguous(calls, t.from)
	}
	return malformed("not_an_object", "", "the call is one JSON object, not a list", t.from)
}

// blankCommas returns the text with every comma blanked that follows a complete value and precedes only a closer (N4),
// and the offsets of these commas. Blanks keep all offsets. The text itself stays as it is.
func blankCommas(src []byte) ([]byte, []int) {
	if !commaBeforeCloser(src) {
		return src, nil
	}
	var commas []int
	inString, last, before := false, byte(0), byte(0) // last: the last byte that is no space; before: the one before it
	comma := 0
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case inString && c == '\\':
			i++
			continue
		case inString && c != '"':
			continue
		case c == '"':
			inString = !inString
		case space(c):
			continue
		}
		if (c == '}' || c == ']') && !inString && last == ',' && endsValue(before) {
			commas = append(commas, comma)
		}
		if c == ',' {
			comma = i
		}
		before, last = last, c
	}
	if len(commas) == 0 {
		return src, nil
	}
	blanked := bytes.Clone(src)
	for _, at := range commas {
		blanked[at] = ' '
	}
	return blanked, commas
}

// commaBeforeCloser reports whether the next byte but spaces behind some comma, in a string or not, is a closer.
func commaBeforeCloser(src []byte) bool {
	for {
		at := bytes.IndexByte(src, ',')
		if at < 0 {
			return false
		}
		for src = src[at+1:]; len(src) > 0 && space(src[0]); {
			src = src[1:]
		}
		if len(src) > 0 && (src[0] == '}' || src[0] == ']') {
			return true
		}
	}
}

// endsValue reports whether a complete value may end with c.
func endsValue(c byte) bool {
	return c == '"' || c == '}' || c == ']' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
}

// open returns what the text leaves open, outermost first: braces, brackets, a string.
func open(src []byte) string {
	var stack []byte
	for i := 0; i < len(src); i++ {
		inString := len(stack) > 0 && stack[len(stack)-1] == '"'
		switch c := src[i]; {
		case inString && c == '\\':
			i++
		case inString && c == '"', !inString && (c == '}' || c == ']') && len(stack) > 0:
			stack = stack[:len(stack)-1]
		case !inString && (c == '{' || c == '[' || (c == '"' && len(stack) > 0)):
			stack = append(stack, c)
		}
	}
	return string(stack)
}
