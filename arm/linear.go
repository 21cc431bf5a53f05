package arm

import (
	"math"

	"interlock/units"
)

// solve3 solves a·x = b for a symmetric positive definite a given by its lower triangle, which is overwritten. It
// reports false if a is not positive definite.
func solve3(a *[3][3]float64, b units.Vec3) (units.Vec3, bool) {
	for i := range 3 {
		for k := range i + 1 {
			s := a[i][k]
			for m := range k {
				s -= a[i][m] * a[k][m]
			}
			if i != k {
				a[i][k] = s / a[k][k]
				continue
			}
			if !(s > 0) {
				return units.Vec3{}, false
			}
			a[i][i] = math.Sqrt(s)
		}
	}
	for i := range 3 {
		for m := range i {
			b[i] -= a[i][m] * b[m]
		}
		b[i] /= a[i][i]
	}
	for i := 2; i >= 0; i-- {
		for m := i + 1; m < 3; m++ {
			b[i] -= a[m][i] * b[m]
		}
		b[i] /= a[i][i]
	}
	return b, true
}

// solve5 does the same for five unknowns.
func solve5(a *[JointCount][JointCount]float64, b Joints) (Joints, bool) {
	for i := range JointCount {
		for k := range i + 1 {
			s := a[i][k]
			for m := range k {
				s -= a[i][m] * a[k][m]
			}
			if i != k {
				a[i][k] = s / a[k][k]
				continue
			}
			if !(s > 0) {
				return Joints{}, false
			}
			a[i][i] = math.Sqrt(s)
		}
	}
	for i := range JointCount {
		for m := range i {
			b[i] -= a[i][m] * b[m]
		}
		b[i] /= a[i][i]
	}
	for i := JointCount - 1; i >= 0; i-- {
		for m := i + 1; m < JointCount; m++ {
			b[i] -= a[m][i] * b[m]
		}
		b[i] /= a[i][i]
	}
	return b, true
}
