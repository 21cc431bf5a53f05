package gate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"interlock/reject"
	"interlock/robot/gate"
	"interlock/world"
)

// question is one call with everything a judgement may look at.
type question struct {
	call    gate.Call
	facts   map[string]world.Fact
	st      gate.Standing
	licence gate.Licence
}

// judge answers a question; the gate's own, or a sabotaged one.
type judge func(question) (gate.Cleared, reject.List)

// honest is the gate under test.
func honest(g *gate.Gate) judge {
	return func(q question) (gate.Cleared, reject.List) {
		return g.Judge(q.call, world.NewSnapshot(now, slices.Collect(maps.Values(q.facts))), q.st, q.licence)
	}
}

// violation asks the question twice and holds the answer against what the test robot's file means, worked out here by
// hand. It returns what is wrong with the answer, or "".
func violation(q question, ask judge) string {
	c, l := ask(q)
	again, l2 := ask(q)
	args, state := decode(q)
	allowed := state == readable && q.allowed(args)
	switch {
	case !reflect.DeepEqual(c, again) || !reflect.DeepEqual(l, l2):
		return "the same call twice, two answers"
	case c.OK() != (len(l) == 0):
		return "neither cleared nor refused, or both"
	case !c.OK() && (c.Plan() != nil || c.Args() != nil || c.Capability() != nil || c.ArgsJSON() != nil):
		return "a refused call still carries something"
	case c.OK() && state == unreadable:
		return "cleared a text that is not strict JSON"
	case c.OK() && !allowed && state == readable:
		return "cleared what must not run"
	case !c.OK() && allowed:
		return fmt.Sprintf("refused what may run: %v", l)
	case !c.OK():
		return ""
	}
	return cleared(q, c, args, ask)
}

// cleared checks what a cleared call carries.
func cleared(q question, c gate.Cleared, args map[string]any, ask judge) string {
	verb := q.call.Capability
	if c.Capability().Name != verb || c.StopNumber() != q.st.StopNumber || (c.Plan() == nil) != slices.Contains(looks, verb) {
		return "the clearance is for something else"
	}
	for _, a := range c.Args() {
		v, written := args[a.Name]
		switch a.Value.Kind {
		case world.KindNumber:
			if x, ok := v.(float64); !ok || x != a.Value.Number || math.IsInf(x, 0) || math.Signbit(a.Value.Number) && x == 0 {
				return "a number changed on its way: " + a.Name
			}
		case world.KindText:
			if written && label(v) != a.Value.Text && (v != a.Value.Text) || !written && a.Name != "moved" {
				return "a text changed on its way: " + a.Name
			}
		case world.KindFlag:
			if v != a.Value.Flag {
				return "a flag changed on its way: " + a.Name
			}
		case world.KindPoint, world.KindPoses:
			return "an argument of no JSON kind"
		}
	}
	canonical := q
	canonical.call.Args = c.ArgsJSON()
	if once, l := ask(canonical); !bytes.Equal(once.ArgsJSON(), c.ArgsJSON()) || !reflect.DeepEqual(once.Args(), c.Args()) {
		return fmt.Sprintf("the canonical arguments %s are judged otherwise: %v", c.ArgsJSON(), l)
	}
	return ""
}

// What the oracle makes of a text.
const (
	readable   = iota
	unreadable // no strict JSON object
	unclear    // the oracle does not say
)

