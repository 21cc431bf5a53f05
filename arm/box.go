package arm

import (
	"math"

	"interlock/units"
)

// Box is an object to take: upright, with its centre, its full edge lengths along its two level axes and upwards, and
// the heading of the first level axis. Lengths are metres in the base frame.
type Box struct {
	Centre units.Vec3
	SizeM  units.Vec3
	YawRad float64
}

// BoxOf returns the box of an object as a camera reports it. The body axis nearest to the vertical counts as upwards.
func BoxOf(pose units.Pose, sizeM units.Vec3) Box {
	r := pose.Orientation.Mat()
	up := 0
	for i := range 3 {
		if math.Abs(r.Column(i)[2]) > math.Abs(r.Column(up)[2]) {
			up = i
		}
	}
	along, across := (up+1)%3, (up+2)%3
	x := r.Column(along)
	return Box{Centre: pose.Position, SizeM: units.Vec3{sizeM[along], sizeM[across], sizeM[up]}, YawRad: math.Atan2(x[1], x[0])}
}

// standsWithinM is how far a reported bottom may be from the table for the box to stand on it. Nothing floats, so a
// small height is the camera's error.
const standsWithinM = 0.005

// BottomM returns the height of what the box stands on: 0 for the table.
func (b Box) BottomM() float64 {
	bottom := b.Centre[2] - b.SizeM[2]/2
	if math.Abs(bottom) <= standsWithinM {
		return 0
	}
	return bottom
}

// Heights of the tip over what a box stands on, metres. For the 3 cm cube of the published experiment the grasp is at
// 1.3 cm: 2 mm below the cube's centre, and 6 mm above where the hand would touch the table.
const (
	belowCentreM  = 0.002
	leastGraspM   = 0.011
	aboveGraspM   = 0.067 // above: 8 cm for the cube
	liftGraspM    = 0.107 // lift: 12 cm for the cube
	publishedAtM  = 0.011
	publishedMidM = 0.05
	publishedTopM = 0.08
)

// GraspPoints returns where the tip is above the box, at it, and lifted. approachDzM shifts the first.
func (b Box) GraspPoints(approachDzM float64) (above, at, lift units.Vec3) {
	at = units.Vec3{b.Centre[0], b.Centre[1], b.BottomM() + math.Max(b.SizeM[2]/2-belowCentreM, leastGraspM)}
	above, lift = at, at
	above[2] += aboveGraspM + approachDzM
	lift[2] += liftGraspM
	return above, at, lift
}

// PublishedGraspPoints returns the three heights at which the published check asks its solver for a grasp: 1.1, 5 and
// 8 cm for a box on the table. With DLS the largest miss of a cube at (50, 0) cm is then the published 37.23 mm, and
// 0.24 mm at (22, 3) cm.
func (b Box) PublishedGraspPoints() [3]units.Vec3 {
	var p [3]units.Vec3
	for i, h := range [3]float64{publishedAtM, publishedMidM, publishedTopM} {
		p[i] = units.Vec3{b.Centre[0], b.Centre[1], b.BottomM() + h}
	}
	return p
}

// finite reports whether every number of the box is finite and its edges are positive.
func (b Box) finite() bool {
	return b.Centre.Finite() && b.SizeM.Finite() && units.Finite(b.YawRad) && b.SizeM[0] > 0 && b.SizeM[1] > 0 && b.SizeM[2] > 0
}
