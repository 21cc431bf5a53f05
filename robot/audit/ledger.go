package audit

import (
	"maps"
	"slices"

	contractv1 "interlock/contract/v1"
)

// ledger follows the records: it holds them to what they must say and folds them into a History.
type ledger struct {
	keep    int // missions that ended whose events are kept
	history History

	missions map[string]*course
	order    []*course
	open     map[string]*course
	whole    []*Mission // that ended and are kept whole, oldest first
	voided   map[string]bool
	uses     map[string]*use
}

// course is how far a mission has come.
type course struct {
	Mission
	process  uint64 // incarnation of its intent
	intent   bool   // it has one that was not taken back
	approval string // which that intent uses; empty: none
	moved    bool
	loose    bool // a Lost came since its last event: the next one may have any higher number
	void     bool // taken back, and not begun again
}

// use is what became of one approval.
type use struct {
	told  bool   // as USED
	taken string // mission of the intent that holds it; empty: none
}

func newLedger(keep int) *ledger {
	return &ledger{
		keep: keep, missions: map[string]*course{}, open: map[string]*course{}, voided: map[string]bool{}, uses: map[string]*use{},
		history: History{Approvals: map[string]bool{}},
	}
}

// take follows one record. A fault means that it is not what may come next.
func (g *ledger) take(l *line) *Fault {
	g.history.Closed = false
	switch what := l.record.GetWhat().(type) {
	case *contractv1.AuditRecord_Opened:
		return g.opened(what.Opened)
	case *contractv1.AuditRecord_Intent:
		return g.intent(what.Intent)
	case *contractv1.AuditRecord_Void:
		return g.void(what.Void)
	case *contractv1.AuditRecord_Event:
		return g.event(what.Event)
	case *contractv1.AuditRecord_Approval:
		return g.approval(what.Approval)
	case *contractv1.AuditRecord_Lost:
		return g.lost(l.seq, what.Lost)
	case *contractv1.AuditRecord_Task:
		g.history.TasksOpened = max(g.history.TasksOpened, what.Task.GetTask().GetNumber())
	case *contractv1.AuditRecord_Lease:
		g.lease(what.Lease)
	case *contractv1.AuditRecord_Latch:
		g.history.Latch = what.Latch
	case *contractv1.AuditRecord_Closed:
		g.history.Closed = true
	case *contractv1.AuditRecord_Refused:
	}
	return nil
}

// lease follows who may move the robot. A take is of the whole robot: its lease names no resource.
func (g *ledger) lease(c *contractv1.LeaseChange) {
	l := c.GetLease()
	g.epoch(l.GetEpoch())
	switch {
	case c.GetKind() == contractv1.LeaseChange_TAKEN:
		g.history.Taker, g.history.TakenEpoch = l.GetHolder(), l.GetEpoch()
	case c.GetKind() == contractv1.LeaseChange_RELEASED && l.GetResource() == "" && l.GetEpoch() == g.history.TakenEpoch:
		g.history.Taker, g.history.TakenEpoch = "", 0
	}
}

func (g *ledger) epoch(n uint64) { g.history.LeaseEpoch = max(g.history.LeaseEpoch, n) }

func (g *ledger) opened(o *contractv1.Opened) *Fault {
	if was := g.history.Incarnation; o.GetIncarnation() <= was {
		return broken(RuleIncarnation, "a process counts as number %d after number %d", o.GetIncarnation(), was)
	}
	g.history.Incarnation, g.history.Robot = o.GetIncarnation(), o.GetRobot()
	return nil
}

// mission is the course of a mission, from its first record on.
func (g *ledger) mission(id string) *course {
	m := g.missions[id]
	if m == nil || m.void {
		m = &course{Mission: Mission{ID: id}, process: g.history.Incarnation}
		delete(g.voided, id)
		g.missions[id], g.open[id] = m, m
		g.order = append(g.order, m)
	}
	return m
}

func (g *ledger) intent(i *contractv1.Intent) *Fault {
	m := g.mission(i.GetMissionId())
	switch {
	case m.intent || m.Ended:
		return broken(RuleIntent, "mission %q has an intent already", m.ID)
	case m.LastSeq > 0 && m.process != g.history.Incarnation:
		return broken(RuleResumed, "mission %q of an earlier process gets an intent", m.ID)
	}
	m.intent, m.Fingerprint, m.process = true, i.GetFingerprint(), g.history.Incarnation
	if g.keep > 0 {
		m.Intent = i
	}
	g.epoch(i.GetLeaseEpoch())
	if hash := i.GetApproval(); hash != "" {
		u := g.used(hash)
		if u.taken != "" {
			return broken(RuleApproval, "the approval of %.100q is used by mission %q and by mission %q", hash, u.taken, m.ID)
		}
		u.taken, m.approval = m.ID, hash
	}
	return nil
}

// used is the use of an approval. A robot that begins anew takes none of them again, taken back or not.
func (g *ledger) used(hash string) *use {
	u := g.uses[hash]
	if u == nil {
		u = &use{}
		g.uses[hash] = u
	}
	g.history.Approvals[hash] = true
	return u
}

func (g *ledger) void(v *contractv1.Void) *Fault {
	m := g.missions[v.GetMissionId()]
	switch {
	case m == nil || !m.intent:
		return broken(RuleVoid, "mission %q has no intent that could be taken back", v.GetMissionId())
	case m.moved || m.Ended:
		return broken(RuleVoid, "the intent of mission %q is taken back after it moved or ended", m.ID)
	}
	if m.approval != "" {
		g.used(m.approval).taken = ""
	}
	m.void, m.intent = true, false
	g.voided[m.ID] = true
	delete(g.open, m.ID)
	return nil
}

func (g *ledger) approval(a *contractv1.ApprovalChange) *Fault {
	g.history.RequestNumber = max(g.history.RequestNumber, a.GetAct().GetNumber())
	g.epoch(a.GetAct().GetLeaseEpoch())
	if a.GetKind() != contractv1.ApprovalChange_USED {
		return nil
	}
	u := g.used(a.GetHash())
	if u.told {
		return broken(RuleApproval, "the approval of %.100q is used twice", a.GetHash())
	}
	u.told = true
	return nil
}

func (g *ledger) lost(seq uint64, l *contractv1.Lost) *Fault {
	if l.GetAfterSeq() != seq-1 {
		return broken(RuleLost, "a gap behind record %d is told at record %d", l.GetAfterSeq(), seq)
	}
	g.history.Gaps++
	for _, m := range g.open {
		m.loose = true
	}
	return nil
}

// finish returns what was learned of the record whose last line is head.
func (g *ledger) finish(head Checkpoint) *History {
	h := &g.history
	h.Records, h.Head = head.Seq, head
	for _, m := range g.order {
		if !m.void {
			h.Missions = append(h.Missions, &m.Mission)
		}
	}
	h.Voided = slices.Sorted(maps.Keys(g.voided))
	return h
}
