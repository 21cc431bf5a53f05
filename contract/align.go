package contract

import (
	"fmt"
	"slices"
	"strings"

	"interlock/contract/rule"
	"interlock/units"
	"interlock/world"
)

// Offer is what an opened robot brings: its mode, its witnesses with the facts each fills, and the planners it has.
type Offer struct {
	Mode      string // "sim" or "hardware"
	Witnesses []Witness
	Skills    []string
}

// Witness is one sensor and the facts it fills.
type Witness struct {
	Name  string
	Facts []string
}

// The statuses of an alignment row.
const (
	StatusOK        = "ok"
	StatusMissing   = "missing"   // no witness of the driver fills the fact, or what it needs is missing
	StatusOtherMode = "off"       // declared for another mode
	StatusWithdrawn = "withdrawn" // a capability that is not offered
)

// AlignmentRow says how one word of the contract is covered. Kind is fact, object, place, predicate or capability. Why is
// the reason of a status that is not ok; with ok it says in which modes alone the word is offered.
type AlignmentRow struct{ Word, Kind, Status, Why string }

// Alignment is the contract's vocabulary held against an offer.
type Alignment struct {
	Rows      []AlignmentRow
	Withdrawn map[string]string // capability → why
	Mode      string
}

// Align holds the contract against what an opened robot offers, and says which capabilities are withdrawn and why.
func (c *Contract) Align(o Offer) Alignment {
	a := Alignment{Withdrawn: map[string]string{}, Mode: o.Mode}
	gaps := map[string]string{} // fact → why it is not there
	for _, f := range c.Facts {
		row := c.alignFact(f, o)
		if row.Status != StatusOK {
			gaps[f.Name] = row.Why
		}
		a.Rows = append(a.Rows, row)
	}
	for _, obj := range c.Objects {
		a.Rows = append(a.Rows, AlignmentRow{Word: obj.Label, Kind: "object", Status: StatusOK})
	}
	for _, p := range c.Places {
		a.Rows = append(a.Rows, AlignmentRow{Word: p.Name, Kind: "place", Status: StatusOK})
	}
	for _, p := range c.Predicates {
		row := AlignmentRow{Word: p.Name, Kind: "predicate", Status: StatusOK}
		for _, name := range c.Reads(p) {
			if why, missing := gaps[name]; missing {
				row.Status, row.Why = StatusMissing, name+": "+why
				break
			}
		}
		a.Rows = append(a.Rows, row)
	}
	for _, k := range c.Capabilities {
		row := AlignmentRow{Word: k.Name, Kind: "capability", Status: StatusOK}
		if why := c.withdrawn(k, o, gaps); why != "" {
			row.Status, row.Why = StatusWithdrawn, why
			a.Withdrawn[k.Name] = why
		} else {
			row.Why = onlyIn(k.Modes)
		}
		a.Rows = append(a.Rows, row)
	}
	return a
}

func (c *Contract) alignFact(f FactDecl, o Offer) AlignmentRow {
	row := AlignmentRow{Word: f.Name, Kind: "fact", Status: StatusOK}
	if !rule.InMode(f.Modes, o.Mode) {
		row.Status, row.Why = StatusOtherMode, onlyIn(f.Modes)
		return row
	}
	row.Why = onlyIn(f.Modes)
	i := slices.IndexFunc(o.Witnesses, func(w Witness) bool { return w.Name == f.Witness })
	switch {
	case i < 0:
		row.Status, row.Why = StatusMissing, fmt.Sprintf("the driver has no witness %q", f.Witness)
	case !contains(o.Witnesses[i].Facts, f.Name):
		row.Status, row.Why = StatusMissing, fmt.Sprintf("the witness %q does not fill it", f.Witness)
	}
	return row
}

// onlyIn says which modes a word is declared for, so that a table shows what another body would not offer; "" for all.
func onlyIn(modes []string) string {
	if len(modes) == 0 {
		return ""
	}
	return "only in " + strings.Join(modes, ", ")
}

// withdrawn returns why a capability is not offered, or "".
func (c *Contract) withdrawn(k *Capability, o Offer, gaps map[string]string) string {
	if !k.InMode(o.Mode) {
		return "declared " + onlyIn(k.Modes)
	}
	if !k.ReadOnly && !contains(o.Skills, k.Skill) {
		if name, policy := strings.CutPrefix(k.Skill, PolicyPrefix); policy {
			return fmt.Sprintf("the robot has no source of setpoints %q", name)
		}
		return fmt.Sprintf("the robot has no planner for the skill %q", k.Skill)
	}
	ensured := false
	for _, list := range [][]*Condition{k.Requires, k.Ensures, k.Invariants} {
		for _, cond := range list {
			if !cond.InMode(o.Mode) {
				continue
			}
			for _, name := range cond.FactNames {
				if why, missing := gaps[name]; missing {
					return fmt.Sprintf("%s needs the fact %s: %s", cond.ID, name, why)
				}
			}
			ensured = ensured || slices.Contains(k.Ensures, cond)
		}
	}
	for _, predicate := range k.asked() {
		for _, name := range predicate.FactNames {
			if why, missing := gaps[name]; missing {
				return fmt.Sprintf("%s needs the fact %s: %s", predicate.ID, name, why)
			}
		}
	}
	switch {
	case !k.ReadOnly && !ensured:
		return fmt.Sprintf("nothing measures its effect in the mode %q", o.Mode)
	case c.needsObjects(k) && !slices.ContainsFunc(c.Facts, func(f FactDecl) bool { _, missing := gaps[f.Name]; return f.Kind == world.KindPoses && !missing }):
		return "no witness sees objects"
	}
	return ""
}

// asked are the predicates that a call of the capability asks of every object in sight.
func (cap *Capability) asked() (list []*Condition) {
	for _, b := range cap.Binds {
		list = append(list, b.condition)
	}
	for _, w := range cap.ChangesWhere {
		list = append(list, w.condition)
	}
	return list
}

// needsObjects reports whether a capability takes an object, or changes what is in sight.
func (c *Contract) needsObjects(k *Capability) bool {
	return len(k.Binds) > 0 || len(k.ChangesWhere) > 0 || slices.ContainsFunc(k.Args, func(a ArgDecl) bool { return a.Type == ArgObject })
}

// Table returns the alignment for people: word, kind, unit or frame, witness, status, why. The first row is the head.
func (c *Contract) Table(a Alignment) [][]string {
	table := [][]string{{"word", "kind", "unit/frame", "witness", "status", "why"}}
	for _, r := range a.Rows {
		measure, witness := "", ""
		switch r.Kind {
		case "fact":
			d, _ := c.Fact(r.Word)
			if measure, witness = d.Frame, d.Witness; measure == "" {
				measure = rule.UnitOf(d.Name)
			}
		case "object":
			o, _ := c.Object(r.Word)
			measure = sizeWords(o.SizeM)
		case "place":
			measure = c.Frame
		}
		table = append(table, []string{r.Word, r.Kind, measure, witness, r.Status, r.Why})
	}
	return table
}

func sizeWords(m units.Vec3) string {
	if m == (units.Vec3{}) {
		return ""
	}
	return rule.CmJSON(m[0]) + "×" + rule.CmJSON(m[1]) + "×" + rule.CmJSON(m[2]) + " cm"
}
