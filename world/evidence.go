package world

// Evidence is one reading on which a verdict rests.
type Evidence struct {
	Condition   string `json:"condition"`             // id of the contract's condition, with the versions of the predicates it uses
	Fact        string `json:"fact"`                  // name of the fact
	Witness     string `json:"witness"`               // the sensor
	SourceAtMS  int64  `json:"source_at_ms"`          // time of the source on the driver's clock
	AgeMS       int64  `json:"age_ms"`                // age when judged
	Observed    string `json:"observed"`              // the measured value, as JSON
	Unit        string `json:"unit,omitempty"`        // its unit
	Threshold   string `json:"threshold,omitempty"`   // the bound it was held against, as JSON
	StartedAtMS int64  `json:"mission_started_at_ms"` // the motion's start; evidence is always later
}

// FailureKind says whether trying the same again can help.
type FailureKind string

// The closed list of failure kinds.
const (
	Transient   FailureKind = "transient"
	Permanent   FailureKind = "permanent"
	KindUnknown FailureKind = "unknown"
)

// FailureRecord is what a planner gets when a postcondition does not hold: the violated condition, what was expected,
// what was measured, by whom and when, and what is left to try.
type FailureRecord struct {
	Tool                  string            `json:"tool"`
	Args                  string            `json:"args"` // canonical JSON
	ViolatedPostcondition string            `json:"violated_postcondition"`
	Expected              string            `json:"expected"`
	ObservedValue         string            `json:"observed_value"`
	Unit                  string            `json:"unit,omitempty"`
	Tolerance             string            `json:"tolerance,omitempty"`
	Source                string            `json:"source"` // the witness
	AgeMS                 int64             `json:"age_ms"`
	Phase                 string            `json:"phase"`
	ElapsedMS             int64             `json:"elapsed_ms"`
	Attempt               int               `json:"attempt"`
	Kind                  FailureKind       `json:"kind"`
	DriverError           string            `json:"driver_error,omitempty"`
	WorldAfter            map[string]string `json:"world_after,omitempty"` // fact name to value, as JSON
	BudgetLeft            int               `json:"budget_left"`
	ReplanReason          string            `json:"replan_reason,omitempty"`
	NextPlan              string            `json:"next_plan,omitempty"`
	TimestampMS           int64             `json:"timestamp_ms"`
}
