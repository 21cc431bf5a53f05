package action

import (
	"bytes"
	"slices"

	"interlock/internal/strictjson"
	"interlock/reject"
)

// candidates is what a stretch of text holds that could be meant as a call.
type candidates struct {
	whole  [][]byte // objects that strictly parse and look like a call
	cut    int      // offset of an unfinished one, -1: none
	broken int      // offset of one that is not strict JSON, -1: none
	double *strictjson.Fault
}

// any reports whether anything could be meant as a call.
func (c candidates) any() bool { return len(c.whole) > 0 || c.cut >= 0 || c.broken >= 0 }

// reading returns the refusal that the candidates call for; ok is false if there is none.
func (c candidates) reading(t *text) (Reading, bool) {
	switch {
	case len(c.whole) > 1:
		return ambiguous(c.whole, t.from), true
	case c.cut >= 0:
		return truncated("the output ends inside a call; write the whole call, alone", open(t.raw[c.cut:t.to]), t.to), true
	case len(c.whole) == 1:
		return ambiguous(c.whole, t.from), true
	case c.double != nil:
		return refused(DuplicateKey, c.double.Rejection, c.broken), true
	case c.broken >= 0:
		return malformed("not_strict_json", "", "this looks like a call but is not the envelope in strict JSON; write the call alone", c.broken), true
	}
	return Reading{}, false
}

// prose reads a body that does not begin like JSON: no call, unless something in it could be meant as one.
func (t *text) prose() Reading {
	if r, ok := t.search(t.from).reading(t); ok {
		return r
	}
	return Reading{Kind: NoCall, Offset: t.to}
}

// maxTries bounds how many braces and brackets of prose are tried as the beginning of a call.
const maxTries = 1000

// search looks for candidates from an offset of raw to the body's end. It never yields a call: what it finds only decides
// how the output is refused.
func (t *text) search(from int) candidates {
	found := candidates{cut: -1, broken: -1}
	body, _ := blankCommas(t.raw[:t.to])
	lastWord, tries := t.lastWord(body), 0
	for i := from; i < t.to && tries < maxTries; i++ {
		if body[i] != '{' && body[i] != '[' {
			continue
		}
		tries++
		n, end, fault := strictjson.Scan(body[i:], strictjson.DefaultLimits())
		switch {
		case fault == nil:
			found.whole = append(found.whole, callsIn(n)...)
			i += end - 1
		case i > lastWord:
		case fault.Unfinished && found.cut < 0:
			found.cut = i
		case found.broken < 0:
			found.broken = i
			if fault.Rejection.Code == reject.DuplicateKey {
				found.double = fault
			}
		}
	}
	if found.broken < 0 && tries == maxTries {
		found.broken = from // what was not tried is not cleared
	}
	if found.broken < 0 {
		found.broken = t.marker(body, from)
	}
	return found
}

// callsIn returns the texts of the objects at or directly below n that look like a call.
func callsIn(n *strictjson.Node) [][]byte {
	if likeCall(n) {
		return [][]byte{n.Raw}
	}
	var calls [][]byte
	for _, item := range n.Items {
		if likeCall(item) {
			calls = append(calls, item.Raw)
		}
	}
	return calls
}

// toolWords and argumentWords are keys under which models are known to write calls, of whatever profile.
func toolWords() []string {
	return []string{"tool", "name", "action", "function", "tool_name", "tool_call"}
}

func argumentWords() []string {
	return []string{"arguments", "args", "parameters", "params", "input", "tool_calls"}
}

// likeCall reports whether the object could be meant as a call by somebody.
func likeCall(n *strictjson.Node) bool {
	if n.Kind != strictjson.Object {
		return false
	}
	for _, m := range n.Members {
		if slices.Contains(toolWords(), m.Name) || slices.Contains(argumentWords(), m.Name) {
			return true
		}
	}
	return false
}

// lastWord returns the last offset at which the text names an offered tool or a word of an envelope, or -1: a brace
// behind it opens no call.
func (t *text) lastWord(src []byte) int {
	last := -1
	for _, word := range slices.Concat(t.offer.Tools, toolWords(), argumentWords()) {
		last = max(last, bytes.LastIndex(src, []byte(word)))
	}
	return last
}

// marker returns the offset of a sign of another call syntax (a wrapper of some model, a function call of an offered
// tool), or -1.
func (t *text) marker(body []byte, from int) int {
	marks := []string{"<tool_call", "[TOOL_CALLS]", "<|channel|>", "<|python_tag|>", "<function", "functools["}
	for _, name := range t.offer.Tools {
		marks = append(marks, name+"(")
	}
	at := -1
	for _, mark := range marks {
		if i := bytes.Index(body[from:], []byte(mark)); i >= 0 && (at < 0 || from+i < at) {
			at = from + i
		}
	}
	return at
}
