package robot

import (
	"slices"

	contractv1 "interlock/contract/v1"
	"interlock/robot/mission"
	"interlock/world"
)

// recordEvent appends one event to the mission's log, once it is durable. One that cannot be made so is told all the same, and
// written down under its number as soon as that is possible: it happened, and watchRecord ends what moves.
func (r *Robot) recordEvent(m *motion, f mission.Record) {
	e := &contractv1.Event{
		MissionId: m.id, Seq: f.Seq, Kind: contractv1.EventKind(contractv1.EventKind_value[string(f.Kind)]),
		Phase: f.Phase, Reason: reason(f), AtMs: f.At.Millis(), Final: f.Final,
	}
	if f.Final {
		e.Evidence = evidencePB(m.evidence())
		e.Failure = failurePB(r.failure(m, f))
		e.FactsAfter = factsPB(r.cfg.Contract, r.snapshot(), "")
	}
	r.append(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Event{Event: e}}, func(error) { m.log.append(e) })
}

// failure is the verifier's record; a mission that ended otherwise than by verification gets one of its own.
func (r *Robot) failure(m *motion, f mission.Record) *world.FailureRecord {
	if m.result.Failure != nil || f.Kind == mission.RecordVerified || f.Kind == mission.RecordCancelled {
		return m.result.Failure
	}
	record := &world.FailureRecord{
		Tool: m.cleared.Capability().Name, Args: string(m.cleared.ArgsJSON()), Phase: f.Phase, Kind: world.KindUnknown,
		ElapsedMS: f.At.Sub(m.state.AcceptedAt).Milliseconds(), Attempt: 1, DriverError: m.trouble,
		ReplanReason: reason(f), TimestampMS: f.At.Millis(), WorldAfter: map[string]string{},
	}
	for _, fact := range r.snapshot().Facts() {
		record.WorldAfter[fact.Name], _ = valueJSON(fact, "")
	}
	if f.Kind == mission.RecordUnverified {
		record.ReplanReason = "not measured: " + list(slices.Concat(m.result.Unclear, m.result.Missing))
	}
	if no := m.refusal; no != nil && f.Reason == mission.ReasonFault && f.Detail == string(no.Code) {
		record.ReplanReason += ": " + no.Says
		record.Source, record.ObservedValue, record.Unit, record.Tolerance = "driver", no.Got, no.Unit, no.Limit
	}
	if v := m.broken; v != nil {
		record.ViolatedPostcondition, record.ReplanReason = v.Rule, v.Says
		record.Expected, record.ObservedValue, record.Unit, record.Tolerance = v.Cause.Text, v.Cause.Got, v.Cause.Unit, v.Cause.Limit
	}
	if m.request != nil {
		record.BudgetLeft = m.request.task.BudgetLeft()
		record.Attempt, _ = m.request.attempts(record.Tool, record.Args)
	}
	return record
}

func reason(f mission.Record) string {
	if f.Detail == "" || f.Detail == string(f.Reason) {
		return string(f.Reason)
	}
	return string(f.Reason) + ": " + f.Detail
}

// evidence is what the last word rests on: the readings behind the verdict, or behind the violation that ended it.
func (m *motion) evidence() []world.Evidence {
	if m.broken != nil && len(m.result.Evidence) == 0 {
		return m.broken.Evidence
	}
	return m.result.Evidence
}
