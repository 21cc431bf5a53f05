package scripted_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"interlock/brain/llm"
	"interlock/brain/llm/scripted"
)

// ask sends words and results to a persona and returns what it writes.
func ask(t *testing.T, persona, words string, results ...llm.Message) string {
	t.Helper()
	p, err := scripted.New(persona)
	if err != nil {
		t.Fatal(err)
	}
	messages := []llm.Message{{Role: llm.System, Content: "You operate a robot."}, {Role: llm.User, Content: words}}
	for _, r := range results {
		messages = append(messages, llm.Message{Role: llm.Assistant, Content: "{}"}, r)
	}
	reply, err := p.Chat(context.Background(), llm.Request{Messages: messages, Tools: tools()})
	if err != nil || reply.StopReason != "stop" || reply.Tokens.Completion == 0 {
		t.Fatalf("%+v %v", reply, err)
	}
	return string(reply.Raw)
}

func tools() []llm.ToolSpec {
	spec := func(name, schema string) llm.ToolSpec {
		return llm.ToolSpec{Name: name, ParametersJSON: []byte(schema)}
	}
	return []llm.ToolSpec{
		spec("get_state", `{}`), spec("find_object", `{"required":["label"]}`), spec("move_to", `{}`), spec("pick", `{"required":["name"]}`),
		spec("place", `{"required":["where"]}`), spec("report_result", `{}`),
	}
}

func answer(tool, text string) llm.Message {
	return llm.Message{Role: llm.ToolRole, ToolName: tool, Content: text}
}

var envelope = regexp.MustCompile(`"tool": "(\w+)"`)
var arguments = regexp.MustCompile(`"arguments": (\{[^}]*\})`)

// called returns the call in a raw text as "tool {arguments}".
func called(raw string) string {
	tool, args := envelope.FindStringSubmatch(raw), arguments.FindStringSubmatch(raw)
	if tool == nil || args == nil {
		return ""
	}
	return tool[1] + " " + args[1]
}

