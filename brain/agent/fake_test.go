package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
)

// fakeRobot is a transport.Client with a tip, two cubes and a goal, just enough to play an agent against. Its answers have
// the shape of a robot's: refusals inside replies, missions with events, facts in centimetres.
type fakeRobot struct {
	transport.Client // of which no more is asked than what is written here

	tip       [3]float64
	cubes     map[string][3]float64
	held      string
	goal      func(*fakeRobot) bool // nil: no goal is fixed
	task      *contractv1.Task
	log       []string // every start, in order
	events    map[string][]*contractv1.Event
	bodies    map[string]string
	cancelled []string
	claims    []*contractv1.Claim

	failFirst bool               // the first motion ends failed, transient
	breakAt   int                // events of a mission break off after so many; 0: never
	onStart   func(r *fakeRobot) // called before a start is judged
}

func newFake(goal func(*fakeRobot) bool) *fakeRobot {
	return &fakeRobot{
		tip: [3]float64{15, 0, 20}, cubes: map[string][3]float64{"red cube": {22, 3, 1.5}},
		goal: goal, events: map[string][]*contractv1.Event{}, bodies: map[string]string{},
	}
}

func within(x, y, z float64) func(*fakeRobot) bool {
	return func(r *fakeRobot) bool { return distance(r.tip, [3]float64{x, y, z}) <= 1 }
}

