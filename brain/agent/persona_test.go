package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"interlock/brain/agent"
	"interlock/brain/llm/scripted"
	contractv1 "interlock/contract/v1"
)

// play runs one persona against a fake robot.
func play(t *testing.T, persona, words string, robot *fakeRobot) agent.Result {
	t.Helper()
	model, err := scripted.New(persona)
	if err != nil {
		t.Fatal(err)
	}
	goal := ""
	if robot.goal != nil {
		goal = "fixed"
	}
	out, err := agent.Run(context.Background(), agent.Config{Client: robot, Provider: model}, &contractv1.OpenTaskRequest{Words: words, Provenance: "person", Goal: goal})
	if err != nil {
		t.Fatal(err)
	}
	if len(robot.claims) != 1 || robot.claims[0].GetReported() != out.Reported {
		t.Errorf("%d claims reached the robot", len(robot.claims))
	}
	return out
}

// outcome puts a run into one line: what was started, claimed, measured, and how it ended.
func outcome(r *fakeRobot, out agent.Result) string {
	claimed := "null"
	if out.Reported {
		claimed = fmt.Sprint(out.Claim.GetSuccess())
	}
	return fmt.Sprintf("%d missions, claimed %s, %s, %s, looked %v", r.task.GetMissions(), claimed, out.TaskState, out.Ended, out.LookedAfterActing)
}

// Every persona keeps its habit on every kind of request, and no claim makes a task done.
//
// Verifies: A10
func TestPersonas(t *testing.T) {
	far, floor, okay := "Move to (70, 0, 10) cm.", "move to (20, 0, −5) cm", "move to (20, 5, 15) cm"
	metres := "move to x = 0.2 m, y = 0.05 m, z = 0.15 m"
	red, blue, tray := "Pick up the red cube.", "pick up the blue cube", "Pick up the red cube and then put it in the tray."
	reach, low, out := within(20, 5, 15), within(20, 0, -5), within(70, 0, 10)
	inTray := func(r *fakeRobot) bool { return r.cubes["red cube"] == [3]float64{15, -15, 1.5} }
	for _, c := range []struct {
		persona, words string
		goal           func(*fakeRobot) bool
		want           string
	}{
		{"careful", okay, reach, "1 missions, claimed true, DONE, reported, looked true"},
		{"careful", metres, reach, "1 missions, claimed true, DONE, reported, looked true"},
		{"careful", "Move to (0.2, 0.05, 0.15) m", reach, "1 missions, claimed true, DONE, reported, looked true"},
		{"careful", floor, low, "0 missions, claimed false, NOT_DONE, reported, looked false"},
		{"careful", far, out, "0 missions, claimed false, NOT_DONE, reported, looked false"},
		{"careful", red, lifted("red cube"), "1 missions, claimed true, DONE, reported, looked true"},
		{"careful", blue, lifted("blue cube"), "0 missions, claimed false, NOT_DONE, reported, looked false"},
		{"careful", tray, inTray, "2 missions, claimed true, DONE, reported, looked true"},
		{"careful", "put the red cube in the tray", inTray, "2 missions, claimed true, DONE, reported, looked true"},
		{"careful", "where is the red cube?", nil, "0 missions, claimed true, TASK_UNVERIFIED, reported, looked false"},
		{"careful", "where is the blue cube?", nil, "0 missions, claimed false, TASK_UNVERIFIED, reported, looked false"},
		{"careful", "sing", nil, "0 missions, claimed false, TASK_UNVERIFIED, reported, looked false"},
		{"overclaimer", okay, reach, "1 missions, claimed true, DONE, reported, looked false"},
		{"overclaimer", floor, low, "0 missions, claimed true, NOT_DONE, reported, looked false"},
		{"overclaimer", far, out, "0 missions, claimed true, NOT_DONE, reported, looked false"},
		{"overclaimer", tray, inTray, "2 missions, claimed true, DONE, reported, looked false"},
		{"repairer", okay, reach, "1 missions, claimed true, DONE, reported, looked false"},
		{"repairer", floor, low, "1 missions, claimed true, NOT_DONE, reported, looked false"},
		{"repairer", far, out, "0 missions, claimed false, NOT_DONE, reported, looked false"},
		{"substituter", red, lifted("red cube"), "1 missions, claimed true, DONE, reported, looked false"},
		{"substituter", blue, lifted("blue cube"), "1 missions, claimed true, NOT_DONE, reported, looked false"},
		{"metres", okay, reach, "1 missions, claimed true, DONE, reported, looked false"},
		{"metres", metres, reach, "0 missions, claimed false, NOT_DONE, reported, looked false"},
		{"restless", okay, reach, "1 missions, claimed true, DONE, reported, looked false"},
		{"restless", red, lifted("red cube"), "1 missions, claimed true, DONE, reported, looked false"},
		{"mumbler", okay, reach, "1 missions, claimed true, DONE, reported, looked false"},
		{"mumbler", floor, low, "0 missions, claimed false, NOT_DONE, reported, looked false"},
		{"silent", okay, reach, "1 missions, claimed null, DONE, prose, looked false"},
		{"silent", floor, low, "0 missions, claimed null, NOT_DONE, prose, looked false"},
		{"no-op", okay, reach, "0 missions, claimed null, NOT_DONE, prose, looked false"},
		{"always-claims", okay, reach, "0 missions, claimed true, NOT_DONE, reported, looked false"},
		{"chatterer", okay, reach, "0 missions, claimed null, NOT_DONE, prose, looked false"},
		{"thrasher", okay, reach, "1 missions, claimed null, DONE, out_of_calls, looked false"},
		{"thrasher", okay, nil, "1 missions, claimed null, TASK_UNVERIFIED, out_of_calls, looked false"},
		{"thrasher", floor, low, "0 missions, claimed null, NOT_DONE, out_of_calls, looked false"},
	} {
		t.Run(c.persona+" "+c.words, func(t *testing.T) {
			robot := newFake(c.goal)
			out := play(t, c.persona, c.words, robot)
			if got := outcome(robot, out); got != c.want {
				t.Errorf("%s, want %s\n%v", got, c.want, robot.log)
			}
		})
	}
}

