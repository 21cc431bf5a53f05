package skill

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/units"
)

// gesture is what a contract's tables of keyframes make the arm do.
type gesture struct {
	name   string
	by     string             // the argument that chooses the table; empty: there is one
	tables map[string][]frame // by the argument's word
}

type frame struct {
	at   arm.Joints
	over time.Duration // from the frame before; of the first: at least, since nobody knows from where
}

// jointNames are the joints that a keyframe may name, in the order of arm.Joints. The jaws are not among them: what is
// held through a gesture stays held.
var jointNames = [arm.JointCount]string{"pan", "lift", "elbow", "wrist_flex", "wrist_roll"}

// readGestures turns the contract's tables into configurations and refuses those that cannot be played as written.
func (p *Planner) readGestures() error {
	var wrong contract.Problems
	for i := range p.contract.Gestures {
		g := &p.contract.Gestures[i]
		made := gesture{name: g.Skill, by: g.By, tables: map[string][]frame{}}
		for j := range g.Tables {
			frames, problems := p.framesOf(g, &g.Tables[j])
			wrong = append(wrong, problems...)
			made.tables[g.Tables[j].Choice] = frames
		}
		p.gestures[g.Skill] = made
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// framesOf turns one table into configurations.
func (p *Planner) framesOf(g *contract.Gesture, table *contract.KeyframeTable) (frames []frame, wrong contract.Problems) {
	var at arm.Joints
	known := [arm.JointCount]bool{}
	for i, k := range table.Keyframes {
		problem := func(line, column int, code, says string) {
			wrong = append(wrong, contract.Problem{Line: line, Column: column, Code: code, Path: g.Path(table, i), Message: says})
		}
		switch k.Pose {
		case "":
		case "home":
			at, known = arm.Home(), [arm.JointCount]bool{true, true, true, true, true}
		default:
			problem(k.Line, k.Column, "unknown-name", fmt.Sprintf("the arm has no pose %q; it has: home", k.Pose))
		}
		for _, j := range k.Joints {
			n := slices.Index(jointNames[:], j.Joint)
			if n < 0 {
				problem(j.Line, j.Column, "unknown-name", fmt.Sprintf("a gesture moves no joint %q; it may move %v", j.Joint, jointNames))
				continue
			}
			at[n], known[n] = units.RadFromDeg(j.Deg), true
			if r := p.chain.Limits()[n]; !r.Holds(at[n]) {
				problem(j.Line, j.Column, "out-of-range", fmt.Sprintf("%s goes from %.1f to %.1f degrees, not to %v", j.Joint, units.DegFromRad(r.MinRad), units.DegFromRad(r.MaxRad), j.Deg))
			}
		}
		if n := slices.Index(known[:], false); n >= 0 {
			problem(k.Line, k.Column, "missing-key", "the first keyframe says where every joint is; "+jointNames[n]+" is missing")
			return frames, wrong
		}
		frames = append(frames, frame{at, k.Over})
		if i == 0 || len(wrong) > 0 {
			continue
		}
		if code, says := p.unplayable(g.Skill, frames[i-1], frames[i]); code != "" {
			problem(k.Line, k.Column, code, says)
		}
	}
	return frames, wrong
}

// unplayable says why the arm cannot get from one frame to the next as written, with a code for the file; empty: it can.
func (p *Planner) unplayable(skill string, from, to frame) (code, says string) {
	if says := p.tooFast(skill, from, to); says != "" {
		return "too-fast", says
	}
	// With open jaws the hand is larger; a call is swept with the jaws as they are then.
	line := arm.Trajectory{{Name: skill, Segment: arm.Segment{From: from.at.With(arm.JawClosedRad), To: to.at.With(arm.JawClosedRad), T: to.over}}}
	if b, blocked := p.swept(line); blocked {
		return "blocked", b.Refusal().Says
	}
	return "", ""
}

// tooFast says which joint cannot get from one frame to the next in time, within the limits of every capability that
// plays the gesture; empty: all can.
func (p *Planner) tooFast(skill string, from, to frame) string {
	for _, k := range p.contract.Capabilities {
		if k.Skill != skill {
			continue
		}
		limits := arm.SpeedLimits{JointRadS: k.Limits.JointSpeedRadS, TipMPS: k.Limits.TipSpeedMPS}
		for n, name := range jointNames {
			alone := from.at
			alone[n] = to.at[n]
			if s, ok := p.chain.MinJerk(from.at.With(0), alone.With(0), 0, limits); !ok || s.T > to.over {
				return fmt.Sprintf("%s cannot go %.1f degrees in %v: within the limits of %s it takes %v", name, units.DegFromRad(to.at[n]-from.at[n]), to.over, k.Name, s.T)
			}
		}
		if s, ok := p.chain.MinJerk(from.at.With(0), to.at.With(0), 0, limits); !ok || s.T > to.over {
			return fmt.Sprintf("the tip cannot be there in %v: within the limits of %s it takes %v", to.over, k.Name, s.T)
		}
	}
	return ""
}

// gesture plays a table: to its first frame in whatever time that takes, then as written.
func (d *draft) gesture(g gesture) *reject.Rejection {
	choice := ""
	if g.by != "" {
		v, given := d.request.Args.Get(g.by)
		if !given {
			return refuse(reject.MissingArgument, g.by, g.name+" needs "+g.by)
		}
		choice = v.Text
	}
	frames, known := g.tables[choice]
	if !known {
		return refuse(reject.NotInEnum, g.by, g.name+" has no keyframes for "+strconv.Quote(choice))
	}
	for i, f := range frames {
		phase := g.name
		if i == 0 {
			phase = "begin"
		}
		d.to(phase, f.over, f.at.With(d.at[arm.Jaw]))
	}
	return nil
}
