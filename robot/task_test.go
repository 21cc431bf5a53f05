package robot_test

import (
	"fmt"
	"testing"
	"time"

	"interlock/body/sim"
	contractv1 "interlock/contract/v1"
	"interlock/units"
)

// cubes puts labelled cubes on the table, 10 cm apart, all within reach.
func cubes(labels ...string) func(*sim.Config) {
	return func(c *sim.Config) {
		for i, label := range labels {
			c.Objects = append(c.Objects, sim.Object{Label: label, Position: units.Vec3{0.22, 0.03 + 0.10*float64(i), 0.015}})
		}
	}
}

// TestTaskDone: the first mission after which the goal holds closes the task; what comes then is refused unjudged.
//
// Verifies: R10
func TestTaskDone(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(atThere)
		r.accepted("m1", "move_to", moveTo(20, 0, 10), task)
		r.ends("m1", "VERIFIED")
		r.is(task, contractv1.TaskState_OPEN)
		r.accepted("m2", "move_to", there, task)
		r.ends("m2", "VERIFIED")
		done := r.is(task, contractv1.TaskState_DONE)
		if len(done.GetEvidence()) == 0 || done.GetMissions() != 2 || done.GetClaim().GetReported() {
			t.Errorf("%v", done)
		}
		for _, args := range []string{there, "{", `{"x_cm":true}`} {
			if rs := r.refused(request("m3", "move_to", args, task), "NOT_PERMITTED"); rs[0].GetRule() != "task_open" {
				t.Errorf("%s: %v", args, rs)
			}
		}
		if ack := r.start(request("look", "get_state", "{}", task)); !ack.GetAccepted() {
			t.Errorf("looking is always allowed: %v", ack)
		}
		if after := r.claim(task, false); after.GetState() != contractv1.TaskState_DONE || !after.GetClaim().GetReported() || after.GetClaim().GetSuccess() {
			t.Errorf("a wrong claim: %v", after)
		}
	})
}

// TestClaimDecidesNothing: the word at the claim is what was measured. After syswonder/robonix#189: a goal that was
// looked up and never driven to, with success claimed.
//
// Verifies: R11
func TestClaimDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		goal string
		want contractv1.TaskState
	}{
		"a goal that does not hold":   {elsewhere, contractv1.TaskState_NOT_DONE},
		"a goal that holds already":   {"at(point_cm(20.74708, 1.17974, 8.84189))", contractv1.TaskState_DONE},
		"no goal":                     {"", contractv1.TaskState_TASK_UNVERIFIED},
		"an object that nobody sees":  {"bottom_cm(objects, 'red cube') >= 4.0", contractv1.TaskState_TASK_UNVERIFIED},
		"the opposite of what is not": {"!(" + elsewhere + ")", contractv1.TaskState_DONE},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, set{sim: func(c *sim.Config) { c.StartRad = sim.HomeRad() }}, func(t *testing.T, r *rig) {
				task := r.open(c.goal)
				r.start(request("look", "get_state", "{}", task))
				closed := r.claim(task, true)
				if closed.GetState() != c.want || closed.GetMissions() != 0 || !closed.GetClaim().GetSuccess() || r.sent() != 0 {
					t.Errorf("%v", closed)
				}
				if again := r.claim(task, false); again.GetState() != c.want || !again.GetClaim().GetSuccess() {
					t.Errorf("claimed once more: %v", again)
				}
			})
		})
	}
}

// TestSilence is no claim, and closes the task all the same.
//
// Verifies: R11
func TestSilence(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(elsewhere)
		closed, err := r.client.Claim(t.Context(), &contractv1.ClaimRequest{TaskId: task})
		check(t, err)
		if closed.GetState() != contractv1.TaskState_NOT_DONE || closed.GetClaim().GetReported() {
			t.Errorf("%v", closed)
		}
	})
}

