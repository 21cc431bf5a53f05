package robot_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/robot"
	"interlock/transport"
)

// TestRefusals: every fault of a call at once, with the field; nothing moves; the corrected call runs.
//
// Verifies: P18
// Verifies: P31
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		capability, args string
		want             string // CODE:field CODE:field …
	}{
		// vllm-project/vllm#47906: a server that makes a string of every bare value
		"three strings for numbers": {"move_to", `{"x_cm":"20","y_cm":"0","z_cm":"5"}`, "WRONG_TYPE:x_cm WRONG_TYPE:y_cm WRONG_TYPE:z_cm"},
		// ml-explore/mlx-lm#1310: a value that is no number beside a good target
		"a date for a speed":  {"move_to", `{"x_cm":20,"y_cm":0,"z_cm":5,"speed_mps":"2026-01-15"}`, "WRONG_TYPE:speed_mps"},
		"a boolean and null":  {"move_to", `{"x_cm":true,"y_cm":null,"z_cm":5}`, "WRONG_TYPE:x_cm WRONG_TYPE:y_cm"},
		"too low":             {"move_to", moveTo(20, 0, -5), "CONDITION:z_cm"},
		"out of reach":        {"move_to", moveTo(70, 0, 10), "UNREACHABLE:x_cm"},
		"metres":              {"move_to", moveTo(0.2, 0.05, 0.15), "CONDITION:z_cm"},
		"unknown verb":        {"fly", `{}`, "UNKNOWN_CAPABILITY:capability"},
		"no JSON":             {"move_to", `{"x_cm":20,`, "MALFORMED:"},
		"a key twice":         {"move_to", `{"x_cm":20,"x_cm":21,"y_cm":0,"z_cm":5}`, "DUPLICATE_KEY:x_cm"},
		"no object of a name": {"pick", `{"name":"red cube"}`, "NO_SUCH_OBJECT:name"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, set{}, func(t *testing.T, r *rig) {
				task := r.open("")
				ack := r.start(request("m1", c.capability, c.args, task))
				var got []string
				for _, x := range ack.GetRejections() {
					field := x.GetField()
					if x.GetCode() == "MALFORMED" {
						field = "" // where in the text is strictjson's affair
					}
					got = append(got, x.GetCode()+":"+field)
					if x.GetSays() == "" || x.GetRetry() == "" {
						t.Errorf("%v", x)
					}
				}
				if ack.GetAccepted() || strings.Join(got, " ") != c.want || !strings.HasPrefix(ack.GetReason(), "rejected_") {
					t.Errorf("%v, want %s", ack, c.want)
				}
				if rec := r.task(task); rec.GetRejections() != 1 || rec.GetMissions() != 0 || r.sent() != 0 {
					t.Errorf("%v, %d setpoints", rec, r.sent())
				}
				r.accepted("m1", "move_to", moveTo(20, 0, 5), task) // a refusal is no mission: the id is free
				r.ends("m1", "VERIFIED")
			})
		})
	}
}

// TestMissionID: a start needs an id, of a size that can be remembered; all faults come at once.
//
// Verifies: R20
func TestMissionID(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		r.refused(request("", "home", "{}", "task-9"), "MISSING_ARGUMENT", "NOT_IN_ENUM")
		r.refused(request(strings.Repeat("x", 129), "home", "{}", ""), "TOO_LARGE")
		r.accepted(strings.Repeat("x", 128), "home", "{}", "")
	})
}

// TestNoMotionAfterTheLatch: wherever in a mission the stop comes, the arm is brought to rest by at most the 40 writes
// of its ramp, and after them nothing reaches it.
//
// Verifies: P01
func TestNoMotionAfterTheLatch(t *testing.T) {
	const ramp = 40 // steps of 2 ms in 80 ms
	for tick := 3; tick < 60; tick += 4 {
		t.Run(strconv.Itoa(tick), func(t *testing.T) {
			run(t, set{}, func(t *testing.T, r *rig) {
				followed, resume := r.midway(tick, there, "")
				r.guard.Stop("test")
				sent := r.sent()
				resume()
				events := <-followed
				last := events[len(events)-1]
				if got := word(last); got != "ABORTED(stop)" && got != "VERIFIED" {
					t.Fatalf("%s", got)
				}
				at, ramped := r.truth.TipInBase(), r.sent()
				if ramped-sent > ramp {
					t.Errorf("%d writes after the latch", ramped-sent)
				}
				for i := range 5 {
					r.start(request("late"+strconv.Itoa(i), "move_to", moveTo(20, 0, 10), ""))
				}
				check(t, r.guard.Advance(2*time.Second))
				if r.sent() != ramped || r.moved(at) > 0.002 {
					t.Errorf("%d writes and %.1f mm after the end", r.sent()-ramped, r.moved(at)*1000)
				}
			})
		})
	}
}

// TestNoWayToReset: what an agent can call is a closed list, none of it opens the latch, and the robot has no method
// beside that list but those named here.
//
// Verifies: P02
func TestNoWayToReset(t *testing.T) {
	reachable := map[string]bool{
		"Run":     true, // by whoever built the robot
		"Explain": true, // by a person beside it; it judges and starts nothing
		"Realign": true, // by whoever built the robot; it only takes another body's words
		"Person":  true, // by whoever built the robot, for a listener that no agent is told of
	}
	client := reflect.TypeFor[transport.Client]()
	for i := range client.NumMethod() {
		reachable[client.Method(i).Name] = true
	}
	shell := reflect.TypeFor[*robot.Robot]()
	for i := range shell.NumMethod() {
		if name := shell.Method(i).Name; !reachable[name] {
			t.Errorf("the robot has a method %s that no transport knows", name)
		}
	}
	run(t, set{}, func(t *testing.T, r *rig) {
		number := r.guard.Stop("test")
		random := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			r.anyCall(t.Context(), random, number)
		}
		if l := r.guard.Latch(); !l.Stopped || l.Number != number || r.sent() != 0 {
			t.Errorf("%v, %d setpoints", l, r.sent())
		}
	})
}

// anyCall makes one call of any kind with any words, those of a reset among them.
func (r *rig) anyCall(ctx context.Context, random *rand.Rand, number uint64) {
	words := []string{"", "reset", "stop", "operator", "clear", "home", "move_to", "get_state", "task-1", "task-2", "m1", strconv.FormatUint(number, 10), "true", "person"}
	any := func() string { return words[random.IntN(len(words))] }
	args := []string{"{}", there, `{"number":` + any() + `}`, `{"reset":true}`, `"reset"`, any()}
	switch random.IntN(7) {
	case 0:
		_, _ = r.client.Start(ctx, request(any(), any(), args[random.IntN(len(args))], any()))
	case 1:
		_, _ = r.client.Cancel(ctx, &contractv1.CancelRequest{MissionId: any()})
	case 2:
		_, _ = r.client.OpenTask(ctx, &contractv1.OpenTaskRequest{Words: any(), Provenance: any(), Goal: any(), MayChange: []string{any()}})
	case 3:
		_, _ = r.client.Claim(ctx, &contractv1.ClaimRequest{TaskId: any(), Claim: &contractv1.Claim{Reported: true, Success: true, Message: any()}})
	case 4:
		_, _ = r.client.Task(ctx, &contractv1.TaskRequest{TaskId: any()})
	case 5:
		_, _ = r.client.Observe(ctx, &contractv1.ObserveRequest{})
	case 6:
		_, _ = r.from(ctx, any(), random.Uint64N(5))
	}
}
