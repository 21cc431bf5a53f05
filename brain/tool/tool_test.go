package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"interlock/brain/tool"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// line is a transport.Client that answers what a test tells it and keeps what it was asked.
type line struct {
	transport.Client
	ack       *contractv1.MissionAck
	events    []*contractv1.Event
	startErr  error
	eventErr  error
	cancelErr error
	started   []*contractv1.StartRequest
	cancelled []string
}

func (l *line) Start(_ context.Context, req *contractv1.StartRequest) (*contractv1.MissionAck, error) {
	l.started = append(l.started, req)
	return l.ack, l.startErr
}

func (l *line) Events(context.Context, *contractv1.EventsRequest) iter.Seq2[*contractv1.Event, error] {
	return func(yield func(*contractv1.Event, error) bool) {
		for _, e := range l.events {
			if !yield(e, nil) {
				return
			}
		}
		if l.eventErr != nil {
			yield(nil, l.eventErr)
		}
	}
}

func (l *line) Cancel(ctx context.Context, req *contractv1.CancelRequest) (*contractv1.CancelAck, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l.cancelled = append(l.cancelled, req.GetMissionId())
	return &contractv1.CancelAck{Accepted: true}, l.cancelErr
}

func manifest() *contractv1.Manifest {
	return &contractv1.Manifest{Capabilities: []*contractv1.Capability{
		{Name: "get_state", Description: "Read.", ArgsSchemaJson: `{"type":"object"}`, ReadOnly: true, Audience: "model"},
		{Name: "move_to", Description: "Move.", ArgsSchemaJson: `{"type":"object","title":"point"}`, Audience: "both"},
		{Name: "calibrate", Audience: "person"},
		{Name: "unsaid"},
	}}
}

