package sim

import (
	"math"

	"interlock/units"
)

// ik finds joint angles for a tip position by damped least squares over pan, lift, elbow and wrist, from the seed; the
// roll and the jaw keep their angles. With a pitch (radians below the horizon) the hand points that way, else NaN.
func ik(seed [NumJoints]float64, target units.Vec3, pitch float64) [NumJoints]float64 {
	q := seed
	for range 200 {
		r := ikMiss(q, target, pitch)
		var a [4][5]float64 // normal equations, augmented
		var jac [4][4]float64
		for j := range jac {
			moved := q
			moved[j] += 1e-6
			m := ikMiss(moved, target, pitch)
			for i := range jac {
				jac[i][j] = (r[i] - m[i]) / 1e-6
			}
		}
		for i := range a {
			for j := range 4 {
				for k := range 4 {
					a[i][j] += jac[k][i] * jac[k][j]
				}
			}
			a[i][i] += 1e-6
			for k := range 4 {
				a[i][4] += jac[k][i] * r[k]
			}
		}
		for j, d := range gauss(&a) {
			q[j] = clamp(q[j]+clamp(d, -0.2, 0.2), joints[j].minRad, joints[j].maxRad)
		}
	}
	return q
}

func ikMiss(q [NumJoints]float64, target units.Vec3, pitch float64) [4]float64 {
	d := target.Sub(TipInBase(q))
	turn := 0.0
	if !math.IsNaN(pitch) {
		turn = 0.1 * (pitch - q[1] - q[2] - q[3])
	}
	return [4]float64{d[0], d[1], d[2], turn}
}

// gauss solves four positive definite equations.
func gauss(a *[4][5]float64) (x [4]float64) {
	for i := range 4 {
		for k := i + 1; k < 4; k++ {
			f := a[k][i] / a[i][i]
			for j := i; j < 5; j++ {
				a[k][j] -= f * a[i][j]
			}
		}
	}
	for i := 3; i >= 0; i-- {
		x[i] = a[i][4]
		for j := i + 1; j < 4; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	return x
}

// free leaves the pitch to ik.
var free = math.NaN()

// down is the pitch of a hand that points straight down.
const down = math.Pi / 2

// glide moves the goals to the target over the seconds with minimum jerk.
func glide(w *World, to [NumJoints]float64, seconds float64) {
	from, n := w.goal, int(math.Round(seconds/dt))
	for k := 1; k <= n; k++ {
		s := float64(k) / float64(n)
		s *= s * s * (10 + s*(6*s-15))
		for j := range to {
			w.goal[j] = from[j] + (to[j]-from[j])*s
		}
		w.Step()
	}
}

// rest runs the world with the goals as they are.
func rest(w *World, seconds float64) { glide(w, w.goal, seconds) }

const (
	openRad = 0.6
	shutRad = -0.17
)

func withJaw(q [NumJoints]float64, rad float64) [NumJoints]float64 {
	q[jaw] = rad
	return q
}

// pickUp picks at a place on the table with a vertical hand and lifts to a tip height of 12 cm.
func pickUp(w *World, x, y float64) {
	above := withJaw(ik(HomeRad(), units.Vec3{x, y, 0.08}, down), openRad)
	grasp := withJaw(ik(above, units.Vec3{x, y, 0.013}, down), openRad)
	lift := withJaw(ik(above, units.Vec3{x, y, 0.12}, down-0.4), shutRad)
	glide(w, above, 0.8)
	glide(w, grasp, 0.8)
	glide(w, withJaw(grasp, shutRad), 0.3)
	rest(w, 0.2)
	glide(w, lift, 0.5)
	rest(w, 0.3)
}

// putDown places what is held at a place on the table and goes up again.
func putDown(w *World, x, y float64) {
	over := withJaw(ik(w.goal, units.Vec3{x, y, 0.10}, down-0.3), shutRad)
	low := withJaw(ik(over, units.Vec3{x, y, 0.016}, down), shutRad)
	glide(w, over, 1)
	glide(w, low, 0.8)
	glide(w, withJaw(low, openRad), 0.5)
	glide(w, withJaw(over, openRad), 0.6)
	rest(w, 0.3)
}

// cubeAt adds a standard cube resting on the table.
func cubeAt(w *World, x, y, yaw float64) int {
	return w.addCube(DefaultEdgeM, DefaultMassKg, vec{x, y, DefaultEdgeM / 2}, yaw)
}

// oneCube is an arm at home and a cube at the published place (22, 3) cm.
func oneCube() World {
	w := newWorld(HomeRad())
	cubeAt(&w, 0.22, 0.03, 0)
	return w
}
