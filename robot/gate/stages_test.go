package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/world"
)

// good are calls that clear when nothing is the matter, one for each verb that is offered.
var good = map[string]string{
	"move_to": `{"x_cm":20,"y_cm":5,"z_cm":15}`, "pick": `{"name":"blue cube"}`, "place": `{"target":"tray"}`, "dock": `{"upper":"red cube","lower":"blue cube"}`,
	"bow": `{"depth_cm":-1}`, "home": `{}`, "get_state": `{}`, "find_object": `{"name":"red cube"}`, "reach_of": `{"name":"blue cube"}`,
}

// looks are the verbs that only look: no stop and no motion refuses them, and they have no plan.
var looks = []string{"get_state", "find_object", "reach_of"}

// Verifies: J01
func TestWhatMayRunIsClearedWithItsPlan(t *testing.T) {
	for verb, args := range good {
		g, p := bench(t)
		p.last = &gate.PlanRequest{}
		c, l := g.Judge(call(verb, args), snapshot(), standing(), nil)
		demand(t, c, l)
		if c.Capability() == nil || c.Capability().Name != verb || c.StopNumber() != 7 || string(c.ArgsJSON()) == "" {
			t.Errorf("%s: %+v", verb, c)
		}
		moves := !slices.Contains(looks, verb)
		if moves != (c.Plan() != nil) || moves != (p.plans.Load() == 1) || p.plans.Load() > 1 || p.fresh.Load() > 1 {
			t.Errorf("%s: plan %v after %d plans on %d kinematics", verb, c.Plan(), p.plans.Load(), p.fresh.Load())
		}
		if moves && (c.Plan() != plan{verb, time.Second} || p.last.Capability != c.Capability() || len(p.last.StartRad) != 6 || p.last.World == nil || len(p.last.Args) != len(c.Args())) {
			t.Errorf("%s was planned from %+v", verb, p.last)
		}
	}
}

// Verifies: J01
func TestTheZeroValuesDoNotMove(t *testing.T) {
	var c gate.Cleared
	if c.OK() || c.Capability() != nil || c.Plan() != nil || c.Args() != nil || c.ArgsJSON() != nil {
		t.Errorf("the zero value is %+v", c)
	}
	c, l := new(gate.Gate).Judge(call("home", `{}`), snapshot(), standing(), nil)
	demand(t, c, l, fault{"NOT_PERMITTED", "", "capability"})
}

// Every verb against a stop and a motion: both at once, and never for one that only looks.
//
// Verifies: J04
func TestStopAndBusy(t *testing.T) {
	stopped, busy := fault{"STOPPED", "", ""}, fault{"BUSY", "", "holds"}
	for verb, args := range good {
		for _, s := range []struct {
			name string
			st   gate.Standing
			want []fault
		}{
			{"stopped", gate.Standing{Stopped: true, StopNumber: 8}, []fault{stopped}},
			{"busy", gate.Standing{BusyWith: "m-1"}, []fault{busy}},
			{"both", gate.Standing{Stopped: true, BusyWith: "m-1"}, []fault{stopped, busy}},
			{"neither", gate.Standing{StopNumber: 9}, nil},
		} {
			if slices.Contains(looks, verb) {
				s.want = nil
			}
			t.Run(verb+" "+s.name, func(t *testing.T) {
				g, p := bench(t)
				c, l := g.Judge(call(verb, args), snapshot(), s.st, nil)
				demand(t, c, l, s.want...)
				if len(s.want) > 0 && p.asked() != 0 {
					t.Error("the planner was asked")
				}
				if len(s.want) == 0 && c.StopNumber() != s.st.StopNumber {
					t.Error("the stop's number was not captured")
				}
			})
		}
	}
}

