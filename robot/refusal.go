package robot

import (
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/robot/skill"
	"interlock/units"
)

// missing refuses what a request leaves out, all of it at once: pairs of a field and what stands in it.
func missing(pairs ...string) (l reject.List) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			l = append(l, reject.New(reject.MissingArgument, "this request needs "+pairs[i]).In(pairs[i]))
		}
	}
	return l
}

// silent refuses what needs a driver that answers. It may answer at the next beat.
func silent(err error) reject.Rejection {
	return reject.New(reject.StaleFact, "the driver does not answer: "+err.Error()).In("driver")
}

// refusals are the refusals as a reply holds them.
func (r *Robot) refusals(l reject.List) []*contractv1.Rejection { return rejectionsPB(r.timed(l)) }

// timed says when to come back, wherever a refusal only says that the same call may pass later: once the motion in the way has
// come to its planned end, and else at the next beat, when there are new readings.
func (r *Robot) timed(l reject.List) reject.List {
	for i := range l {
		if l[i].Retry != reject.Later || l[i].AfterMS > 0 {
			continue
		}
		wait := units.Beat
		if m := r.busy(); m != nil && l[i].Code == reject.Busy {
			wait = r.leftOf(m)
		}
		l[i].AfterMS = int(wait.Milliseconds())
	}
	return l
}

// leftOf is how long the motion's path still takes, one tick at least: all that is known of one that is being measured, that
// has not begun, or that a source plays.
func (r *Robot) leftOf(m *motion) time.Duration {
	var left time.Duration
	if p, ok := m.cleared.Plan().(*skill.Plan); ok && m.state.Moving() {
		left = p.Path().Duration() - (r.senses.elapsed - m.playedAt)
	}
	return max(left, units.RobotTick)
}
