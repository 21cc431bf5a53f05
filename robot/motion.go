package robot

import (
	"errors"
	"strconv"
	"time"

	"interlock/body"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/mission"
	"interlock/robot/skill"
	"interlock/robot/verify"
	"interlock/units"
)

// motion is one mission with what the shell needs to carry it out.
type motion struct {
	id      string
	key     fingerprint // of what the start asked for; the same id with another one is a conflict
	request *request
	cleared gate.Cleared
	state   mission.State
	log     *eventLog
	ack     *contractv1.MissionAck

	acceptedAt units.Instant

	intended  string // approval that its intent names; empty: none
	principal string // who started it; nobody else may follow or end it
	epoch     uint64 // of the caller's lease; 0: the robot holds the resource for the mission
	recalled  bool   // it is a process's before this one, as the record has it

	player   *skill.Player
	playedAt time.Duration // paced when the motion, or the way back, began
	ended    bool          // the skill has no more setpoints
	guards   *verify.Invariants
	watch    *verify.Watch
	result   verify.Result
	broken   *verify.Violation // the invariant that ended it
	trouble  string            // the driver's last error, for the failure record
	refusal  *reject.Rejection // of the setpoint that ended it, if one was refused
}

// begin makes a mission of a cleared call and starts it. There is one mover: whatever a contract says about resources,
// a second motion is refused.
func (r *Robot) begin(m *motion) reject.List {
	if r.active != nil {
		return reject.List{r.movedBy(r.active).In("holds")}
	}
	c := m.cleared.Capability()
	policy := mission.Policy{
		Timeout: c.Timeout, StopUnconfirmedAfter: units.StopUnconfirmed, Interruptible: c.Interruptible,
		OnCancel: mission.OnCancel(c.OnCancel), OnDisconnect: mission.OnDisconnect(c.OnDisconnect), StopNumber: m.cleared.StopNumber(),
	}
	m.log = newEventLog()
	m.guards = verify.NewInvariants(c, m.cleared.Args(), r.cfg.Alignment.Mode)
	r.active, m.acceptedAt = m, r.now()
	l := r.ask(m, mission.Start{At: m.acceptedAt, Policy: policy})
	if len(l) > 0 {
		r.active = nil
		return l
	}
	r.missions.add(m)
	if m.request != nil {
		m.request.task = m.request.task.MissionStarted()
	}
	return nil
}

// step gives the mission an event that nobody waits for an answer to.
func (r *Robot) step(m *motion, e mission.Event) { _ = r.ask(m, e) }

