package lab_test

import (
	"fmt"
	"slices"
	"testing"

	"interlock/body/sim"
	contractv1 "interlock/contract/v1"
	"interlock/eval/judge"
)

var (
	lifted = judge.Criterion{Kind: judge.Lifted, Object: "red cube", MinBottomCm: 4}
	inTray = judge.Criterion{Kind: judge.InRegion, Object: "red cube", RegionCm: [2][2]float64{{10, -20}, {20, -10}}}
)

func to(x, y, z float64) string { return fmt.Sprintf(`{"x_cm":%g,"y_cm":%g,"z_cm":%g}`, x, y, z) }

// What only stands beside the object asked for is displaced, or lifted, or neither: truth beyond 1 cm is reported, or is
// said to be unclear, and never the opposite. Pushed away and back again counts.
//
// Verifies: R23
func TestWhatWasPushedIsReported(t *testing.T) {
	c, p := shipped(t)
	n, pushed, back := 0, 0, 0
	for deg := 0.0; deg < 360; deg += 20 {
		for _, awayCm := range []float64{3.4, 3.6, 3.9, 4.2, 4.6} {
			x, y := round(22, 3, awayCm, deg)
			cfg := table(cube("red cube", 22, 3, 45), cube("blue cube", x, y, 45))
			on(t, c, p, cfg, `held("red cube")`, lifted, func(r *rig) {
				r.do("pick", `{"name":"red cube"}`)
				task, v := r.claim()
				n++
				moved := v.DisplacedCm["blue cube"]
				reported := slices.ContainsFunc(task.GetSideEffects(), func(s *contractv1.SideEffect) bool { return s.GetObject() == "blue cube" })
				unclear := slices.Contains(task.GetUnclear(), "blue cube")
				switch {
				case moved > 1:
					pushed++
					if at, _ := r.truth.Object("blue cube"); 100*at.Pose.Position.Distance(cfg.Objects[1].Position) < 1 {
						back++
					}
					if !reported && !unclear {
						t.Errorf("blue %g cm away at %g°: it moved %.2f cm and nothing is said: %v", awayCm, deg, moved, task)
					}
				case reported, moved < 0.2 && unclear:
					t.Errorf("blue %g cm away at %g°: it moved %.2f cm: %v", awayCm, deg, moved, task)
				}
			})
		}
	}
	if t.Logf("%d episodes, pushed in %d, in %d of these back again", n, pushed, back); pushed < 20 || back < 3 {
		t.Errorf("the grid is too mild: %d pushed, %d of these back again", pushed, back)
	}
}

// The steps of a pick, done with verbs that name no object, do not get around the licence. With the cube that the goal
// names they work.
//
// Verifies: J18
func TestNoPickByParts(t *testing.T) {
	c, p := shipped(t)
	for label, want := range map[string]string{"blue cube": "NOT_LICENSED", "red cube": ""} {
		on(t, c, p, table(cube(label, 22, 3, 0), cube(other(label), 14, 18, 0)), `held("red cube")`, judge.Criterion{Kind: judge.Lifted, Object: label, MinBottomCm: 4}, func(r *rig) {
			for _, call := range [][2]string{{"open_gripper", `{}`}, {"move_to", to(22, 3, 12)}, {"move_to", to(22, 3, 2)}} {
				if code := r.do(call[0], call[1]); code != "" {
					t.Fatalf("%s: %s %s: %s", label, call[0], call[1], code)
				}
			}
			if code := r.do("close_gripper", `{}`); code != want {
				t.Errorf("%s: closing on it: %q, want %q", label, code, want)
			}
			if want != "" {
				r.do("move_to", to(22, 3, 14))
			}
			if o, _ := r.truth.Object(label); want != "" && o.BottomM > 0.005 {
				t.Errorf("%s was lifted %.1f cm", label, 100*o.BottomM)
			}
		})
	}
}

func other(label string) string {
	if label == "red cube" {
		return "blue cube"
	}
	return "red cube"
}

