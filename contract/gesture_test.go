package contract_test

import (
	"errors"
	"os"
	"slices"
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
	var skills []string
	for _, g := range c.Gestures {
		skills = append(skills, g.Skill)
	}
	if want := []string{"wave", "nod", "greet", "shake_head", "bow", "point", "rest"}; !slices.Equal(skills, want) {
		t.Fatalf("gestures: %v", skills)
	}
	wave := c.Gestures[0]
	if wave.By != "" || len(wave.Tables) != 1 || wave.Tables[0].Choice != "" {
		t.Fatalf("wave: %+v", wave)
	}
	second := wave.Tables[0].Keyframes[1]
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

// A gesture that an argument chooses has a table for each of its words and for no other; the argument is one that every
// call gives. A model is told the words.
//
// Verifies: W101
func TestGesturesByAnArgument(t *testing.T) {
	c := load(t)
	point := c.Gestures[5]
	var words []string
	for i := range point.Tables {
		words = append(words, point.Tables[i].Choice)
	}
	if want := []string{"left", "right", "ahead"}; point.By != "direction" || !slices.Equal(words, want) {
		t.Fatalf("point: by %q, %v", point.By, words)
	}
	if path := point.Path(&point.Tables[1], 2); path != "gestures.point.choices.right[2]" {
		t.Errorf("a keyframe is called %s", path)
	}
	if s := string(c.Capability("point").SchemaJSON()); !strings.Contains(s, `"enum":["left","right","ahead"]`) {
		t.Errorf("the schema is %s", s)
	}
	src, err := os.ReadFile(robotFile)
	if err != nil {
		t.Fatal(err)
	}
	const enum, ahead = "enum: [left, right, ahead]", "      ahead:\n        - {pose: home"
	for name, test := range map[string]struct{ old, new, code string }{
		"a word without a table":    {enum, "enum: [left, right, ahead, back]", "missing-key"},
		"a table without a word":    {enum, "enum: [left, right]", "not-in-list"},
		"misspelt":                  {ahead, "      ahaed:\n        - {pose: home", "not-in-list"},
		"no such argument":          {"by: direction", "by: side", "unknown-name"},
		"no enum":                   {", enum: [left, right, ahead]", "", "wrong-type"},
		"optional":                  {enum, enum + ", optional: true", "optional-argument"},
		"an object":                 {"{type: text, enum: [left, right, ahead]", "{type: object", "wrong-type"},
		"choices without by":        {"    by: direction\n", "", "missing-key"},
		"by without choices":        {"  wave:                                   # the hand", "  wave:\n    by: direction # the hand", "missing-key"},
		"empty table":               {ahead, "      back: []\n" + ahead, "missing-key"},
		"a table that is none":      {ahead, "      back: 3\n" + ahead, "missing-key"},
		"twice but for the case":    {ahead, "      LEFT: [{pose: home, seconds: 1}]\n" + ahead, "case-collision"},
		"a keyframe without a time": {ahead, "      ahead:\n        - {pose: home, second: 1}\n        - {pose: home", "unknown-key"},
	} {
		if strings.Count(string(src), test.old) != 1 {
			t.Fatalf("%s: the file does not hold %q once", name, test.old)
		}
		_, err := contract.Load("x.yaml", []byte(strings.Replace(string(src), test.old, test.new, 1)))
		var wrong contract.Problems
		if !errors.As(err, &wrong) || wrong[0].Line == 0 || !slices.ContainsFunc(wrong, func(p contract.Problem) bool { return p.Code == test.code }) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
