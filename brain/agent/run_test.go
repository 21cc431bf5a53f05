package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/brain/agent"
	"interlock/brain/llm"
	"interlock/brain/tool"
	contractv1 "interlock/contract/v1"
)

// lines is a provider that says its replies in order, the last one for ever.
type lines struct {
	replies  []llm.Reply
	requests []llm.Request
	err      error
	before   func(n int)
}

func (p *lines) Name() string { return "test:lines" }

func (p *lines) Chat(_ context.Context, req llm.Request) (llm.Reply, error) {
	req.Messages = slices.Clone(req.Messages)
	p.requests = append(p.requests, req)
	n := len(p.requests) - 1
	if p.before != nil {
		p.before(n)
	}
	if p.err != nil && n == len(p.replies) {
		return llm.Reply{}, p.err
	}
	return p.replies[min(n, len(p.replies)-1)], nil
}

func says(texts ...string) *lines {
	p := &lines{}
	for _, t := range texts {
		p.replies = append(p.replies, llm.Reply{Raw: []byte(t), StopReason: "stop", Tokens: llm.Tokens{Prompt: 7, Completion: 3}})
	}
	return p
}

const (
	moveA  = `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`
	moveB  = `{"tool":"move_to","arguments":{"x_cm":25,"y_cm":5,"z_cm":15}}`
	state  = `{"tool":"get_state","arguments":{}}`
	yes    = `{"tool":"report_result","arguments":{"success":true,"message":"done"}}`
	broken = `{"tool":"move_to" "arguments":{}}`
)

