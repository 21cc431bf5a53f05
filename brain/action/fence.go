package action

import (
	"bytes"
)

const fenceMark = "```"

// fence reads a body that is one code fence around one JSON value (N2). isFence is false where that is not so and the
// body is to be read some other way.
func (t *text) fence() (r Reading, isFence bool) {
	body := t.body()
	first := bytes.Index(body, []byte(fenceMark))
	marks := bytes.Count(body, []byte(fenceMark))
	if first < 0 {
		return Reading{}, false
	}
	inner := t.from + first + len(fenceMark) + infoLength(body[first+len(fenceMark):])
	if marks == 1 {
		return t.openFence(first, inner)
	}
	last := bytes.LastIndex(body, []byte(fenceMark))
	after := body[last+len(fenceMark):]
	if marks != 2 || !t.outside(body[:first]) || !t.outside(after) {
		return Reading{}, false
	}
	in := text{raw: t.raw, offer: t.offer, from: inner, to: t.from + last, changes: t.changes}
	in.shrink()
	if in.from == in.to || (in.raw[in.from] != '{' && in.raw[in.from] != '[') {
		return Reading{}, false
	}
	in.note("N2", t.from, in.from)
	in.note("N2", in.to, t.to)
	r = in.value()
	t.changes = in.changes
	return r, true
}

// openFence reads a body whose only fence is never closed.
func (t *text) openFence(first, inner int) (Reading, bool) {
	if first > 0 || !t.search(t.from).any() {
		return Reading{}, false
	}
	return truncated("the code fence is never closed; write the whole call", fenceMark+open(t.raw[inner:t.to]), t.to), true
}

// infoLength returns the length of the fence's info word.
func infoLength(src []byte) int {
	for i, c := range src {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' {
			return i
		}
	}
	return len(src)
}

// outside reports whether text beside the fence is allowed: nothing, or by profile prose in which nothing could be a
// candidate.
func (t *text) outside(src []byte) bool {
	if len(bytes.TrimSpace(src)) == 0 {
		return true
	}
	if !t.offer.Profile.ProseAroundFence || bytes.ContainsAny(src, "{[`<") {
		return false
	}
	for _, name := range t.offer.Tools {
		if bytes.Contains(src, []byte(name)) {
			return false
		}
	}
	return true
}
