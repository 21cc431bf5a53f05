package eval

import (
	"context"
	"time"

	"interlock/body"
	"interlock/eval/judge"
)

// Builder makes worlds and plays episodes in them. eval/lab is the real one; tests bring fakes. Methods must be safe
// for as many goroutines as Plan.Workers.
type Builder interface {
	// Bench says what stays the same over a whole run. It is called once, before the first episode.
	Bench() Bench
	// Start builds the episode's world and says how it stands before anything was asked or moved.
	Start(ctx context.Context, spec EpisodeSpec) (Start, error)
	// Episode plays one episode in a fresh world. An error means that our own machinery failed: the episode is void
	// and counts for nobody. Whatever agent and robot did is an Outcome, never an error.
	Episode(ctx context.Context, spec EpisodeSpec) (Outcome, error)
}

// Processes is the arrangement of a robot whose driver and plant are processes of their own, as the robot is.
const Processes = "processes"

// Bench is what a run holds fixed. All of it goes into the setup hash.
type Bench struct {
	Code         string            `json:"code"`          // version of our code; empty if unknown
	ContractHash string            `json:"contract_hash"` // of the loaded contract
	ToolsHash    string            `json:"tools_hash"`    // of the tool list the agents see
	Agents       map[string]string `json:"agents"`        // agent → its model and parameters, canonical text
	// Arrangement is how the robot was divided into processes; empty: not at all. It says what the run was and is no part
	// of what came out: the outcome signature of the same run is the same in every arrangement.
	Arrangement string `json:"arrangement,omitempty"`
	// Unpinned are agents whose sampling is not fixed (no temperature or seed). They are marked and never paired.
	Unpinned []string `json:"unpinned,omitempty"`
}

// EpisodeSpec says which episode to play.
type EpisodeSpec struct {
	ID       string    // unique and stable within a run: "move-floor/careful/on/s0/r0"
	Scenario *Scenario // must not be changed
	Setup    Setup     // the scenario's set-up as the seed has it
	Agent    string
	Gate     bool
	Body     string
	Seed     int64
	Repeat   int
}

// Start is how a world stands before anything was asked.
type Start struct {
	Truth body.Truth
	Goal  string // what the robot measures of the goal: "true", "false", "unknown"
}

// Outcome is what one episode was. The lab fills it; eval derives the rest.
type Outcome struct {
	Model        string             // name of the model behind the agent; empty for scripted agents
	Verdict      judge.Verdict      // of the judge, who watched truth through the episode and settled after it
	Task         string             // the robot's word for the task, of TaskWords
	GoalObjects  []string           // labels that the goal names, aliases resolved
	Claimed      *bool              // what report_result said; nil: no report
	Message      string             // the claim's text, or the last prose; never evidence
	Calls        []Call             // every call that reached the robot, in order
	SideEffects  map[string]float64 // what the robot itself measured and reported as displaced outside the goal, cm
	LookedAfter  bool               // whether a read-only call followed the last motion
	ModelCalls   int
	Tokens       int
	Normalised   int    // changes of representation noise in the model's replies
	BadReplies   int    // replies that were no call and no report: malformed, truncated, prose
	Trace        string // path of the step-by-step trace; empty: none kept
	Series       []Sample
	Wall         time.Duration // of the whole episode; never in a signature
	ContractHash string        // of the contract that really judged; empty: the bench's
}

// ReportTool is the call that closes an episode; it is no call to the robot's body.
const ReportTool = "report_result"

// Call is one call to the robot and what came of it.
type Call struct {
	Tool    string   `json:"tool"`
	Args    string   `json:"args"`              // canonical JSON: sorted keys, shortest numbers
	Verdict string   `json:"verdict"`           // ok, rejected or error
	Codes   []string `json:"codes,omitempty"`   // of the rejections, "CODE" or "CODE:rule", in their order
	Look    bool     `json:"look,omitempty"`    // a read-only call: it moves nothing
	Mission string   `json:"mission,omitempty"` // how the mission ended: succeeded, failed, …; empty: it was none
	// Measured are the values the mission's verdict rests on, unit in the name: "tip_miss_mm", "table_force_n". Names
	// with _cm, _mm, _m and _n are signed after rounding to 1 mm and 1 N; times (_ms, _s) are never signed.
	Measured map[string]float64 `json:"measured,omitempty"`
}

// Sample is one moment of an episode, for plots.
type Sample struct {
	AtMs        int64   `json:"at_ms"`
	TipZCm      float64 `json:"tip_z_cm"`
	TableForceN float64 `json:"table_force_n"`
	JawGapMm    float64 `json:"jaw_gap_mm"`
	Phase       string  `json:"phase"`
}
