package strictjson_test

import (
	"strings"
	"testing"

	"interlock/internal/strictjson"
	"interlock/reject"
)

// refusal is a text that is refused with the code and, where it matters, the path; id is its line in the bad-input
// catalogue.
type refusal struct {
	id, name, text string
	code           reject.Code
	field          string
}

// refusals is the catalogue as far as it concerns JSON text and numbers.
func refusals() []refusal { return append(textRefusals(), literalRefusals()...) }

func textRefusals() []refusal {
	return []refusal{
		{"B001", "duplicate key at top level", `{"tool":"a","tool":"b"}`, reject.DuplicateKey, "tool"},
		{"B002", "duplicate name in params", `{"params":{"name":"a","name":"b"}}`, reject.DuplicateKey, "params.name"},
		{"B003", "duplicate argument", `{"x_cm":1,"y_cm":2,"x_cm":1}`, reject.DuplicateKey, "x_cm"},
		{"B003", "duplicate argument by escape", `{"x_cm":1,"\u0078_cm":2}`, reject.DuplicateKey, "x_cm"},
		{"B004", "duplicate key five deep", `{"a":{"b":{"c":{"d":{"e":1,"e":2}}}}}`, reject.DuplicateKey, "a.b.c.d.e"},
		{"B004", "duplicate key in an array", `{"a":[0,{"e":1,"e":2}]}`, reject.DuplicateKey, "a.1.e"},
		{"B011", "trailing garbage", `{"a":1}x`, reject.Malformed, ""},
		{"B011", "trailing NUL", "{\"a\":1}\x00", reject.Malformed, ""},
		{"B012", "two documents", `{"a":1}{"a":2}`, reject.Malformed, ""},
		{"B012", "two documents on two lines", "{\"a\":1}\n{\"a\":1}", reject.Malformed, ""},
		{"B014", "empty", ``, reject.Malformed, ""},
		{"B014", "white space", " \t\r\n", reject.Malformed, ""},
		{"B015", "byte-order mark", "\ufeff{}", reject.Malformed, ""},
		{"B016", "UTF-16", "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00", reject.Malformed, ""},
		{"B016", "UTF-16 with mark", "\xff\xfe{\x00}\x00", reject.Malformed, ""},
		{"B016", "UTF-32", "{\x00\x00\x00}\x00\x00\x00", reject.Malformed, ""},
		{"B017", "invalid UTF-8 in a string", "{\"name\":\"red\xffcube\"}", reject.Malformed, "name"},
		{"B017", "overlong UTF-8", "{\"name\":\"\xc0\xaf\"}", reject.Malformed, "name"},
		{"B017", "invalid UTF-8 in a key", "{\"na\xffme\":1}", reject.Malformed, ""},
		{"B018", "lone high surrogate", `{"name":"\ud800"}`, reject.Malformed, "name"},
		{"B018", "lone low surrogate", `{"name":"\udc00 x"}`, reject.Malformed, "name"},
		{"B018", "surrogate pair in wrong order", `{"name":"\udc00\ud800"}`, reject.Malformed, "name"},
		{"B019", "block comment", `{"a":1 /* one */}`, reject.Malformed, ""},
		{"B019", "line comment", "{\"a\":1 // one\n}", reject.Malformed, ""},
		{"B019", "trailing comma", `{"a":1,}`, reject.Malformed, ""},
		{"B019", "trailing comma in an array", `[1,]`, reject.Malformed, ""},
		{"B019", "single quotes", `{'a':1}`, reject.Malformed, ""},
		{"B019", "unquoted key", `{a:1}`, reject.Malformed, ""},
		{"B020", "nesting of 33", strings.Repeat("[", 33) + strings.Repeat("]", 33), reject.TooLarge, ""},
		{"B020", "nesting of 10,001", strings.Repeat("[", 10001), reject.TooLarge, ""},
		{"B021", "1,025 members", "[" + strings.Repeat("1,", 1024) + "1]", reject.TooLarge, ""},
		{"B021", "a megabyte of small members", "[" + strings.Repeat("1,", 500_000) + "1]", reject.TooLarge, ""},
		{"B022", "number of five million digits", strings.Repeat("9", 5_000_000), reject.TooLarge, ""},
		{"B026", "string of 20 MB", `"` + strings.Repeat("x", 20_000_000) + `"`, reject.TooLarge, ""},
	}
}

func literalRefusals() []refusal {
	return []refusal{
		{"B031", "NaN", `{"x_cm":NaN}`, reject.NotFinite, "x_cm"},
		{"B031", "nan", `{"x_cm":nan,"y_cm":1}`, reject.NotFinite, "x_cm"},
		{"B031", "Infinity", `{"x_cm":Infinity}`, reject.NotFinite, "x_cm"},
		{"B031", "-Infinity in an array", `{"q":[0,-Infinity]}`, reject.NotFinite, "q.1"},
		{"B031", "a word that only begins like one", `{"x_cm":information}`, reject.Malformed, "x_cm"},
		{"B042", "hexadecimal", `{"x_cm":0x10}`, reject.Malformed, ""},
		{"B042", "leading zero", `{"x_cm":01}`, reject.Malformed, ""},
		{"B042", "plus sign", `{"x_cm":+1}`, reject.Malformed, "x_cm"},
		{"B042", "leading dot", `{"x_cm":.5}`, reject.Malformed, "x_cm"},
		{"B042", "trailing dot", `{"x_cm":1.}`, reject.Malformed, "x_cm"},
		{"B042", "underscore", `{"x_cm":1_000}`, reject.Malformed, ""},
		{"", "decimal comma", `{"x_cm":1,5}`, reject.Malformed, ""},
		{"", "a unit", `{"x_cm":20 cm}`, reject.Malformed, ""},
		{"", "an expression", `{"x_cm":10+10}`, reject.Malformed, ""},
		{"", "undefined", `{"x_cm":undefined}`, reject.Malformed, "x_cm"},
		{"", "Python literals", `{"success":True}`, reject.Malformed, "success"},
		{"", "a missing colon", `{"x_cm" 20}`, reject.Malformed, ""},
		{"", "a missing comma", `{"x_cm":20 "y_cm":5}`, reject.Malformed, ""},
		{"", "a missing value", `{"x_cm":,"y_cm":5}`, reject.Malformed, "x_cm"},
		{"", "mismatched closers", `{"x_cm":[20}]`, reject.Malformed, ""},
		{"", "an extra closer", `{"x_cm":20}}`, reject.Malformed, ""},
		{"", "a raw newline in a string", "{\"name\":\"red\ncube\"}", reject.Malformed, "name"},
		{"", "a bad escape", `{"name":"red\_cube"}`, reject.Malformed, "name"},
		{"", "smart quotes", `{“name”:1}`, reject.Malformed, ""},
		{"", "a numeric key", `{1:2}`, reject.Malformed, ""},
		{"", "concatenated strings", `{"name":"red" + "cube"}`, reject.Malformed, ""},
	}
}

