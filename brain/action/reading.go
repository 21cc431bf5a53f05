package action

import (
	"fmt"
	"strings"

	"interlock/reject"
)

// Kind is what a model's output was read as.
type Kind uint8

// The closed list of readings.
const (
	Calls        Kind = iota + 1 // one call or more, each strictly read and of an offered tool
	NoCall                       // prose, or nothing: there is no attempt at a call
	Truncated                    // the output was cut, by its stop reason or by its text
	Malformed                    // an attempt at a call that is not the envelope in strict JSON
	DuplicateKey                 // an object holds one key twice
	Ambiguous                    // several candidates, or text beside one that may quote it
	UnknownTool                  // a well-formed call of a tool that is not offered
	TooLarge                     // past the limits on size, depth or members
)

// String returns the word used in traces.
func (k Kind) String() string {
	switch k {
	case Calls:
		return "calls"
	case NoCall:
		return "no_call"
	case Truncated:
		return "truncated"
	case Malformed:
		return "malformed"
	case DuplicateKey:
		return "duplicate_key"
	case Ambiguous:
		return "ambiguous"
	case UnknownTool:
		return "unknown_tool"
	case TooLarge:
		return "too_large"
	}
	return "unread"
}

// Reading is what one output says. Calls is filled for the kind Calls only, Refusal for every kind but Calls and NoCall.
type Reading struct {
	Kind       Kind
	Calls      []Call
	Changes    []Change          // every normalisation that was applied
	Refusal    *reject.Rejection // the code is MALFORMED for Truncated and Ambiguous, told apart by the rule
	Offset     int               // where reading stopped, in bytes of the output
	Open       string            // Truncated: what was left open, outermost first, such as `{{"`
	Candidates int               // Ambiguous: how many texts could be the call
	Identical  bool              // Ambiguous: the candidates are all the same text
}

// Call is one call a model wrote. Args is the argument object as written, save for the commas N4 names, which are blanks;
// who runs the call decodes it.
type Call struct {
	Tool       string
	Args       []byte
	Start, End int // bytes of the envelope in the output; of the arguments text for a call from the wire format
}

// Change is one recorded normalisation: the bytes of the output from Start to End were set aside.
type Change struct {
	Code       string `json:"code"` // N1, N2, N4, N5, N6 or T1
	Start, End int
}

// refused builds a reading of the kind from a rejection.
func refused(kind Kind, r reject.Rejection, offset int) Reading {
	return Reading{Kind: kind, Refusal: &r, Offset: offset}
}

// malformed builds a Malformed reading.
func malformed(rule, field, says string, offset int) Reading {
	return refused(Malformed, reject.New(reject.Malformed, says).By(rule).In(field), offset)
}

// truncated builds a Truncated reading.
func truncated(says, open string, offset int) Reading {
	r := refused(Truncated, reject.New(reject.Malformed, says).By("truncated"), offset)
	r.Open = open
	return r
}

// ambiguous builds an Ambiguous reading of the candidate texts.
func ambiguous(candidates [][]byte, offset int) Reading {
	n := len(candidates)
	rule, says := "several_calls", fmt.Sprintf("%d texts could be the call; write exactly one", n)
	if n == 1 {
		rule, says = "text_beside_call", "there is text beside the call, which may only quote it; write the call alone"
	}
	r := refused(Ambiguous, reject.New(reject.Malformed, says).By(rule), offset)
	r.Candidates, r.Identical = n, n > 1
	for _, c := range candidates {
		r.Identical = r.Identical && string(c) == string(candidates[0])
	}
	return r
}

// unknownTool builds the reading of a call of a tool that is not offered. Names are only listed, never chosen.
func unknownTool(name string, offered []string, offset int) Reading {
	says := fmt.Sprintf("there is no tool %q; the tools are %s", name, strings.Join(offered, ", "))
	return refused(UnknownTool, reject.New(reject.UnknownCapability, says).In("tool"), offset)
}
