package strictjson

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzQuick holds what is read quickly against the decoder: the same nodes, or none.
//
// Verifies: Q05
func FuzzQuick(f *testing.F) {
	for _, s := range quickTexts() {
		f.Add([]byte(s))
	}
	small := Limits{Bytes: 4096, Depth: 3, Members: 6}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, lim := range []Limits{DefaultLimits(), small} {
			n := quickly(src, lim)
			if n == nil || len(src) > lim.Bytes {
				continue
			}
			want, end, fault := decode(src, lim)
			if fault != nil {
				t.Fatalf("%q is read quickly, and refused by the decoder: %v", src, fault.Rejection)
			}
			if n.End != end || !cmp.Equal(n, want) {
				t.Fatalf("%q: %s", src, cmp.Diff(want, n))
			}
			if a, b := Canonical(n), Canonical(want); !bytes.Equal(a, b) {
				t.Fatalf("%q: %s and %s", src, a, b)
			}
		}
	})
}

func quickTexts() []string {
	return []string{
		`{"tool": "move_to", "arguments": {"x_cm": 20.5, "y_cm": -5e-3, "z_cm": 15, "speed": "slow"}} rest`,
		" {}", `{"a":true,"b":false,"c":null,"d":{}}`, "{\"a\" : 0 , \"b\":\t-0.0E+1 }\n", `{"a":{"a":{"a":{}}}}`, `{"a":""}`,
		`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7}`, `{"a":123456789012345678901234567890,"b":1e999,"c":1e-999}`,
	}
}

// The calls that robots get are read quickly: the speed rests on it.
//
// Verifies: Q05
func TestQuickReadsPlainObjects(t *testing.T) {
	for _, s := range quickTexts() {
		if quickly([]byte(s), DefaultLimits()) == nil {
			t.Errorf("%q is left to the decoder", s)
		}
	}
}

// Verifies: Q05
func TestQuickLeavesTheRestToTheDecoder(t *testing.T) {
	for _, s := range []string{
		"", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a":1 "b":2}`, `{,"a":1}`, `{"a":1,,"b":2}`, `{"a" 1}`, `{a:1}`, `{"a":1,"a":2}`,
		`{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":+1}`, `{"a":1e+}`, `{"a":0x1}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":tru}`, `{"a":truex}`,
		`{"a":"x`, `{"a":"\n"}`, "{\"a\":\"\n\"}", "{\"a\":\"\x7f\"}", `{"a":"é"}`, "{\"a\":\"\xff\"}", `{"a":[1]}`, `[1]`, `1`, `"a"`, "\ufeff{}", "// x\n{}",
		`{"a":` + strings.Repeat(" ", quickBytes) + `1}`, strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40),
	} {
		if n := quickly([]byte(s), DefaultLimits()); n != nil {
			t.Errorf("%q is read quickly as %s", s, n.Raw)
		}
	}
}
