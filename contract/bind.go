package contract

import (
	"strconv"
	"strings"

	"interlock/reject"
	"interlock/world"
)

// Bind adds the arguments that nobody passes: each is the one object for which its predicate is true now. None, several,
// or no fresh reading of the objects is a refusal by the predicate's name.
func (c *Contract) Bind(cap *Capability, args Args, w *world.Snapshot) (Args, *reject.Rejection) {
	if len(cap.Binds) == 0 {
		return args, nil
	}
	out := append(Args{}, args...)
	for _, b := range cap.Binds {
		held, refusal := c.bindOne(b, out, w)
		if refusal != nil {
			return nil, refusal
		}
		out = append(out, ArgValue{Name: b.Arg, Value: world.Value{Kind: world.KindText, Text: held}})
	}
	return out, nil
}

// bindOne returns the one object for which the predicate holds.
func (c *Contract) bindOne(b Bind, args Args, w *world.Snapshot) (string, *reject.Rejection) {
	labels, fresh := c.Visible(w)
	if !fresh {
		r := reject.New(reject.StaleFact, "no fresh reading of the objects, so that "+b.Predicate+" cannot be judged").By(b.Predicate).In(b.Arg)
		return "", &r
	}
	var holding []string
	unsure := ""
	for _, l := range labels {
		o := b.condition.Eval(Inputs{Args: append(append(Args{}, args...), ArgValue{Name: b.Arg, Value: world.Value{Kind: world.KindText, Text: l}}), World: w})
		switch {
		case o.Truth == world.True:
			holding = append(holding, l)
		case o.Truth == world.Unknown && len(o.Missing) > 0:
			r := reject.New(reject.StaleFact, b.Predicate+" cannot be judged: no fresh reading of "+strings.Join(o.Missing, ", ")).By(b.Predicate).In(b.Arg)
			return "", &r
		case o.Truth == world.Unknown:
			unsure = l
		}
	}
	if len(holding) == 1 && unsure == "" {
		return holding[0], nil
	}
	says := "no object for which " + b.Predicate + " is true"
	if unsure != "" {
		says = b.Predicate + " cannot be decided for " + unsure
	} else if len(holding) > 1 {
		says = b.Predicate + " is true for several objects: " + strings.Join(holding, ", ")
	}
	r := reject.New(reject.Condition, says).By(b.Predicate).In(b.Arg).Saw(strconv.Itoa(len(holding)), "1", "count")
	return "", &r
}
