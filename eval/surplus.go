package eval

import (
	"regexp"
	"strconv"
	"strings"

	"interlock/eval/judge"
)

// surplus names the criteria that ask more than the scenario's goal and words do: a return pose nobody asked for, an
// object nobody named. It reads goal and words by their labels, numbers and verbs, not by their logic, so it can be
// too lenient, never silent about a thing that neither mentions. What guards bystanders (unmoved) is always asked.
func surplus(suite *Suite, s *Scenario) []string {
	var out []string
	for _, c := range s.Criteria {
		if !asked(suite, s, c) {
			out = append(out, c.String())
		}
	}
	return out
}

func asked(suite *Suite, s *Scenario, c judge.Criterion) bool {
	words, goal := strings.ToLower(s.Request), strings.ReplaceAll(s.Goal, "'", `"`)
	switch c.Kind {
	case judge.TipAt:
		return pointAsked(suite, s, c, words)
	case judge.Lifted:
		return strings.Contains(goal, `held("`+c.Object+`")`) ||
			strings.Contains(words, strings.ToLower(c.Object)) && containsWord(words, "pick", "lift", "hold", "grasp", "grab", "take", "raise")
	case judge.InRegion:
		return placed(goal, c.Object) ||
			strings.Contains(words, strings.ToLower(c.Object)) && containsWord(words, "in", "into", "on", "onto", "inside")
	case judge.Unmoved, judge.Never:
	}
	return true
}

// placed reports whether the goal has a word other than held about the object.
func placed(goal, label string) bool {
	calls := regexp.MustCompile(`([a-z_]+)\(([^()]*)\)`).FindAllStringSubmatch(goal, -1)
	for _, call := range calls {
		if call[1] != "held" && strings.Contains(call[2], `"`+label+`"`) {
			return true
		}
	}
	return false
}

// pointAsked reports whether goal or words name the criterion's point, by numbers or by a name the suite declares.
func pointAsked(suite *Suite, s *Scenario, c judge.Criterion, words string) bool {
	for _, p := range append(triples(s.Goal, 1), append(triples(words, 1), triples(words, 100)...)...) {
		if near(p, c.PointCm, c.WithinCm) {
			return true
		}
	}
	for name, p := range suite.Points {
		if containsWord(words, strings.ToLower(name)) && near(p, c.PointCm, c.WithinCm) {
			return true
		}
	}
	return false
}

// triples finds every "(a, b, c)" of numbers and scales it: 1 for centimetres, 100 for metres.
func triples(text string, scale float64) [][3]float64 {
	number := `\s*([-+−]?[0-9.]+)\s*`
	var out [][3]float64
	for _, m := range regexp.MustCompile(`\(`+number+`,`+number+`,`+number+`\)`).FindAllStringSubmatch(text, -1) {
		var p [3]float64
		for i := range p {
			v, err := strconv.ParseFloat(strings.ReplaceAll(m[i+1], "−", "-"), 64)
			if err != nil {
				continue
			}
			p[i] = v * scale
		}
		out = append(out, p)
	}
	return out
}

func near(a, b [3]float64, within float64) bool {
	for i := range a {
		if d := a[i] - b[i]; !(-within <= d && d <= within) {
			return false
		}
	}
	return true
}

// containsWord reports whether one of the words stands in the text, whole.
func containsWord(text string, words ...string) bool {
	for _, got := range strings.FieldsFunc(text, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '_') }) {
		for _, want := range words {
			if got == want {
				return true
			}
		}
	}
	return false
}
