package robot

import (
	"errors"
	"strconv"

	"interlock/body"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/mission"
	"interlock/robot/skill"
	"interlock/robot/verify"
	"interlock/units"
	"interlock/world"
)

// motion is one mission with what the shell needs to carry it out.
type motion struct {
	id      string
	key     string // what the start asked for; the same id with another key is a conflict
	request *request
	cleared gate.Cleared
	state   mission.State
	log     *eventLog
	ack     *contractv1.MissionAck

	player   *skill.Player
	playedAt units.Instant // robot's own time when the motion, or the way back, began
	ended    bool          // the skill has no more setpoints
	guards   *verify.Invariants
	watch    *verify.Watch
	result   verify.Result
	trouble  string // the driver's last error, for the failure record
}

// now is the robot's own time on the driver's clock: what was paced since the driver was opened.
func (r *Robot) now() units.Instant { return r.elapsed }

// begin makes a mission of a cleared call and starts it.
func (r *Robot) begin(m *motion) reject.List {
	c := m.cleared.Capability()
	policy := mission.Policy{
		Timeout: c.Timeout, StopUnconfirmedAfter: units.StopUnconfirmed, Interruptible: c.Interruptible,
		OnCancel: mission.OnCancel(c.OnCancel), OnDisconnect: mission.OnDisconnect(c.OnDisconnect), StopNumber: m.cleared.StopNumber(),
	}
	m.log = newEventLog()
	m.guards = verify.NewInvariants(c, m.cleared.Args(), r.cfg.Alignment.Mode)
	r.active = m
	l := r.step(m, mission.Start{At: r.now(), Policy: policy})
	if len(l) > 0 {
		r.active = nil
	}
	return l
}

// step gives the mission one event and carries out what it owes, in the order owed.
func (r *Robot) step(m *motion, e mission.Event) (refused reject.List) {
	state, effects := mission.Step(m.state, e)
	m.state = state
	for _, f := range effects {
		switch f := f.(type) {
		case mission.Halt:
			if err := r.cfg.Body.Halt(); err != nil {
				m.trouble = err.Error()
				r.cfg.Body.Stop("halt_failed")
			}
		case mission.Latch:
			r.cfg.Body.Stop(f.Reason)
		case mission.Record:
			r.record(m, f)
		case mission.Play:
			r.play(m)
		case mission.PlayBack:
			r.playBack(m)
		case mission.Verify:
			r.verify(m)
		case mission.Wake: // the pacer's tick is never later
		case mission.Reply:
			refused = f.Rejections
		}
	}
	if m.state.Status.Final() && r.active == m {
		r.active = nil
		r.missionEnded(m)
	}
	return refused
}

func (r *Robot) play(m *motion) {
	p, err := skill.Play(m.cleared)
	if err != nil {
		m.trouble = err.Error()
		r.step(m, mission.Fault{At: r.now(), Code: "plan_failed"})
		return
	}
	m.player, m.playedAt, m.ended = p, r.elapsed, false
}

func (r *Robot) playBack(m *motion) {
	p, err := m.player.Back(r.last.GoalRad)
	if err != nil {
		m.trouble = err.Error()
		r.step(m, mission.Fault{At: r.now(), Code: "plan_failed"})
		return
	}
	m.player, m.playedAt, m.ended = p, r.elapsed, false
}

// verify begins the measurement of the postconditions.
func (r *Robot) verify(m *motion) {
	v := verify.Motion{
		Capability: m.cleared.Capability(), Args: m.cleared.Args(), ArgsJSON: string(m.cleared.ArgsJSON()),
		Mode: r.cfg.Alignment.Mode, StartedAt: m.state.StartedAt, EndedAt: r.now(), Phase: m.state.Phase,
		Attempt: 1, DriverError: m.trouble,
	}
	if q := m.request; q != nil {
		v.BudgetLeft = q.task.BudgetLeft()
		v.Attempt, v.Before = q.attempts(v.Capability.Name, v.ArgsJSON)
	}
	w, err := verify.New(v)
	if err != nil { // a motion that ended before it began: nothing can be measured about it
		m.trouble = err.Error()
		r.step(m, mission.Verdict{At: r.now(), Outcome: mission.Unverified})
		return
	}
	m.watch = w
}

