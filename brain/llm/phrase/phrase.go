package phrase

import (
	"context"
	"strings"

	"interlock/brain/llm"
)

// Name is the provider's name.
const Name = "phrase"

// Examples are utterances that are understood, as long as the robot knows the things they name.
func Examples() []string {
	return []string{
		"pick up the red cube", "put it in the tray", "move to (20, 5, 15) cm", "move up 3 cm", "open the gripper", "go home",
		"wave at me", "point to the left", "rest", "where is the red cube", "what do you see",
	}
}

// New returns the provider.
func New() llm.Provider { return provider{} }

type provider struct{}

// Name implements llm.Provider.
func (provider) Name() string { return Name }

// Chat implements llm.Provider: the next call of what the words ask for, the report, or prose where they were not
// understood. It counts no tokens, because there are none.
func (provider) Chat(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, &llm.Fault{Provider: Name, Kind: llm.Cancelled, Err: err}
	}
	t := hear(req)
	plan, wrong := parse(t.words)
	reply := ""
	if wrong != nil {
		reply = sorry(wrong)
	} else {
		reply = t.play(plan)
	}
	return llm.Reply{Raw: []byte(reply), StopReason: "stop"}, nil
}

// sorry says that nothing was understood and what would be. It repeats at most one plain word, so that nothing of the
// words can be taken for a call.
func sorry(t *trouble) string {
	s := t.why
	if t.at != "" {
		s += ` (I got stuck at "` + t.at + `")`
	}
	return s + ". Try: " + strings.Join(Examples(), " / ")
}
