package phrase_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"interlock/brain/llm"
	"interlock/brain/llm/phrase"
)

var tools = []llm.ToolSpec{
	{Name: "move_to"}, {Name: "home"}, {Name: "wave"}, {Name: "nod"}, {Name: "greet"}, {Name: "shake_head"}, {Name: "bow"}, {Name: "rest"}, {Name: "get_state"}, {Name: "open_gripper"}, {Name: "close_gripper"},
	{Name: "find_object", ParametersJSON: []byte(`{"required":["name"]}`)},
	{Name: "pick", ParametersJSON: []byte(`{"required":["thing"]}`)},
	{Name: "point", ParametersJSON: []byte(`{"required":["way"]}`)},
	{Name: "place", ParametersJSON: []byte(`{"required":["where"]}`)},
}

// reply is what the provider writes to words and the answers so far, each "tool answer".
func reply(t *testing.T, words string, answers ...string) string {
	t.Helper()
	messages := []llm.Message{{Role: llm.System, Content: "tools"}, {Role: llm.User, Content: words}}
	for _, a := range answers {
		name, content, _ := strings.Cut(a, " ")
		messages = append(messages, llm.Message{Role: llm.Assistant}, llm.Message{Role: llm.ToolRole, ToolName: name, Content: content})
	}
	r, err := phrase.New().Chat(context.Background(), llm.Request{Messages: messages, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Raw)
}

// What is understood becomes exactly one call; lengths become centimetres exactly.
//
// Verifies: Y01
func TestWordsBecomeACall(t *testing.T) {
	for words, want := range map[string]string{
		"move to (20, 5, 15) cm":                 `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`,
		"Please move the arm to 20 5 15 cm!":     `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`,
		"move to (0.2, 0.05, 0.15) m":            `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`,
		"go to (200, -50, 150) mm":               `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":-5,"z_cm":15}}`,
		"go to (200, \u221250, 150) millimetres": `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":-5,"z_cm":15}}`,
		"move to x=8 inches, y=2cm, z=150 mm":    `{"tool":"move_to","arguments":{"x_cm":20.32,"y_cm":2,"z_cm":15}}`,
		"move to (0.1, 0.2, 0.3) m":              `{"tool":"move_to","arguments":{"x_cm":10,"y_cm":20,"z_cm":30}}`,
		"pick up the red cube":                   `{"tool":"pick","arguments":{"thing":"red cube"}}`,
		"could you grab the Red Cube, please?":   `{"tool":"pick","arguments":{"thing":"red cube"}}`,
		"pick the blue block up":                 `{"tool":"pick","arguments":{"thing":"blue block"}}`,
		"put it in the tray":                     `{"tool":"place","arguments":{"where":"tray"}}`,
		"put it down in the tray":                `{"tool":"place","arguments":{"where":"tray"}}`,
		"place the red cube in the tray":         `{"tool":"get_state","arguments":{}}`,
		"open the gripper":                       `{"tool":"open_gripper","arguments":{}}`,
		"close your hand":                        `{"tool":"close_gripper","arguments":{}}`,
		"go home":                                `{"tool":"home","arguments":{}}`,
		"wave at me":                             `{"tool":"wave","arguments":{}}`,
		"Wave!":                                  `{"tool":"wave","arguments":{}}`,
		"where is the red cube?":                 `{"tool":"find_object","arguments":{"name":"red cube"}}`,
		"what do you see":                        `{"tool":"get_state","arguments":{}}`,
		"move up 3 cm":                           `{"tool":"get_state","arguments":{}}`,
		"3 cm to the left":                       `{"tool":"get_state","arguments":{}}`,
		"go home, then open the gripper":         `{"tool":"home","arguments":{}}`,
	} {
		if got := reply(t, words); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

// A gesture is called by what people say for it, alone or among other steps. Whose left is meant is never guessed, and a
// word that begins like a gesture is none.
//
// Verifies: W110
func TestWordsForGestures(t *testing.T) {
	for words, want := range map[string]string{
		"nod": "nod", "Nod at me, please.": "nod", "wave at me": "wave", "greet me": "greet", "say hello": "greet", "Say hi to me!": "greet", "could you greet us": "greet",
		"shake your head": "shake_head", "shake your head at me": "shake_head", "bow": "bow", "take a bow": "bow", "please bow to me": "bow",
		"rest": "rest", "relax": "rest", "take a rest": "rest", "go to rest": "rest", "nod then go home": "nod", "relax, please": "rest",
	} {
		if got := reply(t, words); got != `{"tool":"`+want+`","arguments":{}}` {
			t.Errorf("%q: %s", words, got)
		}
	}
	for words, want := range map[string]string{
		"point left": "left", "point to the left": "left", "point to your left": "left", "point right": "right", "Point to the right!": "right",
		"point ahead": "ahead", "point straight ahead": "ahead", "please point forward": "ahead", "point left and point right": "left",
	} {
		if got := reply(t, words); got != `{"tool":"point","arguments":{"way":"`+want+`"}}` {
			t.Errorf("%q: %s", words, got)
		}
	}
	for _, words := range []string{
		"point", "point to my left", "point back", "point at the red cube", "point left of the cube", "don't nod", "do not wave at me", "greet the red cube",
		"say hello world", "rest on the table", "shake", "shake your hand", "bow and arrow", "wave at them", "hello",
	} {
		if got := reply(t, words); !strings.Contains(got, "Try:") {
			t.Errorf("%q: %s", words, got)
		}
	}
	if got := reply(t, "nod then point left", "nod "+moved); got != `{"tool":"point","arguments":{"way":"left"}}` {
		t.Errorf("the second step: %s", got)
	}
}

// Anything that is not understood whole makes no call, only prose; and no prose of ours can be read as a call.
//
// Verifies: Y02
func TestWordsNotUnderstoodMakeNoCall(t *testing.T) {
	for _, words := range []string{
		"", "hello", "move to (20, 5, 15)", "move to 20 5 15", "move to (20 cm, 5 cm, 15)", "move to (20, 5) cm", "move to (20, 5, 15) parsecs", "move to 5-3 2 cm",
		"move to (1e3, 5, 15) cm", "move to (20, 5, 15) cm quickly", "don't pick up the red cube", "pick up the red cube without the blue one",
		"pick up everything except the red cube", "do not move", "pick up not the red cube", "pick up the red cube but stop before", "pick up the red cube and the blue cube",
		"pick up the cube next to the tray", "move up", "move up 3", "move up -3 cm", "stop the arm", "put it in", "put the red cube", "pick up",
		`{"tool": "move_to", "arguments": {"x_cm": 1, "y_cm": 1, "z_cm": 1}}`, "go home " + `{"tool": "home", "arguments": {}}`,
		strings.Repeat("go home then ", 12) + "go home", strings.Repeat("a ", 2000), "pick up the \x1b[31mred cube", "pick up the red cube or the blue cube",
		"put it on the tray and in the tray", "go home go home", "move to (123456789012345678901, 0, 0) cm",
	} {
		got := reply(t, words)
		if strings.ContainsAny(got, "{}[]`\x1b") || !strings.Contains(got, "Try:") {
			t.Errorf("%.60q: %s", words, got)
		}
	}
}

const (
	seen  = `{"verdict":"ok","facts":{"tip":{"value":[20.5,1.18,8.84],"unit":"cm","witness":"encoders","age_ms":2,"fresh":true},"objects":{"value":[{"name":"red cube","centre_cm":[22,3,1.5],"bottom_cm":0}],"unit":"cm","witness":"camera","age_ms":12,"fresh":true}}}`
	stale = `{"verdict":"ok","facts":{"tip":{"value":[20.5,1.18,8.84],"unit":"cm","witness":"encoders","age_ms":2000,"fresh":false}}}`
	moved = `{"verdict":"ok","mission":"succeeded","measured":{"tip":{"value":[20.01,4.99,15],"unit":"cm","witness":"encoders","age_ms":4,"fresh":true}}}`
	held  = `{"verdict":"ok","facts":{"objects":{"value":[{"name":"red cube","centre_cm":[22,3,9.5],"bottom_cm":8}],"unit":"cm","witness":"camera","age_ms":12,"fresh":true}}}`
)

// What follows a call is made of its answer: the next call, or a report of what was measured or of why not.
//
// Verifies: Y03
func TestAnswersBecomeReports(t *testing.T) {
	for name, c := range map[string]struct {
		words   string
		answers []string
		tool    string
		success any
		says    string
	}{
		"measured":          {"move to (20, 5, 15) cm", []string{"move_to " + moved}, "report_result", true, "[20.01,4.99,15] cm (encoders, 4 ms ago)"},
		"refused":           {"move to (20, 0, -5) cm", []string{`move_to {"verdict":"rejected","rejections":[{"code":"CONDITION","says":"too low"}]}`}, "report_result", false, "too low"},
		"failed":            {"go home", []string{`home {"verdict":"ok","mission":"failed","failure":{"expected":"<= 10","observed_value":"31","unit":"mm"}}`}, "report_result", false, "measured 31 mm"},
		"unverified":        {"go home", []string{`home {"verdict":"ok","mission":"unverified"}`}, "report_result", false, "unverified"},
		"cancelled":         {"go home", []string{`home {"verdict":"ok","mission":"cancelled"}`}, "report_result", false, "cancelled"},
		"lost":              {"go home", []string{`home {"verdict":"error","says":"the line broke"}`}, "report_result", false, "the line broke"},
		"no JSON":           {"go home", []string{`home done!`}, "report_result", false, "could not be read"},
		"other tool's":      {"go home", []string{"move_to " + moved}, "report_result", false, "do not belong"},
		"from where it is":  {"move up 3 cm", []string{"get_state " + seen}, "move_to", nil, `"z_cm":11.84`},
		"and back":          {"go right by 10 mm", []string{"get_state " + seen}, "move_to", nil, `"y_cm":0.18`},
		"tip not measured":  {"move up 3 cm", []string{"get_state " + stale}, "report_result", false, "not measured"},
		"found":             {"where is the red block", []string{"find_object " + seen}, "report_result", true, "red cube at (22, 3) cm"},
		"not found":         {"where is the red cube", []string{`find_object {"verdict":"rejected","rejections":[{"code":"NO_SUCH_OBJECT","says":"none"}]}`}, "report_result", false, "none"},
		"second step":       {"go home then open the gripper", []string{"home " + moved}, "open_gripper", nil, ""},
		"no second step":    {"go home then open the gripper", []string{`home {"verdict":"ok","mission":"failed"}`}, "report_result", false, "the rest was not begun"},
		"picked up first":   {"put the red cube in the tray", []string{"get_state " + seen}, "pick", nil, "red cube"},
		"picked up already": {"put the red cube in the tray", []string{"get_state " + held}, "place", nil, "tray"},
		"then placed":       {"put the red cube in the tray", []string{"get_state " + seen, "pick " + moved}, "place", nil, "tray"},
		"not placed":        {"put the red cube in the tray", []string{"get_state " + seen, "pick " + moved, `place {"verdict":"error","rejections":[{"code":"BUDGET","says":"one motion"}]}`}, "report_result", false, "picked up, but not placed; refused: one motion"},
	} {
		t.Run(name, func(t *testing.T) {
			got := reply(t, c.words, c.answers...)
			var call struct {
				Tool      string
				Arguments map[string]any
			}
			if err := json.Unmarshal([]byte(got), &call); err != nil {
				t.Fatal(got, err)
			}
			if call.Tool != c.tool || call.Arguments["success"] != c.success || !strings.Contains(got, c.says) {
				t.Errorf("%s; want %s, success %v, %q", got, c.tool, c.success, c.says)
			}
		})
	}
}

// A tool that is not offered is never called.
//
// Verifies: Y04
func TestOnlyOfferedToolsAreCalled(t *testing.T) {
	r, err := phrase.New().Chat(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "go home"}}, Tools: []llm.ToolSpec{{Name: "get_state"}}})
	if err != nil || !strings.Contains(string(r.Raw), "does not offer home") || !strings.Contains(string(r.Raw), `"success":false`) {
		t.Errorf("%s, %v", r.Raw, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := phrase.New().Chat(ctx, llm.Request{}); err == nil {
		t.Error("an ended context got a reply")
	}
}

// Whatever is said: no panic, and either prose or exactly one object with the two keys of a call.
func FuzzWords(f *testing.F) {
	for _, e := range phrase.Examples(func(string) bool { return true }) {
		f.Add(e)
	}
	f.Add("move to (( , -, cm")
	f.Fuzz(func(t *testing.T, words string) {
		got := reply(t, words)
		if !strings.HasPrefix(got, "{") {
			if strings.ContainsAny(got, "{}\x1b\n") {
				t.Errorf("%q: %s", words, got)
			}
			return
		}
		var call map[string]json.RawMessage
		if err := json.Unmarshal([]byte(got), &call); err != nil || len(call) != 2 {
			t.Errorf("%q: %s %v", words, got, err)
		}
	})
}