// sendNext sends the setpoint to be reached by the next tick.
func (r *Robot) sendNext() {
	m := r.active
	if !m.state.Moving() || m.player == nil || m.ended {
		return
	}
	at := r.elapsed.Sub(m.playedAt) + units.RobotTick
	positions, phase, done := m.player.Next(at)
	_, err := r.cfg.Body.Send(body.Setpoint{
		PositionsRad: positions, Over: units.RobotTick, Expires: r.now().Add(units.SetpointExpiry), Stop: m.state.Policy.StopNumber,
	})
	if err != nil {
		m.trouble = err.Error()
		r.step(m, refusedSetpoint(r.now(), err))
		return
	}
	if m.state.Status == mission.Accepted {
		r.step(m, mission.Started{At: r.now()})
	}
	r.step(m, mission.Phase{At: r.now(), Name: phase})
	m.ended = done
}

// refusedSetpoint tells a refusal of the driver from a driver that does not answer.
func refusedSetpoint(now units.Instant, err error) mission.Event {
	var refusal reject.Rejection
	if errors.As(err, &refusal) {
		return mission.SetpointRefused{At: now, Code: refusal.Code}
	}
	return mission.Fault{At: now, Code: "driver_lost", Detail: err.Error()}
}

// watchMission tells the mission what the tick brought: the driver's silence or readings, the end of the motion, the
// invariants, the verdict.
func (r *Robot) watchMission(observeErr error) {
	m := r.active
	now := r.now()
	if observeErr != nil {
		m.trouble = observeErr.Error()
		r.step(m, mission.Fault{At: now, Code: "driver_lost", Detail: observeErr.Error()})
	}
	if age := r.elapsed.Sub(r.seenAt); age >= units.Silence && r.active == m {
		r.step(m, mission.Fault{At: now, Code: "stale_reading", Detail: "the driver's clock has stood still for " + strconv.FormatInt(age.Milliseconds(), 10) + " ms"})
	}
	if code := r.last.Health.FaultCode; code != "" && r.active == m {
		r.step(m, mission.Fault{At: now, Code: "motor_fault", Detail: code})
	}
	if r.active == m {
		r.step(m, mission.Tick{At: now, ObservedAt: r.last.At, Standstill: r.last.Standstill, Latch: r.mirror()})
	}
	if r.active == m && m.ended {
		m.ended = false
		r.step(m, mission.MotionEnded{At: now})
	}
	if r.active == m {
		r.judge(m)
	}
}

// judge checks the invariants of a mission that moves, and the postconditions of one whose motion ended.
func (r *Robot) judge(m *motion) {
	s := r.snapshot()
	if !r.cfg.NoInvariants && (m.state.Moving() || m.state.Status == mission.Verifying) {
		for _, v := range m.guards.Observe(s) {
			r.step(m, mission.InvariantViolated{At: r.now(), Rule: v.Rule, OnViolation: mission.OnViolation(v.OnViolation)})
		}
	}
	if m.state.Status != mission.Verifying || m.watch == nil {
		return
	}
	m.result = m.watch.Observe(s)
	switch m.result.State {
	case verify.Pending:
	case verify.Succeeded:
		r.step(m, mission.Verdict{At: r.now(), Outcome: mission.Succeeded})
	case verify.Failed:
		r.step(m, mission.Verdict{At: r.now(), Outcome: mission.Failed})
	case verify.Unverified:
		r.step(m, mission.Verdict{At: r.now(), Outcome: mission.Unverified})
	}
}

// record appends one event to the mission's log.
func (r *Robot) record(m *motion, f mission.Record) {
	e := &contractv1.Event{
		MissionId: m.id, Seq: f.Seq, Kind: contractv1.EventKind(contractv1.EventKind_value[string(f.Kind)]),
		Phase: f.Phase, Reason: reason(f), AtMs: f.At.Millis(), Final: f.Final,
	}
	if f.Final {
		e.Evidence = evidencePB(m.result.Evidence)
		e.Failure = failurePB(r.failure(m, f))
		e.FactsAfter = factsPB(r.cfg.Contract, r.snapshot(), "")
	}
	m.log.append(e)
}

// failure is the verifier's record; a mission that ended otherwise than by verification gets one of its own.
func (r *Robot) failure(m *motion, f mission.Record) *world.FailureRecord {
	if m.result.Failure != nil || f.Kind == mission.RecordVerified || f.Kind == mission.RecordCancelled {
		return m.result.Failure
	}
	record := &world.FailureRecord{
		Tool: m.cleared.Capability().Name, Args: string(m.cleared.ArgsJSON()), Phase: f.Phase, Kind: world.KindUnknown,
		ElapsedMS: f.At.Sub(m.state.AcceptedAt).Milliseconds(), Attempt: 1, DriverError: m.trouble,
		ReplanReason: reason(f), TimestampMS: f.At.Millis(),
	}
	if f.Kind == mission.RecordUnverified {
		record.ReplanReason = "not measured: " + list(append(m.result.Unclear, m.result.Missing...))
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