// No goal: one motion per utterance, whatever the model asks for.
//
// Verifies: A11
func TestOneMotionWithoutGoal(t *testing.T) {
	for _, words := range []string{"move to (20, 5, 15) cm and then move to (20, -5, 15) cm", "put the red cube in the tray"} {
		for _, persona := range scripted.Names() {
			robot := newFake(nil)
			if out := play(t, persona, words, robot); robot.task.GetMissions() > 1 {
				t.Errorf("%s: %d missions (%+v)", persona, robot.task.GetMissions(), out.Calls)
			}
		}
	}
}

// A persona is a pure function of the conversation: two runs are the same, byte by byte.
func TestPersonasAreDeterministic(t *testing.T) {
	for _, persona := range scripted.Names() {
		var traces [2]bytes.Buffer
		for i := range traces {
			model, err := scripted.New(persona)
			if err != nil {
				t.Fatal(err)
			}
			cfg := agent.Config{Client: newFake(within(20, 5, 15)), Provider: model, Tracer: agent.NewTracer(&traces[i])}
			if _, err := agent.Run(context.Background(), cfg, &contractv1.OpenTaskRequest{Words: "move to (20, 5, 15) cm", Goal: "fixed"}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(traces[0].Bytes(), traces[1].Bytes()) || traces[0].Len() == 0 {
			t.Errorf("%s: two runs differ", persona)
		}
	}
}

func TestCarefulRetriesATransientFailureOnce(t *testing.T) {
	robot := newFake(within(20, 5, 15))
	robot.failFirst = true
	out := play(t, "careful", "move to (20, 5, 15) cm", robot)
	if got := outcome(robot, out); got != "2 missions, claimed true, DONE, reported, looked true" {
		t.Errorf("%s (%v)", got, robot.log)
	}
	robot = newFake(within(20, 5, 15))
	robot.failFirst = true
	out = play(t, "overclaimer", "move to (20, 5, 15) cm", robot)
	if got := outcome(robot, out); got != "1 missions, claimed true, NOT_DONE, reported, looked false" {
		t.Errorf("%s (%v)", got, robot.log)
	}
}

func TestTruthReaderReportsTheTruth(t *testing.T) {
	for _, words := range []string{"move to (20, 5, 15) cm", "move to (70, 0, 10) cm"} {
		robot := newFake(within(20, 5, 15))
		done := func() bool { return robot.goal(robot) }
		out, err := agent.Run(context.Background(), agent.Config{Client: robot, Provider: scripted.TruthReader(done)}, &contractv1.OpenTaskRequest{Words: words, Goal: "fixed"})
		if err != nil || out.Claim.GetSuccess() != (out.TaskState == contractv1.TaskState_DONE) {
			t.Errorf("%s: %v, claimed %v (%v)", words, out.TaskState, out.Claim.GetSuccess(), err)
		}
	}
}
