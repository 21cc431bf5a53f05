package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"interlock/brain/agent"
	"interlock/brain/llm"
)

// maxTraceLine bounds one line of a trace.
const maxTraceLine = 16 << 20

// Recording is what a model said in a traced episode, and how its replies were asked for and read.
type Recording struct {
	Opening agent.Opening
	Replies []llm.Reply // reply by reply, byte by byte
}

// ReadRecording reads a trace.
func ReadRecording(trace io.Reader) (*Recording, error) {
	out := &Recording{}
	lines := bufio.NewScanner(trace)
	lines.Buffer(nil, maxTraceLine)
	for n := 1; lines.Scan(); n++ {
		var r agent.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("trace line %d: %w", n, err)
		}
		switch {
		case r.Open != nil:
			out.Opening = *r.Open
		case r.Event == "step":
			out.Replies = append(out.Replies, r.Reply())
		}
	}
	return out, lines.Err()
}

// ErrOutOfReplies is what a replayed model answers when it is asked once more than it was in the recorded episode.
var ErrOutOfReplies = errors.New("lab: the replayed episode asks for more replies than were recorded")

// recorded is a model that says again what it said before.
type recorded struct {
	name    string
	replies []llm.Reply
}

func (r *recorded) Name() string { return r.name }

func (r *recorded) Chat(context.Context, llm.Request) (llm.Reply, error) {
	if len(r.replies) == 0 {
		return llm.Reply{}, ErrOutOfReplies
	}
	next := r.replies[0]
	r.replies = r.replies[1:]
	return next, nil
}
