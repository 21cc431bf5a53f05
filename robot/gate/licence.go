package gate

import (
	"slices"
	"strings"

	"interlock/contract"
	"interlock/reject"
	"interlock/world"
)

// licensed is stage 7: an object the request does not name may not be changed, whether the call names it or it is only
// where the verb takes effect. Where a person can be asked, that waits for stage 8.
func (j *judgement) licensed() reject.List {
	l := j.unlicensed()
	if j.standing.Approvals == nil || slices.ContainsFunc(l, func(r reject.Rejection) bool { return r.Code != reject.NotLicensed }) {
		return l
	}
	for _, r := range l {
		r.Retry = reject.AfterOperator
		j.asks = append(j.asks, r)
	}
	return nil
}

func (j *judgement) unlicensed() (l reject.List) {
	if j.licence == nil {
		return nil
	}
	for _, name := range j.capability.Changes {
		if v, ok := j.args.Get(name); ok && !j.licence.Allows(v.Text) {
			l = append(l, reject.New(reject.NotLicensed, "the request does not allow "+quote(v.Text)+" to be changed").In(name).Saw(quote(v.Text), "", ""))
		}
	}
	changing, stale := j.gate.contract.Changing(j.capability, j.world)
	for _, s := range stale {
		if !j.allowsAnything() {
			l = append(l, reject.New(reject.StaleFact, "what "+j.capability.Name+" would change cannot be judged: no fresh reading of "+s.Fact).By(s.Predicate).In(s.Fact))
		}
	}
	for i := range changing {
		if c := &changing[i]; !j.licence.Allows(c.Object) {
			if r := j.touches(c); !said(l, r) {
				l = append(l, r)
			}
		}
	}
	return l
}

// said reports whether the faults say the same of the same object already, whatever rule they say it by.
func said(l reject.List, r reject.Rejection) bool {
	return slices.ContainsFunc(l, func(k reject.Rejection) bool { return k.Code == r.Code && k.Field == r.Field && k.Got == r.Got })
}

// touches refuses to change an object without a licence. Where a reading is missing or too old that is the reason: of
// several objects each would say the same.
func (j *judgement) touches(c *contract.Changing) reject.Rejection {
	if o := &c.Outcome; o.Truth == world.Unknown && o.Err == nil && len(o.Missing) > 0 {
		says := "what " + j.capability.Name + " would change cannot be judged: no fresh reading of " + strings.Join(o.Missing, ", ")
		return reject.New(reject.StaleFact, says).By(c.Predicate).In(o.Missing[0])
	}
	says := j.capability.Name + " would change " + quote(c.Object) + ", which the request does not allow"
	if c.Outcome.Truth == world.Unknown {
		says = j.capability.Name + " may change " + quote(c.Object) + ", which the request does not allow"
	}
	return reject.New(reject.NotLicensed, says).By(c.Predicate).In("changes").Saw(quote(c.Object), "", "")
}

// allowsAnything reports whether the licence leaves nothing out: not what the vocabulary names, and not what is not seen.
func (j *judgement) allowsAnything() bool {
	if !j.licence.Allows("") {
		return false
	}
	return !slices.ContainsFunc(j.gate.contract.Objects, func(o contract.ObjectDecl) bool { return !j.licence.Allows(o.Label) })
}
