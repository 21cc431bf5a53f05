package audit

import (
	contractv1 "interlock/contract/v1"
)

// ends reports whether the event ends its mission.
func ends(k contractv1.EventKind) bool {
	switch k {
	case contractv1.EventKind_VERIFIED, contractv1.EventKind_FAILED, contractv1.EventKind_UNVERIFIED,
		contractv1.EventKind_CANCELLED, contractv1.EventKind_ABORTED, contractv1.EventKind_INTERRUPTED:
		return true
	default:
		return false
	}
}

// moves reports whether the event tells of a motion, or of what was measured after one.
func moves(k contractv1.EventKind) bool {
	switch k {
	case contractv1.EventKind_STARTED, contractv1.EventKind_PHASE, contractv1.EventKind_ARRIVED,
		contractv1.EventKind_VERIFIED, contractv1.EventKind_UNVERIFIED:
		return true
	default:
		return false
	}
}

// event follows one event of a mission.
func (g *ledger) event(e *contractv1.Event) *Fault {
	m := g.mission(e.GetMissionId())
	if f := g.place(m, e); f != nil {
		return f
	}
	kind := e.GetKind()
	if moves(kind) {
		switch {
		case !m.intent:
			return broken(RuleIntent, "mission %q is %s without an intent before it", m.ID, kind)
		case m.process != g.history.Incarnation:
			return broken(RuleResumed, "mission %q of process %d is %s in process %d", m.ID, m.process, kind, g.history.Incarnation)
		}
		m.moved = true
	}
	if kind == contractv1.EventKind_VERIFIED {
		if f := evidence(e); f != nil {
			return f
		}
	}
	m.LastSeq, m.loose, m.Ended = e.GetSeq(), false, ends(kind)
	if g.keep > 0 {
		m.Events = append(m.Events, e)
	}
	if m.Ended {
		g.ended(m)
	}
	return nil
}

// place holds an event to its place among those of its mission.
func (g *ledger) place(m *course, e *contractv1.Event) *Fault {
	seq, kind := e.GetSeq(), e.GetKind()
	switch {
	case kind == contractv1.EventKind_EVENT_KIND_UNSPECIFIED || contractv1.EventKind_name[int32(kind)] == "":
		return broken(RuleRecord, "event %d of mission %q is of no known kind", seq, m.ID)
	case m.Ended:
		return broken(RuleEnd, "event %d, %s, of mission %q comes after its end", seq, kind, m.ID)
	case ends(kind) != e.GetFinal():
		return broken(RuleEnd, "event %d, %s, of mission %q has final %t", seq, kind, m.ID, e.GetFinal())
	case m.loose && seq > m.LastSeq, seq == m.LastSeq+1:
		return nil
	}
	return broken(RuleEventSeq, "event %d of mission %q follows event %d", seq, m.ID, m.LastSeq)
}

// evidence holds a success to what was measured.
func evidence(e *contractv1.Event) *Fault {
	if len(e.GetEvidence()) == 0 {
		return broken(RuleEvidence, "mission %q is VERIFIED without evidence", e.GetMissionId())
	}
	for i, v := range e.GetEvidence() {
		switch {
		case v.GetCondition() == "" || v.GetFact() == "" || v.GetWitness() == "" || v.GetObserved() == "" || v.GetThreshold() == "":
			return broken(RuleEvidence, "evidence %d of mission %q does not say what was measured, by whom, and against what", i+1, e.GetMissionId())
		case v.GetSourceAtMs() < v.GetMissionStartedAtMs(): // both are rounded to milliseconds
			return broken(RuleEvidence, "evidence %d of mission %q was measured before the motion began", i+1, e.GetMissionId())
		case v.GetAgeMs() < 0:
			return broken(RuleEvidence, "evidence %d of mission %q is of negative age", i+1, e.GetMissionId())
		}
	}
	return nil
}

// ended keeps the mission whole, and forgets the oldest one's events.
func (g *ledger) ended(m *course) {
	delete(g.open, m.ID)
	if g.keep == 0 {
		return
	}
	g.whole = append(g.whole, &m.Mission)
	if len(g.whole) > g.keep {
		g.whole[0].Intent, g.whole[0].Events = nil, nil
		g.whole = g.whole[1:]
	}
}
