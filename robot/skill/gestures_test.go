package skill_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/arm"
	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/units"
	"interlock/world"
)

// call is one gesture as it is called.
type call struct{ verb, args, choice string }

func gestures() []call {
	return []call{
		{"wave", "{}", ""}, {"nod", "{}", ""}, {"greet", "{}", ""}, {"shake_head", "{}", ""}, {"bow", "{}", ""}, {"rest", "{}", ""},
		{"point", `{"direction":"left"}`, "left"}, {"point", `{"direction":"right"}`, "right"}, {"point", `{"direction":"ahead"}`, "ahead"},
	}
}

func (c call) String() string { return strings.TrimSpace(c.verb + " " + c.choice) }

// planned asks for a motion as the gate does, from the commanded joints.
func planned(t *testing.T, p *skill.Planner, c *contract.Contract, g call, from arm.Servos) (*skill.Plan, error) {
	t.Helper()
	var args contract.Args
	if g.choice != "" {
		args = contract.Args{word("direction", g.choice)}
	}
	plan, r := p.Plan(gate.PlanRequest{Capability: c.Capability(g.verb), Args: args, World: world.NewSnapshot(0, nil), StartRad: from[:]}, p.Fresh())
	if r != nil {
		return nil, *r
	}
	return plan.(*skill.Plan), nil
}

// Every gesture that the shipped robot offers ends as its contract says, measured, and never touches the table.
//
// Verifies: W102
func TestEveryGestureSucceeds(t *testing.T) {
	onStage(t, play{}, func(t *testing.T, s *stage) {
		for i, g := range gestures() {
			events := s.do(fmt.Sprint("m", i), g.verb, g.args)
			if got := ending(events); got != "VERIFIED" {
				t.Errorf("%s: %s %v", g, got, events[len(events)-1].GetFailure())
			}
			if f := s.pressed(); f != 0 {
				t.Fatalf("%s: the table is pressed with %.2f N", g, f)
			}
		}
	})
}

// From home and from wherever a move leads, every gesture is planned, and no part of the arm comes nearer to the table than
// 3 cm: a slab of that height is not met. Where a start is lower than that itself, it only leaves.
//
// Verifies: W103
func TestGesturesStayAboveTheTable(t *testing.T) {
	c := shipped(t)
	// A keep-out is kept by 5 mm.
	slab := arm.KeepOut{Name: "slab", MinM: units.Vec3{-1, -1, -1}, MaxM: units.Vec3{1, 1, 0.025}}
	p, err := skill.NewPlanner(c, skill.Best, slab)
	if err != nil {
		t.Fatal(err)
	}
	starts := []arm.Servos{arm.Home().With(arm.JawOpenRad), arm.Home().With(arm.JawClosedRad)}
	rng := rand.New(rand.NewPCG(103, 2026))
	low := 0
	for len(starts) < 26 {
		r, az := 0.15+0.25*rng.Float64(), units.RadFromDeg(200*rng.Float64()-100)
		s := arm.Best(arm.SO101(), units.Vec3{r * math.Cos(az), r * math.Sin(az), 0.02 + 0.25*rng.Float64()})
		q := s.Joints.With(1.2*rng.Float64() - 0.1)
		if s.MissM > 0.001 || unreached(c, q) {
			continue
		}
		if arm.SO101().Tip(s.Joints)[2] < 0.035 {
			low++
		}
		starts = append(starts, q)
	}
	for i, q := range starts {
		for _, g := range gestures() {
			if _, err := planned(t, p, c, g, q); err != nil {
				t.Errorf("%s from pose %d, %v: %v", g, i, q, err)
			}
		}
	}
	if low == 0 || low > 10 {
		t.Errorf("%d of the poses are low", low)
	}
}

// unreached reports whether the gate would not let the arm go there from home.
func unreached(c *contract.Contract, q arm.Servos) bool {
	chain, k := arm.SO101(), c.Capability("move_to")
	m, ok := chain.MinJerk(arm.Home().With(q[arm.Jaw]), q, arm.LeastMove, arm.SpeedLimits{JointRadS: k.Limits.JointSpeedRadS, TipMPS: k.Limits.TipSpeedMPS})
	_, blocked := chain.Sweep(arm.Trajectory{{Name: "m", Segment: m}}, nil)
	return !ok || blocked
}

