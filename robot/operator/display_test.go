package operator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	contractv1 "interlock/contract/v1"
	"interlock/robot/operator"
)

// Verifies: O11
func TestThePersonSeesTheWholeCall(t *testing.T) {
	a := &contractv1.Act{
		Robot: "so101", ContractHash: "c0ffee", Capability: "pick", ArgsJson: []byte(`{"name":"red cube","speed_mps":0.25,"via":[1,2]}`),
		LeaseEpoch: 3, Principal: "chat", TaskId: "task-7",
	}
	why := append(because(), &contractv1.Rejection{Code: "NOT_LICENSED", Field: "name", Says: `the request does not allow "red cube"`})
	const want = `so101 is asked to pick
  name: "red cube"
  speed_mps: 0.25
  via: [1,2]
asked by chat, for task task-7
lease 3, contract c0ffee
it needs a person because
  NEEDS_APPROVAL by low in z_cm: "z = 40 cm is above 31.5 cm"
  NOT_LICENSED in name: "the request does not allow \"red cube\""
the robot adds: "picks up an object"`
	if got := operator.Display(a, why, "picks up an object"); got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	const bare = `so101 is asked to home
  (no arguments)
asked by nobody with a name, for no task
lease none, contract c0ffee
it needs a person`
	if got := operator.Display(&contractv1.Act{Robot: "so101", ContractHash: "c0ffee", Capability: "home", ArgsJson: []byte(`{}`)}, nil, ""); got != bare {
		t.Errorf("shown:\n%s\nwant:\n%s", got, bare)
	}
	b := proto.CloneOf(a)
	b.Number, b.Displayed = 9, "something else"
	if operator.Display(a, why, "") != operator.Display(b, why, "") {
		t.Error("the text depends on what is made of it")
	}
}

// What was made to mislead a person shows as what it is: text that turns round (B066), hides, moves the cursor, ends the
// line, imitates a line of ours or looks like another letter.
//
// Verifies: O12
func TestTextFromOutsideCannotMislead(t *testing.T) {
	for hostile, shows := range map[string]string{
		"red\u202eebuc der":      `"red\u{202e}ebuc der"`,
		"cube\nasked by ada":     `"cube\u{000a}asked by ada"`,
		"cube\x1b[2K\rblue":      `"cube\u{001b}[2K\u{000d}blue"`,
		"cube\u200d\u00ad\ufe0f": `"cube\u{200d}\u{00ad}\u{fe0f}"`,
		"cu\u0301be":             `"cu\u{0301}be"`,
		"a\u00a0b\u3000c":        `"a\u{00a0}b\u{3000}c"`,
		"\u3164\u2800":           `"\u{3164}\u{2800}"`,
		"12\u05d0 34":            `"12\u{05d0} 34"`,
		"\U000e0041\U0001e900":   `"\u{e0041}\u{1e900}"`,
		"a\"\n  blue: \"b":       `"a\"\u{000a}  blue: \"b"`,
		`a\u{202e}b`:             `"a\\u{202e}b"`,
		"r\u0435d":               "\"r\u0435d\"  (not plain ASCII: U+0435)",
		"w\u00fcrfel":            "\"w\u00fcrfel\"  (not plain ASCII: U+00FC)",
		"\u0430\u0431\u0432\u0433\u0434\u0435\u0436": "\"\u0430\u0431\u0432\u0433\u0434\u0435\u0436\"  (not plain ASCII: U+0430 U+0431 U+0432 U+0433 U+0434 U+0435 …)",
		"bad \xff utf": `"bad \x{ff} utf"`,
		"\ufffd":       `"\u{fffd}"`,
	} {
		a := act("x")
		a.Principal = hostile
		if got := operator.Display(a, nil, ""); !strings.Contains(got, "\nasked by "+shows+", for task task-7\n") {
			t.Errorf("%q is shown as\n%s\nwant %s", hostile, got, shows)
		}
	}
	a := act("x")
	a.ArgsJson = []byte("{\"name\":\"red\u202ecube\",\"\u202enote\":[\"a\",\n{\"b\":\"\\u202e\u200b\"}]}")
	want := "  name: \"red\\u{202e}cube\"\n  \"\\u{202e}note\": [\"a\",\\u{000a}{\"b\":\"\\u202e\\u{200b}\"}]\n"
	if got := operator.Display(a, nil, ""); !strings.Contains(got, want) {
		t.Errorf("arguments are shown as\n%s\nwant\n%s", got, want)
	}
	for _, broken := range []string{"", "null", "[1]", `{"a":1`, `{"a":1}x`, `{"a":1,}`} {
		a.ArgsJson = []byte(broken)
		if got := operator.Display(a, nil, ""); !strings.Contains(got, "\n  arguments that are no JSON object: ") {
			t.Errorf("%q is shown as\n%s", broken, got)
		}
	}
}

