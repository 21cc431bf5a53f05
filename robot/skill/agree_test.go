package skill_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"interlock/arm"
	"interlock/body"
	"interlock/body/guard"
	"interlock/body/sim"
	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/units"
	"interlock/world"
)

// What the gate clears, the guard with its geometry never refuses: one mission after another, of every verb, from wherever
// the last one ended, each setpoint sent as a robot sends it.
//
// Verifies: V116
func TestTheGuardRefusesNothingThatTheGateCleared(t *testing.T) {
	c := shipped(t)
	p, err := skill.NewPlanner(c, skill.Best)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := sim.New(sim.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(inner, guardOf(t, c, true))
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(116, 2026))
	at := arm.Servos(sim.HomeRad())
	played, refused := map[string]int{}, 0
	for n := 0; n < 250; n++ {
		verb, args, w := randomCall(rng)
		plan, r := p.Plan(gate.PlanRequest{Capability: c.Capability(verb), Args: args, World: w, StartRad: at[:]}, p.Fresh())
		if r != nil {
			refused++
			n--
			continue
		}
		path := plan.(*skill.Plan).Path()
		for gone := roboTick; ; gone += roboTick {
			q, phase, _ := path.At(gone)
			o, err := g.Observe()
			if err != nil {
				t.Fatal(err)
			}
			_, err = g.Send(body.Setpoint{PositionsRad: q[:], Over: roboTick, Expires: o.At.Add(body.Expiry), Stop: o.Latch.Number})
			var refusal reject.Rejection
			if errors.As(err, &refusal) {
				t.Fatalf("mission %d, %s %v, %s after %v: %v", n, verb, args, phase, gone, refusal)
			}
			if err := g.Advance(roboTick); err != nil {
				t.Fatal(err)
			}
			if at = q; gone >= path.Duration() {
				break
			}
		}
		if err := g.Advance(200 * time.Millisecond); err != nil { // as long as its end is measured
			t.Fatal(err)
		}
		played[verb]++
	}
	t.Logf("%d refused by the gate; played %v", refused, played)
	for _, verb := range []string{"move_to", "home", "pick", "place", "open_gripper", "close_gripper", "wave", "nod", "greet", "shake_head", "bow", "point", "rest"} {
		if played[verb] == 0 {
			t.Errorf("%s was not played", verb)
		}
	}
	if f := inner.Truth().PeakTableForceN(); f != 0 {
		t.Errorf("the table is pressed with %.2f N", f)
	}
}

// randomCall is a call of any verb, with what is seen; a cube is somewhere on the table, or in the hand.
func randomCall(rng *rand.Rand) (verb string, args contract.Args, w *world.Snapshot) {
	now := units.Instant(1e9)
	sees := func(o world.Object) *world.Snapshot {
		return world.NewSnapshot(now, []world.Fact{{Name: "objects", Witness: "camera", At: now, Value: world.Value{Kind: world.KindPoses, Objects: []world.Object{o}}}})
	}
	x, y := 0.1+0.25*rng.Float64(), 0.6*rng.Float64()-0.3
	w = sees(seen("red cube", x, y, 0.015, 3*rng.Float64()))
	switch rng.IntN(8) {
	case 0:
		return []string{"home", "open_gripper", "close_gripper"}[rng.IntN(3)], nil, w
	case 1:
		g := gestures()[rng.IntN(len(gestures()))]
		if g.choice != "" {
			args = contract.Args{word("direction", g.choice)}
		}
		return g.verb, args, w
	case 2:
		return "place", contract.Args{word("target", "tray"), word("moved", "red cube")}, sees(seen("red cube", x, y, 0.1, 0))
	case 3, 4:
		return "pick", contract.Args{word("name", "red cube")}, w
	}
	r, az := 10+32*rng.Float64(), units.RadFromDeg(220*rng.Float64()-110)
	return "move_to", contract.Args{size("x_cm", r*math.Cos(az)), size("y_cm", r*math.Sin(az)), size("z_cm", 0.5+25*rng.Float64()*rng.Float64())}, w
}
