package contract

import (
	"time"

	"interlock/contract/rule"
)

// KnownGestures are the skills that are played from a table of keyframes; a contract without the table has none of them.
var KnownGestures = []string{"wave", "nod", "greet", "shake_head", "bow", "rest"}

// Gesture is a table of keyframes. Whether the servos can track it is the planner's to say, which knows the arm.
type Gesture struct {
	Skill     string
	Keyframes []Keyframe
}

// Keyframe is where the arm is to be, and in which time it gets there from the keyframe before.
type Keyframe struct {
	Pose         string // a pose that the model has; "home"
	Joints       []JointAngle
	Over         time.Duration
	Line, Column int
}

// JointAngle is one joint of a keyframe; joints that are not named stay as they were.
type JointAngle struct {
	Joint        string
	Deg          float64
	Line, Column int
}

// Bounds of a gesture.
const (
	maxKeyframes = 64
	maxKeyframeS = 60
	maxJointDeg  = 360
)

// gesture reads one entry of gestures.
func (l *loader) gesture(m member) {
	path := join("gestures", m.name)
	if !contains(KnownGestures, m.name) {
		l.add(m.line, m.column, "unknown-skill", path, rule.Nearest(m.name, KnownGestures), "no gesture is called %q", m.name)
	}
	f := l.fields(m.value, path, "keyframes")
	g := Gesture{Skill: m.name}
	if items := f.items("keyframes"); len(items) == 0 || len(items) > maxKeyframes {
		l.at(f.n, "missing-key", join(path, "keyframes"), "", "a gesture has 1 to %d keyframes", maxKeyframes)
	}
	for i, item := range f.items("keyframes") {
		g.Keyframes = append(g.Keyframes, l.keyframe(item, indexedPath(join(path, "keyframes"), i)))
	}
	l.c.Gestures = append(l.c.Gestures, g)
}

func (l *loader) keyframe(item *node, path string) Keyframe {
	f := l.fields(item, path, "pose", "joints_deg", "seconds")
	k := Keyframe{Pose: f.text("pose", false), Line: item.line, Column: item.column}
	k.Over = time.Duration(f.positive("seconds", true, maxKeyframeS) * float64(time.Second))
	for _, j := range f.entries("joints_deg", false) {
		if j.value.kind != kindNumber || !(j.value.number >= -maxJointDeg && j.value.number <= maxJointDeg) {
			l.at(j.value, "out-of-range", join(path+".joints_deg", j.name), "", "an angle is a number from -%d to %d", maxJointDeg, maxJointDeg)
			continue
		}
		k.Joints = append(k.Joints, JointAngle{j.name, j.value.number, j.line, j.column})
	}
	if (k.Pose == "") == (f.n.get("joints_deg") == nil) {
		l.at(item, "missing-key", path, "{pose: home, seconds: 1}", "a keyframe has either a pose or joints_deg")
	}
	return k
}
