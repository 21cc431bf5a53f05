package arm

import (
	"math"

	"interlock/units"
)

// block is a box of one body: its middle, its axes and its half edges, metres.
type block struct {
	part int // the capsule of the same name
	body int
	at   units.Vec3
	rot  units.Mat3
	half units.Vec3

	bound float64 // radius of a ball around the middle that holds it
}

// Blocks of the hand and its camera mount in newBlocks.
const (
	firstOfHand = 1
	afterHand   = 5
	blockCount  = 10
)

// newBlocks returns the collision boxes of so101.xml but for the shoulder's: what may meet the table besides the tips, and
// what sticks out of the capsules.
func newBlocks() (all [blockCount]block) {
	all = [blockCount]block{
		{part: theMovingJaw, body: inJaw, at: units.Vec3{0, -0.013, 0.019}, rot: units.Identity(), half: units.Vec3{0.01, 0.01, 0.015}},
		{part: theHand, body: inGripper, at: units.Vec3{-0.0025, 0, -0.022}, rot: units.Identity(), half: units.Vec3{0.0325, 0.015, 0.015}},
		{part: theHand, body: inGripper, at: units.Vec3{-0.024, 0, -0.04}, rot: units.Identity(), half: units.Vec3{0.01, 0.015, 0.005}},
		{part: theCamera, body: inGripper, at: units.Vec3{-0.0025, 0.03, -0.03}, rot: units.Identity(), half: units.Vec3{0.015, 0.015, 0.003}},
		{part: theCamera, body: inGripper, at: units.Vec3{-0.001, 0.06, -0.04}, rot: units.Quat{0.962425197628238, -0.27154693695611287, 0, 0}.Mat(), half: units.Vec3{0.021, 0.021, 0.003}},
		{part: theWrist, body: inWrist, at: units.Vec3{0, -0.0424, 0.0256}, rot: units.Quat{1, 1, 1, -1}.Mat(), half: units.Vec3{0.029, 0.015, 0.018}},
		{part: theWrist, body: inWrist, at: units.Vec3{0, -0.02, 0.0191}, rot: units.Quat{1, -1, -1, -1}.Mat(), half: units.Vec3{0.027, 0.01, 0.03}},
		{part: theLowerArm, body: inLowerArm, at: units.Vec3{-0.05, 0, 0.0182}, rot: units.Identity(), half: units.Vec3{0.07, 0.01, 0.03}},
		{part: theLowerArm, body: inLowerArm, at: units.Vec3{-0.125, 0.005, 0.018}, rot: units.Identity(), half: units.Vec3{0.023, 0.013, 0.018}},
		{part: theUpperArm, body: inUpperArm, at: units.Vec3{-0.12, -0.014, 0.0182}, rot: units.Identity(), half: units.Vec3{0.01, 0.02, 0.015}},
	}
	for i := range all {
		all[i].bound = all[i].half.Norm()
	}
	return all
}

// middle returns the height of the middle of the block.
func (b *block) middle(in *body) float64 {
	return in.at[2] + in.rot[6]*b.at[0] + in.rot[7]*b.at[1] + in.rot[8]*b.at[2]
}

// height returns the height of the lowest point of the block.
func (b *block) height(in *body) float64 {
	r, z := &in.rot, b.middle(in)
	for k := range 3 {
		z -= math.Abs(r[6]*b.rot[k]+r[7]*b.rot[3+k]+r[8]*b.rot[6+k]) * b.half[k]
	}
	return z
}

// corners returns the corners of the block in the body's frame.
func (b *block) corners() (all [8]units.Vec3) {
	for i := range all {
		h := b.half
		for k := range h {
			if i>>k&1 != 0 {
				h[k] = -h[k]
			}
		}
		all[i] = b.at.Add(b.rot.Apply(h))
	}
	return all
}

// reach returns how far the corners of blocks of one body are from a point of it at most, metres.
func reach(blocks []block, from units.Vec3) (m float64) {
	for i := range blocks {
		for _, p := range blocks[i].corners() {
			m = max(m, p.Distance(from))
		}
	}
	return m
}

// from returns how far the block, whose body is given in the frame of the box, is from the box, metres; negative: how deep it
// is in it. From enough on it may return less than the distance, never less than enough. Like a distance it changes by no
// more than its points move.
func (b *block) from(k *KeepOut, in *body, enough float64) float64 {
	gap := b.gap(k, in, enough)
	if gap <= 0 || gap >= enough {
		return gap
	}
	return b.apart(k, in)
}

// parallel2 is the squared sine below which two edges count as parallel: then nothing first touches along what is
// perpendicular to both.
const parallel2 = 1e-9

// gap returns the gap along the axis that parts block and box best, of those along which two boxes can first touch: the
// normals of their faces, and what is perpendicular to an edge of each. It is negative where they overlap, and then by how
// far one of them would have to move; where they do not it is never more than their distance, and less where a corner of one
// is nearest to a corner or an edge of the other. From enough on it looks no further.
func (b *block) gap(k *KeepOut, in *body, enough float64) float64 {
	t := in.point(&b.at).Sub(k.MinM.Add(k.MaxM).Scale(0.5))
	h, axes := k.MaxM.Sub(k.MinM).Scale(0.5), in.rot.Mul(b.rot)
	var size units.Mat3
	for i, v := range axes {
		size[i] = math.Abs(v)
	}
	most := math.Inf(-1)
	for i := range 3 {
		most = max(most, math.Abs(t[i])-h[i]-size[3*i]*b.half[0]-size[3*i+1]*b.half[1]-size[3*i+2]*b.half[2])
		along := axes[i]*t[0] + axes[3+i]*t[1] + axes[6+i]*t[2]
		most = max(most, math.Abs(along)-b.half[i]-size[i]*h[0]-size[3+i]*h[1]-size[6+i]*h[2])
	}
	for i := 0; i < 3 && most < enough; i++ {
		i1, i2 := (i+1)%3, (i+2)%3
		for j := range 3 {
			j1, j2 := (j+1)%3, (j+2)%3
			sine2 := 1 - axes[3*i+j]*axes[3*i+j]
			if sine2 < parallel2 {
				continue
			}
			along := t[i2]*axes[3*i1+j] - t[i1]*axes[3*i2+j]
			reach := h[i1]*size[3*i2+j] + h[i2]*size[3*i1+j] + b.half[j1]*size[3*i+j2] + b.half[j2]*size[3*i+j1]
			most = max(most, (math.Abs(along)-reach)/math.Sqrt(sine2))
		}
	}
	return most
}

// apart returns the distance of block and box where they do not overlap: then an edge of the block is nearest to the box, or
// a corner of the box to the block.
func (b *block) apart(k *KeepOut, in *body) float64 {
	corners := b.corners()
	for i := range corners {
		corners[i] = in.point(&corners[i])
	}
	least := math.Inf(1)
	for i, p := range corners {
		for bit := 1; bit < len(corners); bit *= 2 {
			if i&bit == 0 {
				least = min(least, k.distance(&segment{p, corners[i|bit]}))
			}
		}
	}
	own := KeepOut{MinM: b.half.Scale(-1), MaxM: b.half}
	for i := range corners {
		p := k.corner(i).Sub(in.at)
		least = min(least, own.outside(b.rot.ApplyT(in.rot.ApplyT(p).Sub(b.at))).Norm())
	}
	return least
}