// ask gives the mission one event and carries out what it owes, in the order owed. It returns why the event was refused.
func (r *Robot) ask(m *motion, e mission.Event) (refused reject.List) {
	state, effects := mission.Step(m.state, e)
	m.state = state
	for _, f := range effects {
		switch f := f.(type) {
		case mission.Halt:
			if err := r.cfg.Body.Halt(); err != nil {
				m.trouble = err.Error()
				r.stopBody("halt_failed")
			}
		case mission.Latch:
			r.stopBody(f.Reason)
		case mission.Record:
			r.recordEvent(m, f)
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
		r.missions.end(m)
		r.missionEnded(m)
		if m.player != nil {
			m.player.End()
		}
		m.player, m.guards, m.watch = nil, nil, nil
	}
	return refused
}

// stopBody latches a stop of the robot's own, which whoever looks next is told.
func (r *Robot) stopBody(reason string) {
	r.cfg.Body.Stop(reason)
	r.lookedAt = time.Time{}
}

func (r *Robot) play(m *motion) {
	p, err := skill.Play(m.cleared)
	if err != nil {
		m.trouble = err.Error()
		r.step(m, mission.Fault{At: r.now(), Code: "plan_failed"})
		return
	}
	m.player, m.playedAt, m.ended = p, r.senses.elapsed, false
}

func (r *Robot) playBack(m *motion) {
	p, err := m.player.Back(r.senses.last.GoalRad)
	if err != nil {
		m.trouble = err.Error()
		r.step(m, mission.Fault{At: r.now(), Code: "plan_failed"})
		return
	}
	m.player, m.playedAt, m.ended = p, r.senses.elapsed, false
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
	if m.state.Status == mission.Accepted { // its time begins with its first setpoint
		m.playedAt = r.senses.elapsed
	}
	at := r.senses.elapsed - m.playedAt + units.RobotTick
	positions, phase, done, err := m.player.Next(at, r.senses.last.JointsRad)
	var refusal reject.Rejection
	switch {
	case errors.As(err, &refusal):
		m.trouble, m.refusal = err.Error(), &refusal
		r.step(m, mission.SetpointRefused{At: r.now(), Code: refusal.Code})
		return
	case err != nil:
		m.trouble = err.Error()
		r.step(m, mission.Fault{At: r.now(), Code: "plan_failed", Detail: m.trouble})
		return
	}
	_, err = r.cfg.Body.Send(body.Setpoint{
		PositionsRad: positions, Over: units.RobotTick, Expires: r.now().Add(units.SetpointExpiry), Stop: m.state.Policy.StopNumber,
	})
	switch {
	case m.state.Status == mission.Accepted && notYet(err) && r.now().Sub(m.acceptedAt) < beginWithin: // a tick later
		m.trouble = err.Error()
		return
	case err != nil:
		m.trouble = err.Error()
		r.setpointRefused(m, err)
		return
	}
	if m.state.Status == mission.Accepted {
		m.trouble = ""
		r.step(m, mission.Started{At: r.now()})
	}
	r.step(m, mission.Phase{At: r.now(), Name: phase})
	m.ended = done
}

// setpointRefused tells a refusal of the driver from a lease that was lost and a driver that does not answer. A refusal is often
// only what follows from something else, so the driver is read first: behind one that is stopped stands a stop with a number,
// which is what a person resets, and behind others a body that does not answer or that has told nothing new for long.
func (r *Robot) setpointRefused(m *motion, err error) {
	var refusal reject.Rejection
	switch {
	case leaseLost(err):
		r.step(m, mission.LeaseLost{At: r.now()})
		return
	case !errors.As(err, &refusal):
		r.step(m, mission.Fault{At: r.now(), Code: "driver_lost", Detail: err.Error()})
		return
	}
	m.refusal = &refusal
	unread := r.look()
	switch latch := r.senses.last.Latch; {
	case r.active != m: // a lease that lapsed meanwhile ended it
	case leaseLost(unread):
		r.step(m, mission.LeaseLost{At: r.now()})
	case refusal.Code == reject.Stopped && unread == nil && latch.Number > 0:
		r.step(m, mission.Stop{At: r.now(), Number: latch.Number})
	default:
		r.stepFaults(m, unread)
		if late := r.senses.standing(); refusal.Field == "expires" && late >= units.Beat {
			r.step(m, mission.Fault{At: r.now(), Code: "stale_reading", Detail: "the driver's clock has stood still for " + strconv.FormatInt(late.Milliseconds(), 10) + " ms"})
		}
		r.step(m, mission.SetpointRefused{At: r.now(), Code: refusal.Code})
	}
}

// beginWithin is how long a mission may wait for its driver to take the first setpoint. What it was judged on is older by that:
// no older than the facts that a call may be judged on.
const beginWithin = 500 * time.Millisecond

// notYet reports whether the driver asks for the first setpoint a little later: its latch file does not say yet that something
// moves, or it slept and wants the robot to look first.
func notYet(err error) bool {
	var refusal reject.Rejection
	return errors.As(err, &refusal) && refusal.Retry == reject.Later && refusal.Field == "driver" &&
		(refusal.Rule == "latch_file" || refusal.Code == reject.StaleFact)
}

// leaseLost reports whether the driver says that another one may hold the lease now.
func leaseLost(err error) bool {
	var refusal reject.Rejection
	return errors.As(err, &refusal) && refusal.Code == reject.NoLease
}

// watchMission tells the mission what the tick brought: the faults, the time, the end of the motion, the invariants and
// the verdict. Each may end it. unread is why the driver could not be paced or read.
func (r *Robot) watchMission(unread error) {
	m := r.active
	if unread != nil {
		m.trouble = unread.Error()
	}
	if leaseLost(unread) {
		r.step(m, mission.LeaseLost{At: r.now()})
	} else {
		r.stepFaults(m, unread)
	}
	if r.active == m {
		r.watchRecord(m)
	}
	if r.active == m {
		r.step(m, r.senses.tickEvent())
	}
	if r.active == m && m.ended {
		m.ended = false
		r.step(m, mission.MotionEnded{At: r.now()})
	}
	if r.active == m {
		r.judge(m)
	}
}

func (r *Robot) stepFaults(m *motion, unread error) {
	for _, f := range r.senses.faults(unread) {
		if r.active == m {
			r.step(m, f)
		}
	}
}

// judge checks the invariants of a mission until its end, and the postconditions of one whose motion ended.
func (r *Robot) judge(m *motion) {
	s := r.snapshot()
	if !r.cfg.NoInvariants {
		for _, v := range m.guards.Observe(s) {
			if m.broken == nil {
				m.broken = &v
			}
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