// TestClaimInMotion waits for the end of the mission: what held for a moment on the way was not brought about.
//
// Verifies: R12
func TestClaimInMotion(t *testing.T) {
	const tick = 150
	onTheWay := ""
	run(t, set{}, func(t *testing.T, r *rig) {
		r.midway(tick, slowly, "")
		at := r.truth.TipInBase()
		if r.moved(units.Vec3{0.20, 0.05, 0.15}) < 0.015 || r.moved(units.Vec3{0.2075, 0.0118, 0.0884}) < 0.015 {
			t.Fatalf("%v is not on the way", at)
		}
		onTheWay = fmt.Sprintf("at(point_cm(%.3f, %.3f, %.3f))", at[0]*100, at[1]*100, at[2]*100)
	})
	for goal, want := range map[string]contractv1.TaskState{
		onTheWay: contractv1.TaskState_NOT_DONE, atThere: contractv1.TaskState_DONE, "": contractv1.TaskState_TASK_UNVERIFIED,
	} {
		run(t, set{}, func(t *testing.T, r *rig) {
			task := r.open(goal)
			followed, resume := r.midway(tick, slowly, task)
			claimed := later(func() *contractv1.Task { return r.claim(task, true) })
			second := later(func() *contractv1.Task { return r.claim(task, false) })
			resume()
			for _, c := range []*contractv1.Task{<-claimed, <-second} {
				if c.GetState() != want || !c.GetClaim().GetSuccess() || c.GetMissions() != 1 {
					t.Errorf("goal %q: %v", goal, c)
				}
			}
			events := <-followed
			if got := word(events[len(events)-1]); got != "VERIFIED" {
				t.Errorf("the mission: %s", got)
			}
		})
	}
}

// TestSuperseded: new words close the old task, cancel its mission, and answer whoever waits for its word.
//
// Verifies: R13
func TestSuperseded(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		old := r.open(atThere)
		followed, resume := r.midway(20, slowly, old)
		claimed := later(func() *contractv1.Task { return r.claim(old, true) })
		opened := later(func() string { return r.open(elsewhere) })
		resume()
		task := <-opened
		if c := <-claimed; c.GetState() != contractv1.TaskState_SUPERSEDED {
			t.Errorf("%v", c)
		}
		events := <-followed
		if got := word(events[len(events)-1]); got != "CANCELLED" {
			t.Errorf("its mission: %s", got)
		}
		r.is(old, contractv1.TaskState_SUPERSEDED)
		r.refused(request("late", "move_to", there, old), "NOT_PERMITTED")
		if got := r.is(task, contractv1.TaskState_OPEN); got.GetNumber() != 2 || got.GetMissions() != 0 {
			t.Errorf("%v", got)
		}
		r.accepted("m2", "move_to", there, task)
		r.ends("m2", "VERIFIED")
	})
}

// TestBudget: the mission beyond the budget is refused, and ends the task by what is measured then.
//
// Verifies: R14
func TestBudget(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(atThere, func(q *contractv1.OpenTaskRequest) { q.MaxMissions = 2 })
		for _, id := range []string{"m1", "m2"} {
			r.accepted(id, "move_to", moveTo(20, 0, 10), task)
			r.ends(id, "VERIFIED")
		}
		r.is(task, contractv1.TaskState_OPEN)
		if rs := r.refused(request("m3", "move_to", there, task), "BUDGET"); rs[0].GetRule() != "max_missions" || rs[0].GetLimit() != "2" {
			t.Errorf("%v", rs)
		}
		over := r.is(task, contractv1.TaskState_OVER_BUDGET)
		if over.GetMissions() != 2 || over.GetRejections() != 1 || len(over.GetEvidence()) == 0 {
			t.Errorf("%v", over)
		}
		if c := r.claim(task, true); c.GetState() != contractv1.TaskState_OVER_BUDGET || !c.GetClaim().GetSuccess() {
			t.Errorf("%v", c)
		}
	})
}

