package gate_test

import (
	"cmp"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/units"
	"interlock/world"
)

// opened keeps contracts between tests: none of them can change one.
var opened sync.Map

// openContract is a contract from a file, with its text changed where asked: old, new, old, new ...
func openContract(t testing.TB, file string, change ...string) *contract.Contract {
	t.Helper()
	key := file + "\x00" + strings.Join(change, "\x00")
	if c, ok := opened.Load(key); ok {
		return c.(*contract.Contract)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for i := 0; i+1 < len(change); i += 2 {
		if !strings.Contains(text, change[i]) {
			t.Fatalf("%s holds no %q", file, change[i])
		}
		text = strings.ReplaceAll(text, change[i], change[i+1])
	}
	c, err := contract.Load(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	opened.Store(key, c)
	return c
}

// planner is a planner of straight distances: the tip reaches 40 cm from the base. It counts what it is asked.
type planner struct {
	fresh, misses, plans *atomic.Int64
	last                 *gate.PlanRequest
	refuses              *reject.Rejection
	none                 bool          // finds no plan and says nothing
	takes                time.Duration // of its plans; 0: a second
}

func newPlanner() *planner {
	return &planner{fresh: new(atomic.Int64), misses: new(atomic.Int64), plans: new(atomic.Int64)}
}

const reachM = 0.4

type plan struct {
	name  string
	takes time.Duration
}

func (p plan) Duration() time.Duration { return p.takes }

func (p *planner) Fresh() contract.Kinematics { p.fresh.Add(1); return p }
func (p *planner) Skills() []string {
	return []string{"move_to", "pick", "place", "dock", "bow", "home", "rest"}
}
func (p *planner) asked() int64 { return p.fresh.Load() + p.misses.Load() + p.plans.Load() }

func (p *planner) MissM(at units.Vec3) float64 {
	p.misses.Add(1)
	return math.Max(0, at.Norm()-reachM)
}

func (p *planner) GraspMissM(o world.Object) float64 { return p.MissM(o.Pose.Position) }

func (p *planner) Plan(r gate.PlanRequest, _ contract.Kinematics) (gate.Plan, *reject.Rejection) {
	p.plans.Add(1)
	if p.last != nil {
		*p.last = r
	}
	if p.none {
		return nil, nil
	}
	if p.refuses != nil {
		return nil, p.refuses
	}
	return plan{r.Capability.Skill, cmp.Or(p.takes, time.Second)}, nil
}

const benchFile = "testdata/bench.yaml"

func benchOffer() contract.Offer {
	o := contract.Offer{Mode: "sim", Skills: newPlanner().Skills()}
	for fact, witness := range witnesses {
		o.Witnesses = append(o.Witnesses, contract.Witness{Name: witness, Facts: []string{fact}})
	}
	return o
}

// bench is the gate of the test robot.
func bench(t testing.TB, change ...string) (*gate.Gate, *planner) {
	t.Helper()
	c, p := openContract(t, benchFile, change...), newPlanner()
	return gate.New(c, c.Align(benchOffer()), p), p
}

var witnesses = map[string]string{
	"tip": "encoders", "jaw_gap_mm": "gripper_encoder", "torque_on": "bus", "battery_pct": "meter", "door": "switch", "objects": "camera",
}

// now is when every call is judged.
const now = units.Instant(10 * time.Second)

func cubeAt(label string, x, y, z float64) world.Object {
	return world.Object{Label: label, SizeM: units.Vec3{0.03, 0.03, 0.03}, Pose: units.Pose{Position: units.Vec3{x, y, z}, Orientation: units.YawQuat(0)}}
}

func number(v float64) world.Value   { return world.Value{Kind: world.KindNumber, Number: v} }
func textValue(v string) world.Value { return world.Value{Kind: world.KindText, Text: v} }
func poses(o ...world.Object) world.Value {
	return world.Value{Kind: world.KindPoses, Objects: o}
}

// facts are what the test robot measures when nothing is the matter, 50 ms ago: the red cube held, the blue one in reach
// and the green one out of it.
func facts() map[string]world.Fact {
	values := map[string]world.Value{
		"tip": {Kind: world.KindPoint, Point: units.Vec3{0.2, 0, 0.09}}, "jaw_gap_mm": number(30), "torque_on": {Kind: world.KindFlag, Flag: true},
		"battery_pct": number(80), "door": textValue("shut"),
		"objects": poses(cubeAt("red cube", 0.2, 0, 0.09), cubeAt("blue cube", 0.22, 0.03, 0.015), cubeAt("green cube", 0.6, 0, 0.015)),
	}
	m := map[string]world.Fact{}
	for name, v := range values {
		m[name] = world.Fact{Name: name, Value: v, Witness: witnesses[name], At: now.Add(-50 * time.Millisecond)}
	}
	return m
}

// change is one difference from facts.
type change func(map[string]world.Fact)

func aged(name string, age time.Duration) change {
	return func(m map[string]world.Fact) { f := m[name]; f.At = now.Add(-age); m[name] = f }
}

func valued(name string, v world.Value) change {
	return func(m map[string]world.Fact) { f := m[name]; f.Value = v; m[name] = f }
}

func witnessed(name, witness string) change {
	return func(m map[string]world.Fact) { f := m[name]; f.Witness = witness; m[name] = f }
}

func without(name string) change { return func(m map[string]world.Fact) { delete(m, name) } }

func snapshot(changes ...change) *world.Snapshot {
	m := facts()
	for _, c := range changes {
		c(m)
	}
	list := make([]world.Fact, 0, len(m))
	for _, f := range m {
		list = append(list, f)
	}
	return world.NewSnapshot(now, list)
}

func call(verb, args string) gate.Call { return gate.Call{Capability: verb, Args: []byte(args)} }

// standing is a robot that is ready to move.
func standing() gate.Standing { return gate.Standing{StopNumber: 7, StartRad: make([]float64, 6)} }

// licence allows what it lists.
type licence []string

func (l licence) Allows(object string) bool {
	for _, o := range l {
		if o == object {
			return true
		}
	}
	return false
}

// fault is what tests compare of a rejection.
type fault struct {
	Code        reject.Code
	Rule, Field string
}

func faults(l reject.List) []fault {
	out := make([]fault, len(l))
	for i, r := range l {
		out[i] = fault{r.Code, r.Rule, r.Field}
	}
	return out
}

// demand holds an answer against the faults wanted, in order; none means cleared.
func demand(t *testing.T, c gate.Cleared, l reject.List, want ...fault) {
	t.Helper()
	got := faults(l)
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = got[i] == want[i]
	}
	if !same {
		t.Errorf("got %v\nwant %v\n%v", got, want, l)
	}
	if c.OK() != (len(l) == 0) {
		t.Errorf("cleared %v beside %v", c.OK(), l)
	}
	for _, r := range l {
		if reject.ExitCode(r.Code) == 1 || r.Retry == "" || r.Says == "" || len(r.Says) > 1500 || len(r.Field) > 500 || len(r.Got) > 500 {
			t.Errorf("a refusal nobody can act on: %+v", r)
		}
	}
}
