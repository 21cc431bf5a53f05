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

// ReadReplies returns what a model said in a traced episode, reply by reply, byte by byte.
func ReadReplies(trace io.Reader) ([]llm.Reply, error) {
	var replies []llm.Reply
	lines := bufio.NewScanner(trace)
	lines.Buffer(nil, maxTraceLine)
	for n := 1; lines.Scan(); n++ {
		var r agent.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("trace line %d: %w", n, err)
		}
		if r.Event != "step" {
			continue
		}
		raw := r.RawBytes
		if raw == nil {
			raw = []byte(r.Raw)
		}
		replies = append(replies, llm.Reply{Raw: raw, StopReason: r.StopReason, Tokens: r.Tokens})
	}
	return replies, lines.Err()
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
