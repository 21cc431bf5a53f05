package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"interlock/brain/action"
	"interlock/brain/agent"
	"interlock/brain/llm"
	contractv1 "interlock/contract/v1"
)

// records decodes a trace.
func records(t *testing.T, trace *bytes.Buffer) (out []agent.Record) {
	t.Helper()
	for dec := json.NewDecoder(trace); dec.More(); {
		var r agent.Record
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// The trace holds what the model and its server sent so exactly that it can be said again.
//
// Verifies: N07
func TestTheTraceCanBeSaidAgain(t *testing.T) {
	p := says("", yes)
	p.replies[0] = llm.Reply{
		Raw: []byte("ok\xff"), StopReason: "tool_calls", Tokens: llm.Tokens{Prompt: 7, Completion: 3}, Wire: []byte("data: \xfe\n\n"),
		ToolCalls: []llm.ToolCall{
			{ID: "a", Name: "get_state", ArgumentsText: `{}`, Decoded: true},
			{Name: "move\xff", ArgumentsText: "{\"x\": \xff", Decoded: false},
			{Name: "pick", ArgumentsText: ``},
		},
	}
	p.replies[1].Wire = []byte(`{"é":1}`)
	var trace bytes.Buffer
	run(t, newFake(nil), p, func(c *agent.Config) {
		c.Native, c.Tracer = true, agent.NewTracer(&trace)
		c.Profile = action.Profile{Think: []action.Think{{Open: "<think>", Close: "</think>"}}}
	})
	steps := records(t, &trace)
	if len(steps) != 4 {
		t.Fatalf("%d records", len(steps))
	}
	if o := steps[0].Open; !o.Native || o.Constrained || len(o.Profile.Think) != 1 {
		t.Errorf("the opening does not say how replies are read: %+v", o)
	}
	for i, want := range p.replies {
		if got := steps[i+1].Reply(); !reflect.DeepEqual(normal(got), normal(want)) {
			t.Errorf("reply %d came back as %+v, want %+v", i+1, got, want)
		}
	}
}

// normal makes empty and absent bytes the same.
func normal(r llm.Reply) llm.Reply {
	if len(r.Raw) == 0 {
		r.Raw = nil
	}
	if len(r.Wire) == 0 {
		r.Wire = nil
	}
	return r
}

// A constrained model is told of the branch to decline, and taking it calls nothing and claims nothing.
//
// Verifies: N08
func TestDecliningIsNoCallAndNoClaim(t *testing.T) {
	none := `{"tool":"none","arguments":{"reason":"that is not mine to do"}}`
	p := says(state, none, moveA)
	robot := newFake(func(*fakeRobot) bool { return false })
	out := run(t, robot, p, func(c *agent.Config) { c.Constrained = true })
	if out.Ended != agent.Declined || out.Reported || len(robot.log) != 1 || out.ModelCalls != 2 || len(out.Prose) != 1 || !strings.Contains(out.Prose[0], "not mine") {
		t.Errorf("%v, reported %v, %v, %q", out.Ended, out.Reported, robot.log, out.Prose)
	}
	if !p.requests[0].Constrained || !strings.Contains(p.requests[0].Messages[0].Content, `{"tool": "none"`) {
		t.Error("the model was not told how to decline")
	}
	for _, spec := range p.requests[0].Tools {
		if spec.Name == llm.DeclineName {
			t.Error("declining is offered as a tool")
		}
	}
	// Without a schema there is no such branch: the name is unknown like any other.
	out = run(t, newFake(nil), says(none, yes), nil)
	if out.Ended != agent.Reported || out.Corrections != 1 {
		t.Errorf("unconstrained: %v after %d corrections", out.Ended, out.Corrections)
	}
	both := agent.Config{Client: newFake(nil), Provider: says(yes), Native: true, Constrained: true}
	if _, err := agent.Run(context.Background(), both, &contractv1.OpenTaskRequest{}); err == nil {
		t.Error("native and constrained at once")
	}
}

// What the server could not hand on of the model's answer is corrected like any unreadable reply, within the same bound;
// what is the line's fault ends the run with an error.
//
// Verifies: N09
func TestFaultsOfTheModelAreCorrected(t *testing.T) {
	for _, kind := range []llm.FaultKind{llm.ToolUnparsed, llm.Swallowed, llm.Dropped, llm.Oversized} {
		p := &failing{fault: &llm.Fault{Kind: kind, Raw: []byte(moveA), Wire: []byte("wire")}, times: 2}
		var trace bytes.Buffer
		robot := newFake(nil)
		out := run(t, robot, p, func(c *agent.Config) { c.Tracer = agent.NewTracer(&trace) })
		if out.Ended != agent.Reported || out.Corrections != 2 || out.ModelCalls != 3 || len(robot.log) != 0 {
			t.Errorf("%s: %v after %d corrections, %v", kind, out.Ended, out.Corrections, robot.log)
		}
		if r := records(t, &trace)[1]; r.Fault == "" || r.Wire != "wire" || r.Raw != moveA || r.StopReason != "" || r.Feedback == "" || r.Reading.Kind != "truncated" {
			t.Errorf("%s: the trace holds %+v", kind, r)
		}
		p.times, p.calls = 9, 0
		if out := run(t, newFake(nil), p, nil); out.Ended != agent.Unreadable || out.ModelCalls != 3 {
			t.Errorf("%s, again and again: %v after %d calls", kind, out.Ended, out.ModelCalls)
		}
	}
	for _, kind := range []llm.FaultKind{llm.Unreachable, llm.TimedOut, llm.Cancelled, llm.Refused, llm.OffProtocol, llm.KeyEchoed, llm.BadRequest} {
		p := &failing{fault: &llm.Fault{Kind: kind}, times: 1}
		out, err := agent.Run(context.Background(), agent.Config{Client: newFake(nil), Provider: p}, &contractv1.OpenTaskRequest{})
		if err == nil || out.Ended != agent.Lost || p.calls != 1 {
			t.Errorf("%s: %v, %v after %d calls", kind, out.Ended, err, p.calls)
		}
	}
}

// failing has a fault so many times and reports then.
type failing struct {
	fault        *llm.Fault
	times, calls int
}

func (*failing) Name() string { return "test:failing" }

func (p *failing) Chat(context.Context, llm.Request) (llm.Reply, error) {
	p.calls++
	if p.calls <= p.times {
		return llm.Reply{}, p.fault
	}
	return llm.Reply{Raw: []byte(yes), StopReason: "stop"}, nil
}