func run(t *testing.T, robot *fakeRobot, p llm.Provider, change func(*agent.Config)) agent.Result {
	t.Helper()
	cfg := agent.Config{Client: robot, Provider: p}
	if change != nil {
		change(&cfg)
	}
	goal := ""
	if robot.goal != nil {
		goal = "fixed"
	}
	out, err := agent.Run(context.Background(), cfg, &contractv1.OpenTaskRequest{Words: "move", Goal: goal})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func verdicts(out agent.Result) string {
	var all []string
	for _, c := range out.Calls {
		all = append(all, strings.Join(append([]string{c.Tool, string(c.Verdict), c.Mission}, c.Codes...), " "))
	}
	return strings.Join(all, "; ")
}

// Malformed text never reaches the robot, is answered with feedback within the bound, and then fails visibly.
//
// Verifies: P31
// Verifies: A12
func TestUnreadableRepliesAreBounded(t *testing.T) {
	never := func(*fakeRobot) bool { return false }
	for _, bad := range []string{broken, moveA + moveB, "Sure: " + moveA, `{"tool":"move_to","arguments":{"x_cm":1,"x_cm":2}}`, `{"tool":"fly","arguments":{}}`, `{"tool":"calibrate","arguments":{}}`, moveA[:30]} {
		robot := newFake(never)
		p := says(bad, bad, bad, moveA)
		out := run(t, robot, p, nil)
		if out.Ended != agent.Unreadable || out.ModelCalls != 3 || out.Corrections != 2 || len(robot.log) != 0 || out.Reported {
			t.Errorf("%s: %v after %d calls, %d corrections, %v", bad, out.Ended, out.ModelCalls, out.Corrections, robot.log)
		}
		last := p.requests[2].Messages
		if m := last[len(last)-1]; m.Role != llm.User || !strings.Contains(m.Content, "called nothing") {
			t.Errorf("no feedback: %+v", m)
		}
	}
	robot := newFake(within(20, 5, 15))
	out := run(t, robot, says(broken, broken, moveA, broken, broken, yes), func(c *agent.Config) { c.MaxReportCalls = 5 })
	if out.Ended != agent.Reported || out.Corrections != 4 || out.TaskState != contractv1.TaskState_DONE {
		t.Errorf("the count is of replies in a row: %v %d", out.Ended, out.Corrections)
	}
}

// A cut reply is refused even where the text in it is whole.
func TestCutRepliesCallNothing(t *testing.T) {
	robot := newFake(nil)
	p := says(moveA)
	p.replies[0].StopReason = "length"
	if out := run(t, robot, p, nil); out.Ended != agent.Unreadable || len(robot.log) != 0 {
		t.Errorf("%v %v", out.Ended, robot.log)
	}
}

func TestProseIsNoClaim(t *testing.T) {
	for _, prose := range []string{"Done! The arm is at the target.", "success", `"success": true`} {
		out := run(t, newFake(within(15, 0, 20)), says(prose), nil)
		if out.Reported || out.Claim.GetSuccess() || out.Ended != agent.Prose || !slices.Equal(out.Prose, []string{prose}) {
			t.Errorf("%q: %v %v %v", prose, out.Ended, out.Claim, out.Prose)
		}
	}
	if out := run(t, newFake(nil), says(" \n"), nil); out.Ended != agent.Silence || out.Prose != nil {
		t.Errorf("%v %v", out.Ended, out.Prose)
	}
}

func TestAWrongReportIsNoClaim(t *testing.T) {
	out := run(t, newFake(nil), says(`{"tool":"report_result","arguments":{"success":"true","message":"x"}}`, `{"tool":"report_result","arguments":{"success":1}}`, yes), nil)
	want := "report_result error  WRONG_TYPE; report_result error  WRONG_TYPE MISSING_ARGUMENT; report_result ok "
	if got := verdicts(out); got != want || !out.Reported {
		t.Errorf("%s, want %s", got, want)
	}
}

// The bounds on motion are kept, and what they refuse does not reach the robot.
//
// Verifies: A13
func TestMotionIsBounded(t *testing.T) {
	never := func(*fakeRobot) bool { return false }
	ok, refused := "move_to ok succeeded", "move_to rejected  BUDGET"
	for _, c := range []struct {
		name    string
		goal    func(*fakeRobot) bool
		replies []string
		want    string
	}{
		{"one motion twice, not thrice", never, []string{moveA, moveA, moveA, yes}, ok + "; " + ok + "; " + refused + "; report_result ok "},
		{"written differently, it is the same motion", never, []string{moveA, `{"arguments":{"z_cm":15.0,"y_cm":5,"x_cm":2e1},"tool":"move_to"}`, moveA, yes}, ok + "; " + ok + "; " + refused + "; report_result ok "},
		{"no goal, one motion", nil, []string{moveA, moveB, state, yes}, ok + "; " + refused + "; get_state ok ; report_result ok "},
		{"a refused motion is none", nil, []string{`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":-5}}`, moveA, moveB, yes}, "move_to rejected  CONDITION; " + ok + "; " + refused + "; report_result ok "},
	} {
		t.Run(c.name, func(t *testing.T) {
			robot := newFake(c.goal)
			out := run(t, robot, says(c.replies...), nil)
			if got := verdicts(out); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if strings.Contains(c.want, "BUDGET") && len(robot.log) != len(out.Calls)-2 {
				t.Errorf("the robot got %v", robot.log)
			}
		})
	}
}

func TestReplansAreBounded(t *testing.T) {
	robot := newFake(func(*fakeRobot) bool { return false })
	var texts []string
	for _, z := range []string{"-5", "-4", "-3", "-2", "-1"} {
		texts = append(texts, `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":`+z+`}}`)
	}
	out := run(t, robot, says(append(texts, yes)...), func(c *agent.Config) { c.MaxReplans = 3 })
	if len(robot.log) != 4 || !slices.Equal(out.Calls[4].Codes, []string{"BUDGET"}) {
		t.Errorf("%v; %s", robot.log, verdicts(out))
	}
}

func TestOneReplyAsksForOneMotion(t *testing.T) {
	robot := newFake(func(*fakeRobot) bool { return false })
	point := `{"x_cm":20,"y_cm":5,"z_cm":15}`
	p := says("", yes)
	p.replies[0].ToolCalls = []llm.ToolCall{{Name: "move_to", ArgumentsText: point}, {Name: "open_gripper", ArgumentsText: "{}"}, {Name: "get_state", ArgumentsText: "{}"}}
	out := run(t, robot, p, func(c *agent.Config) { c.Native = true })
	if got := verdicts(out); got != "move_to ok succeeded; open_gripper rejected  BUSY; get_state ok ; report_result ok " {
		t.Error(got)
	}
	if !p.requests[0].Native {
		t.Error("tools were not offered natively")
	}
}

func TestModelCallsAreBounded(t *testing.T) {
	p := says(state)
	if out := run(t, newFake(nil), p, func(c *agent.Config) { c.MaxModelCalls = 4 }); out.Ended != agent.OutOfCalls || out.ModelCalls != 4 || len(p.requests) != 4 {
		t.Errorf("%v after %d", out.Ended, out.ModelCalls)
	}
}

// Once the task is closed, a few calls are left for the report, no motion is offered, and none runs.
func TestAClosedTaskLeavesTheReport(t *testing.T) {
	robot := newFake(within(20, 5, 15))
	p := says(moveA, moveB, state, moveB, yes)
	out := run(t, robot, p, nil)
	if out.Ended != agent.OutOfCalls || out.ModelCalls != 4 || robot.task.GetMissions() != 1 || out.TaskState != contractv1.TaskState_DONE {
		t.Errorf("%v after %d calls, %d missions: %s", out.Ended, out.ModelCalls, robot.task.GetMissions(), verdicts(out))
	}
	offered := func(n int) (names []string) {
		for _, s := range p.requests[n].Tools {
			names = append(names, s.Name)
		}
		return names
	}
	if got := offered(0); !slices.Equal(got, []string{"get_state", "find_object", "move_to", "pick", "place", "open_gripper", "report_result"}) {
		t.Errorf("offered %v", got)
	}
	if got := offered(1); !slices.Equal(got, []string{"get_state", "find_object", "report_result"}) {
		t.Errorf("offered after the end %v", got)
	}
}

// A reply that was asked for an older task is dropped whole.
//
// Verifies: A14
func TestSupersededRepliesAreDropped(t *testing.T) {
	robot := newFake(func(*fakeRobot) bool { return false })
	p := says(state, moveA)
	p.before = func(n int) {
		if n == 1 {
			robot.task.State = contractv1.TaskState_SUPERSEDED
		}
	}
	out := run(t, robot, p, nil)
	if out.Ended != agent.Superseded || len(robot.log) != 1 || out.ModelCalls != 2 {
		t.Errorf("%v, %v", out.Ended, robot.log)
	}
}

// A mission that can no longer be followed is cancelled, and nothing is said about how it ended.
func TestALostMissionEndsTheRun(t *testing.T) {
	robot := newFake(func(*fakeRobot) bool { return false })
	robot.breakAt = 2
	out := run(t, robot, says(moveA, yes), nil)
	if out.Ended != agent.Lost || !slices.Equal(robot.cancelled, []string{"task-1-m-1"}) || out.Calls[0].Mission != "" || out.Calls[0].Verdict != tool.Error {
		t.Errorf("%v, cancelled %v, %+v", out.Ended, robot.cancelled, out.Calls)
	}
}

func TestErrorsOfOursAreErrors(t *testing.T) {
	ctx := context.Background()
	gone := errors.New("the model is gone")
	p := says(moveA)
	p.err = gone
	robot := newFake(func(*fakeRobot) bool { return false })
	out, err := agent.Run(ctx, agent.Config{Client: robot, Provider: p}, &contractv1.OpenTaskRequest{Words: "move", Goal: "fixed"})
	if !errors.Is(err, gone) || out.Ended != agent.Lost || len(robot.claims) != 1 || robot.claims[0].GetReported() {
		t.Errorf("%v, %v, %v", err, out.Ended, robot.claims)
	}
	if out, err := agent.Run(ctx, agent.Config{Client: newFake(nil), Provider: p}, &contractv1.OpenTaskRequest{Goal: "nonsense"}); err != nil || out.Ended != agent.TaskRefused || len(out.Task.GetRefusals()) != 1 {
		t.Errorf("a goal that does not compile: %v, %v", out.Ended, err)
	}
	for _, cfg := range []agent.Config{{}, {Client: newFake(nil)}, {Client: newFake(nil), Provider: p, MaxModelCalls: -1}} {
		if _, err := agent.Run(ctx, cfg, &contractv1.OpenTaskRequest{}); err == nil {
			t.Errorf("%+v runs", cfg)
		}
	}
	full := agent.Config{Client: newFake(nil), Provider: says(yes), Tracer: fullDisk{}}
	if out, err := agent.Run(ctx, full, &contractv1.OpenTaskRequest{}); err == nil || !out.Reported {
		t.Errorf("a trace that cannot be written: %v, reported %v", err, out.Reported)
	}
}

type fullDisk struct{}

func (fullDisk) Trace(agent.Record) error { return errors.New("no space left") }

func TestTheTraceHoldsEveryStep(t *testing.T) {
	var trace bytes.Buffer
	clock := time.Duration(0)
	robot := newFake(within(20, 5, 15))
	low := `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":-5}}`
	out := run(t, robot, says("```json\n"+low+"\n```", "\xff"+moveA, moveA, yes), func(c *agent.Config) {
		c.Tracer = agent.NewTracer(&trace)
		c.Now = func() time.Duration { clock += 5 * time.Millisecond; return clock }
	})
	var records []agent.Record
	for dec := json.NewDecoder(&trace); dec.More(); {
		var r agent.Record
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if len(records) != 6 || out.Tokens != (llm.Tokens{Prompt: 28, Completion: 12}) {
		t.Fatalf("%d records, %+v", len(records), out.Tokens)
	}
	opened, refused, unread, moved, ended := records[0], records[1], records[2], records[3], records[5]
	if opened.Event != "open" || opened.Open.Words != "move" || opened.Open.Goal != "fixed" || !strings.Contains(opened.Open.System, "It cannot fly.") {
		t.Errorf("opening: %+v", opened.Open)
	}
	if refused.Raw != "```json\n"+low+"\n```" || refused.Reading.Changes[0].Code != "N2" || refused.Results[0].Verdict != "rejected" || refused.Results[0].Codes[0] != "CONDITION" || refused.LatencyMS != 5 {
		t.Errorf("refused step: %+v", refused)
	}
	if string(unread.RawBytes) != "\xff"+moveA || unread.Raw != "" || unread.Feedback == "" || unread.Reading.Kind != "ambiguous" {
		t.Errorf("unread step: %+v", unread)
	}
	if !moved.Replan || moved.Results[0].World["tip"] != "[20,5,15]" || moved.TaskState != "DONE" || moved.Results[0].Mission != "succeeded" || moved.Step != 3 || moved.TaskNumber != 1 {
		t.Errorf("moved step: %+v", moved)
	}
	if ended.Event != "end" || ended.End.Claimed == nil || !*ended.End.Claimed || ended.End.Ended != agent.Reported {
		t.Errorf("end: %+v", ended.End)
	}
}

func TestThePromptSaysWhatThereIs(t *testing.T) {
	p := says(yes)
	run(t, newFake(nil), p, nil)
	system := p.requests[0].Messages[0]
	for _, part := range []string{`"fake"`, `{"tool": "NAME", "arguments": {...}}`, "- move_to: Do move_to.", `"x_cm":{"type":"number"}`, "It cannot fly.", "report_result", "false if the request cannot"} {
		if !strings.Contains(system.Content, part) {
			t.Errorf("%q is missing in\n%s", part, system.Content)
		}
	}
	if strings.Contains(system.Content, "calibrate") {
		t.Error("a capability for people is offered to a model")
	}
	if m := p.requests[0].Messages[1]; system.Role != llm.System || m.Role != llm.User || m.Content != "move" || len(p.requests[0].Messages) != 2 {
		t.Errorf("the words are %+v", m)
	}
}

// Looking counts only after the last mission, and only where one ran.
func TestLookedAfterActing(t *testing.T) {
	for _, c := range []struct {
		replies []string
		want    bool
	}{
		{[]string{moveA, state, yes}, true},
		{[]string{state, moveA, yes}, false},
		{[]string{moveA, state, moveB, yes}, false},
		{[]string{moveA, state, `{"tool":"move_to","arguments":{"x_cm":70,"y_cm":0,"z_cm":10}}`, yes}, true},
		{[]string{state, yes}, false},
		{[]string{moveA, `{"tool":"find_object","arguments":{"name":"blue cube"}}`, yes}, false},
	} {
		robot := newFake(func(*fakeRobot) bool { return false })
		if out := run(t, robot, says(c.replies...), nil); out.LookedAfterActing != c.want {
			t.Errorf("%v: %v", c.replies, out.LookedAfterActing)
		}
	}
}