func registry(t *testing.T, l *line, functions ...tool.Function) *tool.Registry {
	t.Helper()
	r, err := tool.New(manifest(), l, tool.Options{TaskID: "task-7", Functions: functions, Lease: &contractv1.Lease{Resource: "arm", Epoch: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// decode checks that an answer is one JSON object and returns it.
func decode(t *testing.T, r tool.Result) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(r.JSON, &out); err != nil {
		t.Fatalf("%s: %v", r.JSON, err)
	}
	if out["verdict"] != string(r.Verdict) {
		t.Errorf("the text says %v, the data %s", out["verdict"], r.Verdict)
	}
	return out
}

func TestToolsComeFromTheManifest(t *testing.T) {
	r := registry(t, &line{}, tool.Function{Name: "ask", SchemaJSON: []byte(`{}`)})
	if got := r.Names(); !slices.Equal(got, []string{"get_state", "move_to", "ask", "report_result"}) {
		t.Errorf("%v: capabilities for people, or for nobody said, are no tools", got)
	}
	move, _ := r.Tool("move_to")
	if move.Effect != tool.Motion || move.Description != "Move." || string(move.SchemaJSON) != `{"type":"object","title":"point"}` {
		t.Errorf("%+v", move)
	}
	if look, _ := r.Tool("get_state"); look.Effect != tool.Look {
		t.Errorf("%+v", look)
	}
	closing, _ := r.Tool("report_result")
	if closing.Effect != tool.Report || !json.Valid(closing.SchemaJSON) {
		t.Errorf("%+v", closing)
	}
	for _, name := range []string{"move_to", "Move_To", "report_result"} {
		if _, err := tool.New(manifest(), &line{}, tool.Options{Functions: []tool.Function{{Name: name}}}); err == nil {
			t.Errorf("a second %s is taken", name)
		}
	}
}

// Verifies: A07
func TestMissionsAnswerWithMeasuredValues(t *testing.T) {
	after := []*contractv1.Fact{{Name: "tip", ValueJson: "[20,5,15]", Unit: "cm", Witness: "encoders", AgeMs: 12, Fresh: true}}
	end := func(k contractv1.EventKind) *contractv1.Event {
		return &contractv1.Event{Kind: k, Final: true, FactsAfter: after, Reason: "timeout"}
	}
	begin := []*contractv1.Event{{Kind: contractv1.EventKind_ACCEPTED}, {Kind: contractv1.EventKind_PHASE, Phase: "reach"}, {Kind: contractv1.EventKind_ARRIVED}}
	for kind, want := range map[contractv1.EventKind]string{
		contractv1.EventKind_VERIFIED: "succeeded", contractv1.EventKind_FAILED: "failed", contractv1.EventKind_UNVERIFIED: "unverified",
		contractv1.EventKind_CANCELLED: "cancelled", contractv1.EventKind_ABORTED: "aborted", contractv1.EventKind_INTERRUPTED: "interrupted",
		contractv1.EventKind_ARRIVED: "unverified",
	} {
		final := end(kind)
		if kind == contractv1.EventKind_FAILED {
			final.Failure = &contractv1.FailureRecord{
				ViolatedPostcondition: "tip_at_target", Expected: "10", ObservedValue: "41.5", Unit: "mm", Source: "encoders", Kind: "transient",
				WorldAfter: map[string]string{"tip": "[20,5,11]", "note": "no json"}, Attempt: 1,
			}
		}
		l := &line{ack: &contractv1.MissionAck{Accepted: true}, events: append(slices.Clone(begin), final)}
		args := []byte(`{"x_cm": 20.0}`)
		got := registry(t, l).Call(context.Background(), "move_to", args)
		text := decode(t, got)
		if got.Verdict != tool.OK || got.Mission != want || text["mission"] != want || text["reason"] != "timeout" {
			t.Errorf("%v: %s %s", kind, got.Verdict, got.JSON)
		}
		tip := text["measured"].(map[string]any)["tip"].(map[string]any)
		if len(tip["value"].([]any)) != 3 || tip["unit"] != "cm" || tip["witness"] != "encoders" || tip["fresh"] != true {
			t.Errorf("measured: %v", tip)
		}
		if want := []string{"ACCEPTED", "PHASE reach", "ARRIVED", kind.String()}; !slices.Equal(got.Events, want) {
			t.Errorf("events %v", got.Events)
		}
		if want == "failed" {
			f := text["failure"].(map[string]any)
			if f["violated_postcondition"] != "tip_at_target" || f["observed_value"] != "41.5" || f["kind"] != "transient" || f["world_after"].(map[string]any)["note"] != "no json" {
				t.Errorf("failure: %v", f)
			}
		}
		req := l.started[0]
		if req.GetMissionId() != "task-7-m-1" || req.GetTaskId() != "task-7" || req.GetCapability() != "move_to" || string(req.GetArgsJson()) != string(args) || req.GetLease().GetEpoch() != 3 {
			t.Errorf("started %v", req)
		}
	}
}

func TestMissionIdsAreNeverUsedTwice(t *testing.T) {
	l := &line{ack: &contractv1.MissionAck{Rejections: []*contractv1.Rejection{{Code: "BUSY"}}}}
	r := registry(t, l)
	for range 3 {
		r.Call(context.Background(), "move_to", []byte(`{}`))
	}
	var ids []string
	for _, s := range l.started {
		ids = append(ids, s.GetMissionId())
	}
	if !slices.Equal(ids, []string{"task-7-m-1", "task-7-m-2", "task-7-m-3"}) {
		t.Error(ids)
	}
}

// A wrong call is an error, a refusal by condition, state or licence is rejected; every reason is passed on.
//
// Verifies: A08
func TestRefusalsAreData(t *testing.T) {
	for code, want := range map[reject.Code]tool.Verdict{
		reject.MissingArgument: tool.Error, reject.WrongType: tool.Error, reject.UnknownArgument: tool.Error, reject.UnknownCapability: tool.Error,
		reject.Malformed: tool.Error, reject.NotFinite: tool.Error, reject.OutOfRange: tool.Error, reject.DuplicateKey: tool.Error,
		reject.Condition: tool.Rejected, reject.Unreachable: tool.Rejected, reject.NoSuchObject: tool.Rejected, reject.Stopped: tool.Rejected,
		reject.Busy: tool.Rejected, reject.NotLicensed: tool.Rejected, reject.NeedsApproval: tool.Rejected, reject.Budget: tool.Rejected,
	} {
		l := &line{ack: &contractv1.MissionAck{Rejections: []*contractv1.Rejection{
			{Code: string(code), Rule: "r", Field: "z_cm", Got: "-5", Limit: "2", Unit: "cm", Retry: "as_changed", AfterMs: 3, Says: "too low"},
			{Code: string(code), Field: "x_cm"},
		}}}
		got := registry(t, l).Call(context.Background(), "move_to", []byte(`{}`))
		text := decode(t, got)
		if got.Verdict != want || len(got.Rejections) != 2 || got.MissionID != "" {
			t.Errorf("%s: %s", code, got.JSON)
		}
		first := text["rejections"].([]any)[0].(map[string]any)
		for key, value := range map[string]any{"code": string(code), "rule": "r", "field": "z_cm", "got": "-5", "limit": "2", "unit": "cm", "retry": "as_changed", "says": "too low"} {
			if first[key] != value {
				t.Errorf("%s: %s is %v", code, key, first[key])
			}
		}
	}
	l := &line{}
	for _, name := range []string{"fly", "calibrate", "Move_to", "", "move_to "} {
		got := registry(t, l).Call(context.Background(), name, []byte(`{}`))
		if decode(t, got); got.Verdict != tool.Error || got.Rejections[0].GetCode() != "UNKNOWN_CAPABILITY" {
			t.Errorf("%q: %s", name, got.JSON)
		}
	}
	if len(l.started) != 0 {
		t.Errorf("unknown tools reached the robot: %v", l.started)
	}
}

func TestLooksAreAnsweredWithFacts(t *testing.T) {
	l := &line{ack: &contractv1.MissionAck{Accepted: true, Facts: []*contractv1.Fact{{Name: "jaw_gap_mm", ValueJson: "62.5", Unit: "mm", Sigma: 0.5}, {Name: "odd", ValueJson: "NaN"}}}}
	got := registry(t, l).Call(context.Background(), "get_state", []byte(`{}`))
	facts := decode(t, got)["facts"].(map[string]any)
	gap := facts["jaw_gap_mm"].(map[string]any)
	if got.Verdict != tool.OK || got.Mission != "" || got.MissionID != "" || gap["value"] != 62.5 || gap["sigma"] != 0.5 || gap["fresh"] != false {
		t.Errorf("%s", got.JSON)
	}
	if facts["odd"].(map[string]any)["value"] != "NaN" {
		t.Errorf("a value that is no JSON: %s", got.JSON)
	}
}

// A mission nobody can follow is cancelled, and its end is not made up.
//
// Verifies: A09
func TestALostLineInventsNothing(t *testing.T) {
	gone := errors.New("gone")
	accepted := &contractv1.MissionAck{Accepted: true}
	arrived := []*contractv1.Event{{Kind: contractv1.EventKind_ARRIVED}}
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	for name, l := range map[string]*line{
		"the answer to the start is lost":   {startErr: gone},
		"the events break off with a fault": {ack: accepted, events: arrived, eventErr: gone},
		"the events just end":               {ack: accepted, events: arrived},
		"there are no events":               {ack: accepted},
		"the cancel fails too":              {ack: accepted, cancelErr: gone},
	} {
		got := registry(t, l).Call(cancelled, "move_to", []byte(`{}`))
		text := decode(t, got)
		if got.Verdict != tool.Error || got.Mission != "" || got.MissionID != "task-7-m-1" || text["mission"] != nil || text["measured"] != nil {
			t.Errorf("%s: %s", name, got.JSON)
		}
		if !slices.Equal(l.cancelled, []string{"task-7-m-1"}) {
			t.Errorf("%s: cancelled %v", name, l.cancelled)
		}
	}
	l := &line{startErr: gone}
	if got := registry(t, l).Call(cancelled, "get_state", []byte(`{}`)); got.Verdict != tool.Error || l.cancelled != nil {
		t.Errorf("a look: %s, cancelled %v", got.JSON, l.cancelled)
	}
}

func TestFunctionsNeverRaise(t *testing.T) {
	function := func(name string, call func(context.Context, []byte) (any, error)) tool.Function {
		return tool.Function{Name: name, Call: call}
	}
	r := registry(t, &line{},
		function("good", func(_ context.Context, args []byte) (any, error) { return map[string]any{"args": string(args)}, nil }),
		function("bad", func(context.Context, []byte) (any, error) { return nil, errors.New("no such recipe") }),
		function("panics", func(context.Context, []byte) (any, error) { panic("at the disco") }),
		function("unspeakable", func(context.Context, []byte) (any, error) { return func() {}, nil }),
		function("empty", nil))
	for name, want := range map[string]tool.Verdict{"good": tool.OK, "bad": tool.Error, "panics": tool.Error, "unspeakable": tool.Error, "empty": tool.Error} {
		got := r.Call(context.Background(), name, []byte(`{"a":1}`))
		text := decode(t, got)
		if got.Verdict != want {
			t.Errorf("%s: %s", name, got.JSON)
		}
		if name == "good" && text["answer"].(map[string]any)["args"] != `{"a":1}` {
			t.Errorf("%s", got.JSON)
		}
	}
}

// Verifies: P31
func TestReportsAreReadStrictly(t *testing.T) {
	r := registry(t, &line{})
	for _, c := range []struct{ args, want string }{
		{`{"success":true,"message":"done"}`, ""},
		{`{"message":"","success":false}`, ""},
		{`{"success":"true","message":"done"}`, "WRONG_TYPE success"},
		{`{"success":"false","message":"done"}`, "WRONG_TYPE success"},
		{`{"success":1,"message":"done"}`, "WRONG_TYPE success"},
		{`{"success":null,"message":null}`, "WRONG_TYPE success,WRONG_TYPE message"},
		{`{"success":true}`, "MISSING_ARGUMENT message"},
		{`{}`, "MISSING_ARGUMENT success,MISSING_ARGUMENT message"},
		{`{"success":true,"message":"done","confidence":1}`, "UNKNOWN_ARGUMENT confidence"},
		{`{"Success":true,"message":5}`, "UNKNOWN_ARGUMENT Success,MISSING_ARGUMENT success,WRONG_TYPE message"},
		{`{"success":true,"success":false,"message":"x"}`, "DUPLICATE_KEY success"},
		{`[true,"done"]`, "MALFORMED "},
		{`null`, "MALFORMED "},
		{`{"success":true,`, "MALFORMED "},
		{``, "MALFORMED "},
	} {
		got := r.Call(context.Background(), tool.ReportName, []byte(c.args))
		decode(t, got)
		var faults []string
		for _, f := range got.Rejections {
			faults = append(faults, f.GetCode()+" "+f.GetField())
		}
		if list := strings.Join(faults, ","); list != c.want || (c.want == "") != (got.Claim != nil) || (c.want == "") != (got.Verdict == tool.OK) {
			t.Errorf("%s: %q, want %q (claim %v)", c.args, list, c.want, got.Claim)
		}
	}
	claim := r.Call(context.Background(), tool.ReportName, []byte(`{"success":false,"message":"below the table"}`)).Claim
	if !claim.GetReported() || claim.GetSuccess() || claim.GetMessage() != "below the table" {
		t.Errorf("%v", claim)
	}
}
