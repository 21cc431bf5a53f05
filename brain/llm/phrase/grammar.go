package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a step of a plan does.
type kind uint8

const (
	moveTo kind = iota + 1
	shift
	pick
	putObject
	putHeld
	openJaws
	closeJaws
	goHome
	gesture
	find
	look
)

// step is one thing the words ask for.
type step struct {
	kind    kind
	object  string
	place   string
	tool    string     // of a gesture
	word    string     // of a gesture: its argument, or none
	lengths []quantity // of moveTo: x, y and z; of shift: how far
	axis    int        // of shift: 0 x, 1 y, 2 z
	back    bool       // of shift: towards smaller numbers
}

// maxSteps bounds a plan.
const maxSteps = 8

// trouble is why an utterance was not read: what is wrong, and the word where it went wrong ("" at the end).
type trouble struct{ why, at string }

// parse reads an utterance whole, or says why not.
func parse(utterance string) ([]step, *trouble) {
	g := &grammar{words: split(utterance)}
	if len(g.words) > maxWords {
		return nil, &trouble{why: "that is too long for me"}
	}
	g.polite()
	var plan []step
	for {
		s, ok := g.clause()
		if !ok {
			return nil, g.stuck()
		}
		plan = append(plan, s)
		joined := g.joint()
		switch {
		case g.done():
			return plan, nil
		case !joined:
			return nil, g.stuck()
		case len(plan) == maxSteps:
			return nil, &trouble{why: "that is too many things at once for me"}
		}
	}
}

// grammar reads tokens from the left.
type grammar struct {
	words    []word
	at       int
	unitless bool // a number had no unit
}

func (g *grammar) done() bool { return g.at >= len(g.words) }

func (g *grammar) peek() string {
	if g.done() || g.words[g.at].number {
		return ""
	}
	return g.words[g.at].text
}

// is takes the words if they come next.
func (g *grammar) is(words ...string) bool {
	for i, w := range words {
		if g.at+i >= len(g.words) || g.words[g.at+i].number || g.words[g.at+i].text != w {
			return false
		}
	}
	g.at += len(words)
	return true
}

// any takes the first of the phrases that comes next.
func (g *grammar) any(phrases ...string) bool {
	for _, p := range phrases {
		if g.is(strings.Fields(p)...) {
			return true
		}
	}
	return false
}

// try reads with f, and goes back where that fails.
func (g *grammar) try(f func() (step, bool)) (step, bool) {
	start := g.at
	s, ok := f()
	if !ok {
		g.at = start
	}
	return s, ok
}

// ends reports whether a clause can end here.
func (g *grammar) ends() bool {
	if g.done() {
		return true
	}
	switch g.peek() {
	case ",", ".", ";", "!", "?", "and", "then", "please", "now":
		return true
	}
	return false
}

// polite skips what carries no meaning beside a clause.
func (g *grammar) polite() {
	for g.any("please", "now", "okay", "ok", "hey", "robot", "can you", "could you", "would you", "will you", "i want you to", "!", "?") {
	}
}

// joint takes what joins two clauses, and what is polite around it.
func (g *grammar) joint() (found bool) {
	g.polite()
	for g.any(",", ".", ";", "and", "then", "afterwards", "after that") {
		found = true
		g.polite()
	}
	return found
}

// stuck says where reading failed.
func (g *grammar) stuck() *trouble {
	t := &trouble{why: "I did not understand that"}
	if g.unitless {
		t.why = "I take no number without its unit"
	} else if w := g.peek(); plainWord(w) {
		t.at = w
	}
	return t
}

// clause reads one step.
func (g *grammar) clause() (step, bool) {
	for _, rule := range []func() (step, bool){g.home, g.gesture, g.jaws, g.pick, g.put, g.looking, g.finding, g.moving, g.shifting} {
		if s, ok := g.try(rule); ok {
			return s, g.ends() // else what is left over is where it went wrong
		}
	}
	return step{}, false
}

func (g *grammar) home() (step, bool) {
	ok := g.any("go home", "move home", "return home", "go back home", "home")
	return step{kind: goHome}, ok
}

func (g *grammar) jaws() (step, bool) {
	s := step{kind: openJaws}
	switch {
	case g.is("open"):
	case g.is("close"):
		s.kind = closeJaws
	default:
		return s, false
	}
	g.any("the", "your")
	return s, g.any("gripper", "jaws", "jaw", "hand", "claw")
}

func (g *grammar) pick() (step, bool) {
	if !g.any("pick up", "pick", "grab", "grasp", "lift", "take") {
		return step{}, false
	}
	g.is("up")
	name, ok := g.name()
	g.is("up")
	return step{kind: pick, object: name}, ok
}

func (g *grammar) put() (step, bool) {
	if !g.any("put", "place", "drop", "set", "lay") {
		return step{}, false
	}
	s := step{kind: putHeld}
	if !g.is("it") {
		name, ok := g.name()
		if !ok {
			return s, false
		}
		s.kind, s.object = putObject, name
	}
	g.is("down")
	if !g.any("into", "in", "onto", "on") {
		return s, false
	}
	place, ok := g.name()
	s.place = place
	return s, ok
}

