package contract_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"interlock/contract"
)

// A table of keyframes is read as written, and what cannot be one is refused with its place.
//
// Verifies: Z22
func TestGestures(t *testing.T) {
	c := load(t)
	if len(c.Gestures) != 1 || c.Gestures[0].Skill != "wave" {
		t.Fatalf("gestures: %+v", c.Gestures)
	}
	second := c.Gestures[0].Keyframes[1]
	if second.Over != 800*time.Millisecond || len(second.Joints) != 3 || second.Joints[0].Joint != "lift" || second.Joints[0].Deg != -60 {
		t.Errorf("the second keyframe is %+v", second)
	}
	src, err := os.ReadFile(robotFile)
	if err != nil {
		t.Fatal(err)
	}
	const frame = "{pose: home, seconds: 0.6}"
	for name, test := range map[string]struct{ old, new, code string }{
		"unknown gesture": {"  wave:                                   #", "  wavee: #", "unknown-skill"},
		"unknown key":     {frame, "{pose: home, second: 0.6, seconds: 1}", "unknown-key"},
		"no time":         {frame, "{pose: home}", "missing-key"},
		"negative time":   {frame, "{pose: home, seconds: -1}", "out-of-range"},
		"endless":         {frame, "{pose: home, seconds: 1e9}", "out-of-range"},
		"neither":         {frame, "{seconds: 1}", "missing-key"},
		"both":            {frame, "{pose: home, joints_deg: {pan: 1}, seconds: 1}", "missing-key"},
		"no angle":        {"joints_deg: {pan: -15}", "joints_deg: {pan: left}", "out-of-range"},
		"far":             {"joints_deg: {pan: -15}", "joints_deg: {pan: 1000}", "out-of-range"},
	} {
		_, err := contract.Load("x.yaml", []byte(strings.Replace(string(src), test.old, test.new, 1)))
		var wrong contract.Problems
		if !errors.As(err, &wrong) || wrong[0].Code != test.code || wrong[0].Line == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
