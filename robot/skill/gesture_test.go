package skill

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"interlock/arm"
	"interlock/contract"
	"interlock/units"
)

// gestureFile is the test's contract with a wave of these keyframes.
func gestureFile(t *testing.T, keyframes ...string) *contract.Contract {
	t.Helper()
	src, err := os.ReadFile("testdata/arm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := "gestures:\n  wave:\n    keyframes:\n      - " + strings.Join(keyframes, "\n      - ") + "\n" + string(src) + `
  wave:
    description: Wave.
    ensures: [{id: still_here, that: "distance_mm(tip, tip) <= 10.0"}]
    holds: [arm]
    on_cancel: return_to_origin
    timeout_s: 10
    limits: {tip_speed_mps: 1.0, joint_speed_dps: 240}
`
	c, err := contract.Load("wave.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A table of keyframes is played as written, jaws apart, and within the limits.
//
// Verifies: Z19
func TestGestureIsPlayedAsWritten(t *testing.T) {
	p, err := NewPlanner(gestureFile(t, `{pose: home, seconds: 0.8}`, `{joints_deg: {pan: 20}, seconds: 0.5}`, `{joints_deg: {pan: -20}, seconds: 0.6}`, `{pose: home, seconds: 0.5}`), Best)
	if err != nil {
		t.Fatal(err)
	}
	start := arm.Home().With(0.3)
	start[arm.Pan] = 0.5
	plan, r := ask(p, "wave", seeing(), start[:])
	if r != nil {
		t.Fatal(r)
	}
	want := []struct {
		panDeg float64
		over   time.Duration
	}{{0, 800 * time.Millisecond}, {20, 500 * time.Millisecond}, {-20, 600 * time.Millisecond}, {0, 500 * time.Millisecond}}
	path := plan.Path()
	if len(path) != len(want) || path[0].Name != "begin" || path[1].Name != "wave" {
		t.Fatalf("phases: %v", path)
	}
	for i, w := range want {
		end := arm.Home().With(0.3)
		end[arm.Pan] = units.RadFromDeg(w.panDeg)
		if path[i].To != end || path[i].T != w.over {
			t.Errorf("phase %d ends at %v after %v", i, path[i].To, path[i].T)
		}
	}
}

// What the servos cannot track does not load, and the joint and the time are named; so are joints and poses that there
// are not, angles out of range, and a beginning that leaves a joint open.
//
// Verifies: Z20
func TestGestureThatCannotBeTracked(t *testing.T) {
	const home = `{pose: home, seconds: 1}`
	for name, c := range map[string]struct {
		frames     []string
		code, says string
	}{
		"too fast":      {[]string{home, `{joints_deg: {wrist_flex: 20}, seconds: 0.1}`}, "too-fast", "wrist_flex cannot go -55.0 degrees in 100ms"},
		"tip too fast":  {[]string{home, `{joints_deg: {pan: 100, lift: 30, elbow: -60, wrist_flex: 0}, seconds: 0.9}`}, "too-fast", "900ms"},
		"out of range":  {[]string{home, `{joints_deg: {elbow: 200}, seconds: 5}`}, "out-of-range", "elbow"},
		"no such joint": {[]string{home, `{joints_deg: {knee: 20}, seconds: 5}`}, "unknown-name", "knee"},
		"jaws":          {[]string{home, `{joints_deg: {jaw: 20}, seconds: 5}`}, "unknown-name", "jaw"},
		"no such pose":  {[]string{`{pose: lotus, seconds: 5}`}, "unknown-name", "lotus"},
		"open":          {[]string{`{joints_deg: {pan: 20}, seconds: 5}`}, "missing-key", "lift"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewPlanner(gestureFile(t, c.frames...), Best)
			var wrong contract.Problems
			if !errors.As(err, &wrong) || wrong[0].Code != c.code || wrong[0].Line == 0 || !strings.Contains(wrong[0].Message, c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The way back from the middle of a gesture ends exactly where it began.
//
// Verifies: Z21
func TestGestureReturnsToItsOrigin(t *testing.T) {
	p, err := NewPlanner(gestureFile(t, `{pose: home, seconds: 0.8}`, `{joints_deg: {pan: 40}, seconds: 0.8}`), Best)
	if err != nil {
		t.Fatal(err)
	}
	start := arm.Home().With(0.3)
	start[arm.Pan] = 0.5
	plan, r := ask(p, "wave", seeing(), start[:])
	if r != nil {
		t.Fatal(r)
	}
	player := &Player{plan: plan}
	at, _, _, _ := player.Next(time.Second, nil)
	back, err := player.Back(at)
	if err != nil {
		t.Fatal(err)
	}
	if end, _, done, _ := back.Next(back.Duration(), nil); !done || arm.Servos(end) != start {
		t.Errorf("back at %v", end)
	}
}