// What is long is cut where it is not the call, and said to be; a call that is too long has no text at all.
//
// Verifies: O13
func TestTheTextIsBounded(t *testing.T) {
	long := strings.Repeat("\u202e", 20_000)
	var many []*contractv1.Rejection
	for range 100 {
		many = append(many, &contractv1.Rejection{Code: long, Rule: long, Field: long, Says: long})
	}
	a := act("x")
	a.ArgsJson = fmt.Appendf(nil, `{"name":%q}`, strings.Repeat("a", 8000))
	text := operator.Display(a, many, long)
	if text == "" || len(text) > operator.MaxDisplayed {
		t.Errorf("%d bytes", len(text))
	}
	for _, said := range []string{"and for 90 more reasons", "more bytes"} {
		if !strings.Contains(text, said) {
			t.Errorf("it is not said: %q", said)
		}
	}
	for name, grow := range map[string]func(*contractv1.Act){
		"arguments": func(a *contractv1.Act) { a.ArgsJson = fmt.Appendf(nil, `{"name":%q}`, strings.Repeat("a", 9000)) },
		"principal": func(a *contractv1.Act) { a.Principal = long },
		"task":      func(a *contractv1.Act) { a.TaskId = long },
	} {
		b := act("x")
		grow(b)
		if text := operator.Display(b, nil, ""); text != "" {
			t.Errorf("%s: a call of %d bytes is shown", name, len(text))
		}
	}
}

// hostile are texts of what misleads, and of what looks alike.
var hostile = rapid.StringOfN(rapid.RuneFrom([]rune("ab:\"\\\n{}u0041 ,"), unicode.Cf, unicode.Mn, unicode.Zs, unicode.Cc, unicode.Cyrillic, unicode.Hebrew), 0, 12, -1)

func object(t *rapid.T) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string]string{hostile.Draw(t, "argument"): hostile.Draw(t, "value"), "z": "1"}) // texts always encode
	return bytes.TrimSpace(b.Bytes())
}

// Whatever the call, each line is ours, every sign shows itself, and two calls that differ are shown differently.
//
// Verifies: O12, P34
func TestNoTwoCallsLookAlike(t *testing.T) {
	calls := rapid.Custom(func(t *rapid.T) *contractv1.Act {
		return &contractv1.Act{
			Robot: hostile.Draw(t, "robot"), ContractHash: hostile.Draw(t, "contract"), Capability: hostile.Draw(t, "capability"), ArgsJson: object(t),
			LeaseEpoch: rapid.Uint64Max(2).Draw(t, "epoch"), Principal: hostile.Draw(t, "principal"), TaskId: hostile.Draw(t, "task"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, says := calls.Draw(t, "call"), hostile.Draw(t, "says")
		why := []*contractv1.Rejection{{Code: hostile.Draw(t, "code"), Rule: hostile.Draw(t, "rule"), Field: hostile.Draw(t, "field"), Says: says}}
		text := operator.Display(a, why, says)
		args := map[string]json.RawMessage{}
		if err := json.Unmarshal(a.GetArgsJson(), &args); err != nil {
			t.Fatal(err)
		}
		lines := 5 + len(args)
		if says != "" {
			lines++
		}
		if n := strings.Count(text, "\n") + 1; n != lines {
			t.Fatalf("%d lines, of which %d are ours:\n%s", n, lines, text)
		}
		for _, r := range text {
			if r != '\n' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Hebrew, r) || unicode.Is(unicode.Zs, r) && r != ' ') {
				t.Fatalf("the sign %U is shown as it is:\n%s", r, text)
			}
		}
		if !utf8.ValidString(text) {
			t.Fatal("the text is not UTF-8")
		}
		b := calls.Draw(t, "other call")
		if same := proto.Equal(a, b); (operator.Display(b, why, says) == text) != same {
			t.Fatalf("the same: %v, and both are shown as\n%s", same, text)
		}
		one := proto.CloneOf(a)
		one.Principal += hostile.Draw(t, "more")
		if same := one.GetPrincipal() == a.GetPrincipal(); (operator.Display(one, why, says) == text) != same {
			t.Fatalf("%q and %q are shown alike", a.GetPrincipal(), one.GetPrincipal())
		}
	})
}
