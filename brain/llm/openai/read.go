package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"interlock/brain/llm"
)

// reader makes a reply of an answer or of the events of a stream.
type reader struct {
	line    *llm.Line
	native  bool
	out     llm.Reply
	calls   []building
	thought bool
	seen    int  // answers or events
	broke   bool // the last one is unfinished
	bad     *llm.Fault
}

// building is a tool call that may still grow.
type building struct {
	index   int
	id      string
	name    []byte
	args    []byte
	decoded bool
}

// event takes one line of a stream of server-sent events and reports whether the stream ends with it.
func (r *reader) event(line []byte) (end bool) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		// Comments and other fields say nothing of the reply; an error may come bare instead of as an event.
		if len(line) > 0 && line[0] == '{' {
			return r.whole(line)
		}
		return false
	}
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		return true
	}
	return r.whole(data)
}

// whole takes one answer or event and reports whether nothing can follow it.
func (r *reader) whole(text []byte) (end bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return false
	}
	r.seen++
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		if r.broke = llm.Unfinished(text); !r.broke {
			r.bad = r.line.Fault(llm.OffProtocol, fmt.Sprintf("part %d of the answer: %v", r.seen, err), nil)
		}
		return true
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		r.bad = r.line.Complaint(text)
		return true
	}
	if a.Usage != nil {
		r.out.Tokens = llm.Tokens{Prompt: a.Usage.PromptTokens, Completion: a.Usage.CompletionTokens}
	}
	r.bad = r.take(&a)
	return r.bad != nil
}

// take appends what the choice says. One choice was asked for; of several, none is picked.
func (r *reader) take(a *answer) *llm.Fault {
	if len(a.Choices) > 1 || len(a.Choices) == 1 && a.Choices[0].Index != 0 {
		return r.line.Fault(llm.OffProtocol, "the answer holds several choices, and one was asked for", nil)
	}
	if len(a.Choices) == 0 {
		return nil
	}
	c := &a.Choices[0]
	said := c.Delta
	if said == nil {
		said = c.Message
	}
	if said != nil {
		if f := r.append(said); f != nil {
			return f
		}
	}
	if c.FinishReason != nil {
		r.out.StopReason = *c.FinishReason
	}
	return nil
}

// append takes one piece of what the choice says.
func (r *reader) append(d *delta) *llm.Fault {
	content, ok := llm.Text(d.Content)
	if !ok {
		return r.line.Fault(llm.OffProtocol, "the content is no text", nil)
	}
	if len(content) > 0 || len(d.ToolCalls) > 0 {
		r.out.StopReason = "" // a reason that something follows did not end the reply
	}
	r.out.Raw = append(r.out.Raw, content...)
	r.thought = r.thought || len(d.Reasoning) > len(`""`) && string(d.Reasoning) != "null"
	for _, p := range d.ToolCalls {
		if !r.grow(p) {
			return r.line.Fault(llm.OffProtocol, "a tool call's id or name is no text", nil)
		}
	}
	return nil
}

// grow adds one piece to the call it belongs to.
func (r *reader) grow(p piece) bool {
	id, okID := llm.Text(p.ID)
	name, okName := llm.Text(p.Function.Name)
	if !okID || !okName {
		return false
	}
	c := r.callOf(p.Index, string(id), name)
	if c.id == "" {
		c.id = string(id)
	}
	if !bytes.Equal(c.name, name) {
		c.name = append(c.name, name...)
	}
	// This wire holds JSON text in a string; some servers that imitate it hold the object itself.
	args, isText := llm.Text(p.Function.Arguments)
	if !isText {
		args = p.Function.Arguments
	}
	c.args = append(c.args, args...)
	c.decoded = c.decoded || isText && len(args) > 0
	return true
}

// callOf finds the call that a piece belongs to, or begins one. Calls are told apart by index and id; where a server gives
// neither, another name behind finished arguments is another call.
func (r *reader) callOf(index *int, id string, name []byte) *building {
	at := 0
	switch {
	case index != nil:
		at = *index
	case len(r.calls) > 0:
		at = r.calls[len(r.calls)-1].index
	}
	for i := range r.calls {
		if c := &r.calls[i]; id != "" && c.index == at && c.id == id {
			return c
		}
	}
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := &r.calls[i]
		if c.index != at {
			continue
		}
		otherID := id != "" && c.id != "" && id != c.id
		otherName := id == "" && len(name) > 0 && !bytes.Equal(name, c.name) && json.Valid(c.args)
		if !otherID && !otherName {
			return c
		}
		break
	}
	r.calls = append(r.calls, building{index: at})
	return &r.calls[len(r.calls)-1]
}

// reply returns what came, or the fault that kept it from being one.
func (r *reader) reply(wire []byte) (llm.Reply, error) {
	if r.bad != nil {
		r.bad.Wire = wire
		return llm.Reply{}, r.bad
	}
	if r.seen == 0 || r.seen == 1 && r.broke {
		return llm.Reply{}, r.line.Fault(llm.Dropped, "the answer broke off before it could be read", wire)
	}
	for i := range r.calls {
		c := &r.calls[i]
		r.out.ToolCalls = append(r.out.ToolCalls, llm.ToolCall{ID: c.id, Name: string(c.name), ArgumentsText: string(c.args), Decoded: c.decoded})
	}
	nothing := len(r.out.Raw) == 0 && len(r.out.ToolCalls) == 0 && !r.thought
	if r.native && nothing && r.out.Tokens.Completion > 1 {
		says := fmt.Sprintf("the model wrote %d tokens, and the server hands on an empty message", r.out.Tokens.Completion)
		return llm.Reply{}, r.line.Fault(llm.Swallowed, says, wire)
	}
	r.out.Wire = wire
	return r.out, nil
}
