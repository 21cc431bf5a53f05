package robot

import (
	"errors"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/operator"
)

// asking is what persons allowed, for one judgement of one start. It remembers the act that nobody allowed yet.
type asking struct {
	robot *Robot
	start *starting
	epoch uint64
	act   *contractv1.Act
	why   []*contractv1.Rejection
}

// approvals is nil where nobody can be asked: there is no desk, or the task says that it is unattended.
func (r *Robot) approvals(s *starting, epoch uint64) *asking {
	if r.cfg.Desk == nil || s.request != nil && s.request.alone {
		return nil
	}
	return &asking{robot: r, start: s, epoch: epoch}
}

// Approved implements gate.Approvals.
func (a *asking) Approved(capability string, argsJSON []byte, because reject.List) (approval string, ok bool) {
	r := a.robot
	a.why = rejectionsPB(because)
	a.act = &contractv1.Act{
		Robot: r.cfg.Contract.Robot, ContractHash: r.manifest.Load().GetContractHash(), Capability: capability,
		ArgsJson: argsJSON, LeaseEpoch: a.epoch, Principal: a.start.principal,
	}
	if q := a.start.request; q != nil {
		a.act.TaskId = q.id
	}
	a.act.Displayed = operator.Display(a.act, a.why, "")
	approval, ok = r.cfg.Desk.Granted(r.desktime(), a.act)
	return approval, ok && !r.record.untaken[approval]
}

// ask puts the act on the desk, where it only lacks a person's word, and says so in the refusal.
func (a *asking) ask(l reject.List) reject.List {
	if a.act == nil {
		return l
	}
	pending, fresh, refused := a.robot.cfg.Desk.Ask(a.robot.desktime(), a.act, a.why)
	if refused != nil {
		return append(l, *refused)
	}
	if a.start.waits = !fresh; fresh {
		a.robot.noteApproval(contractv1.ApprovalChange_ASKED, pending, a.start.principal)
	}
	for i := range l {
		l[i].Says += "; a person may allow it: interlock approve " + pending.GetHash()[:shownHash]
	}
	return l
}

// shownHash is how many digits of an act's hash a refusal shows: enough to tell it from what else waits.
const shownHash = 12

// desktime is the robot's own time, as the desk counts it.
func (r *Robot) desktime() time.Duration { return time.Duration(r.now()) }

// useApproval spends the approval that cleared a motion, once it is on record who gave it.
func (r *Robot) useApproval(hash string) reject.List {
	if hash == "" {
		return nil
	}
	if r.record.owed.owes(hash) {
		return reject.List{unavailable(errOffRecord)}
	}
	if !r.cfg.Desk.Use(r.desktime(), hash) {
		return reject.List{reject.New(reject.NeedsApproval, "what a person allowed has expired or was used").By("approval").In("approval")}
	}
	r.noteApproval(contractv1.ApprovalChange_USED, &contractv1.Pending{Hash: hash}, "")
	return nil
}

// errOffRecord is why an approval is not used yet.
var errOffRecord = errors.New("that a person allowed it is not on record yet")

// expireDesk writes down what waited too long for a person.
func (r *Robot) expireDesk() {
	if r.cfg.Desk == nil {
		return
	}
	for _, p := range r.cfg.Desk.Expired(r.desktime()) {
		r.noteApproval(contractv1.ApprovalChange_EXPIRED, p, "")
	}
}

// withdrawn writes down what waited for a person under a lease that has ended.
func (r *Robot) withdrawn(list []*contractv1.Pending) {
	for _, p := range list {
		r.noteApproval(contractv1.ApprovalChange_WITHDRAWN, p, "")
	}
}

func (r *Robot) noteApproval(kind contractv1.ApprovalChange_Kind, p *contractv1.Pending, by string) {
	r.note(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Approval{Approval: &contractv1.ApprovalChange{
		Kind: kind, Hash: p.GetHash(), Act: p.GetAct(), By: by,
	}}})
}
