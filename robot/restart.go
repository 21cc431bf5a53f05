package robot

import (
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/robot/audit"
	"interlock/robot/mission"
)

// firstEpoch is above every epoch that a process before this one gave out: those on record, and those whose record may have
// been lost, which were given out earlier by the clock. A robot without a record has no process before it.
func firstEpoch(cfg Config) (after uint64) {
	if cfg.Past != nil {
		after = cfg.Past.LeaseEpoch
	}
	if cfg.Journal != nil {
		after = max(after, uint64(max(0, time.Now().UnixMilli())))
	}
	return after
}

// takeUp takes up the record where the process before left it: its missions are known, those that had not ended are
// interrupted, and none is ever gone on with.
func (r *Robot) takeUp(version string) {
	past := r.cfg.Past
	if past == nil {
		past = &audit.History{}
	}
	m := r.manifest.Load()
	r.note(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Opened{Opened: &contractv1.Opened{
		Robot: m.GetRobot(), ContractHash: m.GetContractHash(), ManifestHash: m.GetManifestHash(), Incarnation: past.Incarnation + 1, Version: version,
	}}})
	r.record.opened = true
	r.noteLatch()
	for _, p := range past.Missions {
		r.remember(p)
	}
	r.leases.taker, r.leases.taken = past.Taker, past.TakenEpoch
	r.tasks.opened = max(r.tasks.opened, past.TasksOpened)
	r.cfg.Past = nil // it is this robot's own memory now
}

// remember takes one mission over. Of those that ended long ago only what makes a repeated start harmless is left.
func (r *Robot) remember(p *audit.Mission) {
	var key fingerprint
	copy(key[:], p.Fingerprint)
	if p.Ended && (p.Intent == nil || !gapless(p.Events)) {
		r.missions.past[p.ID] = key
		return
	}
	old := &motion{
		id: p.ID, key: key, principal: p.Intent.GetPrincipal(), log: newEventLog(), recalled: true, state: mission.State{Status: mission.Interrupted},
		ack: &contractv1.MissionAck{MissionId: p.ID, Accepted: true, NormalizedArgsJson: p.Intent.GetArgsJson()},
	}
	for _, e := range p.Events {
		old.log.append(e)
	}
	if !gapless(p.Events) { // some were lost with the disk; what is left cannot be told without a gap
		r.missions.past[p.ID] = key
	} else {
		r.missions.add(old)
		defer r.missions.end(old)
	}
	if !p.Ended {
		end := &contractv1.Event{
			MissionId: p.ID, Seq: p.LastSeq + 1, Kind: contractv1.EventKind_INTERRUPTED, Reason: string(mission.ReasonRestart), AtMs: r.now().Millis(), Final: true,
		}
		r.append(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Event{Event: end}}, func(error) { old.log.append(end) })
	}
}

// gapless reports whether the events are numbered from 1 on.
func gapless(events []*contractv1.Event) bool {
	for i, e := range events {
		if e.GetSeq() != uint64(i+1) {
			return false
		}
	}
	return true
}
