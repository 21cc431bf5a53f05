package goal

import (
	"math"

	"interlock/units"
	"interlock/world"
)

// Passing looks at displacement while things move: an object pushed away and back again was displaced all the same. It
// takes the snapshot before, and two later ones in order. It returns the objects outside the licence that a reading newer
// than earlier's shows certainly displaced by more than 1 cm, and those that may have been, within the error or between
// the two readings: as far beyond the farther of them as half the way from one to the other.
//
// An object that is out of sight on the way is passed over; Displaced says at the end what cannot be said.
func Passing(before, earlier, now *world.Snapshot, l Licence) (moved []SideEffect, unclear []string) {
	for _, was := range before.Facts() {
		last, _ := earlier.Fact(was.Name)
		is, _ := now.Fact(was.Name)
		if was.Value.Kind != world.KindPoses || is.Value.Kind != world.KindPoses || !is.At.After(last.At) || !is.At.After(was.At) {
			continue
		}
		for _, o := range was.Value.Objects {
			if l.Allows(o.Label) {
				continue
			}
			effect, known := displacement(o, was, is)
			switch {
			case !known:
			case effect.DisplacementM-displacedM > 2*effect.SigmaM:
				moved = append(moved, effect)
			case farthest(o, last, is, effect) >= displacedM:
				unclear = append(unclear, o.Label)
			}
		}
	}
	return moved, unclear
}

// farthest is how far from its place the object may have been between two readings, metres, the error included.
func farthest(o world.Object, last, is world.Fact, now SideEffect) float64 {
	most := now.DisplacementM + 2*now.SigmaM
	i, k := only(o.Label, last.Value.Objects), only(o.Label, is.Value.Objects)
	if last.Value.Kind != world.KindPoses || i < 0 || k < 0 {
		return most
	}
	from := last.Value.Objects[i].Pose.Position
	way := from.Distance(is.Value.Objects[k].Pose.Position) - 2*units.MetresFromMm(math.Hypot(last.Sigma, is.Sigma))
	return math.Max(most, from.Distance(o.Pose.Position)+2*now.SigmaM) + math.Max(0, way)/2
}
