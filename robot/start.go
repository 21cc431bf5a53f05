package robot

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/internal/strictjson"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/goal"
	"interlock/transport"
	"interlock/units"
)

// Start implements transport.Server. A mission id that was used before never starts anything: with the same body the
// answer is the same, with another one, or from another caller, it is CONFLICT. A refusal is no mission, so its id may be
// used again.
func (r *Robot) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	principal := transport.PrincipalOf(ctx)
	return doLater(ctx, r, func(answer func(*contractv1.MissionAck)) {
		r.start(&starting{asked: q, key: fingerprintOf(q, principal), principal: principal, askers: []asker{{ctx.Done(), answer}}})
	})
}

// starting is a start on its way to be a mission.
type starting struct {
	asked     *contractv1.StartRequest
	key       fingerprint
	principal string
	request   *request
	waits     bool    // for a person, since an earlier time that it was made
	askers    []asker // of the same start, made more than once while its intent was written
}

// asker is who made a start and waits for its answer.
type asker struct {
	gone   <-chan struct{} // closed when nobody waits any more
	answer func(*contractv1.MissionAck)
}

// intent is a cleared start whose record is being written.
type intent struct {
	*starting
	motion    *motion
	since     units.Instant // of the robot's own time, when it began
	cancelled bool
}

// deserted reports whether everybody who asked has gone.
func (s *starting) deserted() bool {
	return !slices.ContainsFunc(s.askers, func(a asker) bool {
		select {
		case <-a.gone:
			return false
		default:
			return true
		}
	})
}

func (r *Robot) start(s *starting) {
	id := s.asked.GetMissionId()
	if in := r.intended; in != nil && in.motion.id == id && in.key == s.key {
		in.askers = append(in.askers, s.askers...)
		return
	}
	ack, l := r.missions.again(id, s.key)
	if ack != nil {
		s.answer(ack)
		return
	}
	if in := r.intended; in != nil && in.motion.id == id {
		l = append(l, conflicting(id))
	}
	if r.record.untaken[id] {
		l = append(l, reject.New(reject.Conflict, "an earlier intent of mission "+quoted(id)+" is not taken back on record; use another id").By("void").In("mission_id"))
	}
	request, unknown := r.requestOf(s.asked, s.principal)
	s.request = request
	if l = append(l, unknown...); len(l) > 0 {
		r.refuse(s, l)
		return
	}
	cleared, epoch, l := r.judgeStart(s)
	if len(l) > 0 {
		r.refuse(s, l)
		return
	}
	if cleared.Capability().ReadOnly {
		s.answer(&contractv1.MissionAck{
			MissionId: id, Accepted: true, NormalizedArgsJson: cleared.ArgsJSON(),
			Facts: factsPB(r.cfg.Contract, r.snapshot(), objectArg(cleared)),
		})
		return
	}
	m := &motion{id: id, key: s.key, request: request, cleared: cleared, principal: s.principal, epoch: epoch, intended: cleared.Approval()}
	in := &intent{starting: s, motion: m, since: r.now()}
	r.intended = in
	r.whenDurable(r.intentOf(m), func(err error) { r.begun(in, err) })
}

func conflicting(id string) reject.Rejection {
	return reject.New(reject.Conflict, "mission "+quoted(id)+" was started with another capability, task or arguments, or by another caller").In("mission_id")
}

// intentOf is what is written down before anything moves.
func (r *Robot) intentOf(m *motion) *contractv1.AuditRecord {
	return &contractv1.AuditRecord{What: &contractv1.AuditRecord_Intent{Intent: &contractv1.Intent{
		MissionId: m.id, Capability: m.cleared.Capability().Name, ArgsJson: m.cleared.ArgsJSON(), TaskId: m.taskID(),
		Principal: m.principal, LeaseEpoch: m.epoch, Fingerprint: m.key[:], Approval: m.cleared.Approval(),
		ContractHash: r.manifest.Load().GetContractHash(), StopNumber: m.cleared.StopNumber(),
	}}}
}

func (m *motion) taskID() string {
	if m.request == nil {
		return ""
	}
	return m.request.id
}

