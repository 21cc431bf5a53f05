package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Read shows what is made of a text, with offsets, and calls nothing.
//
// Verifies: N12
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		raw   string
		flags []string
		code  int
		says  string
	}{
		"a call":        {`{"tool":"home","arguments":{}}`, nil, exitFine, "call     home {}  (bytes 0 to 30)"},
		"a change":      {`{"tool":"home","arguments":{},}`, nil, exitFine, `change   N4: "," set aside  (bytes 29 to 30)`},
		"no call":       {"Hello.", nil, exitFine, "no_call"},
		"nothing":       {"", nil, exitFine, "no_call"},
		"cut":           {`{"tool":"home","argu`, nil, exitBadInput, "refusal  MALFORMED, rule truncated, open {\", at byte 20"},
		"cut by reason": {`{"tool":"home","arguments":{}}`, []string{"--stop", "length"}, exitBadInput, "truncated"},
		"two":           {`{"tool":"home","arguments":{}}{"tool":"home","arguments":{}}`, nil, exitBadInput, "2 candidates, identical true"},
		"no such tool":  {`{"tool":"fly","arguments":{}}`, nil, exitBadInput, "UNKNOWN_CAPABILITY, field tool"},
		"other tools":   {`{"tool":"fly","arguments":{}}`, []string{"--tools", "fly,land"}, exitFine, "call     fly"},
		"a profile":     {`<think>x</think>{"tool":"home","arguments":{}}`, []string{"--profile", "think"}, exitFine, "change   T1"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errOut := command(t, append([]string{"read", file(t, "raw.txt", c.raw)}, c.flags...)...)
			if code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("exit %d: %s%s", code, out, errOut)
			}
			code, out, _ = command(t, append([]string{"read", "--json", file(t, "raw.txt", c.raw)}, c.flags...)...)
			var r readingJSON
			if err := json.Unmarshal([]byte(out), &r); err != nil || code != c.code || (r.Refusal != nil) != (c.code != exitFine) {
				t.Errorf("exit %d, %v: %s", code, err, out)
			}
			for _, change := range r.Changes {
				if change.Text != c.raw[change.Start:change.End] {
					t.Errorf("%+v", change)
				}
			}
		})
	}
}

func TestReadRefusesBadInput(t *testing.T) {
	corpus := file(t, "c.jsonl", `{"model":"m","raw":"x"}`)
	for name, line := range map[string][]string{
		"nothing": {}, "both": {"x", "--corpus", corpus}, "no such file": {"nowhere.txt"}, "no such corpus": {"--corpus", "nowhere.jsonl"},
		"an unknown profile": {"--profile", "gpt", "-"}, "an empty corpus": {"--corpus", file(t, "e.jsonl", "")},
		"a line without text": {"--corpus", file(t, "n.jsonl", `{"model":"m"}`)}, "no JSON": {"--corpus", file(t, "b.jsonl", "x")},
		"too long": {file(t, "long.txt", strings.Repeat("x", maxCallBytes+1))}, "no such contract": {"--contract", "nowhere.yaml", "-"},
	} {
		if code, _, errOut := command(t, append([]string{"read"}, line...)...); code != exitBadInput {
			t.Errorf("%s: exit %d: %s", name, code, errOut)
		}
	}
}

// Verifies: N12
func TestReadCorpus(t *testing.T) {
	corpus := file(t, "c.jsonl", strings.Join([]string{
		`{"model":"a","constrained":false,"raw":"{\"tool\":\"home\",\"arguments\":{}}\n","finish_reason":"stop"}`,
		`{"model":"a","constrained":false,"raw":"{\"tool\":\"home\",\"arguments\":{}}","finish_reason":"length"}`,
		`{"model":"a","constrained":"json_schema","raw":"Hello.","finish_reason":"stop"}`,
		`{"model":"b","raw":"{\"tool\":\"fly\",\"arguments\":{}}","finish_reason":"stop"}`,
		`{"model":"a","constrained":null,"raw":"x","finish_reason":""}`,
	}, "\n"))
	code, out, errOut := command(t, "read", "--corpus", corpus, "--json")
	if code != exitFine {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	var got []rates
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var r rates
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != 3 || got[0].Grammar != "none" || got[0].N != 3 || got[0].Kinds["calls"] != 1 || got[0].Kinds["truncated"] != 2 || got[0].Decoded != 1 || got[0].Normalised["N1"] != 1 {
		t.Errorf("%s", out)
	}
	if len(got) == 3 && (got[1].Grammar != "json_schema" || got[1].Kinds["no_call"] != 1 || got[1].DecodeRate != 1 || got[2].Model != "b" || got[2].Kinds["unknown_tool"] != 1) {
		t.Errorf("%s", out)
	}
	if code, out, _ := command(t, "read", "--corpus", corpus); code != exitFine || !strings.Contains(out, "0.33 (1/3)") {
		t.Errorf("exit %d: %s", code, out)
	}
}
