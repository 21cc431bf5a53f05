package gate

import (
	"slices"
	"strconv"

	"interlock/contract"
	"interlock/internal/strictjson"
	"interlock/reject"
	"interlock/world"
)

// shape is stage 4: every missing, unknown, mistyped and out-of-range argument, all at once.
func (j *judgement) shape() reject.List {
	l := j.unknown()
	j.args = make(contract.Args, 0, len(j.capability.Args))
	for i := range j.capability.Args {
		a := &j.capability.Args[i]
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

// unknown refuses arguments that nobody declared, by name up to maxListed and the rest together.
func (j *judgement) unknown() (l reject.List) {
	for i, m := range j.node.Members {
		if slices.ContainsFunc(j.capability.Args, func(a contract.ArgDecl) bool { return a.Name == m.Name }) {
			continue
		}
		if len(l) == maxListed {
			more := strconv.Itoa(len(j.node.Members) - i)
			return append(l, reject.New(reject.UnknownArgument, "and up to "+more+" more that "+j.capability.Name+" does not take").In(arguments))
		}
		says := j.capability.Name + " has no argument " + quote(m.Name) + "; it takes " + j.takes()
		l = append(l, reject.New(reject.UnknownArgument, says).In(path(m.Name)).Saw(given(m.Value), "", ""))
	}
	return l
}

func (j *judgement) takes() string {
	names := make([]string, len(j.capability.Args))
	for i, a := range j.capability.Args {
		names[i] = a.Name
	}
	return listed(names)
}

// value decodes one argument and checks it against its declaration.
func (j *judgement) value(a *contract.ArgDecl, n *strictjson.Node) (world.Value, *reject.Rejection) {
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

func (j *judgement) number(a *contract.ArgDecl, n *strictjson.Node) (world.Value, *reject.Rejection) {
	if n.Kind != strictjson.Number {
		return world.Value{}, wrongType(a, n)
	}
	v, ok := n.Number()
	if !ok {
		r := reject.New(reject.NotFinite, a.Name+" is not a finite, exactly representable number").In(a.Name).Saw(given(n), "", a.Unit)
		return world.Value{}, &r
	}
	if r := j.bounded(a, v); r != nil && !j.gate.off {
		return world.Value{}, r
	}
	return world.Value{Kind: world.KindNumber, Number: v}, nil
}

// bounded compares so that NaN fails.
func (j *judgement) bounded(a *contract.ArgDecl, v float64) *reject.Rejection {
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

func (j *judgement) text(a *contract.ArgDecl, n *strictjson.Node) (world.Value, *reject.Rejection) {
	v := world.Value{Kind: world.KindText, Text: n.Text}
	switch a.Type {
	case contract.ArgObject:
		if o, known := j.gate.contract.Object(n.Text); known {
			v.Text, n.Text = o.Label, o.Label // an alias the contract declares; the canonical form has the label too
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

func notInEnum(a *contract.ArgDecl, n *strictjson.Node, known []string) *reject.Rejection {
	r := reject.New(reject.NotInEnum, a.Name+" must be one of "+listed(known)).In(a.Name).Saw(given(n), "", "")
	return &r
}

func wrongType(a *contract.ArgDecl, n *strictjson.Node) *reject.Rejection {
	r := reject.New(reject.WrongType, a.Name+" must be a "+typeWord(a.Type)+", got "+kindWord(n.Kind)).In(a.Name).Saw(given(n), "", "")
	return &r
}
