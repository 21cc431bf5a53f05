package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"interlock/bench"
)

var snake = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// foreign are the fields that hold a document of somebody else's, under names that are not ours: JSON Schema, what a brain
// wrote as arguments, and counts by codes.
var foreign = []string{"args_schema", "safety", "args", "arguments", "normalised"}

// fieldsOf calls do for every key of a JSON value that is ours, and counts them.
func fieldsOf(v any, do func(key string)) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			n++
			do(key)
			if !slices.Contains(foreign, key) {
				n += fieldsOf(below, do)
			}
		}
	case []any:
		for _, below := range v {
			n += fieldsOf(below, do)
		}
	}
	return n
}

// Every command that prints JSON spells its fields in snake_case, in every object it prints.
//
// Verifies: U123
func TestAllJSONIsSnakeCase(t *testing.T) {
	contract := soft(t)
	outs := map[string]string{}
	of := func(code int, line ...string) {
		t.Helper()
		got, out, errOut := command(t, line...)
		if got != code || out == "" {
			t.Errorf("%q: exit %d, %q %q", line, got, out, errOut)
		}
		outs[strings.Join(line, " ")] = out
	}
	run := filepath.Join(t.TempDir(), "run")
	of(exitFine, "check", "robots/so101-tabletop.yaml", "--json")
	of(exitRefused, "explain", "--json", `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":-5}}`)
	of(exitFine, "explain", "--json", `{"tool":"pick","arguments":{"name":"red cube"}}`)
	of(exitFine, "read", file(t, "text", `{"tool": "home", "arguments": {},}`), "--json")
	of(exitBadInput, "read", file(t, "cut", `{"tool": "home", "arg`), "--json")
	of(exitFine, "read", "--corpus", file(t, "corpus", `{"model":"m","constrained":false,"raw":"{\"tool\":\"home\",\"arguments\":{}}","finish_reason":"stop"}`+"\n"), "--json")
	of(exitFine, "eval", "suites/moves.yaml", "--agents", "repairer,silent", "--gate", "on", "--out", run, "--json")
	of(exitFine, "demo", "--agents", "repairer", "--json")
	of(exitFine, "bench", "ik", "--n", "5", "--json")
	of(exitFine, "bench", "decide", "--n", "3", "--json")
	of(exitFine, "call", `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":5,"z_cm":15}}`) // its answer is JSON always
	of(exitRefused, "call", `{"tool":"move_to","arguments":{"x_cm":20,"y_cm":0,"z_cm":-5}}`)

	h := inhabited(t, contract)
	h.carry("m1", "home", "{}")
	waits := newTypist(t)
	chat := began(t, waits, "chat", "so101", "--json")
	waits.types(t, "move to 20 5 15 cm")
	h.until("the motion ends", func() bool { return strings.Contains(chat.out.String(), `"event":"verdict"`) })
	h.permitted()
	waits.types(t, "move to 20 5 3 cm")
	h.until("the call waits", func() bool { return strings.Contains(chat.out.String(), `"event":"waits"`) })
	of(exitFine, "approve", "--json")
	waits.types(t, "never mind")
	waits.types(t, "help")
	_ = waits.keys.Close()
	h.until("chat ends", func() bool { return strings.Contains(chat.out.String(), `"event":"bye"`) })
	outs["chat so101 --json"] = chat.out.String()
	of(exitFine, "describe", "--json")
	of(exitFine, "missions", "--json")
	of(exitFine, "events", "m1", "--json")
	of(exitFine, "cancel", "m1", "--json")
	of(exitFine, "take", "--json", "--by", "ada")
	of(exitFine, "take", "--release", "--json", "--by", "ada")
	of(exitFine, "resolve", "task-1", "achieved", "--json", "--note", "seen")
	number := h.permitted() + 1
	of(exitFine, "stop", "--json")
	of(exitFine, "robots", "--json")
	of(exitFine, "reset", fmt.Sprint(number), "--json")
	of(exitFine, "audit", "show", "--json")
	of(exitFine, "audit", "verify", "--json")
	h.robot.end()
	of(exitFine, "missions", "--json", "so101")
	of(exitFine, "bodytest", "--driver", h.socket("d"), "--operator", h.socket("o"), "--only", "closing ends a motion", "--json")

	// These start processes; what they print is made of these rows.
	var stops, line bytes.Buffer
	if err := printRows(&stops, []stopRow{{Took: []stopHistogram{{}}}}); err != nil {
		t.Fatal(err)
	}
	if err := printRows(&line, []lineRow{{Bytes: 1, Beside: 1, Robot: &bench.Spread{}, Echo: &bench.Spread{}}}); err != nil {
		t.Fatal(err)
	}
	outs["bench stop --json"], outs["bench line --json"] = stops.String(), line.String()
	holdToSnakeCase(t, outs)
}

func holdToSnakeCase(t *testing.T, outs map[string]string) {
	t.Helper()
	for line, out := range outs {
		n := 0
		for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%s: %v in %s", line, err, out)
			}
			n += fieldsOf(v, func(key string) {
				if !snake.MatchString(key) {
					t.Errorf("%s prints the field %q", line, key)
				}
			})
		}
		if n == 0 {
			t.Errorf("%s prints no field: %s", line, out)
		}
	}
	for _, c := range commands() {
		name := strings.Join(lineOf(c), " ")
		asked := func(line string) bool { return strings.HasPrefix(line+" ", name+" ") }
		if c.Flags().Lookup("json") != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(outs)), asked) {
			t.Errorf("nobody looked at what %q prints as JSON", name)
		}
	}
}