// Each keyframe of each gesture, made faster than the servos are, does not load, and joint and time are named.
//
// Verifies: W104
func TestFasterGesturesDoNotLoad(t *testing.T) {
	n := 0
	for _, g := range shipped(t).Gestures {
		for j := range g.Tables {
			for i, k := range g.Tables[j].Keyframes {
				if i == 0 || still(g.Tables[j].Keyframes[i-1], k) {
					continue // of the first nobody knows from where; a pause may be as short as it likes
				}
				lines := strings.Split(edited(t), "\n")
				at, _, found := strings.Cut(lines[k.Line-1], "seconds:")
				if !found {
					t.Fatalf("line %d: %s", k.Line, lines[k.Line-1])
				}
				lines[k.Line-1] = at + "seconds: 0.09}"
				c, err := contract.Load("fast.yaml", []byte(strings.Join(lines, "\n")))
				if err != nil {
					t.Fatal(err)
				}
				_, err = skill.NewPlanner(c, skill.Best)
				var wrong contract.Problems
				if !errors.As(err, &wrong) || wrong[0].Code != "too-fast" || wrong[0].Line != k.Line || wrong[0].Path != g.Path(&g.Tables[j], i) {
					t.Errorf("%s: %v", g.Path(&g.Tables[j], i), err)
					continue
				}
				joint, _, _ := strings.Cut(wrong[0].Message, " ")
				if !slices.Contains([]string{"pan", "lift", "elbow", "wrist_flex", "wrist_roll"}, joint) || !strings.Contains(wrong[0].Message, "in 90ms") {
					t.Errorf("%s: %s", wrong[0].Path, wrong[0].Message)
				}
				n++
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d keyframes", n)
	}
}

// still reports whether a keyframe names nothing that the one before did not have.
func still(before, k contract.Keyframe) bool {
	for _, j := range k.Joints {
		if !slices.ContainsFunc(before.Joints, func(o contract.JointAngle) bool { return o.Joint == j.Joint && o.Deg == j.Deg }) {
			return false
		}
	}
	return k.Pose == ""
}

// How a gesture moves is what it is called: what turns to and fro, how far, and where it ends.
//
// Verifies: W105
func TestGesturesLookLikeTheirNames(t *testing.T) {
	c := shipped(t)
	p, err := skill.NewPlanner(c, skill.Best)
	if err != nil {
		t.Fatal(err)
	}
	look := func(verb, choice string) traits {
		plan, err := planned(t, p, c, call{verb, "", choice}, arm.Home().With(1))
		if err != nil {
			t.Fatal(err)
		}
		return traitsOf(plan.Path())
	}
	for name, is := range map[string]bool{
		"wave swings":       func(w traits) bool { return w.swings[arm.Pan] >= 3 && w.width[arm.Pan] >= 25 && w.top > 0.3 }(look("wave", "")),
		"nod dips":          func(w traits) bool { return w.swings[arm.WristFlex] >= 3 && w.width[arm.Pan] == 0 && w.endsHome }(look("nod", "")),
		"shake_head swings": func(w traits) bool { return w.swings[arm.Pan] >= 3 && w.width[arm.Pan] >= 40 && w.endsHome }(look("shake_head", "")),
		"greet rises":       func(w traits) bool { return w.top > 0.4 && w.swings[arm.WristRoll] >= 2 && w.endsHome }(look("greet", "")),
		"bow leans": func(w traits) bool {
			return w.swings[arm.Lift] >= 2 && w.width[arm.Lift] >= 60 && w.fall > 0.2 && w.endsHome
		}(look("bow", "")),
		"rest is low": func(w traits) bool { return w.end[2] < 0.065 && w.end[0] < 0.2 }(look("rest", "")),
		"left":        func(w traits) bool { return w.end[1] > 0.3 && w.end[2] > 0.2 }(look("point", "left")),
		"right":       func(w traits) bool { return w.end[1] < -0.3 && w.end[2] > 0.2 }(look("point", "right")),
		"ahead":       func(w traits) bool { return w.end[0] > 0.35 && w.end[2] > 0.2 }(look("point", "ahead")),
	} {
		if !is {
			t.Error(name)
		}
	}
}

// traits are what can be seen of a motion.
type traits struct {
	swings   [arm.JointCount]int     // how often a joint turns round
	width    [arm.JointCount]float64 // between its ends, degrees
	top      float64                 // of the tip, metres
	fall     float64                 // of the tip from one keyframe to the next, at most, metres
	end      units.Vec3
	endsHome bool
}

func traitsOf(path arm.Trajectory) (w traits) {
	chain := arm.SO101()
	path = path[1:] // the way to where it begins
	for j := range w.swings {
		low, high, last := math.Inf(1), math.Inf(-1), 0.0
		for _, p := range path {
			low, high = math.Min(low, p.To[j]), math.Max(high, p.To[j])
			d := p.To[j] - p.From[j]
			if d*last < 0 {
				w.swings[j]++
			}
			if d != 0 {
				last = d
			}
		}
		w.width[j] = units.DegFromRad(high - low)
	}
	for _, p := range path {
		from, to := chain.Tip(p.From.Joints()), chain.Tip(p.To.Joints())
		w.top, w.fall = math.Max(w.top, to[2]), math.Max(w.fall, from[2]-to[2])
		w.end, w.endsHome = to, p.To.Joints() == arm.Home()
	}
	return w
}

// Whenever a gesture is cancelled, it ends cancelled, and the arm is measured where it was when the gesture began.
//
// Verifies: W106
func TestCancelReturnsToTheOrigin(t *testing.T) {
	const times = 20
	for _, g := range gestures() {
		t.Run(g.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(106, uint64(len(g.String()))))
			onStage(t, play{}, func(t *testing.T, s *stage) {
				if got := ending(s.do("aside", "move_to", `{"x_cm":14,"y_cm":13,"z_cm":19}`)); got != "VERIFIED" {
					t.Fatal(got)
				}
				origin := s.measured()
				for i := range times {
					id := fmt.Sprint("m", i)
					events := s.during(id, g.verb, g.args, 2+rng.IntN(ticksOf(t, g, origin)-2), func() {
						if ack, err := s.client.Cancel(context.Background(), &contractv1.CancelRequest{MissionId: id}); err != nil || !ack.GetAccepted() {
							t.Errorf("cancel: %v, %v", ack, err)
						}
					})
					if got := ending(events); got != "CANCELLED" || !slices.Contains(kinds(events), "PHASE return") {
						t.Fatalf("%s: %v", got, kinds(events))
					}
					s.near(origin, 0.02, 0.006)
				}
				if f := s.pressed(); f != 0 {
					t.Errorf("the table is pressed with %.2f N", f)
				}
			})
		})
	}
}

