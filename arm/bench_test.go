package arm_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"interlock/arm"
	"interlock/units"
)

// reachable returns tip poses of random joints within the limits.
func reachable(c *arm.Chain, n int) []arm.Pose {
	r := rand.New(rand.NewPCG(20, 26))
	poses := make([]arm.Pose, n)
	for i := range poses {
		poses[i].TipInBase, poses[i].GripperInBase = c.TipPose(randomJoints(r, c))
	}
	return poses
}

// spread runs f over n cases and reports the median and the 99th percentile beside the mean.
func spread(b *testing.B, n int, f func(i int)) {
	b.ReportAllocs()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		f(i % n)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

func BenchmarkBest(b *testing.B) {
	c := arm.SO101()
	poses := reachable(c, 4096)
	spread(b, len(poses), func(i int) { arm.Best(c, poses[i].TipInBase) })
}

func BenchmarkBestPose(b *testing.B) {
	c := arm.SO101()
	poses := reachable(c, 4096)
	spread(b, len(poses), func(i int) { arm.BestPose(c, poses[i]) })
}

func BenchmarkDLS(b *testing.B) {
	c := arm.SO101()
	poses := reachable(c, 4096)
	spread(b, len(poses), func(i int) { arm.DLS(c, poses[i].TipInBase, arm.PublishedDLS()) })
}

func BenchmarkBestOutOfReach(b *testing.B) {
	c := arm.SO101()
	r := rand.New(rand.NewPCG(1, 1))
	targets := []units.Vec3{cm(70, 0, 10), cm(50, 0, 1.1)}
	for len(targets) < 512 {
		p := units.Vec3{1.4*r.Float64() - 0.7, 1.4*r.Float64() - 0.7, 0.8*r.Float64() - 0.2}
		if arm.Best(c, p).MissM > reachedM {
			targets = append(targets, p)
		}
	}
	spread(b, len(targets), func(i int) { arm.Best(c, targets[i]) })
}

func BenchmarkPlanGrasp(b *testing.B) {
	c := arm.SO101()
	var boxes []arm.Box
	grid(0.15, func(box arm.Box, _ float64) { boxes = append(boxes, box) })
	spread(b, len(boxes), func(i int) { arm.PlanGrasp(c, boxes[i], 0) })
}

func BenchmarkPlanGraspOutOfReach(b *testing.B) {
	c := arm.SO101()
	boxes := []arm.Box{cube(0.5, 0, 0), cube(0.7, 0, 0), cube(0.1, 0, 0), cube(0.45, 0.1, 0.3)}
	spread(b, len(boxes), func(i int) { arm.PlanGrasp(c, boxes[i], 0) })
}

func BenchmarkSweepOfAMove(b *testing.B) {
	c := arm.SO101()
	var moves []arm.Trajectory
	for _, p := range tablePoints() {
		moves = append(moves, moveTo(c, arm.Home().With(1), arm.Best(c, p).Joints.With(1)))
	}
	spread(b, len(moves), func(i int) { c.Sweep(moves[i], nil) })
}

func BenchmarkSweepWithTwoKeepOuts(b *testing.B) {
	c := arm.SO101()
	outs := []arm.KeepOut{
		{Name: "a", MinM: units.Vec3{0.1, 0.3, 0}, MaxM: units.Vec3{0.2, 0.4, 0.2}},
		{Name: "b", MinM: units.Vec3{0.3, -0.4, 0}, MaxM: units.Vec3{0.4, -0.3, 0.2}},
	}
	move := moveTo(c, arm.Home().With(1), arm.Best(c, cm(20, 10, 10)).Joints.With(1))
	spread(b, 1, func(int) { c.Sweep(move, outs) })
}
