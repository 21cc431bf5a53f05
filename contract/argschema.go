package contract

import (
	"encoding/json"
	"strings"

	"interlock/contract/rule"
	"interlock/units"
)

// schema is a JSON Schema of arguments. Field order is the order of the text.
type schema struct {
	Dialect              string     `json:"$schema,omitempty"`
	Type                 string     `json:"type"`
	Properties           properties `json:"properties"`
	Required             []string   `json:"required,omitempty"`
	AdditionalProperties bool       `json:"additionalProperties"`
}

// property is one argument.
type property struct {
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	MinLength   int      `json:"minLength,omitempty"`
}

// properties keep the declared order.
type properties []named

type named struct {
	name string
	property
}

// MarshalJSON writes an object in the declared order.
func (p properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, n := range p {
		if i > 0 {
			out = append(out, ',')
		}
		b, err := json.Marshal(n.property)
		if err != nil {
			return nil, err
		}
		out = append(append(out, rule.Quote(n.name)+":"...), b...)
	}
	return append(out, '}'), nil
}

// SchemaJSON returns the JSON Schema (2020-12) of the flat argument object. Objects are never an enum: one not seen may
// still exist. Bounds are left out where the contract hides them.
func (cap *Capability) SchemaJSON() []byte { return cap.schema(func(ArgDecl) bool { return true }) }

// TargetSchemaJSON returns the schema of what is acted on.
func (cap *Capability) TargetSchemaJSON() []byte {
	return cap.schema(func(a ArgDecl) bool { return a.Target })
}

// ParamsSchemaJSON returns the schema of the constraints, which may only tighten limits.
func (cap *Capability) ParamsSchemaJSON() []byte {
	return cap.schema(func(a ArgDecl) bool { return !a.Target })
}

func (cap *Capability) schema(in func(ArgDecl) bool) []byte {
	s := schema{Dialect: "https://json-schema.org/draft/2020-12/schema", Type: "object", Properties: properties{}}
	for _, a := range cap.Args {
		if !in(a) {
			continue
		}
		s.Properties = append(s.Properties, named{a.Name, cap.property(a)})
		if !a.Optional {
			s.Required = append(s.Required, a.Name)
		}
	}
	b, err := json.Marshal(s)
	if err != nil { // cannot happen: every number was checked to be finite
		return []byte("false")
	}
	return b
}

var jsonTypes = map[ArgType]string{ArgNumber: "number", ArgText: "string", ArgFlag: "boolean", ArgObject: "string", ArgPlace: "string"}

func (cap *Capability) property(a ArgDecl) property {
	p := property{Type: jsonTypes[a.Type], Description: a.Description, Enum: a.Enum}
	if cap.disclose {
		p.Minimum, p.Maximum = a.Min, a.Max
	}
	switch {
	case a.Type == ArgPlace:
		p.Enum = cap.places
	case a.Type == ArgObject:
		p.MinLength = 1
		if p.Description == "" {
			p.Description = "label of an object"
		}
	case a.Type == ArgNumber && p.Description == "":
		p.Description = "in " + a.Unit
	}
	return p
}

// SafetyJSON returns the limits as data: {"tip_speed_mps":1,"joint_speed_dps":240}; {} where the contract hides bounds.
func (cap *Capability) SafetyJSON() []byte {
	var parts []string
	if cap.disclose && cap.Limits.TipSpeedMPS > 0 {
		parts = append(parts, `"tip_speed_mps":`+rule.NumberJSON(cap.Limits.TipSpeedMPS))
	}
	if cap.disclose && cap.Limits.JointSpeedRadS > 0 {
		parts = append(parts, `"joint_speed_dps":`+rule.NumberJSON(rule.RoundTo(units.DegFromRad(cap.Limits.JointSpeedRadS), 1e6)))
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}
