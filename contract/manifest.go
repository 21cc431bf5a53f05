package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"google.golang.org/protobuf/proto"

	"interlock/contract/rule"
	contractv1 "interlock/contract/v1"
)

// Manifest returns what the robot says about itself under an alignment. Capabilities for persons are in it with their
// audience; whoever builds a model's tools leaves them out.
func (c *Contract) Manifest(a Alignment) *contractv1.Manifest {
	m := &contractv1.Manifest{Robot: c.Robot, ContractHash: c.Hash(), Mode: a.Mode, Frame: c.Frame, Cannot: c.Cannot(a)}
	for _, k := range c.Capabilities {
		if why, withdrawn := a.Withdrawn[k.Name]; withdrawn {
			m.Withdrawn = append(m.Withdrawn, &contractv1.Withdrawn{Capability: k.Name, Why: why})
			continue
		}
		m.Capabilities = append(m.Capabilities, &contractv1.Capability{
			Name: k.Name, Description: k.Description,
			TargetSchemaJson: string(k.TargetSchemaJSON()), ParamsSchemaJson: string(k.ParamsSchemaJSON()), ArgsSchemaJson: string(k.SchemaJSON()),
			Interruptible: k.Interruptible, BlocksBase: contains(k.Holds, "base"), Holds: k.Holds, SafetyJson: string(k.SafetyJSON()),
			ReadOnly: k.ReadOnly, Audience: string(k.Audience), Changes: k.Changes, TimeoutMs: k.Timeout.Milliseconds(),
		})
	}
	for _, f := range c.Facts {
		if rule.InMode(f.Modes, a.Mode) {
			m.Facts = append(m.Facts, &contractv1.FactDecl{Name: f.Name, Type: f.Kind.String(), Frame: f.Frame, Witness: f.Witness, MaxAgeMs: f.MaxAge.Milliseconds()})
		}
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil { // cannot happen: every text was checked to be UTF-8
		return m
	}
	sum := sha256.Sum256(b)
	m.ManifestHash = hex.EncodeToString(sum[:])
	return m
}

// Cannot returns, as text for a model, what the robot cannot do, so that it may decline before it tries.
func (c *Contract) Cannot(a Alignment) string {
	var b strings.Builder
	var names []string
	for _, k := range c.Capabilities {
		if _, withdrawn := a.Withdrawn[k.Name]; !withdrawn && k.Audience != AudiencePerson {
			names = append(names, k.Name)
		}
	}
	b.WriteString("This robot can do nothing but: " + strings.Join(names, ", ") + ". What is none of these it cannot do; say so instead of trying.")
	for _, k := range c.Capabilities {
		if _, withdrawn := a.Withdrawn[k.Name]; withdrawn || k.Audience == AudiencePerson {
			continue
		}
		if rules := c.rulesOf(k, a.Mode); rules != "" {
			b.WriteString(" " + k.Name + " is refused unless " + rules + ".")
		}
		for _, w := range k.ChangesWhere {
			b.WriteString(" " + k.Name + " is refused while " + w.Predicate + " may be true of an object that the request does not allow to be changed.")
		}
	}
	var places []string
	for _, p := range c.Places {
		places = append(places, p.Name)
	}
	if len(places) > 0 {
		b.WriteString(" It knows no places but: " + strings.Join(places, ", ") + ".")
	}
	if c.VocabularyClosed {
		var objects []string
		for _, o := range c.Objects {
			objects = append(objects, o.Label)
		}
		b.WriteString(" It knows no objects but: " + strings.Join(objects, ", ") + ".")
	}
	return b.String()
}

// rulesOf returns a capability's preconditions as text; only their names where the contract hides bounds.
func (c *Contract) rulesOf(k *Capability, mode string) string {
	var rules []string
	for _, r := range k.Requires {
		switch {
		case !r.InMode(mode):
		case c.DiscloseBounds:
			rules = append(rules, r.ID+" ("+r.That+")")
		default:
			rules = append(rules, r.ID)
		}
	}
	return strings.Join(rules, " and ")
}
