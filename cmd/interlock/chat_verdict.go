package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"interlock/brain/agent"
	contractv1 "interlock/contract/v1"
)

// conclude tells how a request ended: what the brain says, and how the robot decided.
func (s *session) conclude(x *exchange, r *agent.Result, err error) {
	if n := s.slow.ticks.Swap(0); n > 0 {
		worst := time.Duration(s.slow.worst.Swap(0))
		s.tell(chatEvent{Event: evWarning, Code: "slow_tick", Says: fmt.Sprintf("%d ticks came late, the worst by %d ms; this machine is busy", n, worst.Milliseconds())})
	}
	for _, text := range r.Prose {
		s.tell(chatEvent{Event: evProse, Task: x.taskID(), Says: text})
	}
	if r.Reported {
		success := r.Claim.GetSuccess()
		s.tell(chatEvent{Event: evReport, Task: x.taskID(), Success: &success, Says: r.Claim.GetMessage()})
	}
	if says := whyEnded(x, r, err); says != "" {
		s.tell(chatEvent{Event: evError, Task: x.taskID(), Says: says})
	}
	switch {
	case r.Task == nil:
		if x.isEnding() {
			s.note("\"" + x.words + "\" was not begun")
		}
		return
	case r.Task.GetTaskId() == "": // refused, and told
		return
	}
	s.tell(chatEvent{
		Event: evVerdict, Task: r.Task.GetTaskId(), State: stateOf(r.Task), Goal: r.Task.GetGoal(), Evidence: evidenceOf(r.Task.GetEvidence()),
		Moved: movedOf(r.Task), Measured: x.last.Measured, Says: s.meaning(x, r.Task),
	})
}

// whyEnded says what kept the brain from an end of its own; empty: nothing, or the person did.
func whyEnded(x *exchange, r *agent.Result, err error) string {
	switch {
	case x.isEnding() || errors.Is(err, errSuperseded):
		return ""
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n") // what came after it came of it
		return "the brain could not go on: " + first
	}
	switch r.Ended {
	case agent.Unreadable:
		return "the brain's texts could not be read; it was not asked again"
	case agent.OutOfCalls:
		return fmt.Sprintf("the brain came to no end in %d replies; it was not asked again", r.ModelCalls)
	case agent.Silence:
		return "the brain wrote nothing"
	case agent.Lost:
		return "the robot could no longer be followed"
	case agent.Reported, agent.Prose, agent.Declined, agent.TaskRefused, agent.Superseded:
	}
	return ""
}

func stateOf(t *contractv1.Task) string {
	return strings.ToLower(strings.TrimPrefix(t.GetState().String(), "TASK_"))
}

func movedOf(t *contractv1.Task) (out []chatMoved) {
	for _, m := range t.GetSideEffects() {
		out = append(out, chatMoved{m.GetObject(), m.GetDisplacementCm(), m.GetWitness()})
	}
	return out
}

// meaning says what a verdict means. Nothing is called done that was not measured against a goal.
func (s *session) meaning(x *exchange, t *contractv1.Task) string {
	measured := readings(x.last)
	switch t.GetState() {
	case contractv1.TaskState_DONE:
		return "the goal was measured to hold"
	case contractv1.TaskState_NOT_DONE:
		return "the goal was measured not to hold" + measured
	case contractv1.TaskState_STOPPED:
		if n := s.robot.guard.Latch().Number; n > 0 {
			return fmt.Sprintf("the robot was stopped; reset %d permits motion again", n)
		}
		return "the robot was stopped, and its driver does not answer now; `interlock robots` tells the number for the reset once it does"
	case contractv1.TaskState_SUPERSEDED:
		return "newer words took its place"
	case contractv1.TaskState_OVER_BUDGET:
		return "its missions are used up" + measured
	case contractv1.TaskState_TASK_UNVERIFIED:
		switch {
		case t.GetGoal() != "":
			return "the goal could not be measured" + measured
		case x.last.State == "cancelled":
			return "cancelled" + measured
		case !x.moved:
			return "nothing was moved, so there is nothing to certify"
		}
		return strings.TrimPrefix(measured, ". ") + ". " + uncertified
	case contractv1.TaskState_OPEN:
		return "the robot did not say how it ended"
	case contractv1.TaskState_NEEDS_CONFIRMATION, contractv1.TaskState_ESCALATED, contractv1.TaskState_TASK_STATE_UNSPECIFIED:
	}
	return ""
}

// readings is what the last mission came to and what that rests on, as a sentence.
func readings(e chatEvent) string {
	if e.Event == "" {
		return ""
	}
	var parts []string
	for _, v := range e.Evidence {
		parts = append(parts, brief(v.Fact, v.Observed, v.Unit))
	}
	for _, m := range e.Measured {
		if m.Fresh && len(e.Evidence) == 0 && !strings.HasPrefix(m.Value, "[{") { // where every object lies is in the line before
			parts = append(parts, brief(m.Fact, m.Value, m.Unit))
		}
	}
	says := ". The last motion ended " + e.State
	if e.State == "verified" {
		says = ". The last motion was verified"
	}
	if len(parts) == 0 {
		return says + "; nothing could be measured"
	}
	return says + "; measured: " + strings.Join(parts, ", ")
}