// An earlier stage hides the later ones: each call here has a fault of every stage from its own on.
//
// Verifies: J05
func TestStagesCheapFirst(t *testing.T) {
	halted := gate.Standing{Stopped: true}
	dark := snapshot(without("objects"), without("torque_on"), aged("battery_pct", 1e10))
	for _, c := range []struct {
		name       string
		verb, args string
		w          *world.Snapshot
		st         gate.Standing
		want       []fault
	}{
		{"1 text", "fly", `{"a":1,"a":2}`, dark, halted, []fault{{"DUPLICATE_KEY", "", "a"}}},
		{"2 unknown", "fly", `{"x_cm":true}`, dark, halted, []fault{{"UNKNOWN_CAPABILITY", "", "capability"}}},
		{"2 withdrawn", "turn", `{"x_cm":true}`, dark, halted, []fault{{"NOT_PERMITTED", "", "capability"}}},
		{"2 other mode", "nod", `{"x_cm":true}`, dark, halted, []fault{{"NOT_PERMITTED", "", "capability"}}},
		{"2 a person's", "rest", `{"x_cm":true}`, dark, halted, []fault{{"NOT_IN_SCOPE", "", "capability"}}},
		{"3 standing", "move_to", `{"x_cm":true}`, dark, halted, []fault{{"STOPPED", "", ""}}},
		{"4 shape", "move_to", `{"x_cm":70,"y_cm":50,"z_cm":"low"}`, dark, standing(), []fault{{"OUT_OF_RANGE", "", "x_cm"}, {"WRONG_TYPE", "", "z_cm"}}},
		{"5 compared", "move_to", `{"x_cm":60,"y_cm":50,"z_cm":1}`, dark, standing(), []fault{{"CONDITION", "above_table", "z_cm"}, {"CONDITION", "in_front", "y_cm"}, {"STALE_FACT", "powered", "torque_on"}}},
		{"6 kinematics", "move_to", `{"x_cm":60,"y_cm":40,"z_cm":50}`, snapshot(), standing(), []fault{{"UNREACHABLE", "reachable", "x_cm"}}},
		{"7 licence", "pick", `{"name":"blue cube"}`, snapshot(valued("door", textValue("open"))), standing(), []fault{{"NOT_LICENSED", "", "name"}}},
		{"8 approval", "pick", `{"name":"red cube"}`, snapshot(valued("door", textValue("open"))), standing(), []fault{{"NEEDS_APPROVAL", "shut", "door"}}},
		{"8 approvals", "move_to", `{"x_cm":0,"y_cm":0,"z_cm":40.3}`, snapshot(), standing(), []fault{{"NEEDS_APPROVAL", "low", "z_cm"}, {"NEEDS_APPROVAL", "stretch", "x_cm"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := bench(t)
			cleared, l := g.Judge(call(c.verb, c.args), c.w, c.st, licence{"red cube"})
			demand(t, cleared, l, c.want...)
			if early := c.name[0] < '6'; early && p.asked() != 0 {
				t.Error("kinematics before stage 6")
			}
		})
	}
}

// Who is not offered a verb cannot use it: withdrawn by the alignment, of another mode, or a person's.
//
// Verifies: J06
func TestWhatIsNotOffered(t *testing.T) {
	c, p := openContract(t, benchFile), newPlanner()
	out := gate.New(c, contract.Alignment{Mode: "sim", Withdrawn: map[string]string{"move_to": "no encoders", "get_state": "no bus"}}, p)
	for verb, want := range map[string]reject.Code{"move_to": "NOT_PERMITTED", "get_state": "NOT_PERMITTED", "nod": "NOT_PERMITTED", "home": "", "turn": ""} {
		cleared, l := out.Judge(call(verb, orEmpty(good[verb])), snapshot(), standing(), nil)
		if want == "" {
			demand(t, cleared, l)
			continue
		}
		demand(t, cleared, l, fault{want, "", "capability"})
	}
	nowhere := gate.New(c, contract.Alignment{}, p) // nothing is known of the driver: what is for one mode is not permitted
	cleared, l := nowhere.Judge(call("nod", `{}`), snapshot(), standing(), nil)
	demand(t, cleared, l, fault{"NOT_PERMITTED", "", "capability"})
	g, _ := bench(t)
	asPerson := call("rest", `{}`)
	asPerson.Person = true
	cleared, l = g.Judge(asPerson, snapshot(), standing(), nil)
	demand(t, cleared, l)
	_, l = g.Judge(call("rset", `{}`), snapshot(), standing(), nil)
	if says := l[0].Says; !strings.Contains(says, "home") || strings.Contains(says, "rest") || strings.Contains(says, "turn") || strings.Contains(says, "nod") {
		t.Errorf("an unknown verb is answered with what is not offered: %s", says)
	}
}

func orEmpty(args string) string {
	if args == "" {
		return `{}`
	}
	return args
}

// A condition for another mode does not count; for this mode it does.
//
// Verifies: J06
func TestConditionsOfTheMode(t *testing.T) {
	c, p := openContract(t, benchFile), newPlanner()
	g := gate.New(c, contract.Alignment{Mode: "hardware"}, p)
	cleared, l := g.Judge(call("move_to", good["move_to"]), snapshot(), standing(), nil)
	demand(t, cleared, l, fault{"STALE_FACT", "floor_free", "floor_n"})
	for v, want := range map[float64][]fault{5: nil, 5.5: {{"CONDITION", "floor_free", "floor_n"}}} {
		w := snapshot(func(m map[string]world.Fact) {
			m["floor_n"] = world.Fact{Name: "floor_n", Witness: "scale", Value: number(v), At: now}
		})
		cleared, l = g.Judge(call("move_to", good["move_to"]), w, standing(), nil)
		demand(t, cleared, l, want...)
	}
}

// A planner's refusal is the gate's, and a planner that finds nothing is one too.
//
// Verifies: J07
func TestNoPlanNoMotion(t *testing.T) {
	for verb, args := range good {
		moves := !slices.Contains(looks, verb)
		g, p := bench(t)
		r := reject.New(reject.PathBlocked, "the path meets the table").In("x_cm").Saw("1", "2", "cm")
		p.refuses = &r
		c, l := g.Judge(call(verb, args), snapshot(), standing(), nil)
		if moves {
			demand(t, c, l, fault{"PATH_BLOCKED", "", "x_cm"})
		}
		p.refuses, p.none = nil, true
		c, l = g.Judge(call(verb, args), snapshot(), standing(), nil)
		if moves {
			demand(t, c, l, fault{"UNREACHABLE", "", "capability"})
		} else {
			demand(t, c, l)
		}
	}
}

// A plan may take as long as its verb, and no longer.
//
// Verifies: J07
func TestNoPlanPastTheTimeout(t *testing.T) {
	for verb, args := range good {
		if slices.Contains(looks, verb) {
			continue
		}
		g, p := bench(t)
		limit := openContract(t, benchFile).Capability(verb).Timeout
		p.takes = limit
		c, l := g.Judge(call(verb, args), snapshot(), standing(), nil)
		demand(t, c, l)
		p.takes = limit + 1
		c, l = g.Judge(call(verb, args), snapshot(), standing(), nil)
		demand(t, c, l, fault{"UNREACHABLE", "timeout_s", "capability"})
	}
}

// The changed objects are those of the call, aliases resolved and bound ones included.
//
// Verifies: J08
func TestLicence(t *testing.T) {
	all := []string{"red cube", "blue cube", "green cube"}
	refused := func(fields ...string) (l []fault) {
		for _, f := range fields {
			l = append(l, fault{"NOT_LICENSED", "", f})
		}
		return l
	}
	for i, c := range []struct {
		verb, args string
		allowed    licence
		want       []fault
	}{
		{"pick", `{"name":"blue cube"}`, licence{"blue cube"}, nil},
		{"pick", `{"name":"blue block"}`, licence{"blue cube"}, nil},
		{"pick", `{"name":"blue block"}`, licence{"blue block"}, refused("name")},
		{"pick", `{"name":"blue cube"}`, licence{"red cube"}, refused("name")},
		{"pick", `{"name":"red cube"}`, licence{"blue cube"}, refused("name")},
		{"pick", `{"name":"blue cube"}`, licence{}, refused("name")},
		{"pick", `{"name":"blue cube"}`, all, nil},
		{"place", `{"target":"tray"}`, licence{"red cube"}, nil},
		{"place", `{"target":"tray"}`, licence{"blue cube"}, refused("moved")},
		{"dock", `{"upper":"red cube","lower":"blue cube"}`, all, nil},
		{"dock", `{"upper":"red cube","lower":"blue cube"}`, licence{"red cube"}, refused("lower")},
		{"dock", `{"upper":"red cube","lower":"blue cube"}`, licence{"blue cube"}, refused("upper")},
		{"dock", `{"upper":"red cube","lower":"blue cube"}`, licence{}, refused("upper", "lower")},
		{"move_to", good["move_to"], licence{}, nil},
		{"home", `{}`, licence{}, nil},
		{"find_object", `{"name":"red cube"}`, licence{}, nil},
		{"reach_of", `{"name":"blue cube"}`, licence{}, nil},
		{"pick", `{"name":"green cube"}`, licence{}, []fault{{"UNREACHABLE", "reachable", "name"}}},
	} {
		t.Run(fmt.Sprint(i, c.verb, c.allowed), func(t *testing.T) {
			g, _ := bench(t)
			cleared, l := g.Judge(call(c.verb, c.args), snapshot(), standing(), c.allowed)
			demand(t, cleared, l, c.want...)
		})
	}
}
