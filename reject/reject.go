// Package reject is a refusal as data: what was refused, by which rule, in which field, what was given and what the
// limit is, and when trying again makes sense.
//
// A Rejection means that the request is refused and the world is fine; a fault of the robot or an error of ours is
// never one. The codes are a closed list (codes.yaml, turned into codes_gen.go); callers and tests compare Code, Rule
// and Field, never the words in Says.
package reject

import "strings"

//go:generate go run ./gen

// Code is one of the closed list in codes.yaml.
type Code string

// Retry says when the same caller may try again.
type Retry string

// The closed list of retry advice.
const (
	Never         Retry = "never"          // the call will be refused again whatever changes
	AsChanged     Retry = "as_changed"     // a changed call may pass
	AfterLease    Retry = "after_lease"    // once the lease is held
	AfterOperator Retry = "after_operator" // once a person acted
	Later         Retry = "later"          // after AfterMS, or when the state changed by itself
)

// Rejection is one reason why a request was refused.
type Rejection struct {
	Code    Code   `json:"code"`
	Rule    string `json:"rule,omitempty"`  // id of the contract's rule, for CONDITION and its kin
	Field   string `json:"field,omitempty"` // path of the argument or field at fault: "z_cm", "limits.tip_speed_mps"
	Got     string `json:"got,omitempty"`   // what was given or measured, as JSON
	Limit   string `json:"limit,omitempty"` // the bound it broke, as JSON; empty where the contract hides bounds
	Unit    string `json:"unit,omitempty"`  // unit of Got and Limit: "cm", "mm"
	Retry   Retry  `json:"retry"`
	AfterMS int    `json:"after_ms,omitempty"` // with Later: milliseconds after which a retry makes sense
	Says    string `json:"says"`               // for people and models; never compared
}

// Error makes a Rejection usable as an error where a function returns one.
func (r Rejection) Error() string { return string(r.Code) + ": " + r.Says }

// New returns a rejection of the code with its default retry advice and the words.
func New(code Code, says string) Rejection {
	return Rejection{Code: code, Retry: DefaultRetry(code), Says: says}
}

// In returns r with the field set.
func (r Rejection) In(field string) Rejection { r.Field = field; return r }

// By returns r with the rule set.
func (r Rejection) By(rule string) Rejection { r.Rule = rule; return r }

// Saw returns r with what was given and the limit it broke.
func (r Rejection) Saw(got, limit, unit string) Rejection {
	r.Got, r.Limit, r.Unit = got, limit, unit
	return r
}

// List is every reason a stage found, in the order found.
type List []Rejection

// Error joins the words of all rejections.
func (l List) Error() string {
	says := make([]string, len(l))
	for i, r := range l {
		says[i] = r.Error()
	}
	return strings.Join(says, "; ")
}

// Codes returns the codes in order, for tests and tables.
func (l List) Codes() []Code {
	codes := make([]Code, len(l))
	for i, r := range l {
		codes[i] = r.Code
	}
	return codes
}

// Has reports whether one of the rejections has the code.
func (l List) Has(code Code) bool {
	for _, r := range l {
		if r.Code == code {
			return true
		}
	}
	return false
}
