package agent

import (
	"interlock/brain/llm"
	"interlock/brain/tool"
	contractv1 "interlock/contract/v1"
)

// Ended says why a run ended.
type Ended string

// The closed list of ends.
const (
	Reported    Ended = "reported"     // report_result was called
	Prose       Ended = "prose"        // the model wrote prose, which is no claim
	Silence     Ended = "silence"      // the model wrote nothing
	Declined    Ended = "declined"     // the model took the branch that calls nothing, which is no claim
	Unreadable  Ended = "unreadable"   // too many replies in a row that could not be read
	OutOfCalls  Ended = "out_of_calls" // the bound on model calls was met
	TaskRefused Ended = "task_refused" // the robot did not open the task
	Superseded  Ended = "superseded"   // a newer task took over; the last reply was dropped
	Lost        Ended = "lost"         // a mission could no longer be followed, or the line failed
)

// Result is what a run came to. Task is the robot's word, Claim the model's; neither is made from the other.
type Result struct {
	Task              *contractv1.Task // the robot's record after the claim
	TaskState         contractv1.TaskState
	Reported          bool // report_result was called
	Claim             *contractv1.Claim
	Ended             Ended
	ModelCalls        int
	Corrections       int // replies answered with feedback because they could not be read
	Tokens            llm.Tokens
	Calls             []CallRecord
	LookedAfterActing bool     // a look was answered after the last mission
	Prose             []string // what the model wrote that was no call, for people
}

// CallRecord is one call that was read and answered.
type CallRecord struct {
	Step      int // model call it came with, from 1
	Tool      string
	Effect    tool.Effect
	Args      []byte // as the model wrote them
	Verdict   tool.Verdict
	Mission   string   // how the mission ended; empty: none ran
	MissionID string   // empty: none ran
	Codes     []string // of the refusals
	// Refusals and Facts are the same answer as data: why it was refused, and what was measured at the end or by the look.
	Refusals []*contractv1.Rejection
	Facts    []*contractv1.Fact
}

// lookedAfterActing reports whether a look was answered after the last mission; false where no mission ran.
func lookedAfterActing(calls []CallRecord) bool {
	acted, looked := false, false
	for _, c := range calls {
		switch {
		case c.MissionID != "":
			acted, looked = true, false
		case c.Effect == tool.Look && c.Verdict == tool.OK:
			looked = acted
		}
	}
	return looked
}
