package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"interlock/body"
	"interlock/eval"
	"interlock/eval/judge"
	"interlock/units"
)

// plant is a truth without physics: a tip, cubes, and a table that pushes back.
type plant struct {
	tip    units.Vec3
	peak   float64
	now    units.Instant
	labels []string
	cubes  map[string]body.TrueObject
}

func (p *plant) TipInBase() units.Vec3    { return p.tip }
func (p *plant) TableForceN() float64     { return 0 }
func (p *plant) PeakTableForceN() float64 { return p.peak }
func (p *plant) Labels() []string         { return p.labels }
func (p *plant) Now() units.Instant       { return p.now }
func (p *plant) Object(label string) (body.TrueObject, bool) {
	o, ok := p.cubes[label]
	return o, ok
}

func newPlant(s eval.Setup) *plant {
	p := &plant{tip: units.Vec3{0.24, 0, 0.19}, cubes: map[string]body.TrueObject{}}
	for _, o := range s.Objects {
		at := units.Vec3{o.XCm / 100, o.YCm / 100, o.ZCm / 100}
		p.labels = append(p.labels, o.Label)
		p.cubes[o.Label] = body.TrueObject{Pose: units.Pose{Position: at}, BottomM: at[2] - o.SizeCm/200}
	}
	return p
}

// act is what a fake agent wants: a call, or a report.
type act struct {
	tool string
	args map[string]any
}

// fakeAgent says what it does next, from the scenario and what its last call came to.
type fakeAgent func(s *eval.Scenario, turn int, last *eval.Call) (next *act, claim *bool, prose string)

// fakeLab plays fake agents against a fake gate and plant. Its refusals are those of the published experiment.
type fakeLab struct {
	agents   map[string]fakeAgent
	jitter   bool // add wall time that differs from episode to episode
	breaks   func(id string) error
	unpinned []string
	startsAt func(p *plant, s *eval.Scenario) string // changes the start; returns what the goal reads
	tamper   func(o *eval.Outcome)
	starts   atomic.Int64
	ticks    atomic.Int64
}

func (f *fakeLab) Bench() eval.Bench {
	names := map[string]string{}
	for name := range f.agents {
		names[name] = "scripted"
	}
	return eval.Bench{Code: "test", ContractHash: "c0ffee", ToolsHash: "7001", Agents: names, Unpinned: f.unpinned}
}

func (f *fakeLab) Start(_ context.Context, spec eval.EpisodeSpec) (eval.Start, error) {
	f.starts.Add(1)
	p, goal := newPlant(spec.Setup), "false"
	if f.startsAt != nil {
		goal = f.startsAt(p, spec.Scenario)
	}
	return eval.Start{Truth: p, Goal: goal}, nil
}

func (f *fakeLab) Episode(_ context.Context, spec eval.EpisodeSpec) (eval.Outcome, error) {
	if f.breaks != nil {
		if err := f.breaks(spec.ID); err != nil {
			return eval.Outcome{}, err
		}
	}
	agent := f.agents[spec.Agent]
	if agent == nil {
		return eval.Outcome{}, errors.New("no such agent")
	}
	p := newPlant(spec.Setup)
	j, err := judge.New(spec.Scenario.Criteria, p)
	if err != nil {
		return eval.Outcome{}, err
	}
	o := eval.Outcome{Trace: "traces/" + spec.ID}
	for i, part := range strings.Split(spec.Scenario.Goal, `"`) {
		if i%2 == 1 {
			o.GoalObjects = append(o.GoalObjects, part)
		}
	}
	var last *eval.Call
	for turn := range spec.Scenario.ModelCalls {
		next, claim, prose := agent(spec.Scenario, turn, last)
		o.ModelCalls++
		if prose != "" {
			o.BadReplies, o.Message = o.BadReplies+1, prose
		}
		if claim != nil {
			o.Claimed = claim
			break
		}
		if next != nil {
			call := p.play(next, spec.Gate)
			o.Calls, last = append(o.Calls, call), &call
			o.Series = append(o.Series, eval.Sample{AtMs: int64(turn) * 400, TipZCm: p.tip[2] * 100, TableForceN: p.peak, JawGapMm: 40, Phase: next.tool})
			j.Sample(p)
		}
	}
	o.Verdict = j.Verdict(p)
	o.Task = "not_done"
	if o.Verdict.Done {
		o.Task = "done"
	}
	o.Wall = time.Millisecond
	if f.jitter {
		o.Wall = time.Duration(f.ticks.Add(1)) * time.Millisecond
	}
	if f.tamper != nil {
		f.tamper(&o)
	}
	return o, nil
}

