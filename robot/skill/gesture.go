package skill

import (
	"fmt"
	"slices"
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/units"
)

// gesture is a contract's table of keyframes as configurations of the arm.
type gesture struct {
	name   string
	frames []frame
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
	for _, table := range p.contract.Gestures {
		g, problems := p.gestureOf(table)
		wrong = append(wrong, problems...)
		p.gestures[table.Skill] = g
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

func (p *Planner) gestureOf(table contract.Gesture) (g gesture, wrong contract.Problems) {
	g.name = table.Skill
	var at arm.Joints
	known := [arm.JointCount]bool{}
	for i, k := range table.Keyframes {
		problem := func(line, column int, code, says string) {
			path := fmt.Sprintf("gestures.%s.keyframes[%d]", table.Skill, i)
			wrong = append(wrong, contract.Problem{Line: line, Column: column, Code: code, Path: path, Message: says})
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
			return g, wrong
		}
		g.frames = append(g.frames, frame{at, k.Over})
		if i == 0 || len(wrong) > 0 {
			continue
		}
		if says := p.tooFast(g.name, g.frames[i-1], g.frames[i]); says != "" {
			problem(k.Line, k.Column, "too-fast", says)
		}
	}
	return g, wrong
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

// gesture plays the table: to its first frame in whatever time that takes, then as written.
func (d *draft) gesture(g gesture) {
	for i, f := range g.frames {
		phase := g.name
		if i == 0 {
			phase = "begin"
		}
		d.to(phase, f.over, f.at.With(d.at[arm.Jaw]))
	}
}