// decode reads the arguments with the standard library, by its own rules.
func decode(q question) (map[string]any, int) {
	src := q.call.Args
	if !utf8.Valid(src) || !json.Valid(src) {
		return nil, unreadable
	}
	if len(src) > 1000 || bytes.Contains(bytes.ToLower(src), []byte(`\ud`)) {
		return nil, unclear // size, depth and surrogates are the catalogue's
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	v, twice := value(d)
	m, isObject := v.(map[string]any)
	if twice || !isObject {
		return nil, unreadable
	}
	for name, v := range m {
		if n, ok := v.(json.Number); ok {
			m[name] = exact(string(n))
		}
	}
	return m, readable
}

// value reads one value and reports whether an object anywhere in it holds a key twice.
func value(d *json.Decoder) (v any, twice bool) {
	t, err := d.Token()
	if err != nil {
		return nil, true
	}
	switch t {
	case json.Delim('{'):
		m := map[string]any{}
		for d.More() {
			k, _ := d.Token()
			inner, again := value(d)
			_, had := m[k.(string)]
			m[k.(string)], twice = inner, twice || again || had
		}
		v = m
	case json.Delim('['):
		list := []any{}
		for d.More() {
			inner, again := value(d)
			list, twice = append(list, inner), twice || again
		}
		v = list
	default:
		return t, false
	}
	_, err = d.Token()
	return v, twice || err != nil
}

// exact returns the number of a literal, or a text where a float64 would not mean what was written.
func exact(literal string) any {
	x, err := strconv.ParseFloat(literal, 64)
	i, tooLong := strconv.ParseInt(literal, 10, 64)
	whole := !strings.ContainsAny(literal, ".eE")
	digits, _, _ := strings.Cut(strings.ToLower(literal), "e")
	switch {
	case err != nil, x == 0 && strings.ContainsAny(digits, "123456789"), x != 0 && math.Abs(x) < 0x1p-1022,
		whole && (tooLong != nil || i > 1<<53 || i < -1<<53):
		return errNumber
	case x == 0:
		return 0.0
	}
	return x
}

type noNumber struct{}

var errNumber = noNumber{}

// declared are the arguments by verb, as the file declares them: n number, t text, f flag; capital where required.
var declared = map[string]map[string]byte{
	"move_to": {"x_cm": 'N', "y_cm": 'N', "z_cm": 'N', "speed_mps": 'n', "style": 't', "dry": 'f', "note": 't'},
	"pick":    {"name": 'T', "approach_dz_cm": 'n'}, "place": {"target": 'T'}, "dock": {"upper": 'T', "lower": 'T'}, "bow": {"depth_cm": 'N'},
	"home": {}, "rest": {}, "get_state": {}, "find_object": {"name": 'T'}, "reach_of": {"name": 'T'},
}

// ranges are the bounds of the arguments that have some.
var ranges = map[string][2]float64{"x_cm": {-60, 60.5}, "speed_mps": {0.01, 0.75}, "approach_dz_cm": {-2, 2}}

func (q question) allowed(args map[string]any) bool {
	decl, known := declared[q.call.Capability]
	moves := !slices.Contains(looks, q.call.Capability)
	if !known || moves && (q.st.Stopped || q.st.BusyWith != "") || q.call.Capability == "rest" && !q.call.Person {
		return false
	}
	for name := range args {
		if decl[name] == 0 {
			return false
		}
	}
	for name, kind := range decl {
		v, given := args[name]
		if !given && kind >= 'a' {
			continue
		}
		if !fits(name, kind|0x20, v) {
			return false
		}
	}
	return q.conditions(args)
}

func fits(name string, kind byte, v any) bool {
	switch kind {
	case 'n':
		x, ok := v.(float64)
		r, bounded := ranges[name]
		return ok && (!bounded || x >= r[0] && x <= r[1])
	case 'f':
		_, ok := v.(bool)
		return ok
	}
	s, ok := v.(string)
	return ok && (name != "style" || s == "slow" || s == "brisk") && (name != "target" || s == "tray" || s == "shelf")
}

// conditions are the requires of the file.
func (q question) conditions(args map[string]any) bool {
	n := func(name string) float64 { x, _ := args[name].(float64); return x }
	torque, torqueKnown := q.fresh("torque_on", world.KindFlag)
	switch q.call.Capability {
	case "move_to":
		x, y, z := n("x_cm"), n("y_cm"), n("z_cm")
		return z >= 2.25 && x >= -20 && y <= 44.5 && torqueKnown && torque.Flag && z <= 31.5 && math.Sqrt(x*x+y*y+z*z)*10 <= 401.5
	case "pick":
		charge, known := q.fresh("battery_pct", world.KindNumber)
		door, shut := q.fresh("door", world.KindText)
		return known && charge.Number >= 22 && shut && door.Text == "shut" && q.near(args["name"]) && q.licensed(args["name"])
	case "place":
		held := q.held()
		return held != "" && q.licensed(held)
	case "dock":
		lower, ok := q.object(args["lower"])
		_, upper := q.object(args["upper"])
		return ok && upper && torqueKnown && torque.Flag && lower.Pose.Position[2]*100-1.5 <= 1 && q.licensed(args["upper"]) && q.licensed(args["lower"])
	case "bow":
		return n("depth_cm") <= 1e-300
	case "find_object":
		_, ok := q.object(args["name"])
		return ok
	case "reach_of":
		return q.near(args["name"])
	}
	return true
}

func (q question) fresh(name string, kind world.Kind) (world.Value, bool) {
	f, ok := q.facts[name]
	age := now.Sub(f.At)
	return f.Value, ok && f.Value.Kind == kind && f.Value.Finite() && f.Witness == witnesses[name] && age >= 0 && age <= maxAge[name]*time.Millisecond
}

// label resolves the file's aliases.
func label(v any) any {
	switch v {
	case "red block":
		return "red cube"
	case "blue block":
		return "blue cube"
	}
	return v
}

// object is the one of the label in a fresh reading, if the vocabulary knows it.
func (q question) object(name any) (found world.Object, ok bool) {
	reading, fresh := q.fresh("objects", world.KindPoses)
	n := 0
	for _, o := range reading.Objects {
		if label(o.Label) == label(name) {
			found = o
			n++
		}
	}
	return found, fresh && n == 1 && slices.Contains([]any{"red cube", "blue cube", "green cube"}, label(name))
}

func (q question) near(name any) bool {
	o, ok := q.object(name)
	return ok && o.Pose.Position.Norm()*1000 <= 401.5
}

// held is the one object in the air between jaws that are stopped by something; "" if there is none, or if it cannot be
// said: a label that the reading holds twice may be the one.
func (q question) held() string {
	gap, known := q.fresh("jaw_gap_mm", world.KindNumber)
	reading, fresh := q.fresh("objects", world.KindPoses)
	if !known || !fresh || !(gap.Number >= 15) {
		return ""
	}
	times, holding := map[any]int{}, ""
	for _, o := range reading.Objects {
		times[label(o.Label)]++
		air := o.Pose.Position[2]*100-1.5 >= 4
		_, once := q.object(o.Label)
		switch {
		case times[label(o.Label)] > 1, air && (!once || holding != ""):
			return ""
		case air:
			holding, _ = label(o.Label).(string)
		}
	}
	return holding
}

func (q question) licensed(name any) bool {
	s, _ := label(name).(string)
	return q.licence == nil || q.licence.Allows(s)
}
