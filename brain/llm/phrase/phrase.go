package phrase

import (
	"context"
	"strings"

	"interlock/brain/llm"
)

// Name is the provider's name.
const Name = "phrase"

// examples are utterances that are understood, each with the verb that they come to.
var examples = []struct{ words, verb string }{
	{"pick up the red cube", "pick"}, {"put it in the tray", "place"}, {"move to (20, 5, 15) cm", "move_to"}, {"move up 3 cm", "move_to"},
	{"open the gripper", "open_gripper"}, {"go home", "home"}, {"wave at me", "wave"}, {"point to the left", "point"}, {"rest", "rest"},
	{"where is the red cube", "get_state"}, {"what do you see", "get_state"},
}

// Examples are utterances that are understood by a robot that offers the verbs, as long as it knows the things they name.
func Examples(offers func(verb string) bool) (list []string) {
	for _, e := range examples {
		if offers(e.verb) {
			list = append(list, e.words)
		}
	}
	return list
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
		reply = t.sorry(wrong)
	} else {
		reply = t.play(plan)
	}
	return llm.Reply{Raw: []byte(reply), StopReason: "stop"}, nil
}

// sorry says that nothing was understood and what would be. It repeats at most one plain word, so that nothing of the
// words can be taken for a call.
func (t *talk) sorry(w *trouble) string {
	s := w.why
	if w.at != "" {
		s += ` (I got stuck at "` + w.at + `")`
	}
	if list := Examples(t.offers); len(list) > 0 {
		s += ". Try: " + strings.Join(list, " / ")
	}
	return s
}
