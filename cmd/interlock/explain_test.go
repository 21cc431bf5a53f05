package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Explain exits as a call that could only be refused or accepted would, tells every stage, and moves nothing.
//
// Verifies: Y27
func TestExplain(t *testing.T) {
	for text, c := range map[string]struct{ code, refused int }{
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`:               {exitFine, 0},
		"```json\n{\"arguments\":{\"name\":\"red block\"},\"tool\":\"pick\"}\n```":    {exitFine, 0},
		`{"tool":"get_state","arguments":{}}`:                                         {exitFine, 0},
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":-5}}`:               {exitRefused, 5},
		`{"tool":"move_to","arguments":{"x_cm":70,"y_cm":0,"z_cm":10}}`:               {exitRefused, 6},
		`{"tool":"pick","arguments":{"name":"blue cube"}}`:                            {exitRefused, 5},
		`{"tool":"place","arguments":{"target":"tray"}}`:                              {exitRefused, 5},
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15,"v_cm":1}}`:      {exitBadInput, 4},
		`{"tool":"move_to","arguments":{"x_cm":true,"y_cm":"5"}}`:                     {exitBadInput, 4},
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15,"\u001b[2J":1}}`: {exitBadInput, 4},
	} {
		callCode, _, _ := command(t, "call", text)
		code, out, errOut := command(t, "explain", "--json", text)
		if code != c.code || code != callCode {
			t.Errorf("%s: explain exits with %d, call with %d, want %d; %s", text, code, callCode, c.code, errOut)
		}
		var e told
		if err := json.Unmarshal([]byte(out), &e); err != nil || len(e.Stages) != 8 || e.Accepted != (c.code == exitFine) {
			t.Fatalf("%s: %v in %s", text, err, out)
		}
		for i, s := range e.Stages {
			if (s.State == "refused") != (i+1 == c.refused) || (s.State == "not_reached") != (c.refused > 0 && i+1 > c.refused) {
				t.Errorf("%s: stage %d is %s", text, s.Number, s.State)
			}
		}
		code, out, _ = command(t, "explain", text)
		if code != c.code || strings.Count(out, "\n") < 9 || strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), hidden) >= 0 {
			t.Errorf("%s: exit %d, %q", text, code, out)
		}
	}
	for text, want := range map[string]string{
		"please": "no call", `{"tool":"fly","arguments":{}}`: "UNKNOWN_CAPABILITY", `{"tool":"home"`: "MALFORMED",
		`{"tool":"report_result","arguments":{"success":true,"message":"x"}}`: "report_result",
	} {
		if code, out, errOut := command(t, "explain", text); code != exitBadInput || !strings.Contains(errOut, want) || out != "" {
			t.Errorf("%s: exit %d, %q %q", text, code, out, errOut)
		}
	}
}

// A rule is explained with what was compared and with the readings it rests on.
//
// Verifies: Y28
func TestExplainTellsWhy(t *testing.T) {
	_, out, _ := command(t, "explain", "--json", `{"tool":"pick","arguments":{"name":"red cube"}}`)
	var e told
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatal(err)
	}
	if looked := e.Stages[4].Facts; len(looked) != 1 || looked[0].Name != "objects" || looked[0].Witness != "camera" || looked[0].AgeMS == nil || !looked[0].Fresh {
		t.Errorf("stage 5 looks at %+v", looked)
	}
	r := e.Stages[5].Rules
	if len(r) != 1 || r[0].ID != "reachable" || r[0].Truth != "true" || len(r[0].Comparisons) != 1 || r[0].Comparisons[0].Unit != "mm" || r[0].Comparisons[0].Got == "" || len(r[0].Facts) != 1 {
		t.Errorf("stage 6 evaluates %+v", r)
	}
	if e.TakesMS <= 0 {
		t.Error("the plan takes no time")
	}
}

// Init writes a file that loads, offers every verb of the body, works, and is never written over another.
//
// Verifies: Y29
func TestInit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "arm.yaml")
	if code, out, errOut := command(t, "init", file); code != exitFine || !strings.Contains(out, "interlock check") {
		t.Fatalf("exit %d, %s%s", code, out, errOut)
	}
	code, out, errOut := command(t, "check", file)
	if code != exitFine || !strings.Contains(out, "8 capabilities offered, 0 withdrawn") {
		t.Errorf("check: exit %d, %s%s", code, out, errOut)
	}
	for _, call := range []string{
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`, `{"tool":"pick","arguments":{"name":"red cube"}}`, `{"tool":"home","arguments":{}}`,
		`{"tool":"open_gripper","arguments":{}}`, `{"tool":"close_gripper","arguments":{}}`,
	} {
		if code, _, errOut := command(t, "call", "--contract", file, call); code != exitFine {
			t.Errorf("%s: exit %d, %s", call, code, errOut)
		}
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errOut = command(t, "init", file)
	if text, err := os.ReadFile(file); code != exitBadInput || string(text) != "mine" || err != nil || !strings.Contains(errOut, "exists") {
		t.Errorf("a second time: exit %d, %s, the file holds %q", code, errOut, text)
	}
	if code, out, _ := command(t, "init", "-"); code != exitFine || out != string(draft) {
		t.Errorf("to standard output: exit %d", code)
	}
	if code, _, _ := command(t, "init", filepath.Join(t.TempDir(), "nowhere", "arm.yaml")); code != exitBadInput {
		t.Errorf("in a folder that is not there: exit %d", code)
	}
}

// A bad set-up of a conversation is bad input.
//
// Verifies: Y30
func TestChatBadInput(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for name, line := range map[string][]string{
		"goal": {"chat", "--goal", "held(red)"}, "model": {"chat", "--model", "nobody"}, "persona": {"chat", "--model", "scripted:nobody"},
		"contract": {"chat", "--contract", "nowhere.yaml"}, "no stop word": {"chat", "--stop-words", " "}, "no patience": {"chat", "--model-timeout", "0s"}, "arguments": {"chat", "pick up the red cube"},
	} {
		if code, out, errOut := command(t, line...); code != exitBadInput || out != "" || errOut == "" {
			t.Errorf("%s: exit %d, %q %q", name, code, out, errOut)
		}
	}
}
