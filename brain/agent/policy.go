package agent

import (
	"fmt"

	"interlock/brain/action"
	"interlock/brain/tool"
	"interlock/internal/strictjson"
	"interlock/reject"
)

// policy holds the agent's own bounds on motion for one task. Its refusals spare the robot and the model, they protect
// nobody: the robot judges every call that passes.
type policy struct {
	maxRepeats, maxReplans int
	goal                   bool           // a goal was fixed before the first model call
	started                map[string]int // motions asked for, by tool and canonical arguments
	missions               int            // missions that ran
	replans                int
	unsuccessful           bool // the last motion was refused or did not succeed
}

// refuse returns why the motion is not asked for, or nil; inReply counts the motions already asked for in this reply.
func (p *policy) refuse(c action.Call, inReply int) *reject.Rejection {
	var r reject.Rejection
	switch {
	case inReply > 0:
		r = reject.New(reject.Busy, "one reply asks for one motion; see how it ended before the next").By("one_motion_per_reply")
	case !p.goal && p.missions > 0:
		r = reject.New(reject.Budget, "no goal was fixed for this request, so it gets one motion, and that has run; look and report").By("one_motion_without_goal")
	case p.started[motionKey(c)] >= p.maxRepeats:
		says := fmt.Sprintf("this very motion was asked for %d times already; change it or report", p.maxRepeats)
		r = reject.New(reject.Budget, says).By("repeat")
	case p.unsuccessful && p.replans >= p.maxReplans:
		r = reject.New(reject.Budget, fmt.Sprintf("after %d new plans it is time to report", p.maxReplans)).By("replans")
	default:
		return nil
	}
	return &r
}

// asked notes that the motion goes to the robot and reports whether it is a new plan after one that did not succeed.
func (p *policy) asked(c action.Call) (replan bool) {
	p.started[motionKey(c)]++
	if p.unsuccessful {
		p.replans++
	}
	return p.unsuccessful
}

// answered notes how the motion came out.
func (p *policy) answered(r tool.Result) {
	if r.MissionID != "" {
		p.missions++
	}
	p.unsuccessful = r.Mission != "succeeded"
}

// motionKey is equal for calls that mean the same, however they are written.
func motionKey(c action.Call) string {
	n, r := strictjson.Parse(c.Args, strictjson.DefaultLimits())
	if r != nil {
		return c.Tool + " " + string(c.Args)
	}
	return c.Tool + " " + string(strictjson.Canonical(n))
}
