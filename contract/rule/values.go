package rule

import (
	"fmt"
	"math"
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"interlock/units"
	"interlock/world"
)

var (
	pointType = cel.OpaqueType("point")
	posesType = cel.OpaqueType("poses")
)

// number makes a CEL value of a number and its standard error. What is not finite is an evaluation error.
func number(v, sigma float64) ref.Val {
	switch {
	case !units.Finite(v, sigma):
		return types.NewErr("a value is not finite")
	case sigma == 0:
		return types.Double(v)
	}
	return noisy{v, math.Abs(sigma)}
}

// noisy is a number with a standard error. To the checker it is a double; its order against another number is known
// only when they are at least 2σ apart.
type noisy struct{ value, sigma float64 }

// Equal is false when certainly apart, otherwise unknown.
func (n noisy) Equal(other ref.Val) ref.Val { return equal(n, other) }

// ConvertToNative implements ref.Val for floats.
func (n noisy) ConvertToNative(t reflect.Type) (any, error) {
	return types.Double(n.value).ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (n noisy) ConvertToType(t ref.Type) ref.Val { return types.Double(n.value).ConvertToType(t) }

// Type implements ref.Val: a double whose last digits are uncertain.
func (n noisy) Type() ref.Type { return types.DoubleType }

// Value implements ref.Val.
func (n noisy) Value() any { return n.value }

// parts returns the number and standard error of a CEL number.
func parts(v ref.Val) (value, sigma float64, ok bool) {
	switch x := v.(type) {
	case types.Double:
		return float64(x), 0, true
	case noisy:
		return x.value, x.sigma, true
	}
	return 0, 0, false
}

// compare orders two numbers. It does not know the order of numbers less than 2σ apart; standard errors add up, which
// holds however they depend on each other.
func compare(a, b ref.Val) (order int, known bool) {
	av, as, aok := parts(a)
	bv, bs, bok := parts(b)
	diff, margin := av-bv, 2*(as+bs)
	switch {
	case !aok || !bok || math.IsNaN(diff):
		return 0, false
	case margin > 0 && math.Abs(diff) < margin:
		return 0, false
	case diff < 0:
		return -1, true
	case diff > 0:
		return 1, true
	}
	return 0, true
}

// equal compares two numbers, flags or texts.
func equal(a, b ref.Val) ref.Val {
	if _, _, ok := parts(a); !ok {
		return a.Equal(b)
	}
	order, known := compare(a, b)
	if !known {
		return tooClose
	}
	return types.Bool(order == 0)
}

// tooClose is the unknown of a comparison within 2σ.
var tooClose = types.NewUnknown(0, types.NewAttributeTrail("within 2 sigma"))

// opaque is what points and poses share: values that only functions look into.
type opaque struct{}

// ConvertToNative refuses: nothing outside needs it.
func (opaque) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("a point or pose has no native form %v", t)
}

// ConvertToType refuses.
func (opaque) ConvertToType(ref.Type) ref.Val { return types.NewErr("no conversion") }

// Equal refuses: two measured positions are compared by their distance.
func (opaque) Equal(ref.Val) ref.Val { return types.NewErr("positions are compared by their distance") }

// Value implements ref.Val.
func (opaque) Value() any { return nil }

// point is a position in metres with a standard error in millimetres.
type point struct {
	opaque
	at      units.Vec3
	sigmaMM float64
}

// Type implements ref.Val.
func (point) Type() ref.Type { return pointType }

// poses are labelled objects with one standard error for all positions, in millimetres.
type poses struct {
	opaque
	objects []world.Object
	sigmaMM float64
}

// Type implements ref.Val.
func (poses) Type() ref.Type { return posesType }

// toCEL makes a CEL value of a measured or given one.
func toCEL(v world.Value, sigma float64) ref.Val {
	switch v.Kind {
	case world.KindNumber:
		return number(v.Number, sigma)
	case world.KindText:
		return types.String(v.Text)
	case world.KindFlag:
		return types.Bool(v.Flag)
	case world.KindPoint:
		return point{at: v.Point, sigmaMM: sigma}
	case world.KindPoses:
		return poses{objects: v.Objects, sigmaMM: sigma}
	}
	return types.NewErr("a value of no kind")
}
