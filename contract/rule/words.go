package rule

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/world"
)

// RoundTo rounds to steps of 1/per.
func RoundTo(x, per float64) float64 { return math.Round(x*per) / per }

// placeholder is {name} in a condition's `says`.
var placeholder = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)

// MetresIn are the units of length and their size in metres.
var MetresIn = map[string]float64{"m": 1, "cm": 0.01, "mm": 0.001}

// Words returns what to tell a person or a model about a condition that is not true: `says` with {argument}, {got},
// {limit} and their conversions ({got_cm}) filled in, or a sentence of its own. Where the contract hides bounds it names
// none.
func (c *Condition) Words(in Inputs, o Outcome) string {
	switch {
	case o.Truth == world.Unknown && len(o.Missing) > 0:
		return c.ID + " cannot be judged: no fresh reading of " + strings.Join(o.Missing, ", ")
	case o.Truth == world.Unknown:
		return c.ID + " cannot be judged from what is measured"
	case !c.vocabulary.DiscloseBounds:
		return "the rule " + c.ID + " does not hold"
	case c.Says == "":
		return c.sentence(o.Cause)
	}
	return placeholder.ReplaceAllStringFunc(c.Says, func(p string) string {
		if s := c.fill(strings.Trim(p, "{}"), in, o.Cause); s != "" {
			return s
		}
		return "?"
	})
}

// sentence is the default.
func (c *Condition) sentence(cause Comparison) string {
	s := "the rule " + c.ID + " does not hold: " + cause.Text
	if cause.Got != "" {
		s += ", got " + cause.Got
		if cause.Unit != "" {
			s += " " + cause.Unit
		}
	}
	return s
}

// fill returns the value of a placeholder, or "" when there is none.
func (c *Condition) fill(name string, in Inputs, cause Comparison) string {
	switch name {
	case "got":
		return cause.Got
	case "limit":
		return cause.Limit
	case "unit":
		return cause.Unit
	}
	if v, ok := in.Args.Get(name); ok {
		if v.Kind == world.KindText {
			return v.Text
		}
		return ValueJSON(v)
	}
	for prefix, number := range map[string]string{"got_": cause.Got, "limit_": cause.Limit} {
		unit, ok := strings.CutPrefix(name, prefix)
		x, err := strconv.ParseFloat(number, 64)
		if ok && err == nil && MetresIn[unit] > 0 && MetresIn[cause.Unit] > 0 {
			return NumberJSON(RoundTo(x*MetresIn[cause.Unit]/MetresIn[unit], 10))
		}
	}
	return ""
}

// UnknownPlaceholder returns the first placeholder of Says that could never be filled, given the arguments' names.
func (c *Condition) UnknownPlaceholder(args []string) string {
	for _, p := range placeholder.FindAllString(c.Says, -1) {
		name := strings.Trim(p, "{}")
		unit := strings.TrimPrefix(strings.TrimPrefix(name, "got_"), "limit_")
		if !slices.Contains([]string{"got", "limit", "unit"}, name) && !slices.Contains(args, name) && (unit == name || MetresIn[unit] == 0) {
			return name
		}
	}
	return ""
}

// factUnit returns the unit in which ValueJSON writes a fact.
func factUnit(d FactDecl) string {
	switch d.Kind {
	case world.KindNumber:
		return UnitOf(d.Name)
	case world.KindPoint, world.KindPoses:
		return "cm"
	case world.KindText, world.KindFlag:
	}
	return ""
}
