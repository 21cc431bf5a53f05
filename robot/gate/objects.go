package gate

import (
	"slices"

	"interlock/contract"
	"interlock/reject"
	"interlock/world"
)

// ambiguous is the rule of a refusal for a label that one reading holds more than once.
const ambiguous = "ambiguous"

// objectsSeen checks the objects a call names or binds: each must be in a fresh reading, once, under a label of the
// vocabulary.
func (j *judgement) objectsSeen() (l reject.List) {
	check := func(name string) {
		if v, given := j.args.Get(name); given {
			if r := j.seen(name, v.Text); r != nil && !(r.Code == reject.StaleFact && names(l, *r)) {
				l = append(l, *r)
			}
		}
	}
	for _, a := range j.capability.Args {
		if a.Type == contract.ArgObject {
			check(a.Name)
		}
	}
	for _, b := range j.capability.Binds {
		check(b.Arg)
	}
	return l
}

// seen refuses a label that the fresh readings do not hold exactly once, or that the vocabulary lacks.
func (j *judgement) seen(field, label string) *reject.Rejection {
	most, stale := j.look(label)
	_, known := j.gate.contract.Object(label)
	var r reject.Rejection
	switch {
	case most == 1 && known:
		return nil
	case most == 1:
		r = reject.New(reject.UnknownLabel, "the driver reports an object "+quote(label)+", which is not in this robot's vocabulary")
	case most > 1:
		r = reject.New(reject.NoSuchObject, "more than one object is labelled "+quote(label)+"; visible objects: "+j.sighted()).By(ambiguous)
	case len(j.gate.poses) == 0:
		r = reject.New(reject.StaleFact, "no sensor of this robot sees objects")
	case stale != "":
		r = reject.New(reject.StaleFact, "the reading of "+stale+" is missing or too old")
		field = stale
	default:
		r = reject.New(reject.NoSuchObject, "no object named "+quote(label)+" found; visible objects: "+j.sighted())
	}
	r = r.In(field)
	if r.Code != reject.StaleFact {
		r = r.Saw(quote(label), "", "")
	}
	return &r
}

// look returns how often one of the fresh readings holds the label at most, aliases resolved, and the first reading that
// is not fresh.
func (j *judgement) look(label string) (most int, stale string) {
	for _, d := range j.gate.poses {
		objects, fresh := j.reading(d)
		if !fresh && stale == "" {
			stale = d.Name
		}
		n := 0
		for i := range objects {
			if j.gate.contract.Label(objects[i].Label) == label {
				n++
			}
		}
		most = max(most, n)
	}
	return most, stale
}

// reading returns the objects of a fact. One of another kind or witness than declared counts as missing.
func (j *judgement) reading(d contract.FactDecl) ([]world.Object, bool) {
	f, fresh := j.world.Fresh(d.Name, d.MaxAge)
	if !fresh || f.Value.Kind != d.Kind || f.Witness != d.Witness {
		return nil, false
	}
	return f.Value.Objects, true
}

// sighted lists the labels in sight for people and models, each once. One outside the vocabulary is text from outside
// and stands in quotation marks.
func (j *judgement) sighted() string {
	var list []string
	for _, d := range j.gate.poses {
		objects, _ := j.reading(d)
		for i := range objects {
			label := j.gate.contract.Label(objects[i].Label)
			if _, known := j.gate.contract.Object(label); !known {
				label = quote(label)
			}
			switch {
			case slices.Contains(list, label):
			case len(list) == maxListed:
				return listed(append(list, "and more"))
			default:
				list = append(list, label)
			}
		}
	}
	return listed(list)
}
