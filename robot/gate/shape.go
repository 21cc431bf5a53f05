package gate

import (
	"slices"
	"strconv"
	"strings"

	"interlock/contract"
	"interlock/internal/strictjson"
	"interlock/reject"
	"interlock/world"
)

// shape is stage 4: every missing, unknown, mistyped and out-of-range argument, all at once.
func (j *judgement) shape() (l reject.List) {
	for _, m := range j.node.Members {
		if !slices.ContainsFunc(j.capability.Args, func(a contract.ArgDecl) bool { return a.Name == m.Name }) {
			l = append(l, reject.New(reject.UnknownArgument, j.capability.Name+" has no argument "+quote(m.Name)+"; it takes "+j.takes()).In(m.Name))
		}
	}
	for _, a := range j.capability.Args {
		n := j.node.Get(a.Name)
		if n == nil {
			if !a.Optional {
				l = append(l, reject.New(reject.MissingArgument, "argument "+a.Name+" ("+typeWord(a.Type)+") is missing").In(a.Name))
			}
			continue
		}
		v, r := j.value(a, n)
		if r != nil {
			l = append(l, *r)
			continue
		}
		j.args = append(j.args, contract.ArgValue{Name: a.Name, Value: v})
	}
	return l
}

func (j *judgement) takes() string {
	if len(j.capability.Args) == 0 {
		return "none"
	}
	names := make([]string, len(j.capability.Args))
	for i, a := range j.capability.Args {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

// value decodes one argument and checks it against its declaration.
func (j *judgement) value(a contract.ArgDecl, n *strictjson.Node) (world.Value, *reject.Rejection) {
	switch a.Type {
	case contract.ArgNumber:
		return j.number(a, n)
	case contract.ArgFlag:
		if n.Kind != strictjson.Bool {
			return world.Value{}, wrongType(a, n)
		}
		return world.Value{Kind: world.KindFlag, Flag: string(n.Raw) == "true"}, nil
	case contract.ArgText, contract.ArgObject, contract.ArgPlace:
		if n.Kind != strictjson.String {
			return world.Value{}, wrongType(a, n)
		}
		return j.text(a, n)
	}
	return world.Value{}, wrongType(a, n)
}

func (j *judgement) number(a contract.ArgDecl, n *strictjson.Node) (world.Value, *reject.Rejection) {
	if n.Kind != strictjson.Number {
		return world.Value{}, wrongType(a, n)
	}
	v, ok := n.Number()
	if !ok {
		r := reject.New(reject.NotFinite, a.Name+" is not a finite, exactly representable number").In(a.Name).Saw(short(n.Raw), "", a.Unit)
		return world.Value{}, &r
	}
	if r := j.bounded(a, v); r != nil && !j.gate.off {
		return world.Value{}, r
	}
	return world.Value{Kind: world.KindNumber, Number: v}, nil
}

// bounded compares so that NaN fails.
func (j *judgement) bounded(a contract.ArgDecl, v float64) *reject.Rejection {
	says, limit := "", 0.0
	switch {
	case a.Min != nil && !(v >= *a.Min):
		says, limit = "below the minimum", *a.Min
	case a.Max != nil && !(v <= *a.Max):
		says, limit = "above the maximum", *a.Max
	default:
		return nil
	}
	r := reject.New(reject.OutOfRange, a.Name+" = "+num(v)+" is "+says).In(a.Name).Saw(num(v), "", a.Unit)
	if j.gate.contract.DiscloseBounds {
		r.Limit, r.Says = num(limit), r.Says+" "+num(limit)
	}
	return &r
}

func (j *judgement) text(a contract.ArgDecl, n *strictjson.Node) (world.Value, *reject.Rejection) {
	v := world.Value{Kind: world.KindText, Text: n.Text}
	switch a.Type {
	case contract.ArgObject:
		if o, known := j.gate.contract.Object(n.Text); known {
			v.Text = o.Label // an alias the contract declares
		}
	case contract.ArgPlace:
		if _, known := j.gate.contract.Place(n.Text); !known {
			return world.Value{}, notInEnum(a, n, j.places())
		}
	case contract.ArgText:
		if len(a.Enum) > 0 && !slices.Contains(a.Enum, n.Text) {
			return world.Value{}, notInEnum(a, n, a.Enum)
		}
	case contract.ArgNumber, contract.ArgFlag:
	}
	return v, nil
}

func (j *judgement) places() []string {
	names := make([]string, len(j.gate.contract.Places))
	for i, p := range j.gate.contract.Places {
		names[i] = p.Name
	}
	return names
}

func notInEnum(a contract.ArgDecl, n *strictjson.Node, known []string) *reject.Rejection {
	r := reject.New(reject.NotInEnum, a.Name+" must be one of "+listed(known)).In(a.Name).Saw(short(n.Raw), "", "")
	return &r
}

func wrongType(a contract.ArgDecl, n *strictjson.Node) *reject.Rejection {
	r := reject.New(reject.WrongType, a.Name+" must be a "+typeWord(a.Type)+", got "+kindWord(n.Kind)).In(a.Name).Saw(short(n.Raw), "", "")
	return &r
}

func typeWord(t contract.ArgType) string {
	switch t {
	case contract.ArgNumber:
		return "number"
	case contract.ArgFlag:
		return "boolean"
	case contract.ArgText:
		return "text"
	case contract.ArgObject:
		return "text that names an object"
	case contract.ArgPlace:
		return "text that names a place"
	}
	return "value"
}

func kindWord(k strictjson.Kind) string {
	switch k {
	case strictjson.Object:
		return "an object"
	case strictjson.Array:
		return "an array"
	case strictjson.String:
		return "a text"
	case strictjson.Number:
		return "a number"
	case strictjson.Bool:
		return "a boolean"
	case strictjson.Null:
		return "null"
	}
	return "something else"
}

// fieldOf names the argument a condition is about: the only one its text mentions, else the first.
func fieldOf(c *contract.Condition, capability *contract.Capability) string {
	for _, a := range capability.Args {
		if mentions(c.That, "args."+a.Name) {
			return a.Name
		}
	}
	return ""
}

// mentions reports whether the text holds the name as a whole word.
func mentions(text, name string) bool {
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		rest := text[i+len(name):]
		if rest == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", rune(rest[0])) {
			return true
		}
		text = rest
	}
}

func num(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// maxQuoted bounds how much of a caller's text comes back in a refusal, in bytes.
const maxQuoted = 80

func short(raw []byte) string {
	if len(raw) <= maxQuoted {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:maxQuoted]), "") + "…"
}

func quote(s string) string { return short([]byte(strconv.QuoteToASCII(s))) }

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
