package goal

import (
	"math"
	"slices"

	"interlock/units"
	"interlock/world"
)

// Licence says which objects a request allows to be manipulated. Looking and moving through free space need none.
type Licence struct {
	Fixed     bool     // whether Objects limits anything; it does once a goal or a list was given
	Objects   []string // labels that may be manipulated, sorted
	Forbidden []string // labels that may not, whatever else is said, sorted
}

// Allows reports whether the object of this label may be manipulated. Labels are the vocabulary's, aliases resolved.
func (l Licence) Allows(object string) bool {
	if slices.Contains(l.Forbidden, object) {
		return false
	}
	return !l.Fixed || slices.Contains(l.Objects, object)
}

// displacedM is how far an object must be moved to be reported, in metres. Source: DESIGN section 8, rule 3.
const displacedM = 0.01

// SideEffect is an object outside the licence that was measured to have moved.
type SideEffect struct {
	Object        string
	DisplacementM float64 // of its centre, metres
	SigmaM        float64 // standard error of that, metres
	Witness       string
}

// Displaced compares two snapshots. It returns the objects outside the licence that certainly moved more than 1 cm (by
// 2σ of the difference), and those of which that cannot be said: not seen any more, no newer reading, a label seen
// twice, or a displacement within 2σ of 1 cm. Without a limit on what may be manipulated only forbidden objects are
// outside. Without a reading before, whatever is seen after is unclear; a newcomer in a later one is not. Both lists are in the order of the first snapshot.
func Displaced(before, after *world.Snapshot, l Licence) (moved []SideEffect, unclear []string) {
	for _, was := range before.Facts() {
		if was.Value.Kind != world.KindPoses {
			continue
		}
		is, _ := after.Fact(was.Name)
		newer := is.Value.Kind == world.KindPoses && is.At.After(before.Now)
		for _, o := range was.Value.Objects {
			if l.Allows(o.Label) {
				continue
			}
			effect, known := displacement(o, was, is)
			switch {
			case !newer || !known || math.Abs(effect.DisplacementM-displacedM) <= 2*effect.SigmaM:
				unclear = append(unclear, o.Label)
			case effect.DisplacementM > displacedM:
				moved = append(moved, effect)
			}
		}
	}
	return moved, append(unclear, unwitnessed(before, after, l)...)
}

// unwitnessed lists the objects outside the licence in readings that there was nothing of before.
func unwitnessed(before, after *world.Snapshot, l Licence) (unclear []string) {
	for _, is := range after.Facts() {
		if _, known := before.Fact(is.Name); known || is.Value.Kind != world.KindPoses {
			continue
		}
		for _, o := range is.Value.Objects {
			if !l.Allows(o.Label) {
				unclear = append(unclear, o.Label)
			}
		}
	}
	return unclear
}

// displacement is how far the object went between two readings; unknown unless each shows its label exactly once.
func displacement(o world.Object, was, is world.Fact) (SideEffect, bool) {
	if only(o.Label, was.Value.Objects) < 0 {
		return SideEffect{}, false
	}
	i := only(o.Label, is.Value.Objects)
	if i < 0 {
		return SideEffect{}, false
	}
	return SideEffect{
		Object: o.Label, DisplacementM: is.Value.Objects[i].Pose.Position.Distance(o.Pose.Position),
		SigmaM: units.MetresFromMm(math.Hypot(was.Sigma, is.Sigma)), Witness: is.Witness,
	}, true
}

// only returns the index of the one object of the label; -1 if there is none or more than one.
func only(label string, objects []world.Object) int {
	found := -1
	for i, o := range objects {
		if o.Label != label {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