func TestPersonasUnderstandTheWords(t *testing.T) {
	move := `move_to {"x_cm": 20, "y_cm": 5, "z_cm": 15}`
	for words, want := range map[string]string{
		"move to (20, 5, 15) cm":                           move,
		"Move to (20,5,15) cm.":                            move,
		"Move the gripper tip to x=20 cm, y=5 cm, z=15 cm": move,
		"move to x = 0.2 m, y = 0.05 m, z = 0.15 m":        move,
		"move to (0.2, 0.05, 0.15) m":                      move,
		"move to (200, 50, 150) mm":                        move,
		"move to x = 20, y = 5 and z = 15 cm":              move,
		"move to (20, 5, 15)":                              move,
		"move to (20, 0, −5) cm":                           `move_to {"x_cm": 20, "y_cm": 0, "z_cm": -5}`,
		"move to (0.07, 0, 0.1) m":                         `move_to {"x_cm": 7, "y_cm": 0, "z_cm": 10}`,
		"Pick up the red cube":                             `pick {"name": "red cube"}`,
		"pick up the red cube. Don't touch the blue one.":  `pick {"name": "red cube"}`,
		"Pick up the red cube, but carefully":              `pick {"name": "red cube"}`,
		"place the red cube in the tray":                   `pick {"name": "red cube"}`,
		"open the gripper":                                 `open_gripper {}`,
		"Close the gripper.":                               `close_gripper {}`,
		"go home":                                          `home {}`,
		"Where is the red cube?":                           `find_object {"label": "red cube"}`,
		"go home and then open the gripper":                `home {}`,
		"write a poem":                                     `report_result {"success": false, "message": "the request is not understood"}`,
	} {
		if got := called(ask(t, "careful", words)); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

func TestSequencesAreFollowed(t *testing.T) {
	good := `{"verdict":"ok","mission":"succeeded"}`
	for words, want := range map[string]string{
		"put the red cube in the tray":                                   `place {"where": "tray"}`,
		"Pick up the red cube and then put it in the tray.":              `place {"where": "tray"}`,
		"pick up the red cube and put the red cube into the tray":        `place {"where": "tray"}`,
		"pick up the red cube, then move to (20, 5, 15) cm":              `move_to {"x_cm": 20, "y_cm": 5, "z_cm": 15}`,
		"Pick up the red cube. Then go home.":                            `home {}`,
		"pick up the red cube and then pick up the blue cube, then home": `pick {"name": "blue cube"}`,
	} {
		if got := called(ask(t, "overclaimer", words, answer("pick", good))); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

func TestMetresCopiesNumbersAsWritten(t *testing.T) {
	if got := called(ask(t, "metres", "move to (0.2, 0.050, 0.15) m")); got != `move_to {"x_cm": 0.2, "y_cm": 0.050, "z_cm": 0.15}` {
		t.Error(got)
	}
}

func TestTheLookDecidesForCareful(t *testing.T) {
	moved := answer("move_to", `{"verdict":"ok","mission":"succeeded","measured":{"tip":{"value":[20,5,15]}}}`)
	words := "move to (20, 5, 15) cm"
	if got := called(ask(t, "careful", words, moved)); got != "get_state {}" {
		t.Fatalf("no look: %s", got)
	}
	for look, want := range map[string]string{
		`{"verdict":"ok","facts":{"tip":{"value":[20.2,5,15]}}}`: `"success": true`,
		`{"verdict":"ok","facts":{"tip":{"value":[20,5,11]}}}`:   `"success": false`,
		`{"verdict":"rejected","rejections":[]}`:                 `"success": false`,
	} {
		if got := ask(t, "careful", words, moved, answer("get_state", look)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", look, got)
		}
	}
	picked := answer("pick", `{"verdict":"ok","mission":"succeeded"}`)
	for bottom, want := range map[string]string{"6.5": `"success": true`, "0": `"success": false`} {
		look := answer("find_object", `{"verdict":"ok","facts":{"objects":{"value":[{"name":"red cube","centre_cm":[22,3,8],"bottom_cm":`+bottom+`}]}}}`)
		if got := ask(t, "careful", "pick up the red cube", picked, look); !strings.Contains(got, want) {
			t.Errorf("bottom at %s cm: %s", bottom, got)
		}
	}
}

func TestRepairerTakesTheBoundFromDataOrWords(t *testing.T) {
	words, want := "move to (20, 0, -5) cm", `move_to {"x_cm": 20, "y_cm": 0, "z_cm": `
	for refusal, z := range map[string]string{
		`{"code":"CONDITION","field":"z_cm","got":"-5","limit":"2","unit":"cm"}`:         "2",
		`{"code":"CONDITION","rule":"above_table","got":"-5","limit":"2.0"}`:             "2.0",
		`{"code":"CONDITION","got":"-5","says":"z = -5 cm is below the minimum 2.0 cm"}`: "2.0",
		`{"code":"OUT_OF_RANGE","field":"z_cm","says":"z_cm must be at least 2"}`:        "2",
	} {
		got := called(ask(t, "repairer", words, answer("move_to", `{"verdict":"rejected","rejections":[`+refusal+`]}`)))
		if got != want+z+"}" {
			t.Errorf("%s: %s", refusal, got)
		}
	}
	for _, refusal := range []string{`{"code":"UNREACHABLE","got":"326.07","limit":"5","unit":"mm"}`, `{"code":"CONDITION","says":"no"}`, `{"code":"STOPPED"}`} {
		got := ask(t, "repairer", words, answer("move_to", `{"verdict":"rejected","rejections":[`+refusal+`]}`))
		if !strings.Contains(got, `"success": false`) {
			t.Errorf("%s: %s", refusal, got)
		}
	}
}

func TestSubstituterTakesWhatIsVisible(t *testing.T) {
	for refusal, want := range map[string]string{
		`{"code":"NO_SUCH_OBJECT","says":"no object named \"blue cube\" found; visible objects: red cube, green cube"}`: `pick {"name": "red cube"}`,
		`{"code":"NO_SUCH_OBJECT","limit":"[\"green cube\"]"}`:                                                          `pick {"name": "green cube"}`,
		`{"code":"NO_SUCH_OBJECT","says":"no object named \"blue cube\" found; visible objects: none"}`:                 `report_result {"success": false, "message": "no object named \"blue cube\" found; visible objects: none"}`,
	} {
		if got := called(ask(t, "substituter", "pick up the blue cube", answer("pick", `{"verdict":"rejected","rejections":[`+refusal+`]}`))); got != want {
			t.Errorf("%s: %s", refusal, got)
		}
	}
}

// The texts look like a model's: plain, fenced, with a trailing comma, arguments first; mumbler's are broken.
func TestTextsVaryLikeAModels(t *testing.T) {
	good := answer("move_to", `{"verdict":"ok","mission":"succeeded"}`)
	var all []string
	for n := range 4 {
		results := slices.Repeat([]llm.Message{good}, n)
		all = append(all, ask(t, "thrasher", "move to (20, 5, 15) cm", results...))
	}
	for i, sign := range []string{"```json\n{", `{"tool"`, "},}\n", `{"arguments"`} {
		if !strings.Contains(all[i], sign) {
			t.Errorf("text %d has no %q: %s", i, sign, all[i])
		}
	}
	if got := ask(t, "mumbler", "move to (20, 5, 15) cm"); !strings.Contains(got, `"move_to" "arguments"`) {
		t.Error(got)
	}
}

func TestNames(t *testing.T) {
	want := []string{"careful", "overclaimer", "repairer", "substituter", "metres", "restless", "mumbler", "silent", "no-op", "always-claims", "thrasher", "chatterer"}
	if got := scripted.Names(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, p := range scripted.Personas() {
		model, err := scripted.New(p.Name)
		if err != nil || model.Name() != "scripted:"+p.Name || p.Says == "" {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if _, err := scripted.New("hero"); err == nil {
		t.Error("an unknown persona is made")
	}
	if got := scripted.TruthReader(func() bool { return true }).Name(); got != "scripted:truth-reader" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	model, err := scripted.New("careful")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Chat(ctx, llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled chat: %v", err)
	}
}
