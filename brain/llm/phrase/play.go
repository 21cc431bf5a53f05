package phrase

import (
	"encoding/json"
	"math/big"
	"strings"
)

// raisedCm is how far above the table an object counts as picked up already, when it is to be put somewhere.
const raisedCm = 2

// outcome is what a step has come to: a call still to be made, or how it ended and what to say about it.
type outcome struct {
	call string // the call to write, as JSON; empty: none is missing
	good bool
	says string
}

// play plays a plan as far as its calls were answered, and returns what to write next.
func (t *talk) play(plan []step) string {
	var said []string
	for i, s := range plan {
		o := t.step(s)
		if o.call != "" {
			return o.call
		}
		if o.says != "" {
			said = append(said, o.says)
		}
		if !o.good {
			if i < len(plan)-1 {
				said = append(said, "the rest was not begun")
			}
			return report(false, said)
		}
	}
	return report(true, said)
}

func (t *talk) step(s step) outcome {
	switch s.kind {
	case moveTo:
		p := [3]*big.Rat{s.lengths[0].cm(), s.lengths[1].cm(), s.lengths[2].cm()}
		return t.moveTo(p)
	case shift:
		return t.shift(s)
	case pick:
		return t.pick(s.object)
	case putObject:
		return t.put(s)
	case putHeld:
		return t.act("place", map[string]json.RawMessage{t.target("place", "target"): text(s.place)}, t.whereAll)
	case openJaws:
		return t.act("open_gripper", nil, jaws)
	case closeJaws:
		return t.act("close_gripper", nil, jaws)
	case goHome:
		return t.act("home", nil, tip)
	case gesture:
		return t.gesture(s)
	case find:
		return t.find(s.object)
	case look:
		return t.act("get_state", nil, t.everything)
	}
	return outcome{says: "this is nothing I can do"}
}

// act makes one call; tell says what was measured after it.
func (t *talk) act(tool string, args map[string]json.RawMessage, tell func(*answer) string) outcome {
	a, pending := t.ask(tool)
	switch {
	case pending:
		return outcome{call: call(tool, args)}
	case !a.good():
		return outcome{says: a.why()}
	}
	return outcome{good: true, says: tell(a)}
}

func (t *talk) gesture(s step) outcome {
	args := map[string]json.RawMessage{}
	if s.word != "" {
		args[t.target(s.tool, "direction")] = text(s.word)
	}
	return t.act(s.tool, args, tip)
}

func (t *talk) moveTo(p [3]*big.Rat) outcome {
	args := map[string]json.RawMessage{}
	for i, name := range []string{"x_cm", "y_cm", "z_cm"} {
		args[name] = json.RawMessage(decimal(p[i]))
	}
	return t.act("move_to", args, tip)
}

// shift looks where the tip is and moves from there.
func (t *talk) shift(s step) outcome {
	a, pending := t.ask("get_state")
	switch {
	case pending:
		return outcome{call: call("get_state", nil)}
	case !a.good():
		return outcome{says: a.why()}
	}
	p, ok := a.tip()
	if !ok {
		return outcome{says: "where the tip is was not measured, so I cannot move from there"}
	}
	by := s.lengths[0].cm()
	if s.back {
		by.Neg(by)
	}
	p[s.axis].Add(p[s.axis], by)
	return t.moveTo(p)
}

func (t *talk) pick(object string) outcome {
	args := map[string]json.RawMessage{t.target("pick", "name"): text(object)}
	return t.act("pick", args, func(a *answer) string { return either(a.where(object), jaws(a)) })
}

// put looks whether the object is up already, picks it up otherwise, and places it.
func (t *talk) put(s step) outcome {
	a, pending := t.ask("get_state")
	if pending {
		return outcome{call: call("get_state", nil)}
	}
	if !a.raised(s.object, raisedCm) {
		if o := t.pick(s.object); o.call != "" || !o.good {
			return o
		}
	}
	o := t.act("place", map[string]json.RawMessage{t.target("place", "target"): text(s.place)}, func(a *answer) string { return a.where(s.object) })
	if o.call == "" && !o.good {
		o.says = "the " + s.object + " is picked up, but not placed; " + o.says
	}
	return o
}

func (t *talk) find(object string) outcome {
	a, pending := t.ask("find_object")
	switch {
	case pending:
		return outcome{call: call("find_object", map[string]json.RawMessage{t.target("find_object", "name"): text(object)})}
	case !a.good():
		return outcome{says: a.why()}
	}
	if at := a.where(""); at != "" { // the answer holds the object asked for, whatever it is called
		return outcome{good: true, says: at}
	}
	return outcome{says: "the " + object + " is not in sight"}
}

func tip(a *answer) string  { return a.value("tip", "the tip was measured at") }
func jaws(a *answer) string { return a.value("jaw_gap_mm", "the gap of the jaws was measured at") }

// whereAll says where everything was seen.
func (t *talk) whereAll(a *answer) string {
	seen, source := a.sightings()
	var list []string
	for _, s := range seen {
		list = append(list, s.Name+" at ("+s.CentreCm[0].String()+", "+s.CentreCm[1].String()+") cm")
	}
	if len(list) == 0 {
		return "no object in sight"
	}
	return "in sight: " + strings.Join(list, ", ") + " " + source
}

func (t *talk) everything(a *answer) string {
	return strings.Join([]string{t.whereAll(a), either(tip(a), "the tip was not measured")}, "; ")
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// call writes one call.
func call(tool string, args map[string]json.RawMessage) string {
	if args == nil {
		args = map[string]json.RawMessage{}
	}
	return encode(struct {
		Tool      string                     `json:"tool"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	}{tool, args})
}

// report writes the closing report.
func report(success bool, said []string) string {
	word := "true"
	if !success {
		word = "false"
	}
	return call("report_result", map[string]json.RawMessage{"success": json.RawMessage(word), "message": text(strings.Join(said, "; "))})
}

func text(s string) json.RawMessage { return json.RawMessage(encode(s)) }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // unreachable: texts and numbers of our own have a JSON form
	}
	return string(b)
}
