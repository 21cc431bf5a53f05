package strictjson_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"interlock/internal/strictjson"
)

// FuzzParse holds Parse against the standard library: what is accepted is valid JSON there too, the nodes lie where they
// say, and the canonical form is a fixed point with the same meaning.
func FuzzParse(f *testing.F) {
	for _, c := range refusals() {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text))
		}
	}
	f.Add([]byte(`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":-5.5e0,"ok":true,"q":[null,"\ud83d\ude00"]}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		kept := bytes.Clone(src)
		n, r := strictjson.Parse(src, strictjson.DefaultLimits())
		if !bytes.Equal(src, kept) {
			t.Fatal("the source was changed")
		}
		if (n == nil) == (r == nil) {
			t.Fatalf("a value and a refusal: %v, %v", n, r)
		}
		if r != nil {
			return
		}
		if !json.Valid(src) {
			t.Fatalf("%q is not JSON", src)
		}
		checkPlaces(t, src, n)
		once := strictjson.Canonical(n)
		again, r := strictjson.Parse(once, strictjson.Limits{Bytes: 1 << 20, Depth: 64, Members: 4096})
		if r != nil {
			t.Fatalf("the canonical form %q of %q is refused: %v", once, src, r)
		}
		if twice := strictjson.Canonical(again); !bytes.Equal(once, twice) {
			t.Fatalf("%q is not a fixed point: %q", once, twice)
		}
	})
}

func checkPlaces(t *testing.T, src []byte, n *strictjson.Node) {
	t.Helper()
	if n.Start < 0 || n.Start >= n.End || n.End > len(src) || !bytes.Equal(src[n.Start:n.End], n.Raw) {
		t.Fatalf("%s at %d to %d of %q", n.Raw, n.Start, n.End, src)
	}
	for _, m := range n.Members {
		checkPlaces(t, src, m.Value)
	}
	for _, item := range n.Items {
		checkPlaces(t, src, item)
	}
}
