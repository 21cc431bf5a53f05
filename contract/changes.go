package contract

import (
	"slices"

	"interlock/world"
)

// Changing is an object that a call would change, or of which that cannot be said.
type Changing struct {
	Object, Predicate string
	Outcome           Outcome // of the predicate; its truth is true or unknown
}

// Stale is a predicate that cannot be asked of anything, since a reading it rests on is missing or too old.
type Stale struct{ Predicate, Fact string }

// Changing asks the predicates of `changes` of every object in a fresh reading. It lists each for which one is true or
// cannot be decided, and the predicates that there was nothing fresh to ask of: what is not seen may be there.
func (c *Contract) Changing(cap *Capability, w *world.Snapshot) (list []Changing, stale []Stale) {
	if len(cap.ChangesWhere) == 0 {
		return nil, nil
	}
	labels, _ := c.Visible(w)
	for _, where := range cap.ChangesWhere {
		if fact := c.blind(where.condition, w); fact != "" {
			stale = append(stale, Stale{where.Predicate, fact})
			continue
		}
		for _, label := range labels {
			args := Args{{Name: changedName, Value: world.Value{Kind: world.KindText, Text: label}}}
			if o := where.condition.Eval(Inputs{Args: args, World: w}); o.Truth != world.False {
				list = append(list, Changing{Object: label, Predicate: where.Predicate, Outcome: o})
			}
		}
	}
	return list, stale
}

// blind returns a reading of objects without which the predicate cannot be asked of whatever may be there.
func (c *Contract) blind(predicate *Condition, w *world.Snapshot) string {
	missing := predicate.Eval(Inputs{World: w}).Missing
	i := slices.IndexFunc(missing, func(name string) bool {
		d, _ := c.Fact(name)
		return d.Kind == world.KindPoses
	})
	if i >= 0 {
		return missing[i]
	}
	if _, fresh := c.Visible(w); !fresh {
		for _, f := range c.Facts {
			if f.Kind == world.KindPoses {
				return f.Name
			}
		}
	}
	return ""
}
