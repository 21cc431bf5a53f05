package tool

import (
	"context"
	"fmt"
	"strings"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/transport"
)

// Effect is what a tool can do to the world.
type Effect uint8

// The effects.
const (
	Look   Effect = iota + 1 // a read-only capability: answered from facts
	Motion                   // a capability that becomes a mission
	Local                    // a Go function of the application
	Report                   // report_result
)

// Tool is one tool as a model sees it.
type Tool struct {
	Name        string
	Description string
	SchemaJSON  []byte // JSON Schema 2020-12 of the flat arguments object
	Effect      Effect
}

// Function is a Go function offered as a tool. It decodes its arguments itself; its answer becomes JSON.
type Function struct {
	Name, Description string
	SchemaJSON        []byte
	Call              func(ctx context.Context, args []byte) (any, error)
}

// ReportName is the tool with which a model closes a task.
const ReportName = "report_result"

const reportSchema = `{"type":"object","properties":{` +
	`"success":{"type":"boolean","description":"true only if the request was fulfilled"},` +
	`"message":{"type":"string","description":"what was done or why not, in one sentence"}},` +
	`"required":["success","message"],"additionalProperties":false}`

// Options says for whom a registry calls.
type Options struct {
	TaskID    string            // the task every mission serves; empty: none
	Prefix    string            // of mission ids, PREFIX-m-1, PREFIX-m-2 …; empty: the task's id
	Lease     *contractv1.Lease // sent with every start; nil: none
	Functions []Function
}

// Registry holds the tools of one task. It is for one goroutine.
type Registry struct {
	client    transport.Client
	opts      Options
	tools     []Tool
	functions map[string]Function
	missions  int
}

// New compiles a manifest's capabilities for a model, the functions and report_result into a registry. The error names a
// tool that occurs twice, case aside.
func New(m *contractv1.Manifest, client transport.Client, opts Options) (*Registry, error) {
	r := &Registry{client: client, opts: opts, functions: map[string]Function{}}
	if r.opts.Prefix == "" {
		r.opts.Prefix = opts.TaskID
	}
	for _, c := range m.GetCapabilities() {
		if c.GetAudience() != "model" && c.GetAudience() != "both" {
			continue
		}
		effect := Motion
		if c.GetReadOnly() {
			effect = Look
		}
		r.tools = append(r.tools, Tool{c.GetName(), c.GetDescription(), []byte(c.GetArgsSchemaJson()), effect})
	}
	for _, f := range opts.Functions {
		r.tools = append(r.tools, Tool{f.Name, f.Description, f.SchemaJSON, Local})
		r.functions[f.Name] = f
	}
	r.tools = append(r.tools, Tool{ReportName, "Close the task with your claim. Call it last, with success false if the request cannot or should not be done.", []byte(reportSchema), Report})
	return r, r.distinct()
}

// distinct refuses names that differ by case only or not at all.
func (r *Registry) distinct() error {
	seen := map[string]bool{}
	for _, t := range r.tools {
		folded := strings.ToLower(t.Name)
		if seen[folded] {
			return fmt.Errorf("tool: the name %q occurs twice", t.Name)
		}
		seen[folded] = true
	}
	return nil
}

// Tools returns the tools in the order of the manifest, functions next, report_result last.
func (r *Registry) Tools() []Tool { return r.tools }

// Names returns the tools' names in the same order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Name
	}
	return names
}

// Tool returns the tool of the exact name.
func (r *Registry) Tool(name string) (Tool, bool) {
	for _, t := range r.tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Call runs one call and returns its answer as data. A motion blocks until its mission has ended; where ctx ends first,
// the mission is cancelled. args is the arguments object as the model wrote it.
func (r *Registry) Call(ctx context.Context, name string, args []byte) Result {
	t, known := r.Tool(name)
	switch {
	case !known:
		says := fmt.Sprintf("there is no tool %q; the tools are %s", name, strings.Join(r.Names(), ", "))
		return Refused(reject.New(reject.UnknownCapability, says).In("tool"))
	case t.Effect == Report:
		return report(args)
	case t.Effect == Local:
		return r.local(ctx, r.functions[name], args)
	}
	return r.capability(ctx, t, args)
}

// local runs a Go function; its panic is an error of ours, told as data.
func (r *Registry) local(ctx context.Context, f Function, args []byte) (out Result) {
	defer func() {
		if p := recover(); p != nil {
			out = failed(fmt.Sprintf("the tool %s failed inside: %v", f.Name, p))
		}
	}()
	answer, err := f.Call(ctx, args)
	if err != nil {
		return failed(err.Error())
	}
	return answered(answer)
}
