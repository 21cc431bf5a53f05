package gate_test

import (
	"testing"

	"interlock/reject"
	"interlock/robot/gate"
	"interlock/units"
)

// desk says yes or no, and keeps what it was asked.
type desk struct {
	yes   bool
	asked []string
	why   reject.List
}

// Approved implements gate.Approvals.
func (d *desk) Approved(capability string, args []byte, because reject.List) (string, bool) {
	d.asked, d.why = append(d.asked, capability+" "+string(args)), because
	return "seal", d.yes
}

// A call that only lacks a person's word is cleared by one, and only then: every other stage decides before it, and where
// nobody can be asked the call must be another one.
//
// Verifies: J20
func TestAPersonDecidesLast(t *testing.T) {
	ajar := snapshot(valued("door", textValue("open")))
	soft, foreign := call("pick", `{"name":"red block"}`), call("pick", `{"name":"blue cube"}`)
	shut, unlicensed := fault{"NEEDS_APPROVAL", "shut", "door"}, fault{"NOT_LICENSED", "", "name"}
	for name, c := range map[string]struct {
		call  gate.Call
		d     *desk
		want  []fault
		asks  string
		why   int
		retry reject.Retry
	}{
		"allowed, a condition": {soft, &desk{yes: true}, nil, `pick {"name":"red cube"}`, 1, ""},
		"allowed, both":        {foreign, &desk{yes: true}, nil, `pick {"name":"blue cube"}`, 2, ""},
		"not yet, a condition": {soft, &desk{}, []fault{shut}, `pick {"name":"red cube"}`, 1, reject.AfterOperator},
		"not yet, both":        {foreign, &desk{}, []fault{shut, unlicensed}, `pick {"name":"blue cube"}`, 2, reject.AfterOperator},
		"nobody, a condition":  {soft, nil, []fault{shut}, "", 0, reject.AsChanged},
		"nobody, an object":    {foreign, nil, []fault{unlicensed}, "", 0, reject.AsChanged},
		"hard beside soft":     {call("pick", `{"name":"green cube"}`), &desk{yes: true}, []fault{{"UNREACHABLE", "reachable", "name"}}, "", 0, reject.AsChanged},
		"shape before":         {call("pick", `{"name":7}`), &desk{yes: true}, []fault{{"WRONG_TYPE", "", "name"}}, "", 0, reject.AsChanged},
		"nothing to ask":       {call("home", `{}`), &desk{yes: false}, nil, "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := bench(t)
			st := standing()
			if c.d != nil {
				st.Approvals = c.d
			}
			cleared, l := g.Judge(c.call, ajar, st, licence{"red cube"})
			demand(t, cleared, l, c.want...)
			for _, r := range l {
				if r.Retry != c.retry {
					t.Errorf("%s says %s, want %s", r.Code, r.Retry, c.retry)
				}
			}
			if c.d == nil {
				return
			}
			switch {
			case c.asks == "" && len(c.d.asked) > 0:
				t.Errorf("a person was asked for %q", c.d.asked)
			case c.asks != "" && (len(c.d.asked) != 1 || c.d.asked[0] != c.asks || len(c.d.why) != c.why):
				t.Errorf("a person was asked for %q because of %v", c.d.asked, c.d.why)
			}
			if want := map[bool]string{true: "seal"}[c.asks != "" && c.d.yes]; cleared.Approval() != want {
				t.Errorf("cleared by %q, want %q", cleared.Approval(), want)
			}
		})
	}
}

// What another holds refuses every verb that moves, beside a stop and a motion, and none that looks.
//
// Verifies: J21
func TestWhatAnotherHoldsDoesNotMove(t *testing.T) {
	held := reject.List{reject.New(reject.NoLease, "lapsed").By("lapsed").In("lease.epoch"), reject.New(reject.Busy, "held").By("lease").In("holds")}
	for verb, args := range good {
		g, p := bench(t)
		st := standing()
		st.Held = held
		cleared, l := g.Judge(call(verb, args), snapshot(), st, nil)
		if c := cleared.Capability(); c != nil && c.ReadOnly {
			demand(t, cleared, l)
			continue
		}
		if verb == "get_state" || verb == "find_object" || verb == "reach_of" {
			t.Errorf("%s was refused: %v", verb, l)
			continue
		}
		demand(t, cleared, l, fault{"NO_LEASE", "lapsed", "lease.epoch"}, fault{"BUSY", "lease", "holds"})
		if p.asked() != 0 {
			t.Errorf("%s: the planner was asked", verb)
		}
	}
}

// What a person may allow never hides what nobody can know: an object outside the licence beside a reading that is too old.
//
// Verifies: J20
func TestNobodyIsAskedAboutAReading(t *testing.T) {
	g, _ := tabletop(t)
	st := armStanding()
	d := &desk{yes: true}
	st.Approvals = d
	w := gripping(units.Vec3{0.2, 0, 0.08}, cubeAt("blue cube", 0.2, 0, 0.08), cubeAt("green cube", 0.2, 0.01, 0.08)).without("jaw_gap_mm").snapshot()
	cleared, l := g.Judge(call("pick", `{"name":"blue cube"}`), w, st, licence{"red cube"})
	demand(t, cleared, l, fault{"NOT_LICENSED", "", "name"}, fault{"STALE_FACT", "held", "jaw_gap_mm"})
	if len(d.asked) > 0 {
		t.Errorf("a person was asked for %q", d.asked)
	}
}