// begun begins the motion of an intent that is durable. Writing it took time, so the call is judged anew: what was
// cleared may not be any more.
func (r *Robot) begun(in *intent, failed error) {
	r.intended = nil
	m := in.motion
	l := r.overtaken(in, failed)
	if len(l) == 0 && r.record.journal != nil {
		m.cleared, m.epoch, l = r.judgeStart(in.starting)
	}
	if len(l) == 0 {
		l = r.useApproval(m.cleared.Approval())
	}
	if len(l) == 0 {
		m.ack = &contractv1.MissionAck{MissionId: m.id, Accepted: true, NormalizedArgsJson: m.cleared.ArgsJSON()}
		l = r.begin(m)
	}
	if len(l) > 0 {
		if failed == nil {
			r.void(m, l)
		}
		r.refuse(in.starting, l)
		return
	}
	in.answer(m.ack)
}

// overtaken refuses an intent that something came before: its record failed or took too long, it was cancelled, a stop
// came, whether it was reset or not, or nobody waits for it any more.
func (r *Robot) overtaken(in *intent, failed error) reject.List {
	var no reject.Rejection
	switch id := in.motion.id; {
	case failed != nil:
		no = unavailable(failed)
	case in.cancelled:
		no = reject.New(reject.Conflict, "mission "+quoted(id)+" was cancelled before it began").By("cancelled").In("mission_id")
	case r.record.journal == nil:
		return nil
	case r.look() == nil && r.senses.last.Latch.Number != in.motion.cleared.StopNumber():
		no = reject.New(reject.Stopped, "a stop came before mission "+quoted(id)+" began").By("overtaken").In("mission_id")
		no.Retry = reject.AsChanged // under another id, if it is still wanted
	case in.deserted():
		no = reject.New(reject.Conflict, "nobody waits for mission "+quoted(id)+" any more").By("deserted").In("mission_id")
	case r.now().Sub(in.since) > intentWithin:
		no = unavailable(errors.New("the intent took too long to be written"))
	default:
		return nil
	}
	return reject.List{no}
}

// void takes an intent back. Until that is on record, and for ever where it cannot be, neither its id nor what a person
// allowed for it serves another.
func (r *Robot) void(m *motion, why reject.List) {
	approval := m.intended
	r.record.untaken[m.id] = true
	if approval != "" {
		r.record.untaken[approval] = true
	}
	r.whenDurable(&contractv1.AuditRecord{What: &contractv1.AuditRecord_Void{Void: &contractv1.Void{MissionId: m.id, Rejections: rejectionsPB(why)}}}, func(failed error) {
		if failed == nil {
			delete(r.record.untaken, m.id)
			delete(r.record.untaken, approval)
		}
	})
}

// answer answers every caller of the start; all but the first made it again.
func (s *starting) answer(ack *contractv1.MissionAck) {
	for i, a := range s.askers {
		mine := proto.CloneOf(ack)
		mine.Duplicate = mine.Duplicate || i > 0 && ack.GetAccepted()
		a.answer(mine)
	}
}

// refuse answers a start that starts nothing. One that is made again while it waits for a person is one refusal.
func (r *Robot) refuse(s *starting, l reject.List) {
	l = r.timed(l)
	if s.request != nil && !s.waits {
		r.refused(s.request, l)
	}
	if !s.waits {
		r.noteRefusal(s.asked, s.principal, l)
	}
	s.answer(&contractv1.MissionAck{
		MissionId: s.asked.GetMissionId(), Reason: reasonFor(s.asked.GetCapability(), l), Rejections: rejectionsPB(l),
	})
}

// refused counts a refused call of the task. One beyond its budget ends the task, by what is then measured.
func (r *Robot) refused(q *request, l reject.List) {
	q.task = q.task.Rejected()
	if l.Has(reject.Budget) && !q.task.Closed() {
		r.measure(q, func(m goal.Measurement) {
			q.task = q.task.BudgetSpent(m)
			r.sideEffects(q)
		})
	}
}

// fingerprint identifies what a start asks for, so that the same id with another body shows.
type fingerprint [sha256.Size]byte

// fingerprintOf hashes capability, task, arguments and who asks; arguments that mean the same have the same one.
func fingerprintOf(q *contractv1.StartRequest, principal string) (key fingerprint) {
	args := q.GetArgsJson()
	if n, r := strictjson.Parse(args, strictjson.DefaultLimits()); r == nil {
		args = strictjson.Canonical(n)
	}
	h := sha256.New()
	for _, part := range []string{q.GetCapability(), q.GetTaskId(), string(args), principal} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	h.Sum(key[:0])
	return key
}

