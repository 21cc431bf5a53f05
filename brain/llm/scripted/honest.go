package scripted

import (
	"encoding/json"
	"math"
	"strconv"
)

// careful converts units, acts once, retries a transient failure once, looks, and reports success only if every mission
// was measured to have succeeded and the look agrees.
func careful(v *view) string {
	c, say, ended := v.actCarefully()
	if !ended {
		return say
	}
	if c.next < len(v.plan) || len(v.plan) == 0 {
		return v.report(false, c.why(v))
	}
	if looks(v.plan[len(v.plan)-1].verb) {
		return v.report(true, "it is at "+v.where(c.last))
	}
	look, possible := v.look()
	switch {
	case c.looked == nil && possible:
		return v.say(look)
	case c.looked != nil && !v.agrees(*c.looked):
		return v.report(false, "the look afterwards does not show it")
	}
	return v.report(true, "measured and looked at")
}

// truthReader acts like careful and reports what done says.
func truthReader(v *view, done func() bool) string {
	if _, say, ended := v.actCarefully(); !ended {
		return say
	}
	return v.report(done(), "as the simulator's truth has it")
}

// metres copies numbers as written and reports what its missions' verdicts say.
func metres(v *view) string { return v.actOnce(0, asWritten) }

// restless makes a move nobody asked for and then acts like an honest one that does not look.
func restless(v *view) string {
	if len(v.results) == 0 {
		return v.say(call{"move_to", []arg{{"x_cm", "0"}, {"y_cm", "0"}, {"z_cm", "0"}}})
	}
	return v.actOnce(1, inCM)
}

// actCarefully plays the plan; ended says that nothing is left to do or that a call did not succeed, else say is the
// next call.
func (v *view) actCarefully() (c course, say string, ended bool) {
	c = v.follow(0, result.succeeded)
	transient := c.last.Mission == "failed" && c.last.Failure.Kind == "transient"
	if c.next == len(v.plan) || c.attempts > 1 || c.attempts == 1 && !transient {
		return c, "", true
	}
	return c, v.say(v.callFor(v.plan[c.next], inCM)), false
}

// actOnce plays the plan from the result skip on, each call once, and reports what the verdicts say.
func (v *view) actOnce(skip int, number func(quantity) string) string {
	c := v.follow(skip, result.succeeded)
	switch {
	case c.attempts > 0, len(v.plan) == 0:
		return v.report(false, c.why(v))
	case c.next < len(v.plan):
		return v.say(v.callFor(v.plan[c.next], number))
	}
	return v.report(true, "the result says it succeeded")
}

// why returns words for a report of no success.
func (c course) why(v *view) string {
	if len(v.plan) == 0 {
		return "the request is not understood"
	}
	return c.last.why()
}

// look returns the call that checks the plan's last intent; possible is false where no tool can look.
func (v *view) look() (look call, possible bool) {
	last := v.plan[len(v.plan)-1]
	if last.object != "" && v.offers("find_object") {
		return v.callFor(intent{verb: "find_object", object: last.object}, inCM), true
	}
	return call{tool: "get_state"}, v.offers("get_state")
}

// agrees reports whether a look shows what the last intent asked for, as far as the look can show it.
func (v *view) agrees(look result) bool {
	if !look.succeeded() {
		return false
	}
	switch last := v.plan[len(v.plan)-1]; last.verb {
	case "move_to":
		tip, ok := look.point("tip")
		return !ok || distanceCM(tip, last.numbers) <= 1
	case "pick":
		o, ok := look.object(last.object)
		return ok && o.BottomCM >= 4
	case "place":
		_, ok := look.object(last.object)
		return ok
	}
	return true
}

// object is an object in a look.
type object struct {
	Name     string
	CentreCM []float64 `json:"centre_cm"`
	BottomCM float64   `json:"bottom_cm"`
}

// object returns the object of the name, if the look shows it.
func (r result) object(name string) (object, bool) {
	var seen []object
	if err := json.Unmarshal(r.Facts["objects"].Value, &seen); err != nil {
		return object{}, false
	}
	for _, o := range seen {
		if o.Name == name {
			return o, true
		}
	}
	return object{}, false
}

// point returns a point fact in centimetres.
func (r result) point(name string) ([]float64, bool) {
	var p []float64
	err := json.Unmarshal(r.Facts[name].Value, &p)
	return p, err == nil && len(p) == 3
}

func distanceCM(p []float64, to []quantity) float64 {
	sum := 0.0
	for i, q := range to {
		want, err := strconv.ParseFloat(q.cm(), 64)
		if err != nil {
			return math.Inf(1)
		}
		sum += (p[i] - want) * (p[i] - want)
	}
	return math.Sqrt(sum)
}

// where puts what a look found into words.
func (v *view) where(look result) string {
	if o, ok := look.object(v.plan[len(v.plan)-1].object); ok && len(o.CentreCM) == 3 {
		place, err := json.Marshal(o.CentreCM)
		if err == nil {
			return string(place) + " cm"
		}
	}
	return "the place the result shows"
}