func lifted(name string) func(*fakeRobot) bool {
	return func(r *fakeRobot) bool { return r.cubes[name][2] >= 5.5 }
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

func (r *fakeRobot) Describe(context.Context) (*contractv1.Manifest, error) {
	nothing := `{"type":"object","properties":{},"additionalProperties":false}`
	named := func(arg string) string {
		return `{"type":"object","properties":{"` + arg + `":{"type":"string"}},"required":["` + arg + `"],"additionalProperties":false}`
	}
	point := `{"type":"object","properties":{"x_cm":{"type":"number"},"y_cm":{"type":"number"},"z_cm":{"type":"number"}},"required":["x_cm","y_cm","z_cm"],"additionalProperties":false}`
	capability := func(name, schema string, readOnly bool) *contractv1.Capability {
		return &contractv1.Capability{Name: name, Description: "Do " + name + ".", ArgsSchemaJson: schema, ReadOnly: readOnly, Audience: "both"}
	}
	m := &contractv1.Manifest{Robot: "fake", Frame: "base", Cannot: "It cannot fly.", Capabilities: []*contractv1.Capability{
		capability("get_state", nothing, true), capability("find_object", named("name"), true), capability("move_to", point, false),
		capability("pick", named("name"), false), capability("place", named("target"), false), capability("open_gripper", nothing, false),
	}}
	m.Capabilities = append(m.Capabilities, &contractv1.Capability{Name: "calibrate", ArgsSchemaJson: nothing, Audience: "person"})
	return m, nil
}

func (r *fakeRobot) OpenTask(_ context.Context, req *contractv1.OpenTaskRequest) (*contractv1.Task, error) {
	r.task = &contractv1.Task{TaskId: "task-1", Number: 1, State: contractv1.TaskState_OPEN, Goal: req.GetGoal()}
	if req.GetGoal() == "nonsense" {
		r.task.Refusals = []*contractv1.Rejection{{Code: "MALFORMED"}}
	}
	return r.task, nil
}

func (r *fakeRobot) Start(_ context.Context, req *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	if r.onStart != nil {
		r.onStart(r)
	}
	r.log = append(r.log, req.GetCapability()+" "+string(req.GetArgsJson()))
	if _, used := r.bodies[req.GetMissionId()]; used {
		return nil, errors.New("a mission id was used twice: " + req.GetMissionId())
	}
	r.bodies[req.GetMissionId()] = req.GetCapability()
	var args map[string]any
	if err := json.Unmarshal(req.GetArgsJson(), &args); err != nil {
		return nil, err
	}
	ack := &contractv1.MissionAck{MissionId: req.GetMissionId()}
	ack.Rejections = r.judge(req.GetCapability(), args)
	if len(ack.Rejections) > 0 {
		r.task.Rejections++
		return ack, nil
	}
	ack.Accepted = true
	if req.GetCapability() == "get_state" || req.GetCapability() == "find_object" {
		ack.Facts = r.facts()
		return ack, nil
	}
	r.execute(req.GetMissionId(), req.GetCapability(), args)
	return ack, nil
}

// judge refuses like a contract would.
func (r *fakeRobot) judge(capability string, args map[string]any) []*contractv1.Rejection {
	motion := capability != "get_state" && capability != "find_object"
	if motion && r.task.GetState() != contractv1.TaskState_OPEN {
		return []*contractv1.Rejection{{Code: "BUDGET", Rule: "task_closed", Says: "the task is closed"}}
	}
	switch capability {
	case "move_to":
		var bad []*contractv1.Rejection
		for _, name := range []string{"x_cm", "y_cm", "z_cm"} {
			if _, ok := args[name].(float64); !ok {
				bad = append(bad, &contractv1.Rejection{Code: "WRONG_TYPE", Field: name, Says: name + " must be a number"})
			}
		}
		if bad != nil {
			return bad
		}
		z := args["z_cm"].(float64)
		if z < 2 {
			got := strconv.FormatFloat(z, 'f', -1, 64)
			return []*contractv1.Rejection{{Code: "CONDITION", Rule: "above_table", Got: got, Limit: "2", Unit: "cm", Says: "z = " + got + " cm is below the minimum 2.0 cm above the table"}}
		}
		if args["x_cm"].(float64) > 45 {
			return []*contractv1.Rejection{{Code: "UNREACHABLE", Rule: "reachable", Got: "326", Limit: "5", Unit: "mm", Says: "out of reach by 32.6 cm"}}
		}
	case "pick", "find_object":
		if _, seen := r.cubes[fmt.Sprint(args["name"])]; !seen {
			return []*contractv1.Rejection{{Code: "NO_SUCH_OBJECT", Field: "name", Says: fmt.Sprintf("no object named %q found; visible objects: red cube", args["name"])}}
		}
	}
	return nil
}

// execute plays a mission to its end at once and records its events.
func (r *fakeRobot) execute(id, capability string, args map[string]any) {
	end := &contractv1.Event{Kind: contractv1.EventKind_VERIFIED, Final: true}
	r.task.Missions++
	switch {
	case r.failFirst:
		r.failFirst = false
		end.Kind, end.Failure = contractv1.EventKind_FAILED, &contractv1.FailureRecord{ViolatedPostcondition: "tip_at_target", Kind: "transient"}
	case capability == "move_to":
		r.tip = [3]float64{args["x_cm"].(float64), args["y_cm"].(float64), args["z_cm"].(float64)}
	case capability == "pick":
		r.held = fmt.Sprint(args["name"])
		at := r.cubes[r.held]
		r.cubes[r.held] = [3]float64{at[0], at[1], 8}
	case capability == "place":
		r.cubes[r.held] = [3]float64{15, -15, 1.5}
	}
	end.FactsAfter = r.facts()
	r.events[id] = []*contractv1.Event{
		{Kind: contractv1.EventKind_ACCEPTED}, {Kind: contractv1.EventKind_STARTED}, {Kind: contractv1.EventKind_PHASE, Phase: "reach"},
		{Kind: contractv1.EventKind_ARRIVED}, end,
	}
	if r.goal != nil && r.goal(r) {
		r.task.State = contractv1.TaskState_DONE
	}
}

func (r *fakeRobot) facts() []*contractv1.Fact {
	tip, _ := json.Marshal(r.tip)
	objects := "["
	for name, at := range r.cubes {
		centre, _ := json.Marshal(at)
		objects += fmt.Sprintf(`{"name":%q,"centre_cm":%s,"bottom_cm":%v},`, name, centre, at[2]-1.5)
	}
	objects = objects[:len(objects)-1] + "]"
	return []*contractv1.Fact{
		{Name: "tip", ValueJson: string(tip), Unit: "cm", Witness: "encoders", Fresh: true},
		{Name: "objects", ValueJson: objects, Unit: "cm", Witness: "camera", Fresh: true},
	}
}

func (r *fakeRobot) Events(_ context.Context, req *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		for i, e := range r.events[req.GetMissionId()] {
			if r.breakAt > 0 && i >= r.breakAt {
				yield(nil, errors.New("the line is gone"))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (r *fakeRobot) Cancel(_ context.Context, req *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	r.cancelled = append(r.cancelled, req.GetMissionId())
	return &contractv1.CancelAck{Accepted: true}, nil
}

func (r *fakeRobot) Observe(context.Context, *contractv1.ObserveRequest) (*contractv1.Observation, error) {
	return &contractv1.Observation{Facts: r.facts()}, nil
}

func (r *fakeRobot) Claim(_ context.Context, req *contractv1.ClaimRequest) (*contractv1.Task, error) {
	r.claims = append(r.claims, req.GetClaim())
	r.task.Claim = req.GetClaim()
	if r.task.GetState() == contractv1.TaskState_OPEN {
		r.task.State = contractv1.TaskState_NOT_DONE
		if r.goal == nil {
			r.task.State = contractv1.TaskState_TASK_UNVERIFIED
		}
	}
	return r.task, nil
}

func (r *fakeRobot) Task(context.Context, *contractv1.TaskRequest) (*contractv1.Task, error) {
	return r.task, nil
}
