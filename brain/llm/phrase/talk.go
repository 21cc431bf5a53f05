package phrase

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"interlock/brain/llm"
)

// talk is a conversation as it stands. A plan is played from its beginning every time; calls that were answered before
// have their answers here, so that the first without one is the next to write.
type talk struct {
	words   string
	answers []answer
	used    int
	tools   []llm.ToolSpec
}

// answer is what came back for one call.
type answer struct {
	tool       string
	Verdict    string
	Mission    string
	Reason     string
	Says       string
	Facts      map[string]fact
	Measured   map[string]fact
	Failure    *failure
	Rejections []struct{ Code, Says string }
}

// failure is what a promise was measured to miss.
type failure struct {
	Expected, Unit string
	Observed       string `json:"observed_value"`
}

// fact is one measured value.
type fact struct {
	Value   json.RawMessage
	Unit    string
	Witness string
	AgeMS   int64 `json:"age_ms"`
	Fresh   bool
}

// sighting is one object in a fact that holds several.
type sighting struct {
	Name     string
	CentreCm [3]json.Number `json:"centre_cm"`
	BottomCm json.Number    `json:"bottom_cm"`
}

// hear reads a request: the first thing a person said, and every answer since.
func hear(req llm.Request) *talk {
	t := &talk{tools: req.Tools}
	for _, m := range req.Messages {
		switch m.Role {
		case llm.User:
			if t.words == "" {
				t.words = m.Content
			}
		case llm.ToolRole:
			a := answer{}
			if err := json.Unmarshal([]byte(m.Content), &a); err != nil {
				a = answer{Verdict: "error", Says: "the answer could not be read"}
			}
			a.tool = m.ToolName
			t.answers = append(t.answers, a)
		case llm.System, llm.Assistant:
		}
	}
	return t
}

// offers reports whether the tool may be called now.
func (t *talk) offers(tool string) bool {
	for _, o := range t.tools {
		if o.Name == tool {
			return true
		}
	}
	return false
}

// target returns the name of the tool's first required argument; otherwise where its schema names none.
func (t *talk) target(tool, otherwise string) string {
	for _, o := range t.tools {
		var schema struct{ Required []string }
		if o.Name == tool && json.Unmarshal(o.ParametersJSON, &schema) == nil && len(schema.Required) > 0 {
			return schema.Required[0]
		}
	}
	return otherwise
}

// ask returns the answer to a call, or that it is still to be made. A tool that is not offered has an answer of ours.
func (t *talk) ask(tool string) (a *answer, pending bool) {
	if t.used < len(t.answers) {
		t.used++
		if a := &t.answers[t.used-1]; a.tool == tool {
			return a, false
		}
		return &answer{Verdict: "error", Says: "the answers do not belong to the calls"}, false
	}
	if !t.offers(tool) {
		return &answer{Verdict: "error", Says: "this robot does not offer " + tool + " now"}, false
	}
	return nil, true
}

// good reports whether the call did what it should, as it was measured.
func (a *answer) good() bool {
	return a.Verdict == "ok" && (a.Mission == "succeeded" || a.Mission == "" && a.Facts != nil)
}

// why says why it did not.
func (a *answer) why() string {
	switch {
	case len(a.Rejections) > 0 && a.Rejections[0].Says != "":
		return "refused: " + a.Rejections[0].Says
	case len(a.Rejections) > 0:
		return "refused: " + a.Rejections[0].Code
	case a.Failure != nil && a.Failure.Expected != "":
		return strings.TrimSpace(fmt.Sprintf("%s: expected %s, measured %s %s", a.Mission, a.Failure.Expected, a.Failure.Observed, a.Failure.Unit))
	case a.Mission != "" && a.Reason != "":
		return a.Mission + " (" + a.Reason + ")"
	case a.Mission != "":
		return "it ended " + a.Mission
	case a.Says != "":
		return a.Says
	}
	return "nothing came back"
}

// measured is what is known after a call.
func (a *answer) measured() map[string]fact {
	if a.Measured != nil {
		return a.Measured
	}
	return a.Facts
}

// value says what a fact was measured to be, by whom and how long ago; "" if it is not there or not fresh.
func (a *answer) value(name, as string) string {
	f, ok := a.measured()[name]
	if !ok || !f.Fresh {
		return ""
	}
	return fmt.Sprintf("%s %s %s (%s, %d ms ago)", as, f.Value, f.Unit, f.Witness, f.AgeMS)
}

// sightings returns the objects seen in fresh readings, with the words about their source.
func (a *answer) sightings() (seen []sighting, source string) {
	for _, f := range a.measured() {
		var list []sighting
		if f.Fresh && json.Unmarshal(f.Value, &list) == nil && len(list) > 0 {
			seen, source = append(seen, list...), fmt.Sprintf("(%s, %d ms ago)", f.Witness, f.AgeMS)
		}
	}
	return seen, source
}

// where says where an object, or the first there is, was seen; "" if it was not.
func (a *answer) where(name string) string {
	seen, source := a.sightings()
	for _, s := range seen {
		if name == "" || strings.EqualFold(s.Name, name) {
			return fmt.Sprintf("%s at (%s, %s) cm, its bottom %s cm above the table %s", s.Name, s.CentreCm[0], s.CentreCm[1], s.BottomCm, source)
		}
	}
	return ""
}

// raised reports whether the object was seen clear of the table by more than the given centimetres.
func (a *answer) raised(name string, cm int64) bool {
	seen, _ := a.sightings()
	for _, s := range seen {
		v, ok := new(big.Rat).SetString(s.BottomCm.String())
		if strings.EqualFold(s.Name, name) && ok && v.Cmp(big.NewRat(cm, 1)) > 0 {
			return true
		}
	}
	return false
}

// tip returns where the tip was measured, in centimetres.
func (a *answer) tip() (p [3]*big.Rat, ok bool) {
	f, known := a.measured()["tip"]
	var v [3]json.Number
	if !known || !f.Fresh || f.Unit != "cm" || json.Unmarshal(f.Value, &v) != nil {
		return p, false
	}
	for i := range v {
		if p[i], ok = new(big.Rat).SetString(v[i].String()); !ok || len(v[i]) > 2*maxDigits {
			return p, false
		}
	}
	return p, true
}
