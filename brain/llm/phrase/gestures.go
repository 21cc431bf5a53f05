package phrase

// saying is what a person may say for a gesture. A phrase that another one begins with stands after it.
type saying struct {
	tool    string
	phrases []string
}

// sayings are the gestures without an argument.
var sayings = []saying{
	{"wave", []string{"wave at me", "wave to me", "wave hello", "wave goodbye", "wave your hand", "wave"}},
	{"nod", []string{"nod at me", "nod to me", "nod your head", "nod"}},
	{"greet", []string{"greet me", "greet us", "greet", "say hello to me", "say hello", "say hi to me", "say hi"}},
	{"shake_head", []string{"shake your head at me", "shake your head"}},
	{"bow", []string{"bow to me", "take a bow", "make a bow", "bow"}},
	{"rest", []string{"go to rest", "take a rest", "have a rest", "rest", "relax"}},
}

// directions are the words for where to point, as the robot sees them. "My left" is none of them: whose side is meant
// would be a guess.
var directions = []saying{
	{"left", []string{"to the left", "to your left", "left"}},
	{"right", []string{"to the right", "to your right", "right"}},
	{"ahead", []string{"straight ahead", "ahead", "straight forward", "forwards", "forward"}},
}

// gesture reads a motion that means something to people.
func (g *grammar) gesture() (step, bool) {
	for _, s := range sayings {
		if g.any(s.phrases...) {
			return step{kind: gesture, tool: s.tool}, true
		}
	}
	if !g.is("point") {
		return step{}, false
	}
	for _, d := range directions {
		if g.any(d.phrases...) {
			return step{kind: gesture, tool: "point", word: d.tool}, true
		}
	}
	return step{}, false
}
