package gate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/contract"
	"interlock/reject"
	"interlock/robot/gate"
	"interlock/world"
)

var verbs = []string{"move_to", "move_to", "move_to", "pick", "pick", "pick", "pick", "place", "dock", "bow", "home", "rest", "nod", "turn", "fly", "", "get_state", "find_object", "reach_of"}

// literals are what may stand behind an argument's name, by what it should be.
var literals = map[byte][]string{
	'n': {"20", "5", "15", "2.25", "0.5", "-1", "0", "-0.0", "1.5e1", "31.5", "32", "2.2", "-20", "44.5", "45", "61", "-60", "0.75", "1e-300", "1e10", "1e309", "5e-324", "9007199254740993", "40", "28"},
	't': {`"red cube"`, `"blue cube"`, `"green cube"`, `"red block"`, `"mug"`, `"tray"`, `"shelf"`, `"slow"`, `"brisk"`, `""`, `"Red cube"`},
	'f': {"true", "false"},
	'x': {"null", "true", `"15"`, "[1]", "{}", `{"a":1,"a":2}`, "NaN", "01", "+1", `"\ud800"`},
}

// calls draws a call: one in two a good one, the others with one thing or another wrong.
func calls(t *rapid.T) gate.Call {
	if rapid.Bool().Draw(t, "good") {
		verb := rapid.SampledFrom(slices.Sorted(maps.Keys(good))).Draw(t, "verb")
		return call(verb, good[verb])
	}
	verb := rapid.SampledFrom(verbs).Draw(t, "verb")
	var members []string
	for _, name := range []string{"x_cm", "y_cm", "z_cm", "speed_mps", "style", "dry", "note", "name", "approach_dz_cm", "target", "upper", "lower", "depth_cm"} {
		kind := declared[verb][name]
		odd := rapid.IntRange(0, 60).Draw(t, "odd")
		switch {
		case kind == 0 && odd > 0 || kind >= 'a' && odd > 20 || kind != 0 && odd == 1:
			continue
		case kind == 0 || odd == 2:
			kind = 'x'
		}
		members = append(members, fmt.Sprintf("%q:%s", name, rapid.SampledFrom(literals[kind|0x20]).Draw(t, name)))
		if odd == 3 {
			members = append(members, fmt.Sprintf("%q:%s", name, rapid.SampledFrom(literals[kind|0x20]).Draw(t, name)))
		}
	}
	text := "{" + strings.Join(members, ",") + "}"
	if rapid.IntRange(0, 40).Draw(t, "broken") == 0 {
		text = rapid.SampledFrom([]string{"", "null", text + "x", "[" + text + "]", strings.Replace(text, "}", ",}", 1), text[:len(text)/2]}).Draw(t, "text")
	}
	return gate.Call{Capability: verb, Args: []byte(text), Person: rapid.Bool().Draw(t, "person")}
}

// vary changes one fact: 0 leaves it, the others have ways of their own.
func vary(m map[string]world.Fact, name string, how byte) {
	switch how % 16 {
	case 1:
		without(name)(m)
	case 2:
		aged(name, maxAge[name]*time.Millisecond+1)(m)
	case 3:
		aged(name, maxAge[name]*time.Millisecond)(m)
	case 4:
		aged(name, -1)(m)
	case 5:
		witnessed(name, "rumour")(m)
	case 6:
		valued(name, otherKind(name))(m)
	case 7:
		valued(name, notFinite(name))(m)
	case 8, 9, 10, 11, 12, 13, 14, 15:
		if v := others[name]; len(v) > 0 {
			valued(name, v[int(how)%len(v)])(m)
		}
	}
}

// others are further values of a fact.
var others = map[string][]world.Value{
	"torque_on":   {{Kind: world.KindFlag}},
	"battery_pct": {number(20.5), number(21.5), number(22), number(20)},
	"door":        {textValue("open")},
	"jaw_gap_mm":  {number(4), number(15)},
	"objects": {
		poses(), poses(cubeAt("red cube", 0.2, 0, 0.015)), poses(cubeAt("red block", 0.2, 0, 0.09), cubeAt("mug", 0.2, 0, 0.015)),
		poses(cubeAt("red cube", 0.2, 0, 0.015), cubeAt("red cube", 0.3, 0, 0.015), cubeAt("blue cube", 0.2, 0.1, 0.09)),
		poses(cubeAt("mug", 0.2, 0, 0.09), cubeAt("blue cube", 0.2, 0.1, 0.015)), poses(cubeAt("blue block", 0.7, 0.1, 0.015), cubeAt("red cube", 0.2, 0, 0.12)),
	},
}

