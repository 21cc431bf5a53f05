package verify

import (
	"interlock/units"
	"interlock/world"
)

// failure fills the record of a postcondition that was measured false.
func (w *Watch) failure(c *check, now units.Instant) *world.FailureRecord {
	m, cause := w.motion, c.falseOutcome.Cause
	f := &world.FailureRecord{
		Tool: m.Capability.Name, Args: m.ArgsJSON, ViolatedPostcondition: c.condition.ID, Expected: cause.Text,
		ObservedValue: cause.Got, Unit: cause.Unit, Tolerance: cause.Limit, Phase: m.Phase,
		ElapsedMS: now.Sub(m.StartedAt).Milliseconds(), Attempt: m.Attempt, DriverError: m.DriverError,
		BudgetLeft: m.BudgetLeft, ReplanReason: c.condition.Words(c.falseInputs, c.falseOutcome), TimestampMS: now.Millis(),
		WorldAfter: map[string]string{},
	}
	if f.Expected == "" {
		f.Expected = c.condition.That
	}
	c.source(f)
	for i := range w.checks {
		for _, e := range w.checks[i].outcome.Evidence {
			f.WorldAfter[e.Fact] = e.Observed
		}
	}
	f.Kind = kindOf(c, m.Before, f)
	return f
}

// source names the witness of the comparison that decided, or of the first reading where no single one did.
func (c *check) source(f *world.FailureRecord) {
	for i, e := range c.falseOutcome.Evidence {
		if i > 0 && e.Fact != c.falseOutcome.Cause.Fact {
			continue
		}
		f.Source, f.AgeMS = e.Witness, e.AgeMS
		if f.ObservedValue == "" {
			f.ObservedValue = e.Observed
		}
	}
}

// kindOf says whether trying the same again can help. Only what was measured counts: an effect that was there and did
// not last may last the next time; a second try that left the same value will not differ a third time; nothing is
// known about the rest.
func kindOf(c *check, before, f *world.FailureRecord) world.FailureKind {
	same := before != nil && before.Tool == f.Tool && before.Args == f.Args && before.ViolatedPostcondition == f.ViolatedPostcondition
	switch {
	case same && before.ObservedValue == f.ObservedValue:
		return world.Permanent
	case c.dwell.WasTrue():
		return world.Transient
	}
	return world.KindUnknown
}
