package contract

import (
	"maps"
	"slices"
	"strings"
	"time"

	"interlock/contract/rule"
	"interlock/reject"
	"interlock/units"
)

// PolicyPrefix begins the skill of a capability that is not planned but played by a source of setpoints from outside, such
// as a learned policy: `skill: policy:NAME`. Which names there are only the opened robot knows: a capability whose source
// it does not have is withdrawn.
const PolicyPrefix = "policy:"

// KnownSkills are the planners a capability may name; one outside the list, which is not a policy, does not load.
var KnownSkills = []string{
	"move_to", "pick", "place", "home", "open_gripper", "close_gripper",
	"wave", "nod", "greet", "shake_head", "bow", "point", "rest",
	"navigate", "dock", "turn",
}

// capability reads one entry of capabilities.
func (l *loader) capability(m member) {
	path := join("capabilities", m.name)
	l.name(m, "capabilities", "a capability", identifier)
	f := l.fields(m.value, path, "description", "target", "params", "binds", "requires", "ensures", "invariants", "changes", "holds", "interruptible",
		"on_cancel", "on_disconnect", "timeout_s", "limits", "skill", "read_only", "modes", "audience")
	k := &Capability{
		Name: m.name, Description: f.text("description", true),
		Interruptible: f.flag("interruptible", true), ReadOnly: f.flag("read_only", false), Modes: f.modes(),
		OnCancel:     OnCancel(f.choice("on_cancel", "hold", "return_to_origin")),
		OnDisconnect: OnDisconnect(f.choice("on_disconnect", "stop", "finish")),
		Audience:     Audience(f.choice("audience", "both", "model", "person")),
		disclose:     l.c.DiscloseBounds,
	}
	for _, a := range f.entries("target", false) {
		l.argument(k, a, path+".target", true)
	}
	for _, a := range f.entries("params", false) {
		l.argument(k, a, path+".params", false)
	}
	for _, b := range f.entries("binds", false) {
		l.name(b, path+".binds", "an argument", identifier)
		if b.value.kind != kindText {
			l.at(b.value, "wrong-type", join(path+".binds", b.name), "", "expected a predicate's name, found %s", b.value.kind)
			continue
		}
		l.remember(join(path+".binds", b.name), b.value)
		k.Binds = append(k.Binds, Bind{Arg: b.name, Predicate: b.value.text})
	}
	k.Requires = l.conditions(f, "requires", "code", "on_false")
	k.Ensures = l.conditions(f, "ensures", "within_ms", "hold_ms")
	k.Invariants = l.conditions(f, "invariants", "on_violation")
	l.changes(k, f, path)
	l.at0[path] = f.n
	l.remember(path+".changes", f.n.get("changes"))
	l.motion(k, f)
	l.c.Capabilities = append(l.c.Capabilities, k)
}

// changes reads what the capability manipulates: arguments, and predicates of one object. What the names mean is checked
// once all are known.
func (l *loader) changes(k *Capability, f fields, path string) {
	for _, item := range f.items("changes") {
		name, isArg := strings.CutPrefix(item.text, "args.")
		at := join(path+".changes", item.text)
		switch {
		case item.kind != kindText || !identifier.MatchString(name):
			l.at(item, "wrong-type", path+".changes", "", "changes names arguments, as args.NAME, and predicates of one object")
			continue
		case l.at0[at] != nil:
			l.at(item, "duplicate-name", path+".changes", "", "%q comes twice", item.text)
			continue
		case isArg:
			k.Changes = append(k.Changes, name)
		default:
			k.ChangesWhere = append(k.ChangesWhere, ChangesWhere{Predicate: name})
		}
		l.remember(at, item)
	}
}

// motion reads what only a capability that moves has, and refuses it for one that does not.
func (l *loader) motion(k *Capability, f fields) {
	if k.ReadOnly {
		for _, name := range []string{"holds", "changes", "ensures", "invariants", "binds", "limits", "timeout_s", "skill", "on_cancel", "on_disconnect"} {
			if v := f.n.get(name); v != nil {
				l.at(v, "read-only", join(f.path, name), "", "a read-only capability is answered from facts and has no %s", name)
			}
		}
		return
	}
	var nodes []*node
	if k.Holds, nodes = f.texts("holds"); len(k.Holds) == 0 {
		l.at(f.n, "missing-key", join(f.path, "holds"), "holds: [arm]", "a capability that moves must say what it holds")
	}
	for i, h := range k.Holds {
		if !chunk.MatchString(h) {
			l.at(nodes[i], "bad-name", join(f.path, "holds"), "", "%q is not a resource's name", h)
		}
	}
	if len(k.Ensures) == 0 {
		l.at(f.n, "empty-ensures", join(f.path, "ensures"), "say what is measured when it worked", "a capability that moves must ensure something")
	}
	k.Timeout = time.Duration(f.positive("timeout_s", true, 600) * float64(time.Second))
	if v, ok := f.value("limits", kindMap, true); ok {
		g := l.fields(v, join(f.path, "limits"), "tip_speed_mps", "joint_speed_dps")
		arm := contains(k.Holds, "arm")
		k.Limits.TipSpeedMPS = g.positive("tip_speed_mps", arm, 10)
		k.Limits.JointSpeedRadS = units.RadFromDeg(g.positive("joint_speed_dps", arm, 3600))
	}
	if k.Skill = f.text("skill", false); k.Skill == "" {
		k.Skill = k.Name
	}
	l.skill(k, f)
}

