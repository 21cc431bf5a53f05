package scripted

import (
	"encoding/json"
	"strconv"
	"strings"

	"interlock/brain/llm"
)

// view is what a persona sees of a conversation.
type view struct {
	plan    []intent
	results []result // of its calls, in order
	said    int      // messages it wrote so far
	tools   []llm.ToolSpec
}

// result is what came back for one call.
type result struct {
	tool       string
	Verdict    string
	Mission    string
	Facts      map[string]fact
	Measured   map[string]fact
	Failure    struct{ Kind string }
	Rejections []rejection
	Says       string
}

// fact is a measured value in a result.
type fact struct{ Value json.RawMessage }

// rejection is a refusal in a result.
type rejection struct{ Code, Field, Got, Limit, Unit, Says string }

// read makes a view of the request.
func read(req llm.Request) *view {
	v := &view{tools: req.Tools}
	words := ""
	for _, m := range req.Messages {
		switch m.Role {
		case llm.User:
			if words == "" {
				words = m.Content
			}
		case llm.Assistant:
			v.said++
		case llm.ToolRole:
			r := result{tool: m.ToolName}
			if err := json.Unmarshal([]byte(m.Content), &r); err != nil {
				r.Verdict = "error"
			}
			v.results = append(v.results, r)
		case llm.System:
		}
	}
	v.plan = understand(words)
	return v
}

// succeeded reports whether the call did what it should: a mission that was measured so, or an answered look.
func (r result) succeeded() bool {
	return r.Verdict == "ok" && (r.Mission == "succeeded" || r.Mission == "" && len(r.Facts) > 0)
}

// why returns words for a report about a call that did not succeed.
func (r result) why() string {
	switch {
	case len(r.Rejections) > 0:
		return r.Rejections[0].Says
	case r.Mission != "":
		return "the mission ended " + r.Mission
	case r.Says != "":
		return r.Says
	}
	return "no result"
}

// looks reports whether a tool only looks.
func looks(tool string) bool { return tool == "get_state" || tool == "find_object" }

// offers reports whether the tool is offered.
func (v *view) offers(tool string) bool {
	for _, t := range v.tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// param returns the name of the tool's first required argument, as its schema says; fallback if there is none.
func (v *view) param(tool, fallback string) string {
	for _, t := range v.tools {
		if t.Name != tool {
			continue
		}
		var schema struct{ Required []string }
		if err := json.Unmarshal(t.ParametersJSON, &schema); err == nil && len(schema.Required) > 0 {
			return schema.Required[0]
		}
	}
	return fallback
}

// call is a call a persona means to write.
type call struct {
	tool string
	args []arg
}

// arg is one argument; its value is JSON text.
type arg struct{ name, value string }

// callFor turns an intent into a call; number says how a quantity is written.
func (v *view) callFor(in intent, number func(quantity) string) call {
	switch in.verb {
	case "move_to":
		return call{"move_to", []arg{{"x_cm", number(in.numbers[0])}, {"y_cm", number(in.numbers[1])}, {"z_cm", number(in.numbers[2])}}}
	case "pick", "find_object":
		return call{in.verb, []arg{{v.param(in.verb, "name"), strconv.Quote(in.object)}}}
	case "place":
		return call{"place", []arg{{v.param("place", "target"), strconv.Quote(in.place)}}}
	}
	return call{in.verb, nil}
}

func inCM(q quantity) string      { return q.cm() }
func asWritten(q quantity) string { return q.literal }

// write renders a call as a model would at its n-th message: plain, fenced, or with a trailing comma.
func (c call) write(n int) string {
	parts := make([]string, len(c.args))
	for i, a := range c.args {
		parts[i] = strconv.Quote(a.name) + ": " + a.value
	}
	args := strings.Join(parts, ", ")
	switch n % 4 {
	case 0:
		return "```json\n" + `{"tool": "` + c.tool + `", "arguments": {` + args + "}}\n```"
	case 2:
		return `{"tool": "` + c.tool + `", "arguments": {` + args + "},}\n"
	case 3:
		return `{"arguments": {` + args + `}, "tool": "` + c.tool + `"}`
	}
	return `{"tool": "` + c.tool + `", "arguments": {` + args + "}}"
}

// say writes the call.
func (v *view) say(c call) string { return c.write(v.said) }

// report writes the closing report.
func (v *view) report(success bool, message string) string {
	return v.say(call{"report_result", []arg{{"success", strconv.FormatBool(success)}, {"message", strconv.Quote(message)}}})
}
