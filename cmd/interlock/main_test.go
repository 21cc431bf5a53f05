package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"interlock/eval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// command runs one command line as a user would.
func command(t *testing.T, line ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), line, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bad files, JSON and arguments: exit code 2 and a message that says where and what.
//
// Verifies: X01
func TestBadInputExitsWithTwo(t *testing.T) {
	bad := file(t, "bad.yaml", "robot: so101\nframe: base\nfrmae: base\n")
	for name, c := range map[string]struct {
		line []string
		says string
	}{
		"no such contract":    {[]string{"check", "nowhere.yaml"}, "nowhere.yaml"},
		"bad contract":        {[]string{"check", bad}, "bad.yaml:3:1"},
		"no such suite":       {[]string{"eval", "nowhere.yaml"}, "nowhere.yaml"},
		"bad suite":           {[]string{"eval", bad, "--contract", "robots/so101-tabletop.yaml"}, "bad.yaml"},
		"unknown command":     {[]string{"chek"}, "did you mean"},
		"unknown flag":        {[]string{"demo", "--gaet", "on"}, "--gaet"},
		"unknown gate":        {[]string{"demo", "--gate", "perhaps"}, "--gate"},
		"unknown agent":       {[]string{"demo", "--agents", "nobody"}, "nobody"},
		"unknown body":        {[]string{"demo", "--body", "mujoco"}, "--body"},
		"no repeats":          {[]string{"demo", "--repeats", "0"}, "--repeats"},
		"too many arguments":  {[]string{"demo", "now"}, "now"},
		"text without a call": {[]string{"call", "please move"}, "no call"},
		"cut text":            {[]string{"call", `{"tool":"move_to","arguments":{"x_cm":20`}, "MALFORMED"},
		"duplicate key":       {[]string{"call", `{"tool":"home","tool":"home","arguments":{}}`}, "DUPLICATE_KEY"},
		"unknown tool":        {[]string{"call", `{"tool":"fly","arguments":{}}`}, "UNKNOWN_CAPABILITY"},
		"a claim":             {[]string{"call", `{"tool":"report_result","arguments":{"success":true,"message":"done"}}`}, "claim"},
		"an agent twice":      {[]string{"demo", "--agents", "careful,careful"}, "careful"},
		"bad arguments":       {[]string{"call", `{"tool":"move_to","arguments":{"x_cm":true,"y_cm":"5"}}`}, "WRONG_TYPE"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errOut := command(t, c.line...)
			if code != exitBadInput || !strings.Contains(errOut, c.says) {
				t.Errorf("exit %d, stderr %q; want 2 and %q", code, errOut, c.says)
			}
		})
	}
}

// The exit code of a call says how it came out, and a refused call moved nothing.
//
// Verifies: X02
func TestCallExitCodes(t *testing.T) {
	for text, want := range map[string]int{
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`:          exitFine,
		`{"arguments":{"x_cm":20,"y_cm":5,"z_cm":15},"tool":"move_to"}`:          exitFine,
		`{"tool":"get_state","arguments":{}}`:                                    exitFine,
		`{"tool":"pick","arguments":{"name":"red cube"}}`:                        exitFine,
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":-5}}`:          exitRefused,
		`{"tool":"move_to","arguments":{"x_cm":70,"y_cm":0,"z_cm":10}}`:          exitRefused,
		`{"tool":"pick","arguments":{"name":"blue cube"}}`:                       exitRefused,
		`{"tool":"place","arguments":{"target":"tray"}}`:                         exitRefused,
		`{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15,"v_cm":1}}`: exitBadInput,
	} {
		code, out, errOut := command(t, "call", text)
		if code != want {
			t.Errorf("%s: exit %d, want %d; %s", text, code, want, errOut)
		}
		var answer struct{ Events []string }
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Errorf("%s: the answer is no JSON: %v", text, err)
		}
		if want != exitFine && len(answer.Events) > 0 {
			t.Errorf("%s: refused, yet %v", text, answer.Events)
		}
	}
}