// TestBadTask: what cannot be opened is refused with every reason, and the open task stays as it is.
//
// Verifies: R15
func TestBadTask(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		task := r.open(atThere)
		for name, c := range map[string]struct {
			q      *contractv1.OpenTaskRequest
			codes  string
			fields []string
		}{
			"goal of unknown words":      {&contractv1.OpenTaskRequest{Words: "go", Provenance: "person", Goal: "shiny(tip)"}, "MALFORMED", []string{"goal"}},
			"goal that measures nothing": {&contractv1.OpenTaskRequest{Words: "go", Provenance: "person", Goal: "true"}, "MALFORMED", []string{"goal"}},
			"nobody's words":             {&contractv1.OpenTaskRequest{Words: "go", Provenance: "nobody"}, "NOT_IN_ENUM", []string{"provenance"}},
			"no words of a person's":     {&contractv1.OpenTaskRequest{Words: " \n", Provenance: "person"}, "MISSING_ARGUMENT", []string{"words"}},
			"no words that were relayed": {&contractv1.OpenTaskRequest{Provenance: "relayed"}, "MISSING_ARGUMENT", []string{"words"}},
			"all at once": {
				&contractv1.OpenTaskRequest{Goal: "tip", MaxMissions: -1},
				"MISSING_ARGUMENT MISSING_ARGUMENT MALFORMED OUT_OF_RANGE", []string{"words", "provenance", "goal", "max_missions"},
			},
		} {
			refused, err := r.client.OpenTask(t.Context(), c.q)
			check(t, err)
			if got := codesOf(refused.GetRefusals()); got != c.codes || refused.GetTaskId() != "" {
				t.Errorf("%s: %q, %v", name, got, refused)
				continue
			}
			for i, x := range refused.GetRefusals() {
				if x.GetField() != c.fields[i] {
					t.Errorf("%s: field %q, want %q", name, x.GetField(), c.fields[i])
				}
			}
		}
		r.is(task, contractv1.TaskState_OPEN)
		wordless := func(q *contractv1.OpenTaskRequest) { q.Words, q.Provenance = "", "absent" } // whose client passed on none
		if next := r.open("", wordless); next != "task-2" {
			t.Errorf("the next task is %s", next)
		}
	})
}

// TestSideEffects: what moved outside the licence while the task was open is measured and attached; what moves later
// is not this task's.
//
// Verifies: R16
func TestSideEffects(t *testing.T) {
	moved := func(label string, y float64, after time.Duration) sim.Fault {
		return sim.Fault{Kind: sim.ObjectMoved, Object: label, Vector: units.Vec3{0.30, y, 0.015}, After: after}
	}
	world := func(c *sim.Config) {
		cubes("red cube", "blue cube", "green cube")(c)
		c.Faults = []sim.Fault{
			moved("green cube", 0.2, 100*time.Millisecond), // before the task is opened
			moved("red cube", -0.1, 600*time.Millisecond),  // which the goal allows
			moved("blue cube", 0.13, 700*time.Millisecond),
			moved("green cube", 0.1, 20*time.Second), // after it was closed
		}
	}
	run(t, set{sim: world}, func(t *testing.T, r *rig) {
		check(t, r.guard.Advance(500*time.Millisecond))
		task := r.open("held('red cube')")
		r.accepted("m1", "move_to", there, task)
		r.ends("m1", "VERIFIED")
		check(t, r.guard.Advance(time.Second))
		closed := r.claim(task, true)
		effects := closed.GetSideEffects()
		if closed.GetState() != contractv1.TaskState_NOT_DONE || len(effects) != 1 || effects[0].GetObject() != "blue cube" || effects[0].GetWitness() != "camera" {
			t.Fatalf("%v", closed)
		}
		if d := effects[0].GetDisplacementCm(); !(d > 7.9 && d < 8.1) {
			t.Errorf("%v cm", d)
		}
		check(t, r.guard.Advance(30*time.Second))
		if later := r.claim(task, true); len(later.GetSideEffects()) != 1 {
			t.Errorf("long after it was closed: %v", later.GetSideEffects())
		}
	})
}

