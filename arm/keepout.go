package arm

import (
	"math"

	"interlock/units"
)

// KeepOut is a space no part of the arm may enter: a box along the axes of the base frame, corners in metres.
type KeepOut struct {
	Name       string
	MinM, MaxM units.Vec3
}

// Valid reports whether the corners are finite and the first is below the second in every axis.
func (k *KeepOut) Valid() bool {
	return k.MinM.Finite() && k.MaxM.Finite() && k.MinM[0] < k.MaxM[0] && k.MinM[1] < k.MaxM[1] && k.MinM[2] < k.MaxM[2]
}

// outside returns the vector from the box to the point; zero inside.
func (k *KeepOut) outside(p units.Vec3) (d units.Vec3) {
	for i := range d {
		d[i] = max(0, p[i]-k.MaxM[i]) - max(0, k.MinM[i]-p[i])
	}
	return d
}

// corner returns a corner of the box; i counts from 0 to 7.
func (k *KeepOut) corner(i int) units.Vec3 {
	p := k.MinM
	for j := range p {
		if i>>j&1 != 0 {
			p[j] = k.MaxM[j]
		}
	}
	return p
}

// halvings of the line in search of its point nearest to a box: to 0.3 µm of 30 cm.
const halvings = 20

// distance returns how far the line stays from the box, metres. The squared distance along a line from a convex body
// is convex, so that the sign of its slope tells on which side the nearest point lies.
func (k *KeepOut) distance(s *segment) float64 {
	along := s.b.Sub(s.a)
	low, high := 0.0, 1.0
	for range halvings {
		t := (low + high) / 2
		if k.outside(s.a.Add(along.Scale(t))).Dot(along) > 0 {
			high = t
		} else {
			low = t
		}
	}
	return math.Min(k.outside(s.a.Add(along.Scale(low))).Norm(), k.outside(s.a.Add(along.Scale(high))).Norm())
}
