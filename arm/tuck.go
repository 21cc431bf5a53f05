package arm

import "interlock/units"

// shoulderBoxes returns the collision boxes of the shoulder in so101.xml, which lie along the axes of its body: corners in
// metres, in its frame.
func shoulderBoxes() [2]KeepOut {
	return [2]KeepOut{
		{MinM: units.Vec3{-0.050, -0.020, -0.038}, MaxM: units.Vec3{0, 0.020, 0.038}},
		{MinM: units.Vec3{-0.045399, -0.009578, -0.0617}, MaxM: units.Vec3{-0.015399, 0.010422, -0.0157}},
	}
}

// tuck is where the hand, drawn in, meets the shoulder with its own back or with the camera mount. There the boxes of both are
// compared besides the capsules: an arm jams on a corner that a capsule misses, and capsules around the corners would refuse
// many a free move near the base.
type tuck struct {
	boxes  [2]KeepOut // of the shoulder, in its frame
	around KeepOut    // both
	middle units.Vec3 // of the hand's blocks, in the gripper body
	nearM2 float64    // squared distance of that from the boxes from which on nothing can be too near
}

func newTuck(blocks *[blockCount]block) (t tuck) {
	t.boxes = shoulderBoxes()
	t.around = t.boxes[0]
	for i := range t.boxes {
		t.around.MinM, _ = span(t.around.MinM, t.boxes[i].MinM)
		_, t.around.MaxM = span(t.around.MaxM, t.boxes[i].MaxM)
	}
	hand := blocks[firstOfHand:afterHand]
	low, high := hand[0].at, hand[0].at
	for i := range hand {
		for _, p := range hand[i].corners() {
			low, _ = span(low, p)
			_, high = span(high, p)
		}
	}
	t.middle = low.Add(high).Scale(0.5)
	near := reach(hand, t.middle) + selfClearM
	t.nearM2 = near * near
	return t
}

// span returns the smaller and the larger of both, axis by axis.
func span(a, b units.Vec3) (low, high units.Vec3) {
	for i := range a {
		low[i], high[i] = min(a[i], b[i]), max(a[i], b[i])
	}
	return low, high
}

// tucked works out how near the hand is to the shoulder, box by box, as far as it is too near.
func (s *sweep) tucked() {
	t, hand, shoulder := &s.chain.tuck, &s.bodies[inGripper], &s.bodies[inShoulder]
	middle := shoulder.rot.ApplyT(hand.point(&t.middle).Sub(shoulder.at))
	if d := t.around.outside(middle); d.Dot(d) < t.nearM2 {
		in := shoulder.sees(hand)
		for i := firstOfHand; i < afterHand; i++ {
			s.tuckedBlock(&s.chain.blocks[i], &in)
		}
	}
}

// tuckedBlock does so for one block of the hand, which is given in the shoulder's frame.
func (s *sweep) tuckedBlock(b *block, in *body) {
	t := &s.chain.tuck
	near := b.bound + selfClearM
	if d := t.around.outside(in.point(&b.at)); d.Dot(d) >= near*near {
		return
	}
	for k := range t.boxes {
		s.keep(onSelf, b.part, theShoulder, b.from(&t.boxes[k], in, selfClearM))
	}
}
