package sim

import (
	"math"

	"interlock/units"
)

// vec is a vector for the inner loops: a struct stays in registers where an array would not. units.Vec3 is its form at
// the package's borders.
type vec struct{ x, y, z float64 }

func fromVec3(v units.Vec3) vec { return vec{v[0], v[1], v[2]} }

func (a vec) vec3() units.Vec3          { return units.Vec3{a.x, a.y, a.z} }
func (a vec) add(b vec) vec             { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec             { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) mul(k float64) vec         { return vec{a.x * k, a.y * k, a.z * k} }
func (a vec) dot(b vec) float64         { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) norm() float64             { return math.Sqrt(a.dot(a)) }
func (a vec) norm2() float64            { return a.dot(a) }
func (a vec) plus(b vec, k float64) vec { return vec{a.x + b.x*k, a.y + b.y*k, a.z + b.z*k} }
func (a vec) cross(b vec) vec {
	return vec{a.y*b.z - a.z*b.y, a.z*b.x - a.x*b.z, a.x*b.y - a.y*b.x}
}

// mat is a rotation by its columns: where the axes of the rotated frame point.
type mat struct{ x, y, z vec }

func fromMat3(m units.Mat3) mat {
	return mat{fromVec3(m.Column(0)), fromVec3(m.Column(1)), fromVec3(m.Column(2))}
}

// apply returns m·v.
func (m *mat) apply(v vec) vec {
	return vec{
		m.x.x*v.x + m.y.x*v.y + m.z.x*v.z,
		m.x.y*v.x + m.y.y*v.y + m.z.y*v.z,
		m.x.z*v.x + m.y.z*v.y + m.z.z*v.z,
	}
}

// applyT returns the inverse rotation times v.
func (m *mat) applyT(v vec) vec { return vec{m.x.dot(v), m.y.dot(v), m.z.dot(v)} }

// times returns m·o: first o, then m.
func (m *mat) times(o *mat) mat { return mat{m.apply(o.x), m.apply(o.y), m.apply(o.z)} }

// turnedZ returns m·Rz(angle).
func (m *mat) turnedZ(angle float64) mat {
	s, c := math.Sincos(angle)
	return mat{
		x: vec{m.x.x*c + m.y.x*s, m.x.y*c + m.y.y*s, m.x.z*c + m.y.z*s},
		y: vec{m.y.x*c - m.x.x*s, m.y.y*c - m.x.y*s, m.y.z*c - m.x.z*s},
		z: m.z,
	}
}

// quatMat is the rotation of a quaternion w, x, y, z, which need not be of length one.
func quatMat(w, x, y, z float64) mat { return fromMat3(units.Quat{w, x, y, z}.Mat()) }

// clamp limits the model's torques and angles (a servo saturates, a joint has stops). Never a command.
func clamp(v, low, high float64) float64 { return max(low, min(high, v)) }

// corner returns corner number i (0 to 7) of a box of half sizes h around the origin.
func corner(i int, h vec) vec {
	if i&1 != 0 {
		h.x = -h.x
	}
	if i&2 != 0 {
		h.y = -h.y
	}
	if i&4 != 0 {
		h.z = -h.z
	}
	return h
}
