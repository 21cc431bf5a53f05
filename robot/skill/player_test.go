package skill

import (
	"errors"
	"math"
	"testing"
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
)

// cleared judges a call as the robot would.
func cleared(t *testing.T, p *Planner, verb, args string) gate.Cleared {
	t.Helper()
	g := gate.New(p.contract, contract.Alignment{Mode: "sim"}, p)
	c, l := g.Judge(gate.Call{Capability: verb, Args: []byte(args)}, seeing(seenCube("red cube", 0.22, 0.03, 0.015, 0)), gate.Standing{StartRad: homeRad()}, nil)
	if len(l) > 0 {
		t.Fatal(l)
	}
	return c
}

// Verifies: K17
func TestPlayEndsExactlyAndRepeats(t *testing.T) {
	c := cleared(t, planner(t, Best), "pick", `{"name": "red cube"}`)
	a, err := Play(c)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Play(c)
	path := c.Plan().(*Plan).Path()
	end, _ := path.End()
	seen := map[string]bool{}
	for at := time.Duration(0); ; at += 20 * time.Millisecond {
		q, phase, done, err := a.Next(at, nil)
		q2, phase2, done2, _ := b.Next(at, nil)
		if err != nil || arm.Servos(q) != arm.Servos(q2) || phase != phase2 || done != done2 {
			t.Fatalf("two players differ at %v", at)
		}
		seen[phase] = true
		q[0] = math.NaN() // the caller's own copy
		if done != (at >= a.Duration()) {
			t.Fatalf("done %v at %v of %v", done, at, a.Duration())
		}
		if done {
			break
		}
	}
	for _, at := range []time.Duration{a.Duration(), a.Duration() + time.Nanosecond, time.Hour} {
		if q, _, done, _ := a.Next(at, nil); arm.Servos(q) != end || !done {
			t.Errorf("at %v: %v, %v, want exactly %v", at, q, done, end)
		}
	}
	if q, phase, done, _ := a.Next(-time.Second, nil); arm.Servos(q) != path[0].From || phase != "above" || done {
		t.Errorf("before the start: %v %q %v", q, phase, done)
	}
	if len(seen) != 5 {
		t.Errorf("phases seen: %v", seen)
	}
}

// Verifies: K18
func TestPlayRefusesWhatIsNotCleared(t *testing.T) {
	if _, err := Play(gate.Cleared{}); !errors.Is(err, ErrNotCleared) {
		t.Errorf("the zero Cleared: %v", err)
	}
	p := planner(t, Best)
	g := gate.New(p.contract, contract.Alignment{Mode: "sim"}, foreign{p})
	c, l := g.Judge(gate.Call{Capability: "home", Args: []byte(`{}`)}, seeing(), gate.Standing{StartRad: homeRad()}, nil)
	if len(l) > 0 {
		t.Fatal(l)
	}
	if _, err := Play(c); err == nil {
		t.Error("a foreign plan was played")
	}
}

// foreign is a planner whose plans are not ours.
type foreign struct{ *Planner }

type foreignPlan struct{}

func (foreignPlan) Duration() time.Duration { return time.Second }

func (foreign) Plan(gate.PlanRequest, contract.Kinematics) (gate.Plan, *reject.Rejection) {
	return foreignPlan{}, nil
}

// Verifies: K19
func TestBackReturnsToTheOriginWithinLimits(t *testing.T) {
	p, err := Play(cleared(t, planner(t, Best), "move_to", `{"x_cm": 30, "y_cm": -10, "z_cm": 5, "speed_mps": 0.3}`))
	if err != nil {
		t.Fatal(err)
	}
	half, _, _, _ := p.Next(p.Duration()/2, nil)
	half[arm.Jaw] = 0.4
	back, err := p.Back(half)
	if err != nil {
		t.Fatal(err)
	}
	checkPath(t, back.plan, arm.SpeedLimits{JointRadS: wholeSpeed.JointRadS, TipMPS: 0.3})
	if q, _, _, _ := back.Next(0, nil); arm.Servos(q) != arm.Servos(half) {
		t.Errorf("starts at %v", q)
	}
	if q, phase, done, _ := back.Next(back.Duration(), nil); arm.Servos(q) != arm.Home().With(0.4) || phase != "return" || !done {
		t.Errorf("ends at %v in %q, %v", q, phase, done)
	}
	if _, err := p.Back([]float64{1, 2}); !errors.Is(err, ErrNoWayBack) {
		t.Errorf("from nowhere: %v", err)
	}
}