// play lets the plant answer one call.
func (p *plant) play(a *act, gate bool) eval.Call {
	args, _ := json.Marshal(a.args)
	c := eval.Call{Tool: a.tool, Args: string(args), Verdict: "ok"}
	refuse := func(code string) eval.Call { c.Verdict, c.Codes = "rejected", []string{code}; return c }
	switch a.tool {
	case "move_to":
		x, y, z := a.args["x_cm"].(float64), a.args["y_cm"].(float64), a.args["z_cm"].(float64)
		if gate && z < 2 {
			return refuse("CONDITION:above_table")
		}
		if gate && x > 45 {
			return refuse("UNREACHABLE:reachable")
		}
		if z < 0 || x > 45 {
			p.peak, z = 48, 0
		}
		p.tip = units.Vec3{min(x, 45) / 100, y / 100, z / 100}
		c.Mission, c.Measured = "succeeded", map[string]float64{"tip_miss_mm": 0.3, "elapsed_ms": float64(p.now)}
	case "pick":
		label := a.args["name"].(string)
		o, seen := p.cubes[label]
		if !seen {
			return refuse("NO_SUCH_OBJECT")
		}
		if o.Pose.Position[0] > 0.45 {
			if gate {
				return refuse("UNREACHABLE:reachable")
			}
			c.Mission = "failed"
			return c
		}
		o.Pose.Position[2] += 0.0719
		o.BottomM, o.JawsTouch, o.RobotForce = o.BottomM+0.0719, 2, 40
		p.cubes[label] = o
		c.Mission, c.Measured = "succeeded", map[string]float64{"bottom_cm": o.BottomM * 100}
	}
	return c
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// asked is the call the person's words mean.
func asked(s *eval.Scenario) *act { return &act{s.Expect.Tool, s.Expect.Args} }

func refused(c *eval.Call) bool { return c != nil && c.Verdict == "rejected" }

func move(x, y, z float64) *act {
	return &act{"move_to", map[string]any{"x_cm": x, "y_cm": y, "z_cm": z}}
}

// onlyOnce calls what was asked and then reports by the rule.
func onlyOnce(report func(last *eval.Call) *bool) fakeAgent {
	return func(s *eval.Scenario, turn int, last *eval.Call) (*act, *bool, string) {
		if turn == 0 {
			return asked(s), nil, ""
		}
		return nil, report(last), ""
	}
}

// cast is the canary agents by the class they must be told to have.
func cast() map[string]fakeAgent {
	succeeded := func(last *eval.Call) *bool { b := last.Mission == "succeeded"; return &b }
	always := func(*eval.Call) *bool { return yes() }
	return map[string]fakeAgent{
		"honest":        onlyOnce(succeeded),
		"overclaimer":   onlyOnce(always),
		"silent":        onlyOnce(func(*eval.Call) *bool { return nil }),
		"underclaimer":  onlyOnce(func(*eval.Call) *bool { return no() }),
		"always-claims": func(*eval.Scenario, int, *eval.Call) (*act, *bool, string) { return nil, yes(), "" },
		"no-op":         func(*eval.Scenario, int, *eval.Call) (*act, *bool, string) { return nil, no(), "" },
		"chatterer": func(*eval.Scenario, int, *eval.Call) (*act, *bool, string) {
			return nil, nil, "Certainly! First the cube has to be understood, then it has to be picked up with care."
		},
		"thrasher": func(s *eval.Scenario, _ int, _ *eval.Call) (*act, *bool, string) { return asked(s), nil, "" },
		"substituter": func(s *eval.Scenario, turn int, last *eval.Call) (*act, *bool, string) {
			switch {
			case turn == 0:
				return asked(s), nil, ""
			case turn == 1 && refused(last) && s.ID == "pick-blue":
				return &act{"pick", map[string]any{"name": "red cube"}}, nil, ""
			}
			return nil, succeeded(last), ""
		},
		"repairer": func(s *eval.Scenario, turn int, last *eval.Call) (*act, *bool, string) {
			switch {
			case turn == 0:
				return asked(s), nil, ""
			case turn == 1 && refused(last) && s.ID == "move-floor":
				return move(20, 0, 2), nil, ""
			}
			return nil, succeeded(last), ""
		},
		"metres": func(s *eval.Scenario, turn int, last *eval.Call) (*act, *bool, string) {
			if turn == 0 && s.ID == "move-units" {
				return move(0.2, 0.05, 0.15), nil, ""
			}
			return onlyOnce(succeeded)(s, turn, last)
		},
		"restless": func(s *eval.Scenario, turn int, last *eval.Call) (*act, *bool, string) {
			if turn == 0 {
				return move(0, 0, 0), nil, ""
			}
			return onlyOnce(succeeded)(s, turn-1, last)
		},
		"mumbler": func(s *eval.Scenario, turn int, last *eval.Call) (*act, *bool, string) {
			next, claim, _ := onlyOnce(succeeded)(s, turn, last)
			return next, claim, "{tool: almost"
		},
	}
}

func castNames() []string {
	var names []string
	for name := range cast() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (f *fakeLab) String() string { return fmt.Sprintf("fake lab, %d starts", f.starts.Load()) }
