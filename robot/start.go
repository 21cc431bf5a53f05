package robot

import (
	"context"
	"crypto/sha256"
	"strconv"

	"google.golang.org/protobuf/proto"

	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/internal/strictjson"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/goal"
)

// Start implements transport.Server. A mission id that was used before never starts anything: with the same body the
// answer is the same, with another one it is CONFLICT. A refusal is no mission, so its id may be used again.
func (r *Robot) Start(ctx context.Context, q *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	return do(ctx, r, func() *contractv1.MissionAck { return r.start(q) })
}

func (r *Robot) start(q *contractv1.StartRequest) *contractv1.MissionAck {
	key := fingerprintOf(q)
	ack, l := r.missions.again(q.GetMissionId(), key)
	if ack != nil {
		return ack
	}
	request, unknown := r.requestOf(q)
	if l = append(l, unknown...); len(l) == 0 {
		if ack, l = r.tryStart(q, key, request); len(l) == 0 {
			return ack
		}
	}
	if request != nil {
		r.refused(request, l)
	}
	return &contractv1.MissionAck{MissionId: q.GetMissionId(), Reason: reasonFor(q.GetCapability(), l), Rejections: rejectionsPB(l)}
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

// repeated is the answer to the same start once more.
func (m *motion) repeated() *contractv1.MissionAck {
	ack := proto.CloneOf(m.ack)
	ack.Duplicate = true
	return ack
}

// fingerprint identifies what a start asks for, so that the same id with another body shows.
type fingerprint [sha256.Size]byte

// fingerprintOf hashes capability, task and arguments; arguments that mean the same have the same one.
func fingerprintOf(q *contractv1.StartRequest) (key fingerprint) {
	args := q.GetArgsJson()
	if n, r := strictjson.Parse(args, strictjson.DefaultLimits()); r == nil {
		args = strictjson.Canonical(n)
	}
	h := sha256.New()
	for _, part := range []string{q.GetCapability(), q.GetTaskId(), string(args)} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	h.Sum(key[:0])
	return key
}

// requestOf finds the task a start serves, and refuses one without a usable id or with a task that nobody opened.
func (r *Robot) requestOf(q *contractv1.StartRequest) (request *request, l reject.List) {
	switch n := len(q.GetMissionId()); {
	case n == 0:
		l = append(l, reject.New(reject.MissingArgument, "a start needs a mission id of the caller's choice").In("mission_id"))
	case n > maxID:
		l = append(l, reject.New(reject.TooLarge, "the mission id is too long").In("mission_id").Saw(strconv.Itoa(n), strconv.Itoa(maxID), "bytes"))
	}
	if q.GetTaskId() == "" {
		return nil, l
	}
	request, unknown := r.tasks.find(q.GetTaskId())
	return request, append(l, unknown...)
}

// tryStart judges the call and begins the mission, or answers a read-only one.
func (r *Robot) tryStart(q *contractv1.StartRequest, key fingerprint, request *request) (*contractv1.MissionAck, reject.List) {
	if err := r.look(); err != nil {
		return nil, reject.List{reject.New(reject.StaleFact, "the driver does not answer: "+err.Error()).In("driver")}
	}
	if c := r.cfg.Contract.Capability(q.GetCapability()); c == nil || !c.ReadOnly {
		if l := r.mayMove(request); len(l) > 0 {
			return nil, l
		}
	}
	s := r.snapshot()
	cleared, l := r.cfg.Gate.Judge(gate.Call{Capability: q.GetCapability(), Args: q.GetArgsJson()}, s, r.standing(), r.licenceFor(request))
	if len(l) > 0 {
		return nil, l
	}
	ack := &contractv1.MissionAck{MissionId: q.GetMissionId(), Accepted: true, NormalizedArgsJson: cleared.ArgsJSON()}
	if cleared.Capability().ReadOnly {
		ack.Facts = factsPB(r.cfg.Contract, s, objectArg(cleared))
		return ack, nil
	}
	m := &motion{id: q.GetMissionId(), key: key, request: request, cleared: cleared, ack: proto.CloneOf(ack)}
	return ack, r.begin(m)
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
	case r.missions.full():
		return reject.List{reject.New(reject.Overloaded, "this robot has no more mission ids; it must be started anew").In("mission_id")}
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

// objectArg returns the object that a read-only call asks about; empty: about everything.
func objectArg(c gate.Cleared) string {
	for _, a := range c.Capability().Args {
		if v, given := c.Args().Get(a.Name); given && a.Type == contract.ArgObject {
			return v.Text
		}
	}
	return ""
}
