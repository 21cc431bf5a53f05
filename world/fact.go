package world

import (
	"slices"
	"time"

	"interlock/units"
)

// Kind is the type of a fact's value.
type Kind uint8

// The kinds a contract can declare.
const (
	KindNumber Kind = iota + 1 // a float64 in the unit of the fact's name
	KindText                   // a string
	KindFlag                   // a bool
	KindPoint                  // a position in metres, in the fact's frame
	KindPoses                  // labelled objects with poses, in the fact's frame
)

// String returns the word the contract file uses for the kind.
func (k Kind) String() string {
	switch k {
	case KindNumber:
		return "number"
	case KindText:
		return "text"
	case KindFlag:
		return "flag"
	case KindPoint:
		return "point"
	case KindPoses:
		return "poses"
	}
	return "unknown"
}

// Object is one labelled thing a camera saw. Pose is in the fact's frame; SizeM are the full edge lengths in metres.
type Object struct {
	Label string
	Pose  units.Pose
	SizeM units.Vec3
}

// BottomM returns the height of the object's lowest corner, in metres.
func (o Object) BottomM() float64 {
	r := o.Pose.Orientation.Mat()
	half := o.SizeM.Scale(0.5)
	return o.Pose.Position[2] - abs(r[6])*half[0] - abs(r[7])*half[1] - abs(r[8])*half[2]
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}

// Value is one value of a Kind; only the field of that kind is meaningful.
type Value struct {
	Kind    Kind
	Number  float64
	Text    string
	Flag    bool
	Point   units.Vec3
	Objects []Object
}

// Finite reports whether every number in the value is finite. A value that is not never becomes a fact.
func (v Value) Finite() bool {
	switch v.Kind {
	case KindNumber:
		return units.Finite(v.Number)
	case KindPoint:
		return v.Point.Finite()
	case KindPoses:
		for _, o := range v.Objects {
			q := o.Pose.Orientation
			if !o.Pose.Position.Finite() || !o.SizeM.Finite() || !units.Finite(q[0], q[1], q[2], q[3]) {
				return false
			}
		}
	case KindText, KindFlag:
	}
	return true
}

// Fact is one measured value: by which witness, at which time of the source, with which standard error.
type Fact struct {
	Name    string // as the contract declares it
	Value   Value
	Witness string        // the sensor that measured it
	At      units.Instant // when the source measured it, not when it was received
	Sigma   float64       // standard error in the value's unit (mm for points and poses); 0: exact or not known
}

// Age returns how old the fact is at now. It is negative for a fact from the future, which nobody may use.
func (f Fact) Age(now units.Instant) time.Duration { return now.Sub(f.At) }

// Belief is a predicted value. It shares no conversion with Fact: predictions never certify.
type Belief struct {
	Name   string
	Value  Value
	Source string // the twin or plan that predicts it
	For    units.Instant
}

// Snapshot is every fact known at one instant, sorted by name.
type Snapshot struct {
	Now   units.Instant
	facts []Fact
}

// NewSnapshot returns a snapshot of the facts at now. Facts that are not finite or lie in the future are left out;
// of two with one name the later stays. The slice is not kept.
func NewSnapshot(now units.Instant, facts []Fact) *Snapshot {
	s := &Snapshot{Now: now, facts: make([]Fact, 0, len(facts))}
	for _, f := range facts {
		if !f.Value.Finite() || !units.Finite(f.Sigma) || f.At.After(now) {
			continue
		}
		i, found := slices.BinarySearchFunc(s.facts, f.Name, func(g Fact, name string) int { return cmpName(g.Name, name) })
		switch {
		case !found:
			s.facts = slices.Insert(s.facts, i, f)
		case !f.At.Before(s.facts[i].At):
			s.facts[i] = f
		}
	}
	return s
}

func cmpName(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Fact returns the fact of the name, if there is one.
func (s *Snapshot) Fact(name string) (Fact, bool) {
	i, found := slices.BinarySearchFunc(s.facts, name, func(g Fact, n string) int { return cmpName(g.Name, n) })
	if !found {
		return Fact{}, false
	}
	return s.facts[i], true
}

// Fresh returns the fact of the name if it is no older than maxAge at the snapshot's time.
func (s *Snapshot) Fresh(name string, maxAge time.Duration) (Fact, bool) {
	f, ok := s.Fact(name)
	if !ok || f.Age(s.Now) > maxAge {
		return Fact{}, false
	}
	return f, true
}

// Keep returns a snapshot of the same instant that also has the facts of an earlier one it lacks. A reading that was
// dropped once leaves the last one known, with its own time: whether that is fresh enough is still judged by its age.
func (s *Snapshot) Keep(earlier *Snapshot) *Snapshot {
	if earlier == nil {
		return s
	}
	return NewSnapshot(s.Now, slices.Concat(earlier.facts, s.facts))
}

// Since returns a snapshot of the same instant with only the facts whose source measured them after t. What was
// measured before a motion began says nothing about its outcome.
func (s *Snapshot) Since(t units.Instant) *Snapshot {
	later := &Snapshot{Now: s.Now, facts: make([]Fact, 0, len(s.facts))}
	for _, f := range s.facts {
		if f.At.After(t) {
			later.facts = append(later.facts, f)
		}
	}
	return later
}

// Facts returns all facts, sorted by name. The slice must not be changed.
func (s *Snapshot) Facts() []Fact { return s.facts }
