package llm

import "fmt"

// FaultKind says what kept a provider from a reply.
type FaultKind string

// The closed list of faults.
const (
	Unreachable FaultKind = "unreachable"  // no connection, or it broke before an answer began
	TimedOut    FaultKind = "timed_out"    // the endpoint's own limit passed
	Cancelled   FaultKind = "cancelled"    // the caller's context ended
	Refused     FaultKind = "refused"      // an HTTP status other than 200, or an error object in its place
	OffProtocol FaultKind = "off_protocol" // an answer that is not of the wire format
	KeyEchoed   FaultKind = "key_echoed"   // the answer holds the key; nothing of it is kept
	BadRequest  FaultKind = "bad_request"  // this request cannot be put on the wire; nothing was sent

	ToolUnparsed FaultKind = "tool_unparsed" // the server could not parse the model's tool call
	Swallowed    FaultKind = "swallowed"     // the model wrote tokens, and the server hands on none of them
	Dropped      FaultKind = "dropped"       // the answer broke off before it could be read
	Oversized    FaultKind = "oversized"     // the answer is longer than the endpoint allows
)

// Fault is the error of every provider. It never holds a key.
type Fault struct {
	Provider string
	Kind     FaultKind
	Status   int    // HTTP status, 0 where none came
	Says     string // for people, one line
	Raw      []byte // what the server quotes of the model's text; nil: nothing
	Wire     []byte // the answer's bytes as far as they came; nil for KeyEchoed
	Err      error  // cause; nil: none
}

// Error implements error.
func (f *Fault) Error() string {
	s := string(f.Kind)
	if f.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", f.Status)
	}
	if f.Says != "" {
		s += ": " + f.Says
	}
	return s
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// OfModel reports whether the model did answer and only its answer is unusable: another call may come out better. Every
// other fault is of the line, the server or the set-up.
func (f *Fault) OfModel() bool {
	switch f.Kind {
	case ToolUnparsed, Swallowed, Dropped, Oversized:
		return true
	case Unreachable, TimedOut, Cancelled, Refused, OffProtocol, KeyEchoed, BadRequest:
	}
	return false
}
