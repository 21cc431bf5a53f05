package audit

import (
	"fmt"

	"interlock/reject"
)

// Rule names what a record breaks.
type Rule string

// The closed list of rules. The package's documentation says what each asks.
const (
	RuleForm        Rule = "form"        // the line is not written as lines are
	RuleHash        Rule = "hash"        // the line's hash is not that of its bytes
	RuleSeq         Rule = "seq"         // the line's number does not follow the one before
	RuleChain       Rule = "chain"       // the line does not follow the line before it
	RuleRecord      Rule = "record"      // the line holds no AuditRecord that this program knows
	RuleTorn        Rule = "torn"        // the segment ends in the middle of a line
	RuleCheckpoint  Rule = "checkpoint"  // the record does not hold a line that it once held
	RuleIntent      Rule = "intent"      // a motion without an intent before it, or an intent too many
	RuleVoid        Rule = "void"        // an intent is taken back that is none, or that moved
	RuleEventSeq    Rule = "event_seq"   // the events of a mission leave a gap
	RuleEnd         Rule = "end"         // an event after the end, or an end that is not marked as one
	RuleResumed     Rule = "resumed"     // a mission goes on after the robot's process began anew
	RuleEvidence    Rule = "evidence"    // a success without evidence
	RuleApproval    Rule = "approval"    // an approval used twice
	RuleIncarnation Rule = "incarnation" // a process does not count higher than the one before
	RuleLost        Rule = "lost"        // a gap that names another place than its own
)

// Fault is the first thing in a record that does not verify.
type Fault struct {
	Rule Rule   `json:"rule"`
	File string `json:"file"` // the segment; empty: the record as a whole
	Line int    `json:"line"` // in the segment, from 1; 0: none in particular
	Seq  uint64 `json:"seq"`  // the number that the record has or should have there; 0: none
	Why  string `json:"why"`  // for people; never compared
}

// Error makes a Fault usable where a function returns an error.
func (f *Fault) Error() string { return f.Place() + ": " + string(f.Rule) + ": " + f.Why }

// Place says for people where it is: in which line of which file, or between lines, or that it is about the record as a
// whole.
func (f *Fault) Place() string {
	switch {
	case f.File == "":
		return "the record as a whole"
	case f.Line == 0:
		return fmt.Sprintf("the end of %s, where record %d would stand", f.File, f.Seq)
	}
	return fmt.Sprintf("%s, line %d, record %d", f.File, f.Line, f.Seq)
}

func broken(rule Rule, format string, a ...any) *Fault {
	return &Fault{Rule: rule, Why: fmt.Sprintf(format, a...)}
}

// Broken is why a record is not opened: something in it does not verify.
type Broken struct {
	Dir   string
	Fault *Fault
}

// Error says what is wrong and what a person can do.
func (b *Broken) Error() string {
	return fmt.Sprintf("the record in %s is broken: %s. A robot does not run on a broken record. Keep the folder as it is, look at it with "+
		"'interlock audit verify %s', and have a person decide: moved away (mv %s %s.broken) it lets a new record begin, which knows none of the "+
		"missions and approvals in the old one", b.Dir, b.Fault, b.Dir, b.Dir, b.Dir)
}

// Unwrap returns the fault.
func (b *Broken) Unwrap() error { return b.Fault }

// Unavailable is why a record could not be made durable. It is a reject.Rejection too, for errors.As, of the code
// AUDIT_UNAVAILABLE, OVERLOADED (no room in the queue), TOO_LARGE or MALFORMED (no record that can be written).
type Unavailable struct {
	Rejection reject.Rejection
	Cause     error // what the disk said; nil: it was not asked
}

// Error says why.
func (u *Unavailable) Error() string { return u.Rejection.Error() }

// Unwrap returns the rejection, and the cause where there is one.
func (u *Unavailable) Unwrap() []error {
	if u.Cause == nil {
		return []error{u.Rejection}
	}
	return []error{u.Rejection, u.Cause}
}

func refusal(code reject.Code, says string, cause error) *Unavailable {
	return &Unavailable{reject.New(code, says).In("audit"), cause}
}
