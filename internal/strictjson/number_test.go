package strictjson_test

import (
	"math"
	"testing"

	"interlock/internal/strictjson"
)

// Verifies: P31
func TestNumberMeansWhatWasWritten(t *testing.T) {
	for _, c := range []struct {
		id, literal string
		want        float64
		ok          bool
	}{
		{"", "20", 20, true},
		{"", "-5.25", -5.25, true},
		{"B034", "1e309", 0, false},
		{"B034", "-1e999", 0, false},
		{"B035", "1e-400", 0, false},
		{"B036", "5e-324", 0, false},
		{"B036", "2.2250738585072014e-308", 0x1p-1022, true},
		{"B036", "2.225073858507201e-308", 0, false},
		{"B036", "-1.5e-308", 0, false},
		{"B037", "-0", 0, true},
		{"B037", "-0.0e5", 0, true},
		{"B038", "1.0", 1, true},
		{"B039", "1e3", 1000, true},
		{"B039", "1E400", 0, false},
		{"B040", "9007199254740991", 1<<53 - 1, true},
		{"B040", "9007199254740992", 1 << 53, true},
		{"B040", "9007199254740993", 0, false},
		{"B040", "-9007199254740993", 0, false},
		{"B041", "9223372036854775808", 0, false},
		{"B041", "-9223372036854775809", 0, false},
		{"B041", "18446744073709551616", 0, false},
		{"B043", "0.10000000000000000555", 0.1, true},
		{"", "1e15", 1e15, true},
		{"", "1e300", 1e300, true},
	} {
		t.Run(c.id+" "+c.literal, func(t *testing.T) {
			n := parse(t, c.literal)
			got, ok := n.Number()
			if ok != c.ok || (ok && got != c.want) {
				t.Errorf("%v %v, want %v %v", got, ok, c.want, c.ok)
			}
			if ok && got == 0 && math.Signbit(got) {
				t.Error("the sign of zero survived")
			}
		})
	}
}

// Verifies: P31
func TestOnlyNumbersAreNumbers(t *testing.T) {
	for _, text := range []string{`null`, `true`, `false`, `"20"`, `"NaN"`, `"1e3"`, `""`, `[]`, `[1]`, `{}`} { // B032, B044, B049
		if v, ok := parse(t, text).Number(); ok {
			t.Errorf("%s is taken for the number %v", text, v)
		}
	}
	for _, text := range []string{`"true"`, `1`, `0`, `null`, `"false"`} { // B049
		if _, ok := parse(t, text).Bool(); ok {
			t.Errorf("%s is taken for a boolean", text)
		}
	}
	var none *strictjson.Node // B045
	if _, ok := none.Number(); ok {
		t.Error("a missing value is a number")
	}
}

func TestCanonicalFormIsOnePerMeaning(t *testing.T) {
	for _, c := range []struct{ want, text string }{
		{`{"a":[1,2],"b":null}`, ` {"b" : null , "a":[1.0, 2e0]}`},
		{`{"x_cm":0}`, `{"x_cm":-0.0}`},
		{`{"x_cm":0.1}`, `{"x_cm":0.10000000000000000555}`},
		{`{"x_cm":1000}`, `{"\u0078_cm":1E3}`},
		{`{"A":1,"a":2,"á":3}`, `{"á":3,"a":2,"A":1}`},
		{`"A\"\n"`, `"\u0041\u0022\u000A"`},
		{`[9007199254740993,1e999]`, `[9007199254740993, 1e999]`},
		{`[true,false,{}]`, `[true,false,{ }]`},
	} {
		if got := string(strictjson.Canonical(parse(t, c.text))); got != c.want {
			t.Errorf("%s became %s, want %s", c.text, got, c.want)
		}
	}
}

func parse(t *testing.T, text string) *strictjson.Node {
	t.Helper()
	n, r := strictjson.Parse([]byte(text), strictjson.DefaultLimits())
	if r != nil {
		t.Fatalf("%s: %v", text, r)
	}
	return n
}
