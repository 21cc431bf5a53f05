package skill

import (
	"slices"
	"strconv"
	"strings"

	"interlock/contract"
	"interlock/reject"
	"interlock/world"
)

// objects returns the fresh reading of objects.
func (d *draft) objects() ([]world.Object, *reject.Rejection) {
	facts := d.planner.contract.Facts
	i := slices.IndexFunc(facts, func(f contract.FactDecl) bool { return f.Kind == world.KindPoses })
	if i < 0 {
		return nil, refuse(reject.StaleFact, "objects", "no sensor of this robot sees objects")
	}
	f, fresh := d.request.World.Fresh(facts[i].Name, facts[i].MaxAge)
	if !fresh {
		return nil, refuse(reject.StaleFact, facts[i].Name, "the reading of "+facts[i].Name+" is missing or too old")
	}
	return f.Value.Objects, nil
}

// object returns the one of the label; the refusal of a label that is not there lists what is.
func object(seen []world.Object, field, label string) (world.Object, *reject.Rejection) {
	labels := make([]string, len(seen))
	for i, o := range seen {
		if o.Label == label {
			return o, nil
		}
		labels[i] = o.Label
	}
	list := "none"
	if len(labels) > 0 {
		list = strings.Join(labels, ", ")
	}
	r := reject.New(reject.NoSuchObject, "no object named "+strconv.Quote(label)+" found; visible objects: "+list).
		In(field).Saw(strconv.Quote(label), "", "")
	return world.Object{}, &r
}

// argOf returns the first argument of the type: its name and text.
func (d *draft) argOf(t contract.ArgType) (name, text string, ok bool) {
	for _, a := range d.request.Capability.Args {
		if a.Type != t {
			continue
		}
		if v, given := d.request.Args.Get(a.Name); given {
			return a.Name, v.Text, true
		}
	}
	return "", "", false
}
