package contract

import (
	"slices"
	"time"

	"interlock/contract/rule"
)

// KnownGestures are the skills that are played from a table of keyframes; a contract without the table has none of them.
var KnownGestures = []string{"wave", "nod", "greet", "shake_head", "bow", "point", "rest"}

// Gesture is a motion written as keyframes: one table, or one for each word of an argument. Whether the servos can track
// it is the planner's to say, which knows the arm.
type Gesture struct {
	Skill  string
	By     string // the argument that chooses the table; empty: there is one table, whose Choice is empty
	Tables []KeyframeTable
}

// KeyframeTable is the keyframes of a gesture, or of one choice of it.
type KeyframeTable struct {
	Choice       string // the argument's word that chooses it
	Keyframes    []Keyframe
	Line, Column int
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

// Path returns where a keyframe of the table stands in the file, for problems.
func (g *Gesture) Path(t *KeyframeTable, i int) string {
	if g.By == "" {
		return indexedPath(join(join("gestures", g.Skill), "keyframes"), i)
	}
	return indexedPath(join(join("gestures", g.Skill)+".choices", t.Choice), i)
}

// Bounds of a gesture.
const (
	maxKeyframes = 64
	maxKeyframeS = 60
	maxJointDeg  = 360
)

// gesture reads one entry of gestures: keyframes, or `by` and a list of keyframes for each of its choices.
func (l *loader) gesture(m member) {
	path := join("gestures", m.name)
	if !contains(KnownGestures, m.name) {
		l.add(m.line, m.column, "unknown-skill", path, rule.Nearest(m.name, KnownGestures), "no gesture is called %q", m.name)
	}
	f := l.fields(m.value, path, "keyframes", "by", "choices")
	g := Gesture{Skill: m.name, By: f.text("by", false)}
	l.remember(path, m.value)
	list := f.n.get("keyframes")
	chosen := f.n.get("by") != nil || f.n.get("choices") != nil
	switch {
	case (list == nil) != chosen:
		l.at(f.n, "missing-key", join(path, "keyframes"), "", "a gesture has either keyframes, or by and choices")
	case chosen:
		f.text("by", true)
		choices := f.entries("choices", true)
		l.distinct(path+".choices", choices)
		for _, c := range choices {
			g.Tables = append(g.Tables, l.keyframes(&g, c.name, c.value))
		}
	default:
		g.Tables = []KeyframeTable{l.keyframes(&g, "", list)}
	}
	l.c.Gestures = append(l.c.Gestures, g)
}

// keyframes reads one table.
func (l *loader) keyframes(g *Gesture, choice string, list *node) KeyframeTable {
	t := KeyframeTable{Choice: choice, Line: list.line, Column: list.column}
	if list.kind != kindList || len(list.items) == 0 || len(list.items) > maxKeyframes {
		l.at(list, "missing-key", g.Path(&t, 0), "", "a gesture has a list of 1 to %d keyframes", maxKeyframes)
		return t
	}
	for i, item := range list.items {
		t.Keyframes = append(t.Keyframes, l.keyframe(item, g.Path(&t, i)))
	}
	return t
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

// chooses checks what chooses the tables of gestures: every capability that plays one must take the argument, always, and
// its words and the tables must be the same, so that no call is left without a table and no table without a call.
func (l *loader) chooses() {
	for i := range l.c.Gestures {
		g := &l.c.Gestures[i]
		if g.By == "" {
			continue
		}
		path := join("gestures", g.Skill)
		for _, k := range l.c.Capabilities {
			if k.Skill == g.Skill {
				l.chosenBy(g, k, path)
			}
		}
	}
}

func (l *loader) chosenBy(g *Gesture, k *Capability, path string) {
	n := l.at0[path]
	a, ok := k.Arg(g.By)
	switch {
	case !ok:
		l.at(n, "unknown-name", path+".by", "", "%s takes no argument %q", k.Name, g.By)
		return
	case a.Type != ArgText || len(a.Enum) == 0 || a.Optional:
		l.at(n, "wrong-type", path+".by", "", "the argument %q of %s must be a text that is always given, with an enum", g.By, k.Name)
		return
	}
	for _, t := range g.Tables {
		if !contains(a.Enum, t.Choice) {
			l.add(t.Line, t.Column, "not-in-list", join(path+".choices", t.Choice), rule.Nearest(t.Choice, a.Enum), "%s cannot be called with %s %q", k.Name, g.By, t.Choice)
		}
	}
	for _, word := range a.Enum {
		if !slices.ContainsFunc(g.Tables, func(t KeyframeTable) bool { return t.Choice == word }) {
			l.at(n, "missing-key", join(path+".choices", word), "", "%s may be called with %s %q, which has no keyframes", k.Name, g.By, word)
		}
	}
}