func (g *grammar) looking() (step, bool) {
	return step{kind: look}, g.any("what do you see", "what can you see", "what is on the table", "what's on the table", "where are you", "look around", "look", "state", "status")
}

func (g *grammar) finding() (step, bool) {
	if !g.any("where is", "where's", "find", "look for", "locate", "do you see") {
		return step{}, false
	}
	name, ok := g.name()
	return step{kind: find, object: name}, ok
}

func (g *grammar) moving() (step, bool) {
	if !g.any("move", "go") {
		return step{}, false
	}
	g.any("the arm", "the gripper", "the tip", "the hand")
	if !g.is("to") {
		return step{}, false
	}
	lengths, ok := g.point()
	return step{kind: moveTo, lengths: lengths}, ok
}

// ways are the directions in the base frame: x forward, y left, z up.
var ways = map[string]step{
	"up": {axis: 2}, "down": {axis: 2, back: true}, "left": {axis: 1}, "right": {axis: 1, back: true},
	"forward": {axis: 0}, "forwards": {axis: 0}, "back": {axis: 0, back: true}, "backward": {axis: 0, back: true}, "backwards": {axis: 0, back: true},
}

func (g *grammar) shifting() (step, bool) {
	if g.any("move", "go") {
		g.any("the arm", "the gripper", "the tip", "the hand")
	}
	s, before := g.way()
	g.is("by")
	far, ok := g.length()
	if !ok || strings.HasPrefix(far.literal, "-") {
		return s, false
	}
	if !before {
		if s, ok = g.way(); !ok {
			return s, false
		}
	}
	s.kind, s.lengths = shift, []quantity{far}
	return s, true
}

func (g *grammar) way() (step, bool) {
	g.any("to the")
	s, ok := ways[g.peek()]
	if ok {
		g.at++
	}
	return s, ok
}

// point reads three coordinates. One without a unit has that of the next; the last must have one.
func (g *grammar) point() ([]quantity, bool) {
	var out []quantity
	g.is("(")
	for i, axis := range []string{"x", "y", "z"} {
		if i > 0 {
			g.is(",")
		}
		if g.is(axis) {
			g.any("=", ":")
		}
		literal, ok := g.number()
		if !ok {
			return nil, false
		}
		out = append(out, quantity{literal, g.unit()})
	}
	closed := g.is(")")
	if unit := g.unit(); closed && out[2].unit == "" {
		out[2].unit = unit
	} else if unit != "" {
		return nil, false
	}
	for i := 1; i >= 0; i-- {
		if out[i].unit == "" {
			out[i].unit = out[i+1].unit
		}
	}
	g.unitless = out[2].unit == ""
	return out, !g.unitless
}

// length reads one number with its unit.
func (g *grammar) length() (quantity, bool) {
	literal, ok := g.number()
	if !ok {
		return quantity{}, false
	}
	unit := g.unit()
	g.unitless = unit == ""
	return quantity{literal, unit}, !g.unitless
}

func (g *grammar) number() (string, bool) {
	if g.done() || !g.words[g.at].number || len(g.words[g.at].text) > maxDigits {
		return "", false
	}
	g.at++
	return g.words[g.at-1].text, true
}

// unit takes a unit of length; "" if none comes next.
func (g *grammar) unit() string {
	if w := g.peek(); unitsInCm[w] != nil {
		g.at++
		return w
	}
	return ""
}

// notNames are words that make of a name something that is more than one: a negation, a relation, a choice.
var notNames = map[string]bool{
	"not": true, "don't": true, "dont": true, "never": true, "no": true, "without": true, "except": true, "but": true, "or": true, "if": true,
	"unless": true, "until": true, "while": true, "from": true, "to": true, "of": true, "with": true, "near": true, "next": true, "beside": true,
	"behind": true, "between": true, "under": true, "above": true, "below": true, "over": true, "all": true, "every": true, "both": true,
	"any": true, "them": true, "it": true, "that": true, "this": true, "which": true, "is": true, "are": true,
}

// maxNameWords bounds a name.
const maxNameWords = 4

// named reports whether a token can be part of a name: a word of letters, or a number without a sign.
func named(w word) bool {
	first, _ := utf8.DecodeRuneInString(w.text)
	return w.number && digit(first) || unicode.IsLetter(first)
}

// name reads the name of a thing or a place: one to four words.
func (g *grammar) name() (string, bool) {
	g.any("the", "a", "an")
	var parts []string
	for !g.ends() {
		w := g.peek()
		switch w {
		case "in", "into", "on", "onto", "up", "down":
			return strings.Join(parts, " "), len(parts) > 0
		}
		if notNames[w] || len(parts) == maxNameWords || !named(g.words[g.at]) {
			return "", false
		}
		parts = append(parts, g.words[g.at].text)
		g.at++
	}
	return strings.Join(parts, " "), len(parts) > 0
}

// plainWord reports whether a token is a word of letters that may be repeated to a person.
func plainWord(w string) bool {
	return w != "" && len(w) <= 24 && !strings.ContainsFunc(w, func(c rune) bool { return c < 'a' || c > 'z' })
}
