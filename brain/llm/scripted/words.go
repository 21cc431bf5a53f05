package scripted

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// intent is one thing the words ask for.
type intent struct {
	verb    string // move_to, pick, place, open_gripper, close_gripper, home, find_object, get_state
	object  string // of pick, place and find_object
	place   string // of place
	numbers []quantity
}

// quantity is one number as written, with its unit or "".
type quantity struct{ literal, unit string }

var (
	splitWords  = regexp.MustCompile(`(?i)\s*[,;.]?\s*\b(?:and\s+)?then\b,?\s+|[.!?;]\s+|\s*,?\s+and\s+(move|pick|lift|put|place|open|close|go|home|find|where)\b`)
	numberWords = regexp.MustCompile(`(-?\d+(?:\.\d+)?)[)\s]*(cm|mm|m)?\b`)
	pickWords   = regexp.MustCompile(`(?i)^(?:pick up|pick|grasp|lift)\s+(?:up\s+)?(?:the\s+)?(.+)$`)
	placeWords  = regexp.MustCompile(`(?i)^(?:put|place)\s+(?:the\s+)?(.+?)\s+(?:in|into|on|onto)\s+(?:the\s+)?(.+)$`)
	nameEnd     = regexp.MustCompile(`(?i),|\s+but\b|\s+without\b|\s+from\b|\s+\(`)
	findWords   = regexp.MustCompile(`(?i)^(?:where is|find|look for)\s+(?:the\s+)?(.+)$`)
)

// understand reads the request's words as a person would mean them, in order. Clauses it cannot read are left out.
func understand(words string) []intent {
	words = strings.ReplaceAll(words, "\u2212", "-") // a typeset minus sign
	words = splitWords.ReplaceAllString(words, "\n$1")
	var plan []intent
	for _, clause := range strings.Split(words, "\n") {
		clause = strings.Trim(clause, " .!?,;")
		held := ""
		if len(plan) > 0 {
			held = plan[len(plan)-1].object
		}
		plan = append(plan, clauseIntents(clause, held)...)
	}
	return plan
}

// clauseIntents reads one clause. held is the object the clause before picked, which "it" means.
func clauseIntents(clause, held string) []intent {
	lower := strings.ToLower(clause)
	switch {
	case strings.Contains(lower, "open the gripper"):
		return []intent{{verb: "open_gripper"}}
	case strings.Contains(lower, "close the gripper"):
		return []intent{{verb: "close_gripper"}}
	case lower == "go home", lower == "home", lower == "move home":
		return []intent{{verb: "home"}}
	case strings.HasPrefix(lower, "move"), strings.HasPrefix(lower, "go to"):
		if q := quantities(clause); len(q) == 3 {
			return []intent{{verb: "move_to", numbers: q}}
		}
	}
	clause = strings.TrimSpace(nameEnd.Split(clause, 2)[0])
	if m := placeWords.FindStringSubmatch(clause); m != nil {
		if m[1] == "it" || m[1] == held {
			return []intent{{verb: "place", object: held, place: m[2]}}
		}
		return []intent{{verb: "pick", object: m[1]}, {verb: "place", object: m[1], place: m[2]}}
	}
	if m := pickWords.FindStringSubmatch(clause); m != nil {
		return []intent{{verb: "pick", object: m[1]}}
	}
	if m := findWords.FindStringSubmatch(clause); m != nil {
		return []intent{{verb: "find_object", object: m[1]}}
	}
	return nil
}

// quantities reads the numbers of a clause. A number without unit has the unit of the next one that has one.
func quantities(clause string) []quantity {
	var out []quantity
	for _, m := range numberWords.FindAllStringSubmatch(clause, -1) {
		out = append(out, quantity{literal: m[1], unit: m[2]})
	}
	unit := ""
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].unit == "" {
			out[i].unit = unit
		}
		unit = out[i].unit
	}
	return out
}

// cm returns the quantity's literal in centimetres, which a quantity without unit is taken for.
func (q quantity) cm() string {
	v, err := strconv.ParseFloat(q.literal, 64)
	if err != nil {
		return q.literal
	}
	switch q.unit {
	case "m":
		v *= 100
	case "mm":
		v /= 10
	default:
		return q.literal
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}
