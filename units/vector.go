package units

import "math"

// Vec3 is a vector of three numbers: a position in metres, an axis, a force in newtons, as the name that holds it
// says. Positions name their frame (tipInBase).
type Vec3 [3]float64

// Add returns a + b.
func (a Vec3) Add(b Vec3) Vec3 { return Vec3{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// Sub returns a − b.
func (a Vec3) Sub(b Vec3) Vec3 { return Vec3{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// Scale returns a times k.
func (a Vec3) Scale(k float64) Vec3 { return Vec3{a[0] * k, a[1] * k, a[2] * k} }

// Dot returns the scalar product.
func (a Vec3) Dot(b Vec3) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Cross returns the vector product.
func (a Vec3) Cross(b Vec3) Vec3 {
	return Vec3{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// Norm returns the length.
func (a Vec3) Norm() float64 { return math.Sqrt(a.Dot(a)) }

// Distance returns the length of a − b.
func (a Vec3) Distance(b Vec3) float64 { return a.Sub(b).Norm() }

// Finite reports whether all three numbers are finite.
func (a Vec3) Finite() bool { return Finite(a[0], a[1], a[2]) }

// Mat3 is a rotation, row by row: Mat3[3*row+column].
type Mat3 [9]float64

// Identity returns the rotation that turns nothing.
func Identity() Mat3 { return Mat3{1, 0, 0, 0, 1, 0, 0, 0, 1} }

// Mul returns the product a·b: first b, then a.
func (a Mat3) Mul(b Mat3) (c Mat3) {
	for i := 0; i < 9; i += 3 {
		for j := range 3 {
			c[i+j] = a[i]*b[j] + a[i+1]*b[3+j] + a[i+2]*b[6+j]
		}
	}
	return c
}

// Apply returns a·v.
func (a Mat3) Apply(v Vec3) Vec3 {
	return Vec3{
		a[0]*v[0] + a[1]*v[1] + a[2]*v[2],
		a[3]*v[0] + a[4]*v[1] + a[5]*v[2],
		a[6]*v[0] + a[7]*v[1] + a[8]*v[2],
	}
}

// ApplyT returns the transpose (the inverse rotation) times v.
func (a Mat3) ApplyT(v Vec3) Vec3 {
	return Vec3{
		a[0]*v[0] + a[3]*v[1] + a[6]*v[2],
		a[1]*v[0] + a[4]*v[1] + a[7]*v[2],
		a[2]*v[0] + a[5]*v[1] + a[8]*v[2],
	}
}

// Column returns column j: where axis j of the rotated frame points.
func (a Mat3) Column(j int) Vec3 { return Vec3{a[j], a[3+j], a[6+j]} }

// Quat is a rotation as a quaternion w, x, y, z.
type Quat [4]float64

// Mat returns the rotation matrix of the quaternion, normalising it first.
func (q Quat) Mat() Mat3 {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	w, x, y, z := q[0]/n, q[1]/n, q[2]/n, q[3]/n
	return Mat3{
		1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y),
		2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
	}
}

// YawQuat returns the rotation by yaw radians about z.
func YawQuat(yawRad float64) Quat { return Quat{math.Cos(yawRad / 2), 0, 0, math.Sin(yawRad / 2)} }

// Pose is a position in metres and an orientation, in the frame that the name holding it says.
type Pose struct {
	Position    Vec3
	Orientation Quat
}
