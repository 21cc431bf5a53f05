package gate_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/robot/skill"
	"interlock/units"
	"interlock/world"
)

const tabletopFile = "../../robots/so101-tabletop.yaml"

// counted is the planner of the arm, with a count of what it is asked.
type counted struct {
	*skill.Planner
	asked *atomic.Int64
}

func (p counted) Fresh() contract.Kinematics { p.asked.Add(1); return p.Planner.Fresh() }

func (p counted) Plan(r gate.PlanRequest, k contract.Kinematics) (gate.Plan, *reject.Rejection) {
	p.asked.Add(1)
	return p.Planner.Plan(r, k)
}

// tabletop is the shipped robot with the published solver.
func tabletop(t testing.TB, change ...string) (*gate.Gate, counted) {
	t.Helper()
	c := openContract(t, tabletopFile, change...)
	p := counted{arm(t, c, skill.DLS), new(atomic.Int64)}
	return gate.New(c, c.Align(tabletopOffer(p)), p), p
}

func arm(t testing.TB, c *contract.Contract, s skill.Solver) *skill.Planner {
	t.Helper()
	p, err := skill.NewPlanner(c, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tabletopOffer(p gate.Planner) contract.Offer {
	return contract.Offer{Mode: "sim", Skills: p.Skills(), Witnesses: []contract.Witness{
		{Name: "encoders", Facts: []string{"tip"}}, {Name: "gripper_encoder", Facts: []string{"jaw_gap_mm"}},
		{Name: "gripper_current", Facts: []string{"jaw_load_pct"}}, {Name: "contact_sensor", Facts: []string{"table_force_n"}},
		{Name: "camera", Facts: []string{"objects"}},
	}}
}

// atHome is the arm at home with open jaws and the objects in sight.
func atHome(objects ...world.Object) *world.Snapshot {
	at := now.Add(-40 * time.Millisecond)
	return world.NewSnapshot(now, []world.Fact{
		{Name: "tip", Witness: "encoders", At: at, Value: world.Value{Kind: world.KindPoint, Point: units.Vec3{0.2075, 0.0118, 0.0884}}},
		{Name: "jaw_gap_mm", Witness: "gripper_encoder", At: at, Value: number(90)}, {Name: "jaw_load_pct", Witness: "gripper_current", At: at, Value: number(0)},
		{Name: "table_force_n", Witness: "contact_sensor", At: at, Value: number(0)},
		{Name: "objects", Witness: "camera", At: at, Value: poses(objects...), Sigma: 1},
	})
}

// armStanding is the arm at home: 0, -40, 35, 75, 90 degrees, jaws open.
func armStanding() gate.Standing {
	st := gate.Standing{StopNumber: 3}
	for _, deg := range []float64{0, -40, 35, 75, 90} {
		st.StartRad = append(st.StartRad, units.RadFromDeg(deg))
	}
	st.StartRad = append(st.StartRad, 1)
	return st
}

func redAt(x, y float64) world.Object { return cubeAt("red cube", x, y, 0.015) }

// The verdicts of the published experiment.
//
// Verifies: J12
func TestPublishedVerdicts(t *testing.T) {
	floor := []fault{{"CONDITION", "above_table", "z_cm"}}
	for _, c := range []struct {
		name, verb, args string
		seen             []world.Object
		want             []fault
		gotMM            float64
		says             string
	}{
		{name: "move-ok", verb: "move_to", args: `{"x_cm":20,"y_cm":5,"z_cm":15}`},
		{name: "at the floor", verb: "move_to", args: `{"x_cm":20,"y_cm":0,"z_cm":2}`},
		{name: "origin", verb: "move_to", args: `{"x_cm":0,"y_cm":0,"z_cm":0}`, want: floor, says: "z = 0 cm is below the minimum 2.0 cm above the table"},
		{name: "move-floor", verb: "move_to", args: `{"x_cm":20,"y_cm":0,"z_cm":-5}`, want: floor, says: "z = -5 cm is below the minimum 2.0 cm above the table"},
		{name: "move-units", verb: "move_to", args: `{"x_cm":0.2,"y_cm":0.05,"z_cm":0.15}`, want: floor, says: "z = 0.15 cm is below the minimum 2.0 cm above the table"},
		{name: "one ulp below", verb: "move_to", args: `{"x_cm":20,"y_cm":0,"z_cm":1.9999999999999998}`, want: floor},
		{name: "far and below", verb: "move_to", args: `{"x_cm":70,"y_cm":0,"z_cm":-10}`, want: floor},
		{name: "move-far", verb: "move_to", args: `{"x_cm":70,"y_cm":0,"z_cm":10}`, want: []fault{{"UNREACHABLE", "reachable", "x_cm"}}, gotMM: 326.07, says: "32.6 cm"},
		{name: "pick-red", verb: "pick", args: `{"name":"red cube"}`, seen: []world.Object{redAt(0.22, 0.03)}},
		{name: "pick by alias", verb: "pick", args: `{"name":"red block","approach_dz_cm":1}`, seen: []world.Object{redAt(0.22, 0.03)}},
		{name: "pick-far", verb: "pick", args: `{"name":"red cube"}`, seen: []world.Object{redAt(0.50, 0)}, want: []fault{{"UNREACHABLE", "reachable", "name"}}, gotMM: 37.23, says: "3.7 cm"},
		{name: "pick-blue", verb: "pick", args: `{"name":"blue cube"}`, seen: []world.Object{redAt(0.22, 0.03)}, want: []fault{{"NO_SUCH_OBJECT", "", "name"}}, says: "visible objects: red cube"},
		{name: "nothing held", verb: "place", args: `{"target":"tray"}`, seen: []world.Object{redAt(0.22, 0.03)}, want: []fault{{"CONDITION", "held", "moved"}}},
		{name: "home", verb: "home", args: `{}`},
		{name: "open", verb: "open_gripper", args: `{}`},
		{name: "close", verb: "close_gripper", args: `{}`},
		{name: "look", verb: "find_object", args: `{"name":"red cube"}`, seen: []world.Object{redAt(0.50, 0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := tabletop(t)
			cleared, l := g.Judge(call(c.verb, c.args), atHome(c.seen...), armStanding(), nil)
			demand(t, cleared, l, c.want...)
			if late := len(c.want) > 0 && c.want[0].Code == reject.Unreachable; !late && len(c.want) > 0 && p.asked.Load() != 0 {
				t.Error("kinematics for what only compares")
			}
			if len(l) == 0 {
				return
			}
			if !strings.Contains(l[0].Says, c.says) {
				t.Errorf("says %q", l[0].Says)
			}
			if got, err := strconv.ParseFloat(l[0].Got, 64); c.gotMM != 0 && (err != nil || !(math.Abs(got-c.gotMM) <= 0.01) || l[0].Unit != "mm" || l[0].Limit != "5") {
				t.Errorf("missed by %+v", l[0])
			}
		})
	}
}

// Where bounds are hidden no refusal names one, in its limit or in its words, whoever made it.
//
// Verifies: J13
func TestHiddenBounds(t *testing.T) {
	open, _ := bench(t)
	hidden, p := bench(t, "disclose_bounds: true", "disclose_bounds: false")
	refusal := reject.New(reject.PathBlocked, "the path meets the table").In("x_cm").Saw("1", "31.5", "cm")
	bounds := []string{"60.5", "0.75", "2.25", "44.5", "31.5", "5.5", "1.5"}
	disclosed := 0
	for _, c := range [][2]string{
		{"move_to", `{"x_cm":70,"y_cm":5,"z_cm":15}`}, {"move_to", `{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":9}`}, {"move_to", `{"x_cm":20,"y_cm":60,"z_cm":1}`},
		{"move_to", `{"x_cm":20,"y_cm":0,"z_cm":33}`}, {"move_to", `{"x_cm":60,"y_cm":0,"z_cm":10}`}, {"move_to", `{"x_cm":0,"y_cm":0,"z_cm":40.3}`},
		{"pick", `{"name":"green cube"}`}, {"pick", `{"name":"blue cube","approach_dz_cm":7}`}, {"bow", `{"depth_cm":8}`}, {"home", `{}`},
	} {
		open, closed := one(open, c), one(hidden, c)
		if c[0] == "home" {
			p.refuses = &refusal
			closed = one(hidden, c)
		} else if !slices.Equal(faults(open), faults(closed)) || len(closed) == 0 {
			t.Errorf("%v: %v, hidden %v", c, open, closed)
		}
		for _, r := range open {
			if r.Limit != "" {
				disclosed++
			}
		}
		for _, r := range closed {
			if r.Limit != "" || r.Got == "" || slices.ContainsFunc(bounds, func(b string) bool { return strings.Contains(r.Says, b) }) {
				t.Errorf("%v: %+v", c, r)
			}
		}
	}
	if disclosed < 9 {
		t.Errorf("only %d refusals name their limit where they may", disclosed)
	}
}

func one(g *gate.Gate, c [2]string) reject.List {
	_, l := g.Judge(call(c[0], c[1]), snapshot(), standing(), nil)
	return l
}

// A refused bound comes with what was given, the limit and the unit.
//
// Verifies: P18
func TestRefusalsCarryTheNumbers(t *testing.T) {
	g, _ := bench(t)
	for args, want := range map[string][3]string{
		`{"x_cm":70,"y_cm":5,"z_cm":15}`:                 {"70", "60.5", "cm"},
		`{"x_cm":-61.25,"y_cm":5,"z_cm":15}`:             {"-61.25", "-60", "cm"},
		`{"x_cm":20,"y_cm":5,"z_cm":15,"speed_mps":2e0}`: {"2", "0.75", "mps"},
		`{"x_cm":20,"y_cm":5,"z_cm":-5}`:                 {"-5", "2.25", "cm"},
		`{"x_cm":20,"y_cm":5,"z_cm":"15"}`:               {`"15"`, "", ""},
		`{"x_cm":20,"y_cm":5,"z_cm":33}`:                 {"33", "31.5", "cm"},
	} {
		_, l := g.Judge(call("move_to", args), snapshot(), standing(), nil)
		if len(l) != 1 || [3]string{l[0].Got, l[0].Limit, l[0].Unit} != want {
			t.Errorf("%s: %+v", args, l)
		}
	}
}

// Verifies: J14
func TestOffLetsWellFormedCallsThrough(t *testing.T) {
	c := openContract(t, tabletopFile)
	p := arm(t, c, skill.DLSLast)
	off := gate.Off(c, c.Align(tabletopOffer(p)), p, simulated{})
	far := atHome(redAt(0.5, 0))
	for _, q := range [][2]string{
		{"move_to", `{"x_cm":20,"y_cm":0,"z_cm":-5}`}, {"move_to", `{"x_cm":70,"y_cm":0,"z_cm":10}`}, {"move_to", `{"x_cm":0,"y_cm":0,"z_cm":0}`},
		{"move_to", `{"x_cm":0.2,"y_cm":0.05,"z_cm":0.15}`}, {"pick", `{"name":"red block"}`}, {"pick", `{"name":"red cube","approach_dz_cm":9}`}, {"home", `{}`},
	} {
		cleared, l := off.Judge(call(q[0], q[1]), far, armStanding(), licence{})
		demand(t, cleared, l)
		if cleared.OK() && cleared.Plan() == nil {
			t.Errorf("%v without a plan", q)
		}
		for _, st := range []gate.Standing{{Stopped: true, StartRad: armStanding().StartRad}, {BusyWith: "m", StartRad: armStanding().StartRad}} {
			if cleared, l := off.Judge(call(q[0], q[1]), far, st, nil); cleared.OK() || len(l) != 1 {
				t.Errorf("%v runs while stopped or busy: %v", q, l)
			}
		}
	}
	for _, q := range [][2]string{{"pick", `{"name":"blue cube"}`}, {"place", `{"target":"tray"}`}} {
		if cleared, l := off.Judge(call(q[0], q[1]), far, armStanding(), nil); cleared.OK() || len(l) == 0 {
			t.Errorf("%v was planned with nothing to move", q)
		}
	}
	on := gate.Off(c, c.Align(tabletopOffer(p)), p, nil)
	cleared, l := on.Judge(call("move_to", `{"x_cm":20,"y_cm":0,"z_cm":-5}`), far, armStanding(), nil)
	demand(t, cleared, l, fault{"CONDITION", "above_table", "z_cm"})
}

// simulated is a body without hardware.
type simulated struct{}

func (simulated) PeakTableForceN() float64 { return 0 }

// Off drops what judges the world, never what reads the text.
//
// Verifies: J14
func TestOffStillRefusesWhatIsMalformed(t *testing.T) {
	c, p := openContract(t, benchFile), newPlanner()
	off := gate.Off(c, c.Align(benchOffer()), p, simulated{})
	for _, r := range badInput(t) {
		q := call(r.Capability, "")
		q.Args = r.text(t)
		cleared, l := off.Judge(q, snapshot(), standing(), nil)
		switch r.Code {
		case "", reject.OutOfRange, reject.Condition, reject.NoSuchObject:
			demand(t, cleared, l)
		default:
			demand(t, cleared, l, fault{r.Code, r.Rule, r.Field})
		}
	}
}

// Many judgements at once say what one alone says.
//
// Verifies: J15
func TestJudgeIsConcurrent(t *testing.T) {
	g, _ := bench(t)
	w := snapshot()
	calls := []gate.Call{call("fly", `{}`), call("move_to", `{"x_cm":70,"y_cm":1}`), call("move_to", `{"x_cm":60,"y_cm":0,"z_cm":10}`), call("pick", `{"name":"mug"}`)}
	for verb, args := range good {
		calls = append(calls, call(verb, args))
	}
	type answer struct {
		args string
		l    reject.List
	}
	ask := func(c gate.Call) answer {
		cleared, l := g.Judge(c, w, standing(), licence{"red cube", "blue cube"})
		return answer{string(cleared.ArgsJSON()), l}
	}
	alone := make([]answer, len(calls))
	for i, c := range calls {
		alone[i] = ask(c)
	}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 200 {
				k := (i + n) % len(calls)
				if got := ask(calls[k]); got.args != alone[k].args || !slices.Equal(got.l, alone[k].l) {
					t.Errorf("%s: %v, alone %v", calls[k].Capability, got, alone[k])
				}
			}
		})
	}
	all.Wait()
}
