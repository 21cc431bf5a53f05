package tool

import (
	"encoding/json"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// Verdict is how a call was answered.
type Verdict string

// The closed list of verdicts.
const (
	OK       Verdict = "ok"       // the robot ran and answered
	Rejected Verdict = "rejected" // refused by a condition, state or licence
	Error    Verdict = "error"    // the call is wrong, or our line failed
)

// Result is the answer to one call. JSON is what a model gets; the other fields are the same as data.
type Result struct {
	Verdict    Verdict
	JSON       []byte
	Mission    string // how the mission ended: succeeded, failed, unverified, cancelled, aborted, interrupted; empty: none ran
	MissionID  string
	Events     []string // the mission's events in order: "ACCEPTED", "PHASE reach" …
	Rejections []*contractv1.Rejection
	Facts      []*contractv1.Fact // what was measured: at the mission's end, or by the look
	Failure    *contractv1.FailureRecord
	Claim      *contractv1.Claim // of report_result
}

// answer is the JSON form of a result, in the order a model reads best.
type answer struct {
	Verdict    Verdict             `json:"verdict"`
	Mission    string              `json:"mission,omitempty"`
	Reason     string              `json:"reason,omitempty"`
	Says       string              `json:"says,omitempty"`
	Rejections []rejection         `json:"rejections,omitempty"`
	Failure    *failure            `json:"failure,omitempty"`
	Measured   map[string]measured `json:"measured,omitempty"`
	Facts      map[string]measured `json:"facts,omitempty"`
	Events     []string            `json:"events,omitempty"`
	Answer     any                 `json:"answer,omitempty"`
	Claim      string              `json:"claim,omitempty"`
}

type rejection struct {
	Code    string `json:"code"`
	Rule    string `json:"rule,omitempty"`
	Field   string `json:"field,omitempty"`
	Got     string `json:"got,omitempty"`
	Limit   string `json:"limit,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Retry   string `json:"retry,omitempty"`
	AfterMS int64  `json:"after_ms,omitempty"`
	Says    string `json:"says,omitempty"`
}

type measured struct {
	Value   json.RawMessage `json:"value"`
	Unit    string          `json:"unit,omitempty"`
	Witness string          `json:"witness,omitempty"`
	AgeMS   int64           `json:"age_ms"`
	Sigma   float64         `json:"sigma,omitempty"`
	Fresh   bool            `json:"fresh"`
}

type failure struct {
	ViolatedPostcondition string                     `json:"violated_postcondition,omitempty"`
	Expected              string                     `json:"expected,omitempty"`
	ObservedValue         string                     `json:"observed_value,omitempty"`
	Unit                  string                     `json:"unit,omitempty"`
	Tolerance             string                     `json:"tolerance,omitempty"`
	Source                string                     `json:"source,omitempty"`
	AgeMS                 int64                      `json:"age_ms"`
	Phase                 string                     `json:"phase,omitempty"`
	ElapsedMS             int64                      `json:"elapsed_ms"`
	Attempt               int32                      `json:"attempt"`
	Kind                  string                     `json:"kind,omitempty"`
	DriverError           string                     `json:"driver_error,omitempty"`
	WorldAfter            map[string]json.RawMessage `json:"world_after,omitempty"`
	BudgetLeft            int32                      `json:"budget_left"`
	ReplanReason          string                     `json:"replan_reason,omitempty"`
	NextPlan              string                     `json:"next_plan,omitempty"`
}

// Refused builds the answer to a call that our side refuses, with every reason.
func Refused(reasons ...reject.Rejection) Result {
	refusals := make([]*contractv1.Rejection, len(reasons))
	for i, r := range reasons {
		refusals[i] = &contractv1.Rejection{
			Code: string(r.Code), Rule: r.Rule, Field: r.Field, Got: r.Got, Limit: r.Limit, Unit: r.Unit,
			Retry: string(r.Retry), AfterMs: int64(r.AfterMS), Says: r.Says,
		}
	}
	return refusedBy(refusals)
}

// refusedBy builds the answer to a refused call. A wrong call is an error, any other refusal is a rejection.
func refusedBy(refusals []*contractv1.Rejection) Result {
	out := Result{Verdict: Rejected, Rejections: refusals}
	text := answer{}
	for _, r := range refusals {
		if reject.ExitCode(reject.Code(r.GetCode())) == 2 {
			out.Verdict = Error
		}
		text.Rejections = append(text.Rejections, rejection{
			Code: r.GetCode(), Rule: r.GetRule(), Field: r.GetField(), Got: r.GetGot(), Limit: r.GetLimit(), Unit: r.GetUnit(),
			Retry: r.GetRetry(), AfterMS: r.GetAfterMs(), Says: r.GetSays(),
		})
	}
	return out.with(text)
}

// failed builds the answer for an error of ours.
func failed(says string) Result { return Result{Verdict: Error}.with(answer{Says: says}) }

// answered builds the answer of a Go function.
func answered(value any) Result { return Result{Verdict: OK}.with(answer{Answer: value}) }

// with completes the result with its JSON text.
func (r Result) with(text answer) Result {
	text.Verdict, text.Mission, text.Events = r.Verdict, r.Mission, r.Events
	b, err := json.Marshal(text)
	if err != nil { // only the answer of a Go function can be no JSON
		r.Verdict = Error
		b = []byte(`{"verdict":"error","says":"the tool's answer cannot be written as JSON"}`)
	}
	r.JSON = b
	return r
}

// measuredFacts turns facts into their JSON form; nil for none.
func measuredFacts(facts []*contractv1.Fact) map[string]measured {
	if len(facts) == 0 {
		return nil
	}
	out := make(map[string]measured, len(facts))
	for _, f := range facts {
		out[f.GetName()] = measured{
			Value: rawJSON(f.GetValueJson()), Unit: f.GetUnit(), Witness: f.GetWitness(), AgeMS: f.GetAgeMs(),
			Sigma: finite(f.GetSigma()), Fresh: f.GetFresh(),
		}
	}
	return out
}

// finite returns v, or 0 where JSON could not hold it.
func finite(v float64) float64 {
	if v-v != 0 {
		return 0
	}
	return v
}

// rawJSON returns the text as it is where it is JSON, else as a JSON string.
func rawJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // unreachable: a string always has a JSON form
	}
	return quoted
}

// failureJSON turns a failure record into its JSON form; nil for none.
func failureJSON(f *contractv1.FailureRecord) *failure {
	if f == nil {
		return nil
	}
	after := make(map[string]json.RawMessage, len(f.GetWorldAfter()))
	for name, value := range f.GetWorldAfter() {
		after[name] = rawJSON(value)
	}
	return &failure{
		ViolatedPostcondition: f.GetViolatedPostcondition(), Expected: f.GetExpected(), ObservedValue: f.GetObservedValue(),
		Unit: f.GetUnit(), Tolerance: f.GetTolerance(), Source: f.GetSource(), AgeMS: f.GetAgeMs(), Phase: f.GetPhase(),
		ElapsedMS: f.GetElapsedMs(), Attempt: f.GetAttempt(), Kind: f.GetKind(), DriverError: f.GetDriverError(),
		WorldAfter: after, BudgetLeft: f.GetBudgetLeft(), ReplanReason: f.GetReplanReason(), NextPlan: f.GetNextPlan(),
	}
}