// ticksOf is in how many ticks a gesture moves.
func ticksOf(t *testing.T, g call, from arm.Servos) int {
	t.Helper()
	c := shipped(t)
	p, err := skill.NewPlanner(c, skill.Best)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := planned(t, p, c, g, from)
	if err != nil {
		t.Fatal(err)
	}
	return int(plan.Duration() / roboTick)
}

// near wants the arm measured at a configuration, and the tip truly there.
func (s *stage) near(want arm.Servos, withinRad, withinM float64) {
	s.t.Helper()
	q := s.measured()
	for i := range q {
		if !(math.Abs(q[i]-want[i]) <= withinRad) {
			s.t.Errorf("servo %d is at %.3f rad, was at %.3f", i, q[i], want[i])
		}
	}
	if d := s.truth.TipInBase().Distance(arm.SO101().Tip(want.Joints())); !(d <= withinM) {
		s.t.Errorf("the tip is %.1f mm from where it was", d*1e3)
	}
}

// A stop is no cancel: the arm stays where it stopped.
//
// Verifies: W107
func TestStopNeverReturns(t *testing.T) {
	rng := rand.New(rand.NewPCG(107, 2026))
	for _, g := range gestures() {
		t.Run(g.String(), func(t *testing.T) {
			for range 3 {
				onStage(t, play{}, func(t *testing.T, s *stage) {
					if got := ending(s.do("aside", "move_to", `{"x_cm":14,"y_cm":13,"z_cm":19}`)); got != "VERIFIED" {
						t.Fatal(got)
					}
					origin := s.measured()
					all := ticksOf(t, g, origin)
					var at arm.Servos
					events := s.during("m", g.verb, g.args, all/2+rng.IntN(all/4), func() {
						at = s.measured()
						s.guard.Stop("test")
					})
					if got := ending(events); got != "ABORTED(stop)" || slices.Contains(kinds(events), "PHASE return") {
						t.Fatalf("%s: %v", got, kinds(events))
					}
					there := arm.SO101().Tip(s.measured().Joints())
					if d := there.Distance(arm.SO101().Tip(at.Joints())); !(d <= 0.09) { // the ramp, and what the servos lag behind
						t.Errorf("it went on for %.1f cm", d*100)
					}
					if d := there.Distance(arm.SO101().Tip(origin.Joints())); d < 0.03 {
						t.Errorf("it is %.1f cm from where it began", d*100)
					}
					if err := s.guard.Advance(2 * time.Second); err != nil {
						t.Fatal(err)
					}
					if d := arm.SO101().Tip(s.measured().Joints()).Distance(there); d > 0.002 || s.pressed() != 0 {
						t.Errorf("afterwards it moved %.1f mm, %.2f N", d*1e3, s.pressed())
					}
				})
			}
		})
	}
}