// stand makes a standing and a licence of one byte.
func stand(b byte) (gate.Standing, gate.Licence) {
	st := gate.Standing{StopNumber: uint64(b), Stopped: b%8 == 1}
	if b%8 == 2 {
		st.BusyWith = "m-1"
	}
	switch b / 8 % 8 {
	case 1:
		return st, licence{"red cube"}
	case 2:
		return st, licence{"blue cube", "green cube"}
	case 3:
		return st, licence{}
	}
	return st, nil
}

var factNames = []string{"tip", "jaw_gap_mm", "torque_on", "battery_pct", "door", "objects"}

// questions draws a call, a world and a standing.
var questions = rapid.Custom(func(t *rapid.T) question {
	q := question{call: calls(t), facts: facts()}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		vary(q.facts, rapid.SampledFrom(factNames).Draw(t, "fact"), rapid.ByteRange(1, 15).Draw(t, "how"))
	}
	q.st, q.licence = stand(rapid.Byte().Draw(t, "standing"))
	return q
})

// Whatever is asked: no panic, nothing cleared that the file forbids, nothing refused that it allows, the same answer
// twice, and a cleared call carries exactly what was asked.
//
// Verifies: J16
func TestNothingUnsafeIsCleared(t *testing.T) {
	g, _ := bench(t)
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			q := questions.Draw(t, "question")
			if wrong := violation(q, honest(g)); wrong != "" {
				t.Fatalf("%s\n%s %s\n%+v", wrong, q.call.Capability, q.call.Args, q)
			}
		}
	})
}

// FuzzJudge takes a verb, the arguments as bytes, one byte for each fact and one for standing and licence.
//
// Verifies: J16
func FuzzJudge(f *testing.F) {
	for verb, args := range good {
		f.Add(verb, []byte(args), []byte{}, byte(0))
	}
	for i, r := range badInput(f) {
		if text := r.text(f); len(text) < 300 {
			f.Add(r.Capability, text, []byte{byte(i), byte(i / 2), byte(i / 3), 0, 0, byte(i)}, byte(i))
		}
	}
	g, _ := bench(f)
	f.Fuzz(func(t *testing.T, verb string, args []byte, world []byte, standing byte) {
		q := question{call: gate.Call{Capability: verb, Args: args, Person: standing >= 128}, facts: facts()}
		for i, name := range factNames {
			if i < len(world) {
				vary(q.facts, name, world[i])
			}
		}
		q.st, q.licence = stand(standing)
		if wrong := violation(q, honest(g)); wrong != "" {
			t.Errorf("%s\n%s %q\n%+v", wrong, verb, args, q)
		}
	})
}

// wronged asks the good gate another question than it was given.
func wronged(good judge, change func(*question)) judge {
	return func(q question) (gate.Cleared, reject.List) {
		q.facts = maps.Clone(q.facts)
		change(&q)
		return good(q)
	}
}

