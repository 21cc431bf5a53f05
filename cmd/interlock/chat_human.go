package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// palette colours texts, or leaves them as they are.
type palette struct{ colours bool }

const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p palette) in(colour, text string) string {
	if !p.colours || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// human is an event as a person reads it; empty: it is not shown. Whatever is not our own text is escaped.
func (p palette) human(e *chatEvent) string {
	switch e.Event {
	case evHello:
		return p.hello(e)
	case evHeard:
		return p.in(bold, prompt+shown(e.Words)) + "\n"
	case evHelp:
		return p.help(e)
	case evGoal:
		return p.goal(e)
	case evTask:
		return p.task(e)
	case evCall:
		return "  " + p.in(bold, "→ "+shown(e.Tool)) + " " + shown(e.Args) + "\n"
	case evRefused:
		return p.refused(e)
	case evWaits:
		return p.refused(e) + "    " + p.in(yellow, shown(e.Says)) + "\n"
	case evSeen:
		return p.facts("seen", e.Measured)
	case evMission:
		return p.mission(e)
	case evProse:
		return "  brain: " + shown(e.Says) + "\n"
	case evReport:
		says := ""
		if e.Says != "" {
			says = " " + shown(e.Says)
		}
		return "  brain:" + says + p.in(dim, " (claims "+map[bool]string{true: "success", false: "no success"}[*e.Success]+")") + "\n"
	case evVerdict:
		return p.verdict(e)
	case evStopped:
		return p.in(red, "  STOPPED") + ", stop number " + fmt.Sprint(e.Number) + ". " + shown(e.Says) + "\n"
	case evIgnored, evWarning:
		return "  " + p.in(yellow, shown(e.Says)) + "\n"
	case evError:
		return "  " + p.in(red, "error: ") + shown(e.Says) + "\n"
	}
	return "  " + shown(e.Says) + "\n"
}

func (p palette) hello(e *chatEvent) string {
	where := shown(e.Where)
	if where == "" {
		where = shown(e.Mode) + ", in this process, real time"
	}
	return p.in(bold, "Interlock chat") + fmt.Sprintf(": robot %s (%s), brain %s.\n", shown(e.Robot), where, shown(e.Model)) + p.in(dim, e.Says) + "\n"
}

func (p palette) help(e *chatEvent) string {
	var b strings.Builder
	for _, c := range e.Commands {
		fmt.Fprintf(&b, "  %s\n      %s\n", p.in(bold, shown(c.Form)), shown(c.Says))
	}
	return b.String() + "  " + shown(e.Says) + "\n"
}

func (p palette) goal(e *chatEvent) string {
	if e.Goal == "" {
		return "  " + shown(e.Says) + "\n"
	}
	s := "  goal for the next request: " + p.in(bold, shown(e.Goal)) + "\n"
	if len(e.Objects) > 0 {
		s += "    objects it allows to be moved: " + shown(strings.Join(e.Objects, ", ")) + "\n"
	} else {
		s += "    it allows no object to be moved\n"
	}
	return s + "    " + shown(e.Says) + "\n"
}

func (p palette) task(e *chatEvent) string {
	s := "  " + p.in(dim, e.Task+" opened")
	if e.Goal != "" {
		return s + p.in(dim, ", goal fixed: ") + shown(e.Goal) + "\n"
	}
	return s + p.in(dim, "; no goal is fixed") + "\n"
}

func (p palette) refused(e *chatEvent) string {
	var b strings.Builder
	for _, r := range e.Refusals {
		rule := r.Code
		if r.Rule != "" {
			rule += " " + r.Rule
		}
		b.WriteString("    " + p.in(red, "refused") + " " + shown(rule) + ": " + shown(r.Says) + "\n")
	}
	return b.String()
}

func (p palette) facts(word string, list []chatMeasured) string {
	var b strings.Builder
	for _, m := range list {
		age := fmt.Sprintf("%s, %d ms ago", m.Witness, m.AgeMS)
		if !m.Fresh {
			age += ", too old to count"
		}
		b.WriteString("    " + word + " " + shown(brief(m.Fact, m.Value, m.Unit)) + p.in(dim, " ("+shown(age)+")") + "\n")
	}
	return b.String()
}

// mission is a mission's event. Standstill is told only where it was measured.
func (p palette) mission(e *chatEvent) string {
	word := shown(e.State)
	if e.Phase != "" && e.State == "phase" {
		word = "phase " + shown(e.Phase)
	}
	reason := ""
	if e.Reason != "" {
		reason = ": " + shown(e.Reason)
	}
	switch {
	case e.State == "cancelled":
		return "    " + p.in(yellow, "cancelled") + "; the arm stands still, measured\n"
	case e.State == "aborted" && strings.HasPrefix(e.Reason, "stop_unconfirmed"):
		return "    " + p.in(red, "aborted") + reason + "; standstill was NOT measured\n"
	case e.State == "aborted":
		return "    " + p.in(red, "aborted") + reason + "; the arm stands still, measured\n"
	case e.State == "arrived":
		return "    " + p.in(dim, "arrived, measuring") + "\n"
	case e.State == "verified":
		return "    " + p.in(green, "verified") + p.evidence(e.Evidence) + "\n"
	case e.Final:
		return "    " + p.in(yellow, word) + reason + p.failure(e.Reason, e.Failure) + "\n"
	}
	return "    " + p.in(dim, word+reason) + "\n"
}

// failure is what it adds to the reason of a mission's end.
func (p palette) failure(reason string, f *chatFailure) string {
	if f == nil {
		return ""
	}
	s := ""
	if f.Broken != "" {
		s = " " + f.Broken
	}
	if f.Expected != "" {
		s += ": expected " + f.Expected + ", measured " + strings.TrimSpace(f.Observed+" "+f.Unit)
	} else if more := furtherReason(reason, f.Reason); more != "" {
		s += ": " + more
	}
	return shown(s)
}

// evidence tells which conditions held, and the readings they rest on.
func (p palette) evidence(list []chatEvidence) string {
	var conditions, parts []string
	for _, v := range list {
		if !slices.Contains(conditions, v.Condition) {
			conditions = append(conditions, v.Condition)
		}
		parts = append(parts, brief(v.Fact, v.Observed, v.Unit)+fmt.Sprintf(" (%s, %d ms old)", v.Witness, v.AgeMS))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + shown(strings.Join(conditions, ", ")) + p.in(dim, ": "+shown(strings.Join(parts, ", ")))
}

// brief is a measured value as a person reads it: two decimals, objects as places on the table.
func brief(fact, value, unit string) string {
	var number float64
	var point []float64
	var objects []struct {
		Label, Name string
		X           float64    `json:"x_cm"`
		Y           float64    `json:"y_cm"`
		Centre      [3]float64 `json:"centre_cm"`
		Bottom      float64    `json:"bottom_cm"`
	}
	text := value
	switch raw := []byte(value); {
	case json.Unmarshal(raw, &number) == nil:
		text = hundredths(number)
	case json.Unmarshal(raw, &point) == nil && len(point) > 0:
		parts := make([]string, len(point))
		for i, v := range point {
			parts[i] = hundredths(v)
		}
		text = "(" + strings.Join(parts, ", ") + ")"
	case json.Unmarshal(raw, &objects) == nil && len(objects) > 0:
		var parts []string
		for _, o := range objects {
			parts = append(parts, fmt.Sprintf("%s at (%s, %s), bottom %s", o.Label+o.Name, hundredths(o.X+o.Centre[0]), hundredths(o.Y+o.Centre[1]), hundredths(o.Bottom)))
		}
		text = "[" + strings.Join(parts, "; ") + "]"
	}
	return strings.TrimSpace(fact + " " + text + " " + unit)
}

// hundredths rounds for display.
func hundredths(v float64) string { return number(math.Round(v*100)/100 + 0) }

func (p palette) verdict(e *chatEvent) string {
	colour := yellow
	switch e.State {
	case "done":
		colour = green
	case "not_done", "stopped", "over_budget":
		colour = red
	}
	s := "  " + p.in(colour, strings.ReplaceAll(e.State, "_", " "))
	if e.Says != "" {
		s += ": " + shown(e.Says)
	}
	s += "\n"
	for _, m := range e.Moved {
		s += "    " + p.in(yellow, "moved without being asked") + ": " + shown(m.Object) + " by " + number(m.CM) + " cm (" + shown(m.Witness) + ")\n"
	}
	return s
}