// skill refuses a skill that no planner has, and a policy whose name is none.
func (l *loader) skill(k *Capability, f fields) {
	at := f.n.get("skill")
	if at == nil {
		at = f.n
	}
	name, policy := strings.CutPrefix(k.Skill, PolicyPrefix)
	switch {
	case policy && !chunk.MatchString(name):
		l.at(at, "bad-name", join(f.path, "skill"), "skill: policy:NAME, of a-z, 0-9, _ and -", "%q is not the name of a policy", name)
	case !policy && !contains(KnownSkills, k.Skill):
		l.at(at, "unknown-skill", join(f.path, "skill"), rule.Nearest(k.Skill, KnownSkills), "no planner plays %q", k.Skill)
	}
}

var argTypes = map[string]ArgType{"number": ArgNumber, "text": ArgText, "flag": ArgFlag, "object": ArgObject, "place": ArgPlace}

// argument reads one entry of target or params.
func (l *loader) argument(k *Capability, m member, path string, target bool) {
	l.name(m, path, "an argument", identifier)
	f := l.fields(m.value, join(path, m.name), "type", "min", "max", "enum", "optional", "description")
	a := ArgDecl{Name: m.name, Target: target, Optional: f.flag("optional", false), Description: f.text("description", false)}
	a.Type = argTypes[l.typeWord(f, slices.Sorted(maps.Keys(argTypes)))]
	if a.Type == ArgNumber {
		if a.Unit = rule.UnitOf(m.name); a.Unit == "" {
			l.add(m.line, m.column, "no-unit", f.path, unitHint, "the number %q does not end in a unit", m.name)
		}
	}
	for _, name := range []string{"min", "max", "enum"} {
		if v := f.n.get(name); v != nil && (name == "enum") == (a.Type == ArgNumber) || v != nil && a.Type != ArgNumber && a.Type != ArgText {
			l.at(v, "unknown-key", join(f.path, name), "", "an argument of type %s has no %s", a.Type, name)
		}
	}
	if x, v := f.number("min", false); v != nil {
		a.Min = &x
	}
	if x, v := f.number("max", false); v != nil {
		a.Max = &x
	}
	if a.Min != nil && a.Max != nil && !(*a.Min <= *a.Max) {
		l.at(f.n.get("min"), "min-above-max", join(f.path, "min"), "", "min %v is above max %v", *a.Min, *a.Max)
	}
	if v := f.n.get("enum"); v != nil && v.kind == kindList && len(v.items) == 0 {
		l.at(v, "missing-key", join(f.path, "enum"), "", "an empty enum admits nothing")
	}
	a.Enum, _ = f.texts("enum")
	if _, twice := k.Arg(m.name); twice {
		l.add(m.line, m.column, "duplicate-name", f.path, "", "%q is both in target and in params", m.name)
		return
	}
	k.Args = append(k.Args, a)
}

// The defaults of a postcondition's window.
const (
	DefaultWithin = 1500 * time.Millisecond // how long after the motion an effect may take to show
	DefaultHold   = 200 * time.Millisecond  // how long it must then stay
)

// conditions reads a list of conditions; extra names the keys that only this list has.
func (l *loader) conditions(f fields, name string, extra ...string) []*Condition {
	var list []*Condition
	for i, item := range f.items(name) {
		path := indexedPath(join(f.path, name), i)
		g := l.fields(item, path, append([]string{"id", "that", "says", "modes"}, extra...)...)
		c := &Condition{ID: g.text("id", true), That: g.text("that", true), Says: g.text("says", false), Modes: g.modes(),
			Code: reject.Condition, Line: item.line, Column: item.column}
		if c.ID != "" && !identifier.MatchString(c.ID) {
			l.at(g.n.get("id"), "bad-name", join(path, "id"), "", "%q is not a condition's id", c.ID)
		}
		switch name {
		case "requires":
			c.OnFalse = OnFalse(g.choice("on_false", "refuse", "ask"))
			if code := g.text("code", false); code != "" {
				if c.Code = reject.Code(code); !known(c.Code) {
					l.at(g.n.get("code"), "not-in-list", join(path, "code"), "CONDITION and UNREACHABLE are the usual ones", "%q is not a code of a refusal", code)
				}
			}
		case "ensures":
			c.Within, c.Hold = g.millis("within_ms", false, DefaultWithin), g.millis("hold_ms", false, DefaultHold)
			if c.Hold > c.Within {
				l.at(g.n, "min-above-max", join(path, "hold_ms"), "", "it cannot hold for %v within %v", c.Hold, c.Within)
			}
		case "invariants":
			c.OnViolation = OnViolation(g.choice("on_violation", "stop", "fail"))
		}
		l.remember(path+".that", g.n.get("that"))
		l.remember(path+".says", g.n.get("says"))
		list = append(list, c)
	}
	return list
}

// known reports whether the code is in the closed list: only those have an exit code other than 1.
func known(code reject.Code) bool { return reject.ExitCode(code) != 1 }
