package main

import (
	"fmt"
	"strings"

	contractv1 "interlock/contract/v1"
)

// auditKinds are the kinds of records, as --kind takes them and the record's JSON names them.
func auditKinds() []string {
	return []string{"opened", "intent", "event", "task", "lease", "approval", "latch", "refused", "void", "lost", "closed"}
}

// auditKind is the kind of a record; empty: one that this program does not know.
func auditKind(r *contractv1.AuditRecord) string {
	m := r.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("what")); f != nil {
		return string(f.Name())
	}
	return ""
}

// auditMission is the mission that a record names; empty: none.
func auditMission(r *contractv1.AuditRecord) string {
	switch what := r.GetWhat().(type) {
	case *contractv1.AuditRecord_Intent:
		return what.Intent.GetMissionId()
	case *contractv1.AuditRecord_Event:
		return what.Event.GetMissionId()
	case *contractv1.AuditRecord_Void:
		return what.Void.GetMissionId()
	case *contractv1.AuditRecord_Refused:
		return what.Refused.GetMissionId()
	}
	return ""
}

// auditWords is what a record says, on one line. Everything in it came from outside.
func auditWords(r *contractv1.AuditRecord) string {
	return shown(wordsOf(r))
}

func wordsOf(r *contractv1.AuditRecord) string {
	switch what := r.GetWhat().(type) {
	case *contractv1.AuditRecord_Opened:
		o := what.Opened
		return fmt.Sprintf("process %d of %s, program %s, contract %.12s", o.GetIncarnation(), o.GetRobot(), strings.TrimPrefix(o.GetVersion(), "program "), o.GetContractHash())
	case *contractv1.AuditRecord_Intent:
		i := what.Intent
		return joined(i.GetMissionId(), i.GetCapability(), string(i.GetArgsJson()), labelled("by", i.GetPrincipal()), labelled("task", i.GetTaskId()), labelled("approval", i.GetApproval()))
	case *contractv1.AuditRecord_Event:
		return eventWords(what.Event)
	case *contractv1.AuditRecord_Task:
		return taskWords(what.Task)
	case *contractv1.AuditRecord_Lease:
		l := what.Lease
		return joined(l.GetKind().String(), l.GetLease().GetResource(), fmt.Sprintf("epoch %d", l.GetLease().GetEpoch()), labelled("holder", l.GetLease().GetHolder()), labelled("by", l.GetPrincipal()))
	case *contractv1.AuditRecord_Approval:
		a := what.Approval
		return joined(a.GetKind().String(), a.GetHash(), a.GetAct().GetCapability(), string(a.GetAct().GetArgsJson()), labelled("by", a.GetBy()))
	case *contractv1.AuditRecord_Latch:
		switch l := what.Latch; {
		case l.GetStopped():
			return joined(fmt.Sprintf("stopped, number %d", l.GetNumber()), l.GetReason())
		case l.GetNumber() == 0:
			return "not stopped, and never was"
		default:
			return fmt.Sprintf("reset, number %d", l.GetNumber())
		}
	case *contractv1.AuditRecord_Refused:
		f := what.Refused
		text := joined(f.GetMissionId(), f.GetCapability(), string(f.GetArgsJson()), labelled("by", f.GetPrincipal()), codesOf(f.GetRejections()))
		if n := f.GetNotRecorded(); n > 0 {
			text += fmt.Sprintf("  (%d refusals before it were not recorded)", n)
		}
		return text
	case *contractv1.AuditRecord_Void:
		return joined(what.Void.GetMissionId(), "came to nothing", codesOf(what.Void.GetRejections()))
	case *contractv1.AuditRecord_Lost:
		return fmt.Sprintf("records behind %d may be missing: %s", what.Lost.GetAfterSeq(), what.Lost.GetWhy())
	}
	return ""
}

func eventWords(e *contractv1.Event) string {
	text := joined(e.GetMissionId(), fmt.Sprintf("%d %s", e.GetSeq(), e.GetKind()), e.GetPhase(), labelled("because", e.GetReason()), labelled("not", e.GetFailure().GetViolatedPostcondition()))
	for _, v := range e.GetEvidence() {
		text += fmt.Sprintf("  [%s: %s = %s %s, by %s, against %s]", v.GetCondition(), v.GetFact(), v.GetObserved(), v.GetUnit(), v.GetWitness(), v.GetThreshold())
	}
	return text
}

func taskWords(c *contractv1.TaskChange) string {
	t := c.GetTask()
	text := joined(t.GetTaskId(), t.GetState().String(), labelled("words", c.GetWords()), labelled("from", c.GetProvenance()), labelled("goal", t.GetGoal()), labelled("by", c.GetPrincipal()))
	if claim := t.GetClaim(); claim.GetReported() {
		text += fmt.Sprintf("  claimed %t", claim.GetSuccess())
	}
	if r := t.GetResolution(); r != nil {
		text += fmt.Sprintf("  %s says %t: %s", r.GetBy(), r.GetAchieved(), r.GetNote())
	}
	return text
}

func codesOf(l []*contractv1.Rejection) string {
	codes := make([]string, len(l))
	for i, r := range l {
		codes[i] = strings.Join(strings.Fields(strings.Join([]string{r.GetCode(), r.GetRule(), r.GetField()}, " ")), " ")
	}
	return strings.Join(codes, ", ")
}

// joined joins what there is.
func joined(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, "  ")
}

// labelled is a part with its name, where there is something to name.
func labelled(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " " + value
}
