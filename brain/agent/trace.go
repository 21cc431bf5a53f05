package agent

import (
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"interlock/brain/action"
	"interlock/brain/llm"
	"interlock/brain/tool"
)

// Tracer gets every record of a run in order. An error of it does not stop a motion; Run returns it in the end.
type Tracer interface {
	Trace(Record) error
}

// Record is one line of a trace: the run's opening, one step, or its end.
type Record struct {
	Event      string       `json:"event"` // open, step or end
	Step       int          `json:"step,omitempty"`
	Task       string       `json:"task"`
	TaskNumber uint64       `json:"task_number"`
	TaskState  string       `json:"task_state"`
	Open       *Opening     `json:"open,omitempty"`
	Raw        string       `json:"raw,omitempty"`        // the model's bytes, where they are UTF-8
	RawBytes   []byte       `json:"raw_base64,omitempty"` // the same, where they are not
	StopReason string       `json:"stop_reason,omitempty"`
	ToolCalls  []NativeCall `json:"tool_calls,omitempty"`  // what the wire carried apart from the content
	Wire       string       `json:"wire,omitempty"`        // the server's answer byte by byte, where it is UTF-8
	WireBytes  []byte       `json:"wire_base64,omitempty"` // the same, where it is not
	Fault      string       `json:"fault,omitempty"`       // why the answer was no whole reply
	Reading    *ReadRecord  `json:"reading,omitempty"`
	Results    []StepResult `json:"results,omitempty"`
	Feedback   string       `json:"feedback,omitempty"`
	Replan     bool         `json:"replan,omitempty"` // a motion follows one that did not succeed: a new plan
	Tokens     llm.Tokens   `json:"tokens"`
	LatencyMS  float64      `json:"latency_ms"`
	End        *Ending      `json:"end,omitempty"`
}

// Opening is what was fixed before the first model call.
type Opening struct {
	Words    string       `json:"words"`
	Goal     string       `json:"goal"`
	TaskHash string       `json:"task_hash"`
	Model    string       `json:"model"`
	Sampling llm.Sampling `json:"sampling"`
	Manifest string       `json:"manifest_hash"`
	System   string       `json:"system"`
	// How replies were asked for and read; a replay reads them the same way.
	Native      bool           `json:"native,omitempty"`
	Constrained bool           `json:"constrained,omitempty"`
	Profile     action.Profile `json:"profile"`
}

// NativeCall is a call of the wire format, byte by byte.
type NativeCall struct {
	ID       string `json:"id,omitempty"`
	Name     []byte `json:"name_base64,omitempty"` // where it is not UTF-8
	NameText string `json:"name,omitempty"`
	Args     []byte `json:"arguments_base64,omitempty"` // where they are not UTF-8
	ArgsText string `json:"arguments,omitempty"`
	Decoded  bool   `json:"decoded,omitempty"`
}

// ReadRecord is what action read.
type ReadRecord struct {
	Kind       string          `json:"kind"`
	Calls      []callText      `json:"calls,omitempty"`
	Changes    []action.Change `json:"changes,omitempty"`
	Code       string          `json:"code,omitempty"`
	Rule       string          `json:"rule,omitempty"`
	Field      string          `json:"field,omitempty"`
	Offset     int             `json:"offset"`
	Open       string          `json:"open,omitempty"`
	Candidates int             `json:"candidates,omitempty"`
}

type callText struct {
	Tool string `json:"tool"`
	Args string `json:"args"`
}

// StepResult is the answer to one call of a step. World is what was measured then.
type StepResult struct {
	Tool      string            `json:"tool"`
	Args      string            `json:"args"`
	Verdict   string            `json:"verdict"`
	Mission   string            `json:"mission,omitempty"`
	MissionID string            `json:"mission_id,omitempty"`
	Codes     []string          `json:"codes,omitempty"`
	World     map[string]string `json:"world,omitempty"` // fact to value, as JSON
	Result    json.RawMessage   `json:"result"`
}

// Ending is how the run came out.
type Ending struct {
	Ended      Ended    `json:"ended"`
	Claimed    *bool    `json:"claimed"` // null: no report
	Message    string   `json:"message,omitempty"`
	ModelCalls int      `json:"model_calls"`
	Prose      []string `json:"prose,omitempty"`
}

// NewTracer returns a tracer that writes one JSON object per line to w.
func NewTracer(w io.Writer) Tracer { return lineTracer{json.NewEncoder(w)} }

type lineTracer struct{ enc *json.Encoder }

func (t lineTracer) Trace(r Record) error { return t.enc.Encode(r) }

type nowhere struct{}

func (nowhere) Trace(Record) error { return nil }

// with returns the record with the model's bytes and the server's, exactly.
func (r Record) with(reply llm.Reply) Record {
	r.StopReason, r.Tokens = reply.StopReason, reply.Tokens
	r.Raw, r.RawBytes = exact(reply.Raw)
	r.Wire, r.WireBytes = exact(reply.Wire)
	for _, c := range reply.ToolCalls {
		n := NativeCall{ID: c.ID, Decoded: c.Decoded}
		n.NameText, n.Name = exact([]byte(c.Name))
		n.ArgsText, n.Args = exact([]byte(c.ArgumentsText))
		r.ToolCalls = append(r.ToolCalls, n)
	}
	return r
}

// Reply returns what the model said in a step, byte by byte, as it can be said again.
func (r Record) Reply() llm.Reply {
	out := llm.Reply{Raw: whole(r.Raw, r.RawBytes), StopReason: r.StopReason, Tokens: r.Tokens, Wire: whole(r.Wire, r.WireBytes)}
	for _, n := range r.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, llm.ToolCall{
			ID: n.ID, Name: string(whole(n.NameText, n.Name)), ArgumentsText: string(whole(n.ArgsText, n.Args)), Decoded: n.Decoded,
		})
	}
	return out
}

// exact returns the bytes as text where JSON can hold them so, and as they are where not.
func exact(b []byte) (text string, raw []byte) {
	if utf8.Valid(b) {
		return string(b), nil
	}
	return "", b
}

// whole is the inverse of exact.
func whole(text string, raw []byte) []byte {
	if raw != nil {
		return raw
	}
	return []byte(text)
}

// readRecord turns a reading into its trace form.
func readRecord(r action.Reading) *ReadRecord {
	out := &ReadRecord{Kind: r.Kind.String(), Changes: r.Changes, Offset: r.Offset, Open: r.Open, Candidates: r.Candidates}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, callText{c.Tool, string(c.Args)})
	}
	if r.Refusal != nil {
		out.Code, out.Rule, out.Field = string(r.Refusal.Code), r.Refusal.Rule, r.Refusal.Field
	}
	return out
}

// stepResult turns an answer into its trace form.
func stepResult(c action.Call, r tool.Result, codes []string) StepResult {
	out := StepResult{
		Tool: c.Tool, Args: string(c.Args), Verdict: string(r.Verdict), Mission: r.Mission, MissionID: r.MissionID,
		Codes: codes, Result: r.JSON,
	}
	if len(r.Facts) > 0 {
		out.World = make(map[string]string, len(r.Facts))
		for _, f := range r.Facts {
			out.World[f.GetName()] = f.GetValueJson()
		}
	}
	return out
}

// ending returns the trace form of a run's end.
func (r Result) ending() *Ending {
	out := &Ending{Ended: r.Ended, Message: r.Claim.GetMessage(), ModelCalls: r.ModelCalls, Prose: r.Prose}
	if r.Reported {
		success := r.Claim.GetSuccess()
		out.Claimed = &success
	}
	return out
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