// --json prints one object per episode and a last line that identifies the run.
//
// Verifies: X03
func TestDemoJSON(t *testing.T) {
	code, out, errOut := command(t, "demo", "--agents", "careful", "--json")
	if code != exitFine {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 9 { // four requests, OFF and ON, and the last line
		t.Fatalf("%d lines", len(lines))
	}
	for _, field := range []string{"suite", "scenario", "agent", "model", "gate", "body", "seed", "repeat", "feasible", "correct_call",
		"done", "claimed", "false_claim", "task", "missions", "rejections", "unsafe", "looked_after",
		"unrequested_displacement_cm", "peak_table_force_n", "model_calls", "tokens", "wall_ms", "trace"} {
		var record map[string]any
		if err := json.Unmarshal([]byte(lines[0]), &record); err != nil {
			t.Fatal(err)
		}
		if _, ok := record[field]; !ok {
			t.Errorf("no field %s in %s", field, lines[0])
		}
	}
	var last struct {
		Signature string `json:"outcome_signature"`
		Setup     string `json:"setup_hash"`
		N         int    `json:"n"`
	}
	if err := json.Unmarshal([]byte(lines[8]), &last); err != nil || last.N != 8 || len(last.Signature) != 64 || len(last.Setup) != 64 {
		t.Errorf("last line %s: %v", lines[8], err)
	}
}

// Check prints every word of the contract with its witness.
//
// Verifies: X04
func TestCheckPrintsTheTable(t *testing.T) {
	code, out, errOut := command(t, "check", "robots/so101-tabletop.yaml")
	if code != exitFine || !strings.Contains(out, "contact_sensor") || !strings.Contains(out, "0 withdrawn") {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
	code, out, _ = command(t, "check", "--json", "robots/so101-tabletop.yaml")
	var table struct{ Rows []map[string]string }
	if err := json.Unmarshal([]byte(out), &table); code != exitFine || err != nil || len(table.Rows) < 10 {
		t.Errorf("exit %d, %d rows, %v", code, len(table.Rows), err)
	}
}

// A saved run holds a trace of every step of every episode.
//
// Verifies: X05
func TestDemoSavesTheRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errOut := command(t, "demo", "--agents", "repairer", "--gate", "on", "--out", dir); code != exitFine {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	trace, err := os.ReadFile(filepath.Join(dir, "traces", "move-floor_repairer_on_s0_r0.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"event":"open"`, `"event":"step"`, `"event":"end"`, `CONDITION`, `"task_hash"`, `"latency_ms"`} {
		if !bytes.Contains(trace, []byte(want)) {
			t.Errorf("the trace lacks %s", want)
		}
	}
}

// A replay judges every call again and comes to the same verdicts; a record that was changed shows.
//
// Verifies: X06
func TestReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errOut := command(t, "eval", "suites/seven.yaml", "--agents", "substituter,mumbler", "--out", dir); code != exitFine {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	run, err := eval.LoadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Episodes {
		code, out, errOut := command(t, "replay", dir, run.Episodes[i].ID)
		if code != exitFine || strings.Contains(out, "DIFFERS") {
			t.Errorf("%s: exit %d\n%s%s", run.Episodes[i].ID, code, out, errOut)
		}
	}
	if code, _, errOut := command(t, "replay", dir, "nobody"); code != exitBadInput || !strings.Contains(errOut, "nobody") {
		t.Errorf("unknown episode: exit %d, %s", code, errOut)
	}
	trace := filepath.Join(dir, run.Episodes[0].Record.Trace)
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := command(t, "report", dir); code != exitFine || !strings.Contains(out, "28 episodes") {
		t.Errorf("report: exit %d, %s%s", code, out, errOut)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := command(t, "replay", moved, run.Episodes[0].ID); code != exitFine {
		t.Errorf("a moved run: exit %d, %s", code, errOut)
	}
	doctored := strings.ReplaceAll(string(text), `red cube`, `green cube`)
	if err := os.WriteFile(filepath.Join(moved, run.Episodes[0].Record.Trace), []byte(doctored), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{{"replay", moved, run.Episodes[0].ID}, {"report", moved}} {
		if code, _, errOut := command(t, line...); code != exitBadInput || !strings.Contains(errOut, "traces") {
			t.Errorf("%s of a doctored run: exit %d, %s", line[0], code, errOut)
		}
	}
}