// saboteurs are gates with one thing wrong, made from good ones.
func saboteurs(t *testing.T) map[string]judge {
	real, _ := bench(t)
	good := honest(real)
	wrongly := func(change func(*question)) judge { return wronged(good, change) }
	each := func(change func(name string, f *world.Fact)) judge {
		return wrongly(func(q *question) {
			for k, f := range q.facts {
				change(k, &f)
				q.facts[k] = f
			}
		})
	}
	loose := func(change func(map[string]any)) judge {
		return wrongly(func(q *question) {
			var m map[string]any
			if json.Unmarshal(q.call.Args, &m) == nil {
				change(m)
				q.call.Args, _ = json.Marshal(m)
			}
		})
	}
	other := func(change ...string) judge { g, _ := bench(t, change...); return honest(g) }
	c := openContract(t, benchFile)
	n := 0
	return map[string]judge{
		"forgets the stop":             wrongly(func(q *question) { q.st.Stopped = false }),
		"forgets what moves":           wrongly(func(q *question) { q.st.BusyWith = "" }),
		"forgets the stop's number":    wrongly(func(q *question) { q.st.StopNumber = 0 }),
		"forgets the licence":          wrongly(func(q *question) { q.licence = nil }),
		"takes everyone for a person":  wrongly(func(q *question) { q.call.Person = true }),
		"takes nobody for a person":    wrongly(func(q *question) { q.call.Person = false }),
		"reads old facts as new":       each(func(_ string, f *world.Fact) { f.At = now }),
		"believes any witness":         each(func(name string, f *world.Fact) { f.Witness = witnesses[name] }),
		"cannot see the present":       each(func(_ string, f *world.Fact) { f.At = f.At.Add(-100 * time.Millisecond) }),
		"lets the last key win":        loose(func(map[string]any) {}),
		"drops what it does not know":  loose(func(m map[string]any) { delete(m, "depth_cm"); delete(m, "target"); delete(m, "note") }),
		"reads null as zero":           loose(func(m map[string]any) { zeroNull(m) }),
		"clamps to the floor":          loose(func(m map[string]any) { clamp(m, "z_cm", 2.25, 31.5) }),
		"clamps to the bounds":         loose(func(m map[string]any) { clamp(m, "x_cm", -20, 60.5) }),
		"guesses labels":               loose(func(m map[string]any) { guess(m) }),
		"has no floor":                 other(`      - {id: above_table, that: "args.z_cm >= 2.25", says: "z = {z_cm} cm is below 2.25 cm"}`+"\n", ""),
		"has no bounds":                other("number, min: -2, max: 2, optional", "number, optional"),
		"needs no torque":              other(`      - {id: powered, that: "torque_on"}`+"\n", ""),
		"reaches anywhere":             other("<= 5.5", "<= 490.0", "<= 1.5", "<= 490.0"),
		"never asks":                   other(`      - {id: shut, that: "door == 'shut'", on_false: ask}`+"\n", ""),
		"takes a noisy value for good": other(", sigma: 1", ""),
		"is off":                       honest(gate.Off(c, c.Align(benchOffer()), newPlanner(), simulated{})),
		"never aligned":                honest(gate.New(c, contract.Alignment{Mode: "sim"}, newPlanner())),
		"refuses everything":           func(question) (gate.Cleared, reject.List) { return gate.Cleared{}, reject.List{{Code: reject.Busy}} },
		"says nothing":                 func(question) (gate.Cleared, reject.List) { return gate.Cleared{}, nil },
		"says yes and no": func(q question) (gate.Cleared, reject.List) {
			c, l := good(q)
			return c, append(l, reject.New(reject.Overloaded, "too busy"))
		},
		"changes its mind": func(q question) (gate.Cleared, reject.List) {
			if n++; n%2 == 0 {
				return gate.Cleared{}, reject.List{reject.New(reject.Overloaded, "too busy")}
			}
			return good(q)
		},
	}
}

func zeroNull(m map[string]any) {
	for k, v := range m {
		if v == nil {
			m[k] = 0
		}
	}
}

func clamp(m map[string]any, name string, lo, hi float64) {
	if v, ok := m[name].(float64); ok {
		m[name] = math.Max(lo, math.Min(hi, v))
	}
}

func guess(m map[string]any) {
	for k, v := range m {
		if s, ok := v.(string); ok {
			m[k] = strings.ToLower(strings.TrimSpace(s))
		}
	}
}

// The checks above are no decoration: each sabotaged gate is caught, and the good one is not.
//
// Verifies: J17
func TestSabotagedGatesAreCaught(t *testing.T) {
	const tries = 4000
	asked := make([]question, tries)
	for i := range asked {
		asked[i] = questions.Example(i)
	}
	g, _ := bench(t)
	for _, q := range asked {
		if wrong := violation(q, honest(g)); wrong != "" {
			t.Fatalf("the good gate is caught: %s\n%+v", wrong, q)
		}
	}
	for name, bad := range saboteurs(t) {
		caught := 0
		for i := 0; i < tries && caught == 0; i++ {
			if violation(asked[i], bad) != "" {
				caught = i + 1
			}
		}
		t.Logf("%s: caught by question %d", name, caught)
		if caught == 0 {
			t.Errorf("a gate that %s passes %d questions", name, tries)
		}
	}
}
