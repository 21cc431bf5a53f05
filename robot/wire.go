package robot

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"interlock/contract"
	contractv1 "interlock/contract/v1"
	"interlock/reject"
	"interlock/units"
	"interlock/world"
)

// rejectionsPB turns refusals into messages.
func rejectionsPB(l reject.List) []*contractv1.Rejection {
	out := make([]*contractv1.Rejection, len(l))
	for i, r := range l {
		out[i] = &contractv1.Rejection{
			Code: string(r.Code), Rule: r.Rule, Field: r.Field, Got: r.Got, Limit: r.Limit, Unit: r.Unit,
			Retry: string(r.Retry), AfterMs: int64(r.AfterMS), Says: r.Says,
		}
	}
	return out
}

// reasonFor is the one-line reason of an ack: the first refusal's code, as peers of this protocol spell it.
func reasonFor(capability string, l reject.List) string {
	if len(l) == 0 {
		return ""
	}
	if !prints(capability) {
		capability = quoted(capability)
	}
	if l[0].Code == reject.UnknownCapability {
		return "rejected_unknown_capability:" + capability
	}
	return "rejected_" + strings.ToLower(string(l[0].Code)) + ":" + capability
}

func evidencePB(es []world.Evidence) []*contractv1.Evidence {
	out := make([]*contractv1.Evidence, len(es))
	for i, e := range es {
		out[i] = &contractv1.Evidence{
			Condition: e.Condition, Fact: e.Fact, Witness: e.Witness, SourceAtMs: e.SourceAtMS, AgeMs: e.AgeMS,
			Observed: e.Observed, Unit: e.Unit, Threshold: e.Threshold, MissionStartedAtMs: e.StartedAtMS,
		}
	}
	return out
}

func failurePB(f *world.FailureRecord) *contractv1.FailureRecord {
	if f == nil {
		return nil
	}
	return &contractv1.FailureRecord{
		Tool: f.Tool, ArgsJson: f.Args, ViolatedPostcondition: f.ViolatedPostcondition, Expected: f.Expected,
		ObservedValue: f.ObservedValue, Unit: f.Unit, Tolerance: f.Tolerance, Source: f.Source, AgeMs: f.AgeMS,
		Phase: f.Phase, ElapsedMs: f.ElapsedMS, Attempt: int32(f.Attempt), Kind: string(f.Kind), DriverError: f.DriverError,
		WorldAfter: f.WorldAfter, BudgetLeft: int32(f.BudgetLeft), ReplanReason: f.ReplanReason, NextPlan: f.NextPlan,
		TimestampMs: f.TimestampMS,
	}
}

// factsPB lists the facts of a snapshot. With a label, facts that are poses hold only the object of that label.
func factsPB(c *contract.Contract, w *world.Snapshot, label string) []*contractv1.Fact {
	var out []*contractv1.Fact
	for _, f := range w.Facts() {
		decl, known := c.Fact(f.Name)
		if !known || label != "" && f.Value.Kind != world.KindPoses {
			continue
		}
		text, unit := valueJSON(f, label)
		out = append(out, &contractv1.Fact{
			Name: f.Name, ValueJson: text, Unit: unit, Witness: f.Witness, AtMs: f.At.Millis(),
			AgeMs: f.Age(w.Now).Milliseconds(), Sigma: f.Sigma, Fresh: f.Age(w.Now) <= decl.MaxAge,
		})
	}
	return out
}

// valueJSON prints a fact for people and models: lengths in centimetres, two decimals. It is a display; verdicts are
// made from the fact itself.
func valueJSON(f world.Fact, label string) (text, unit string) {
	switch f.Value.Kind {
	case world.KindNumber:
		return rounded(f.Value.Number), suffix(f.Name)
	case world.KindText:
		return jsonText(f.Value.Text), ""
	case world.KindFlag:
		return strconv.FormatBool(f.Value.Flag), ""
	case world.KindPoint:
		return pointJSON(f.Value.Point), "cm"
	case world.KindPoses:
		return objectsJSON(f.Value.Objects, label), "cm"
	}
	return "null", ""
}

func pointJSON(p units.Vec3) string {
	return "[" + rounded(units.CmFromMetres(p[0])) + "," + rounded(units.CmFromMetres(p[1])) + "," + rounded(units.CmFromMetres(p[2])) + "]"
}

func objectsJSON(objects []world.Object, label string) string {
	var b bytes.Buffer
	b.WriteByte('[')
	for _, o := range objects {
		if label != "" && o.Label != label {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(`{"name":` + jsonText(o.Label) + `,"centre_cm":` + pointJSON(o.Pose.Position) +
			`,"bottom_cm":` + rounded(units.CmFromMetres(o.BottomM())) + "}")
	}
	b.WriteByte(']')
	return b.String()
}

// jsonText is the text as a JSON string.
func jsonText(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // a string always has a JSON form
		return `""`
	}
	return string(text)
}

// maxQuoted bounds how much of a caller's text comes back in a refusal, in bytes.
const maxQuoted = 80

// quoted is a name of the caller's or the driver's as it may stand in a message.
func quoted(s string) string {
	if len(s) > maxQuoted {
		return strconv.QuoteToASCII(s[:maxQuoted]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// rounded prints a number with at most two decimals, and never as -0.
func rounded(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64)
}

// suffix returns the unit a name ends in, "" when it has none.
func suffix(name string) string {
	_, unit, found := cutLast(name, '_')
	if !found {
		return ""
	}
	return unit
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