// requestOf finds the task a start serves, and refuses one that leaves something out, without a usable id, or with a task
// that nobody opened.
func (r *Robot) requestOf(q *contractv1.StartRequest, principal string) (request *request, l reject.List) {
	l = missing("mission_id", q.GetMissionId(), "capability", q.GetCapability(), "args_json", string(q.GetArgsJson()))
	if n := len(q.GetMissionId()); n > maxID {
		l = append(l, reject.New(reject.TooLarge, "the mission id is too long").In("mission_id").Saw(strconv.Itoa(n), strconv.Itoa(maxID), "bytes"))
	}
	l = append(l, printable("mission_id", q.GetMissionId())...)
	if q.GetTaskId() == "" {
		return nil, l
	}
	request, unknown := r.tasks.find(q.GetTaskId(), principal)
	return request, append(l, unknown...)
}

// judgeStart judges the call on what is measured now. It returns the epoch of the caller's lease beside what was cleared.
func (r *Robot) judgeStart(s *starting) (cleared gate.Cleared, epoch uint64, l reject.List) {
	if err := r.look(); err != nil {
		return cleared, 0, reject.List{silent(err)}
	}
	q, st := s.asked, r.standing()
	c := r.cfg.Contract.Capability(q.GetCapability())
	if c == nil || !c.ReadOnly {
		if l := r.mayMove(s.request); len(l) > 0 {
			return cleared, 0, l
		}
	}
	if c != nil {
		epoch, st.Held = r.mayHold(c.Holds, q.GetLease(), s.principal)
	}
	asking := r.approvals(s, epoch)
	if asking != nil {
		st.Approvals = asking
	}
	cleared, l = r.cfg.Gate.Judge(gate.Call{Capability: q.GetCapability(), Args: q.GetArgsJson()}, r.snapshot(), st, r.licenceFor(s.request))
	if len(l) > 0 && asking != nil {
		l = asking.ask(l)
	}
	return cleared, epoch, l
}

// mayMove refuses a motion whatever it is: the task is closed or has no missions left, the body cannot move, another
// mission moves it, or there is no room to remember one more.
func (r *Robot) mayMove(q *request) (l reject.List) {
	last := &r.senses.last
	if q != nil && (q.task.Closed() || r.active == nil) {
		if refusal := q.task.MayStart(); refusal != nil {
			l = append(l, *refusal)
		}
	}
	switch {
	case len(l) > 0 && last.Latch.Stopped: // a task that a stop closed: say both
		return append(reject.List{reject.New(reject.Stopped, "the robot is stopped; a person must reset it")}, l...)
	case last.Latch.Stopped, len(l) > 0: // the gate says the rest
		return l
	case r.stuckIntent():
		return reject.List{unavailable(errors.New("the intent of another mission is still being written"))}
	case r.missions.full():
		full := reject.New(reject.Overloaded, "this robot has no more mission ids; its record must be begun anew").In("mission_id")
		full.Retry = reject.AfterOperator
		return reject.List{full}
	}
	for _, h := range []struct {
		rule, says string
		good       bool
	}{
		{"torque_on", "the motors are without torque", last.Health.TorqueOn},
		{"bus_ok", "the driver's bus does not answer", last.Health.BusOK},
		{"motion_allowed", "the driver allows no motion", last.Health.MotionAllowed},
	} {
		if !h.good {
			refusal := reject.New(reject.NotPermitted, h.says).By(h.rule).In("driver")
			refusal.Retry = reject.AfterOperator
			l = append(l, refusal)
		}
	}
	return l
}

// stuckIntent reports whether an intent takes so long to be written that the disk must be at fault.
func (r *Robot) stuckIntent() bool {
	return r.intended != nil && r.now().Sub(r.intended.since) > intentWithin
}

// intentWithin is how long the record of an intent may take before it is told as a fault of the record.
const intentWithin = 2 * time.Second

// objectArg returns the object that a read-only call asks about; empty: about everything.
func objectArg(c gate.Cleared) string {
	for _, a := range c.Capability().Args {
		if v, given := c.Args().Get(a.Name); given && a.Type == contract.ArgObject {
			return v.Text
		}
	}
	return ""
}
