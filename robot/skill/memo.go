package skill

import (
	"math"

	"interlock/arm"
	"interlock/units"
	"interlock/world"
)

// memo is the kinematics of one judgement: it solves each question once and keeps the answer for the plan. It is not
// safe for concurrent use, as one judgement is not concurrent.
type memo struct {
	planner *Planner
	points  []solvedPoint
	grasps  []solvedGrasp
	solved  int // searches made
}

type solvedPoint struct {
	target   units.Vec3
	solution arm.Solution
}

type solvedGrasp struct {
	box         arm.Box
	approachDzM float64
	grasp       arm.Grasp
	ok          bool
}

func (p *Planner) fresh() *memo { return &memo{planner: p} }

// MissM returns how far the tip stays from the target, metres.
func (m *memo) MissM(targetInBase units.Vec3) float64 { return m.solve(targetInBase).MissM }

// GraspMissM returns the largest miss over the heights of a grasp, metres. With Best these are the heights of the
// planned posture; with DLS the published ones, position alone.
func (m *memo) GraspMissM(o world.Object) float64 {
	box := arm.BoxOf(o.Pose, o.SizeM)
	if m.planner.solver == Best {
		g, _ := m.grasp(box, 0)
		return g.MissM
	}
	miss := 0.0
	for _, p := range box.PublishedGraspPoints() {
		miss = math.Max(miss, m.solve(p).MissM)
	}
	return miss
}

// solve returns the position solution, from memory where the very same target was solved before.
func (m *memo) solve(target units.Vec3) arm.Solution {
	for i := range m.points {
		if m.points[i].target == target {
			return m.points[i].solution
		}
	}
	m.solved++
	var s arm.Solution
	if m.planner.solver == Best {
		s = arm.Best(m.planner.chain, target)
	} else {
		s = arm.DLS(m.planner.chain, target, arm.PublishedDLS())
	}
	m.points = append(m.points, solvedPoint{target, s})
	return s
}

// grasp returns the planned grasp, from memory where the very same one was planned before.
func (m *memo) grasp(box arm.Box, approachDzM float64) (arm.Grasp, bool) {
	for i := range m.grasps {
		if g := &m.grasps[i]; g.box == box && g.approachDzM == approachDzM {
			return g.grasp, g.ok
		}
	}
	m.solved++
	g, ok := arm.PlanGrasp(m.planner.chain, box, approachDzM)
	m.grasps = append(m.grasps, solvedGrasp{box, approachDzM, g, ok})
	return g, ok
}