// TestUnclearIsTold: an object of which it cannot be said whether it moved is named, neither moved nor unmoved; one that
// was pushed away and back again while a mission ran is a side effect, with how far it was at most.
//
// Verifies: R23
func TestUnclearIsTold(t *testing.T) {
	moved := func(label string, y float64, after time.Duration) sim.Fault {
		return sim.Fault{Kind: sim.ObjectMoved, Object: label, Vector: units.Vec3{0.22, y, 0.015}, After: after}
	}
	world := func(c *sim.Config) {
		cubes("red cube", "blue cube", "green cube")(c)
		c.Faults = []sim.Fault{
			moved("blue cube", 0.17, 600*time.Millisecond), moved("blue cube", 0.13, 800*time.Millisecond),
			moved("green cube", 0.2395, 600*time.Millisecond), moved("green cube", 0.23, 800*time.Millisecond),
		}
	}
	run(t, set{sim: world}, func(t *testing.T, r *rig) {
		check(t, r.guard.Advance(500*time.Millisecond))
		task := r.open("held('red cube')")
		r.accepted("m1", "move_to", there, task)
		r.ends("m1", "VERIFIED")
		closed := r.claim(task, false)
		effects := closed.GetSideEffects()
		if len(effects) != 1 || effects[0].GetObject() != "blue cube" || !(effects[0].GetDisplacementCm() > 3.9 && effects[0].GetDisplacementCm() < 4.1) {
			t.Errorf("%v", effects)
		}
		if u := closed.GetUnclear(); len(u) != 1 || u[0] != "green cube" {
			t.Errorf("unclear %q", u)
		}
	})
}

// TestLicence: what the open task does not name may not be changed, by nobody: leaving the task out is no way around.
//
// Verifies: R17
func TestLicence(t *testing.T) {
	run(t, set{sim: cubes("red cube", "blue cube")}, func(t *testing.T, r *rig) {
		task := r.open("held('red cube')")
		for _, named := range []string{task, ""} {
			if rs := r.refused(request("m1", "pick", `{"name":"blue block"}`, named), "NOT_LICENSED"); rs[0].GetField() != "name" {
				t.Errorf("%v", rs)
			}
		}
		r.accepted("m2", "pick", `{"name":"red block"}`, task)
		r.ends("m2", "VERIFIED")
		r.is(task, contractv1.TaskState_DONE)
	})
}

// TestReadOnly: answered at once from facts with their ages, moves nothing, is no mission and no rejection.
//
// Verifies: R18
func TestReadOnly(t *testing.T) {
	run(t, set{sim: cubes("red cube", "blue cube", "mug")}, func(t *testing.T, r *rig) {
		task := r.open("held('red cube')")
		ack := r.start(request("m1", "get_state", "{}", task))
		if !ack.GetAccepted() || len(ack.GetFacts()) != 5 {
			t.Fatalf("%v", ack)
		}
		for _, f := range ack.GetFacts() {
			if f.GetWitness() == "" || f.GetValueJson() == "" || !f.GetFresh() || f.GetAgeMs() < 0 || f.GetAgeMs() > 40 {
				t.Errorf("%v", f)
			}
		}
		found := r.start(request("m1", "find_object", `{"name":"red block"}`, task)).GetFacts()
		if len(found) != 1 || found[0].GetValueJson() != `[{"name":"red cube","centre_cm":[22,3,1.5],"bottom_cm":0}]` {
			t.Errorf("%v", found)
		}
		if got := r.is(task, contractv1.TaskState_OPEN); got.GetMissions() != 0 || got.GetRejections() != 0 || r.sent() != 0 || r.ticks() != 0 {
			t.Errorf("%v, %d setpoints, %d ticks", got, r.sent(), r.ticks())
		}
		r.refused(request("m1", "find_object", `{"name":"green cube"}`, task), "NO_SUCH_OBJECT")
		r.refused(request("m1", "find_object", `{"name":"mug"}`, task), "UNKNOWN_LABEL")
		if got := r.task(task).GetRejections(); got != 2 {
			t.Errorf("%d rejections", got)
		}
		r.accepted("m1", "home", "{}", task) // none of them was a mission, so the id is free
	})
}

// TestUnknownTask: nothing starts for a task that nobody opened.
//
// Verifies: R10
func TestUnknownTask(t *testing.T) {
	run(t, set{}, func(t *testing.T, r *rig) {
		if rs := r.refused(request("m1", "home", "{}", "task-7"), "NOT_IN_ENUM"); rs[0].GetField() != "task_id" {
			t.Errorf("%v", rs)
		}
		for _, refusals := range [][]*contractv1.Rejection{r.task("task-7").GetRefusals(), r.claim("task-7", true).GetRefusals()} {
			if codesOf(refusals) != "NOT_IN_ENUM" || refusals[0].GetField() != "task_id" {
				t.Errorf("%v", refusals)
			}
		}
	})
}
