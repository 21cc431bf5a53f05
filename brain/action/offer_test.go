package action_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/brain/action"
)

// Verifies: Q03
func TestAnIndexedOfferReadsTheSame(t *testing.T) {
	plain := action.Offer{Tools: []string{"move_to", "pick"}, Native: true}
	for _, raw := range []string{
		`{"tool":"pick","arguments":{}}`, `{"tool":"Pick","arguments":{}}`, `{"tool":"","arguments":{}}`, `{"tool":"pic","arguments":{}}`,
		"pick(", `then {"tool":"move_to","arguments":{}}`, "nothing",
	} {
		for _, native := range [][]action.Native{nil, {{Name: "pick", Arguments: []byte(`{}`)}}, {{Name: "fly", Arguments: []byte(`{}`)}}} {
			out := action.Output{Raw: []byte(raw), StopReason: "stop", Native: native}
			if d := cmp.Diff(action.Read(out, plain), action.Read(out, plain.Indexed())); d != "" {
				t.Errorf("%s, %v: %s", raw, native, d)
			}
		}
	}
}
