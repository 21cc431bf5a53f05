package main

import (
	"strconv"
	"strings"

	contractv1 "interlock/contract/v1"
)

// What happens in a conversation, as the closed list of words in the field event.
const (
	evHello   = "hello"   // the conversation begins
	evHeard   = "heard"   // a line of the person's, as it was taken
	evIgnored = "ignored" // a line that was not taken, and why
	evHelp    = "help"
	evGoal    = "goal"    // a goal as it will be fixed for the next request, or that there is none
	evTask    = "task"    // a request was opened at the robot
	evCall    = "call"    // a verb was asked for
	evRefused = "refused" // the robot, or the agent before it, refused a call
	evWaits   = "waits"   // a call waits for a person to allow it
	evSeen    = "seen"    // a look was answered
	evMission = "mission" // an event of a mission
	evProse   = "prose"   // the brain wrote text that is no call
	evReport  = "report"  // the brain's claim
	evVerdict = "verdict" // how the robot decided the task
	evStopped = "stopped" // the stop is latched
	evReset   = "reset"
	evCancel  = "cancel"
	evNote    = "note"
	evWarning = "warning"
	evError   = "error"
	evBye     = "bye"
)

// chatEvent is one line of --json. Fields that do not apply are left out.
type chatEvent struct {
	Event    string          `json:"event"`
	Robot    string          `json:"robot,omitempty"`
	Mode     string          `json:"mode,omitempty"`
	Where    string          `json:"where,omitempty"` // how the robot is reached; left out: it is in this process
	Model    string          `json:"model,omitempty"`
	Words    string          `json:"words,omitempty"`
	Task     string          `json:"task,omitempty"`
	TaskHash string          `json:"task_hash,omitempty"`
	State    string          `json:"state,omitempty"` // of a task: done, not_done, unverified, …; of a mission: its event
	Goal     string          `json:"goal,omitempty"`
	Objects  []string        `json:"objects,omitempty"` // that a goal allows to be changed
	Mission  string          `json:"mission,omitempty"`
	Seq      uint64          `json:"seq,omitempty"`
	Phase    string          `json:"phase,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	AtMS     int64           `json:"at_ms,omitempty"` // the driver's clock
	Final    bool            `json:"final,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Args     string          `json:"args,omitempty"` // JSON as the brain wrote it
	Success  *bool           `json:"success,omitempty"`
	Number   uint64          `json:"number,omitempty"` // of a stop
	Code     string          `json:"code,omitempty"`
	Refusals []chatRefusal   `json:"refusals,omitempty"`
	Measured []chatMeasured  `json:"measured,omitempty"`
	Evidence []chatEvidence  `json:"evidence,omitempty"`
	Moved    []chatMoved     `json:"side_effects,omitempty"`
	Failure  *chatFailure    `json:"failure,omitempty"`
	Says     string          `json:"says,omitempty"`
	Commands []chatCommandUI `json:"commands,omitempty"`
}

type chatRefusal struct {
	Code  string `json:"code"`
	Rule  string `json:"rule,omitempty"`
	Field string `json:"field,omitempty"`
	Got   string `json:"got,omitempty"`
	Limit string `json:"limit,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Says  string `json:"says"`
}

type chatMeasured struct {
	Fact    string `json:"fact"`
	Value   string `json:"value"` // JSON
	Unit    string `json:"unit,omitempty"`
	Witness string `json:"witness"`
	AgeMS   int64  `json:"age_ms"`
	Fresh   bool   `json:"fresh"`
}

type chatEvidence struct {
	Condition string `json:"condition"`
	Fact      string `json:"fact"`
	Observed  string `json:"observed"`
	Unit      string `json:"unit,omitempty"`
	Threshold string `json:"threshold,omitempty"`
	Witness   string `json:"witness"`
	AgeMS     int64  `json:"age_ms"`
}

type chatMoved struct {
	Object  string  `json:"object"`
	CM      float64 `json:"displacement_cm"`
	Witness string  `json:"witness"`
}

type chatFailure struct {
	Broken   string `json:"violated_postcondition,omitempty"`
	Expected string `json:"expected,omitempty"`
	Observed string `json:"observed_value,omitempty"`
	Unit     string `json:"unit,omitempty"`
	Reason   string `json:"replan_reason,omitempty"`
}

type chatCommandUI struct {
	Form string `json:"form"`
	Says string `json:"says"`
}

func refusalsOf(list []*contractv1.Rejection) (out []chatRefusal) {
	for _, r := range list {
		out = append(out, chatRefusal{r.GetCode(), r.GetRule(), r.GetField(), r.GetGot(), r.GetLimit(), r.GetUnit(), r.GetSays()})
	}
	return out
}

func measuredOf(list []*contractv1.Fact) (out []chatMeasured) {
	for _, f := range list {
		out = append(out, chatMeasured{f.GetName(), f.GetValueJson(), f.GetUnit(), f.GetWitness(), f.GetAgeMs(), f.GetFresh()})
	}
	return out
}

func evidenceOf(list []*contractv1.Evidence) (out []chatEvidence) {
	for _, e := range list {
		out = append(out, chatEvidence{e.GetCondition(), e.GetFact(), e.GetObserved(), e.GetUnit(), e.GetThreshold(), e.GetWitness(), e.GetAgeMs()})
	}
	return out
}

// missionEvent is a mission's event as a line.
func missionEvent(e *contractv1.Event) chatEvent {
	out := chatEvent{
		Event: evMission, Mission: e.GetMissionId(), Seq: e.GetSeq(), State: strings.ToLower(e.GetKind().String()), Phase: e.GetPhase(),
		Reason: e.GetReason(), AtMS: e.GetAtMs(), Final: e.GetFinal(), Measured: measuredOf(e.GetFactsAfter()), Evidence: evidenceOf(e.GetEvidence()),
	}
	if f := e.GetFailure(); f != nil {
		out.Failure = &chatFailure{f.GetViolatedPostcondition(), f.GetExpected(), f.GetObservedValue(), f.GetUnit(), f.GetReplanReason()}
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