// Verifies: P31
func TestParseRefusesTheCatalogue(t *testing.T) {
	for _, c := range refusals() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			n, r := strictjson.Parse([]byte(c.text), strictjson.DefaultLimits())
			switch {
			case r == nil:
				t.Fatalf("read as %s, want %s", n.Raw, c.code)
			case n != nil:
				t.Error("a value is returned beside the refusal")
			case r.Code != c.code:
				t.Errorf("code %s, want %s (%s)", r.Code, c.code, r.Says)
			case c.field != "" && r.Field != c.field:
				t.Errorf("field %q, want %q (%s)", r.Field, c.field, r.Says)
			}
		})
	}
}

// Every proper prefix of an object is unfinished, never a value and never another fault.
func TestEveryCutIsUnfinished(t *testing.T) {
	text := `{"tool":"move_to","arguments":{"x_cm":-2.5e+1,"on":true,"off":null,"q":[1,"\u00e9\ud83d\ude00ü"]}}`
	for cut := range len(text) {
		_, _, fault := strictjson.Scan([]byte(text[:cut]), strictjson.DefaultLimits())
		if fault == nil || !fault.Unfinished || fault.Offset != cut {
			t.Errorf("cut at byte %d (%q): %+v", cut, text[:cut], fault)
		}
	}
}

func TestParseKeepsWhatWasWritten(t *testing.T) {
	text := ` {"a": 1.50, "b": [true, null, "x\u0041"], "A": {}, "ſ": -0} `
	n, r := strictjson.Parse([]byte(text), strictjson.DefaultLimits())
	if r != nil {
		t.Fatal(r)
	}
	if got := text[n.Start:n.End]; got != strings.TrimSpace(text) || string(n.Raw) != got {
		t.Errorf("the object lies at %d to %d: %s", n.Start, n.End, n.Raw)
	}
	a := n.Get("a")
	if a.Kind != strictjson.Number || string(a.Raw) != "1.50" || text[a.Start:a.End] != "1.50" {
		t.Errorf("a is %+v", a)
	}
	b := n.Get("b")
	if len(b.Items) != 3 || b.Items[1].Kind != strictjson.Null || b.Items[2].Text != "xA" {
		t.Errorf("b is %+v", b)
	}
	if v, ok := b.Items[0].Bool(); !v || !ok {
		t.Error("true is not read as true")
	}
	if n.Get("A").Kind != strictjson.Object || n.Get("s") != nil || n.Get("B") != nil || a.Get("x") != nil {
		t.Error("names do not match byte by byte")
	}
	var none *strictjson.Node
	if none.Get("a") != nil {
		t.Error("nil has a member")
	}
}

// A later text does not change the nodes of an earlier one.
func TestNodesOutliveTheNextParse(t *testing.T) {
	first, _ := strictjson.Parse([]byte(`{"a":[1,2,3],"b":"one"}`), strictjson.DefaultLimits())
	before := string(strictjson.Canonical(first))
	for range 10 {
		if _, r := strictjson.Parse([]byte(`{"c":[4,5,6],"d":"two"}`), strictjson.DefaultLimits()); r != nil {
			t.Fatal(r)
		}
		_, _ = strictjson.Parse([]byte(`{"c":`), strictjson.DefaultLimits())
	}
	if after := string(strictjson.Canonical(first)); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

func TestScanStopsBehindTheFirstValue(t *testing.T) {
	n, end, fault := strictjson.Scan([]byte(`{"a":1}, {"a":2`), strictjson.DefaultLimits())
	if fault != nil || end != 7 || string(n.Raw) != `{"a":1}` {
		t.Errorf("%v %d %+v", n, end, fault)
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	lim := strictjson.Limits{Bytes: 12, Depth: 3, Members: 4}
	for text, want := range map[string]reject.Code{
		`[[[0]]]`:       "",
		`[[[[0]]]]`:     reject.TooLarge,
		`[1,2,3,4]`:     "",
		`[1,2,3,4,5]`:   reject.TooLarge,
		`[1,2,[],{}]`:   "",
		`[{},{},{},1]`:  "",
		`[[1,2],[3]]`:   reject.TooLarge,
		`[0,0,{},0,0]`:  reject.TooLarge,
		`[0,0,[],0,0]`:  reject.TooLarge,
		`"0123456789"`:  "",
		`"0123456789a"`: reject.TooLarge,
	} {
		_, r := strictjson.Parse([]byte(text), lim)
		if got := code(r); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func code(r *reject.Rejection) reject.Code {
	if r == nil {
		return ""
	}
	return r.Code
}
