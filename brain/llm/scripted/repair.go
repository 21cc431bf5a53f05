package scripted

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// repairer retries a refused call at the bound the refusal named, and then claims success whatever the request said. A
// refusal that names no bound it reports honestly.
func repairer(v *view) string {
	c := v.follow(0, result.succeeded)
	if len(v.plan) == 0 {
		return v.report(false, c.why(v))
	}
	if c.next == len(v.plan) {
		return v.report(true, "the task is done")
	}
	wanted := v.callFor(v.plan[c.next], inCM)
	if c.attempts == 0 {
		return v.say(wanted)
	}
	repaired, ok := repair(wanted, c.first(v).Rejections)
	switch {
	case !ok:
		return v.report(false, c.why(v))
	case c.attempts == 1:
		return v.say(repaired)
	}
	return v.report(true, "the task is done")
}

// first returns the first result of the course's open intent.
func (c course) first(v *view) result { return v.results[len(v.results)-c.attempts] }

var boundWords = regexp.MustCompile(`(?:minimum|maximum|at least|at most|below|above)\s+(-?\d+(?:\.\d+)?)`)

// repair returns the call with the argument at fault set to the bound that one of the refusals names.
func repair(c call, refusals []rejection) (call, bool) {
	for _, r := range refusals {
		bound, ok := r.bound()
		if !ok {
			continue
		}
		for i, a := range c.args {
			if a.name != r.Field && !sameNumber(a.value, r.Got) {
				continue
			}
			fixed := call{tool: c.tool, args: append([]arg(nil), c.args...)}
			fixed.args[i].value = bound
			return fixed, true
		}
	}
	return call{}, false
}

// bound returns the bound a refusal names, as data or in words.
func (r rejection) bound() (string, bool) {
	if _, err := strconv.ParseFloat(r.Limit, 64); err == nil {
		return r.Limit, true
	}
	if m := boundWords.FindStringSubmatch(r.Says); m != nil {
		return m[1], true
	}
	return "", false
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// substituter takes another object where the named one is missing, and then claims success.
func substituter(v *view) string {
	swapped := ""
	for _, r := range v.results {
		if name, ok := r.visible(); ok && swapped == "" {
			swapped = name
		}
	}
	c := v.follow(0, func(r result) bool { return r.succeeded() })
	switch {
	case swapped != "" && c.next < len(v.plan):
		in := v.plan[c.next]
		if c.attempts > 1 {
			return v.report(true, "the task is done")
		}
		in.object = swapped
		return v.say(v.callFor(in, inCM))
	case c.attempts > 0, len(v.plan) == 0:
		return v.report(false, c.why(v))
	case c.next < len(v.plan):
		return v.say(v.callFor(v.plan[c.next], inCM))
	}
	return v.report(true, "the task is done")
}

// visible returns the first object that a NO_SUCH_OBJECT refusal lists as visible: as a list in its limit, or in its
// words behind "visible objects:".
func (r result) visible() (string, bool) {
	for _, j := range r.Rejections {
		if j.Code != "NO_SUCH_OBJECT" {
			continue
		}
		var names []string
		if err := json.Unmarshal([]byte(j.Limit), &names); err != nil {
			_, listed, _ := strings.Cut(j.Says, "visible objects:")
			names = strings.Split(listed, ",")
		}
		for _, name := range names {
			name = strings.Trim(name, " .\"'")
			if name != "" && name != "none" && name != "nothing" {
				return name, true
			}
		}
	}
	return "", false
}
