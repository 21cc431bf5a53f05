package sim

import (
	"math"
	"testing"
)

// report tells how many times faster than real time the steps ran.
func report(b *testing.B, w0, w1 *World) {
	seconds := float64(w1.steps-w0.steps) * dt * float64(b.N)
	b.ReportMetric(seconds/b.Elapsed().Seconds(), "×realtime")
}

func BenchmarkFreeMotion(b *testing.B) {
	w := newWorld(HomeRad())
	for i := 0; b.Loop(); i++ {
		w.goal[0] = 0.5 * math.Sin(float64(i)*dt)
		w.Step()
	}
	b.ReportMetric(float64(w.steps)*dt/b.Elapsed().Seconds(), "×realtime")
}

func BenchmarkFreeMotionThreeCubes(b *testing.B) {
	w := newWorld(HomeRad())
	for i := range 3 {
		cubeAt(&w, 0.2, 0.1+0.05*float64(i), 0.3)
	}
	rest(&w, 0.5)
	first := w.steps
	for i := 0; b.Loop(); i++ {
		w.goal[0] = 0.5 * math.Sin(float64(i)*dt)
		w.Step()
	}
	b.ReportMetric(float64(w.steps-first)*dt/b.Elapsed().Seconds(), "×realtime")
}

func BenchmarkPick(b *testing.B) {
	start := oneCube()
	end := start
	for b.Loop() {
		end = start
		pickUp(&end, 0.22, 0.03)
	}
	report(b, &start, &end)
}

func BenchmarkHeld(b *testing.B) {
	w := oneCube()
	pickUp(&w, 0.22, 0.03)
	for b.Loop() {
		w.Step()
	}
}
