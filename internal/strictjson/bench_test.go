package strictjson_test

import (
	"testing"

	"interlock/internal/strictjson"
)

func BenchmarkParseCall(b *testing.B) {
	src := []byte(`{"tool": "move_to", "arguments": {"x_cm": 20.0, "y_cm": 5.25, "z_cm": 15, "speed_mps": 1}}`)
	lim := strictjson.DefaultLimits()
	b.ReportAllocs()
	for b.Loop() {
		if _, r := strictjson.Parse(src, lim); r != nil {
			b.Fatal(r)
		}
	}
}