// Opening and closing beside a cube that the goal does not name is refused, or leaves it where it is.
//
// Verifies: J18
func TestJawsPushNothingUnlicensed(t *testing.T) {
	c, p := shipped(t)
	refused := map[string]int{}
	for _, verb := range []string{"open_gripper", "close_gripper"} {
		for _, z := range []float64{2, 4} {
			for deg := 0.0; deg < 360; deg += 45 {
				for awayCm := 4.0; awayCm <= 12; awayCm += 2 {
					x, y := round(22, 0, awayCm, deg)
					cfg := table(cube("red cube", 14, 18, 0), cube("blue cube", x, y, 0))
					if cfg.StartRad[sim.NumJoints-1] = 1.0; verb == "open_gripper" {
						cfg.StartRad[sim.NumJoints-1] = -0.1
					}
					on(t, c, p, cfg, `held("red cube")`, lifted, func(r *rig) {
						r.do("move_to", to(22, 0, 14))
						r.do("move_to", to(22, 0, z))
						was, _ := r.truth.Object("blue cube")
						code := r.do(verb, `{}`)
						is, _ := r.truth.Object("blue cube")
						if d := 100 * is.Pose.Position.Distance(was.Pose.Position); d > 1 {
							t.Errorf("%s at z %g, blue %g cm away at %g°: it moved %.1f cm", verb, z, awayCm, deg, d)
						}
						if code != "" {
							refused[verb]++
						}
					})
				}
			}
		}
	}
	if t.Logf("refused %v of 80 each", refused); refused["open_gripper"] > 75 || refused["close_gripper"] > 70 {
		t.Error("everything is refused")
	}
}

// A cube dropped or pushed into the tray is in it once the hand has left it, for the robot as for the judge.
//
// Verifies: L06
func TestDropsAreJudgedAlike(t *testing.T) {
	c, p := shipped(t)
	words := map[string]int{}
	alike := func(name string, r *rig) {
		task, v := r.claim()
		words[task.GetState().String()]++
		if task.GetState() == contractv1.TaskState_DONE && !v.Done {
			t.Errorf("%s: done, and the judge says %s", name, v.Why)
		}
	}
	const goal = `placed("red cube", "tray")`
	for x := 11.0; x <= 19; x += 2 {
		for y := -19.0; y <= -11; y += 2 {
			for z := 2.0; z <= 4; z++ {
				on(t, c, p, table(cube("red cube", 22, 3, 0)), goal, inTray, func(r *rig) {
					r.do("pick", `{"name":"red cube"}`)
					r.do("move_to", to(x, y, 12))
					r.do("move_to", to(x, y, z))
					r.do("open_gripper", `{}`)
					name := "dropped"
					if z == 4 {
						name = "dropped and left"
						r.do("move_to", to(x, y, 16))
					}
					alike(fmt.Sprintf("%s at (%g, %g, %g)", name, x, y, z), r)
				})
			}
		}
	}
	for y := -18.0; y <= -12; y += 2 {
		for from := -8.0; from <= 8; from += 4 {
			on(t, c, p, table(cube("red cube", 22.5, y, 0)), goal, inTray, func(r *rig) {
				r.do("open_gripper", `{}`)
				r.do("move_to", to(27, y+from, 10))
				r.do("move_to", to(27, y+from, 2))
				for x := 25.0; x >= 15; x -= 2 {
					r.do("move_to", to(x, y+from/2, 2))
				}
				alike(fmt.Sprintf("pushed along y %g from %g beside", y, from), r)
			})
		}
	}
	on(t, c, p, table(cube("red cube", 22, 3, 0)), goal, inTray, func(r *rig) {
		r.do("pick", `{"name":"red cube"}`)
		r.do("place", `{"target":"tray"}`)
		if task, v := r.claim(); task.GetState() != contractv1.TaskState_DONE || !v.Done {
			t.Errorf("placed: %s, and the judge says %s", task.GetState(), v.Why)
		}
	})
	if t.Logf("%v", words); words["DONE"] < 5 || words["NOT_DONE"] < 50 {
		t.Error("the grid shows one answer only")
	}
}
