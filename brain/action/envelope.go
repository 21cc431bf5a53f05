package action

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/strictjson"
)

// envelope reads the object n, which is all there is, as one call.
func (t *text) envelope(n *strictjson.Node) Reading {
	var tool, args *strictjson.Node
	for _, m := range n.Members {
		slot := &tool
		switch {
		case m.Name == "tool" || slices.Contains(t.offer.Profile.Tool, m.Name):
		case m.Name == "arguments" || slices.Contains(t.offer.Profile.Arguments, m.Name):
			slot = &args
		default:
			return malformed("envelope", m.Name, fmt.Sprintf("the call holds the key %q; it holds %s and nothing else", m.Name, t.keys()), t.from+m.Value.Start)
		}
		if *slot != nil {
			return malformed("envelope", m.Name, fmt.Sprintf("the key %q says again what another key says", m.Name), t.from+m.Value.Start)
		}
		*slot = m.Value
	}
	switch {
	case tool == nil:
		return malformed("envelope", "tool", "the key \"tool\" is missing; the call holds "+t.keys(), t.from)
	case tool.Kind != strictjson.String:
		return malformed("envelope", "tool", "the tool's name is a string, not "+tool.Kind.String(), t.from+tool.Start)
	case args == nil:
		return malformed("envelope", "arguments", "the key \"arguments\" is missing; a tool without arguments takes {}", t.from)
	case args.Kind != strictjson.Object:
		return malformed("envelope", "arguments", "the arguments are an object, not "+args.Kind.String(), t.from+args.Start)
	case !t.offer.has(tool.Text):
		return unknownTool(tool.Text, t.offer.Tools, t.from+tool.Start)
	}
	call := Call{Tool: tool.Text, Args: args.Raw, Start: t.from + n.Start, End: t.from + n.End}
	return Reading{Kind: Calls, Calls: []Call{call}, Offset: t.to}
}

// keys names the envelope's keys for the model.
func (t *text) keys() string {
	tool := append([]string{"tool"}, t.offer.Profile.Tool...)
	args := append([]string{"arguments"}, t.offer.Profile.Arguments...)
	return fmt.Sprintf("%q and %q", strings.Join(tool, "|"), strings.Join(args, "|"))
}

// native reads the calls that the wire format carries, beside a content that must hold no other candidate.
func (t *text) native(calls []Native) Reading {
	if !t.offer.Native {
		return malformed("unsolicited", "", "the provider reports a tool call although no tools were offered to it", 0)
	}
	if found := t.search(t.from); found.any() {
		candidates := found.whole
		for _, c := range calls {
			candidates = append(candidates, c.Arguments)
		}
		return ambiguous(candidates, t.from)
	}
	out := Reading{Kind: Calls, Offset: len(t.raw)}
	for _, c := range calls {
		one := nativeCall(c, t.offer)
		if one.Kind != Calls {
			return one
		}
		out.Calls = append(out.Calls, one.Calls...)
		out.Changes = append(out.Changes, one.Changes...)
	}
	return out
}

// nativeCall reads one call of the wire format.
func nativeCall(c Native, offer Offer) Reading {
	t := text{raw: c.Arguments, offer: offer}
	t.trim()
	blanked, commas := blankCommas(t.body())
	n, r := strictjson.Parse(blanked, strictjson.DefaultLimits())
	switch {
	case r != nil:
		_, _, fault := strictjson.Scan(blanked, strictjson.DefaultLimits())
		if fault == nil {
			return refused(Malformed, *r, 0)
		}
		return t.faulty(fault)
	case n.Kind != strictjson.Object:
		return malformed("envelope", "arguments", "the arguments are an object, not "+n.Kind.String(), 0)
	case !offer.has(c.Name):
		return unknownTool(c.Name, offer.Tools, 0)
	}
	if c.Decoded {
		t.note("N6", 0, len(c.Arguments))
	}
	for _, at := range commas {
		t.note("N4", t.from+at, t.from+at+1)
	}
	call := Call{Tool: c.Name, Args: n.Raw, Start: t.from, End: t.to}
	return Reading{Kind: Calls, Calls: []Call{call}, Changes: t.changes}
}
