package rule

import (
	"encoding/json"
	"strings"

	"cel.dev/cel-go/common/types/ref"

	"interlock/units"
	"interlock/world"
)

// NumberJSON returns the shortest JSON form of a number; "" for one that has none.
func NumberJSON(x float64) string {
	if !units.Finite(x) {
		return ""
	}
	b, err := json.Marshal(x + 0) // -0 becomes 0
	if err != nil {
		return ""
	}
	return string(b)
}

// Quote returns a text as JSON, with < > & as they are.
func Quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// celJSON returns a CEL value as JSON; "" for what is unknown, an error or a position.
func celJSON(v ref.Val) string {
	if x, _, ok := parts(v); ok {
		return NumberJSON(x)
	}
	switch x := v.Value().(type) {
	case string:
		return Quote(x)
	case bool:
		if x {
			return "true"
		}
		return "false"
	}
	return ""
}

// ValueJSON returns a fact's or argument's value as JSON: numbers in the unit of their name, points as [x, y, z] in
// centimetres, poses as a list of {label, x_cm, y_cm, z_cm, bottom_cm}.
func ValueJSON(v world.Value) string {
	switch v.Kind {
	case world.KindNumber:
		return NumberJSON(v.Number)
	case world.KindText:
		return Quote(v.Text)
	case world.KindFlag:
		if v.Flag {
			return "true"
		}
		return "false"
	case world.KindPoint:
		return "[" + CmJSON(v.Point[0]) + "," + CmJSON(v.Point[1]) + "," + CmJSON(v.Point[2]) + "]"
	case world.KindPoses:
		b := []byte{'['}
		for i, o := range v.Objects {
			if i > 0 {
				b = append(b, ',')
			}
			p := o.Pose.Position
			b = append(b, `{"label":`+Quote(o.Label)+`,"x_cm":`+CmJSON(p[0])+`,"y_cm":`+CmJSON(p[1])+`,"z_cm":`+CmJSON(p[2])+`,"bottom_cm":`+CmJSON(o.BottomM())+"}"...)
		}
		return string(append(b, ']'))
	}
	return "null"
}

// CmJSON returns metres as centimetres with the digits a measurement can have: 1 µm.
func CmJSON(metres float64) string {
	return NumberJSON(RoundTo(units.CmFromMetres(metres), 1e4))
}
