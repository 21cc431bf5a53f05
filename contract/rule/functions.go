package rule

import (
	"math"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"interlock/units"
	"interlock/world"
)

// Names that no file can spell: what == and != become, so that equality of noisy numbers is ours on both sides.
const (
	equalName     = "@equal"
	differentName = "@different"
)

// operatorOptions declares the operators. Arithmetic and order are our own, since numbers may carry an error; logic,
// `in` and the tests on text are CEL's. Nothing here loops, so a condition costs what its length says.
func operatorOptions() []cel.EnvOption {
	logic := env.NewLibrarySubset().SetDisableMacros(true)
	for _, name := range []string{operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.In,
		"startsWith", "endsWith", "contains"} {
		logic.AddIncludedFunctions(env.NewFunction(name))
	}
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(logic)),
		cel.ParserExpressionSizeLimit(conditionBytesMax), cel.ParserRecursionLimit(conditionDepthMax),
	}
	for name, holds := range map[string]func(order int) bool{
		operators.Less:          func(o int) bool { return o < 0 },
		operators.LessEquals:    func(o int) bool { return o <= 0 },
		operators.Greater:       func(o int) bool { return o > 0 },
		operators.GreaterEquals: func(o int) bool { return o >= 0 },
	} {
		options = append(options, binary(name, cel.BoolType, func(a, b ref.Val) ref.Val {
			order, known := compare(a, b)
			if !known {
				return tooClose
			}
			return types.Bool(holds(order))
		}))
	}
	options = append(options,
		binary(operators.Add, cel.DoubleType, arithmetic(func(a, as, b, bs float64) (float64, float64) { return a + b, as + bs })),
		binary(operators.Subtract, cel.DoubleType, arithmetic(func(a, as, b, bs float64) (float64, float64) { return a - b, as + bs })),
		binary(operators.Multiply, cel.DoubleType, arithmetic(func(a, as, b, bs float64) (float64, float64) {
			return a * b, math.Abs(b)*as + math.Abs(a)*bs
		})),
		binary(operators.Divide, cel.DoubleType, arithmetic(func(a, as, b, _ float64) (float64, float64) { return a / b, as / math.Abs(b) })),
		cel.Function(operators.Negate, cel.Overload("negate", []*cel.Type{cel.DoubleType}, cel.DoubleType, cel.UnaryBinding(func(v ref.Val) ref.Val {
			x, sigma, _ := parts(v)
			return number(-x, sigma)
		}))))
	for name, same := range map[string]bool{equalName: true, differentName: false} {
		var overloads []cel.FunctionOpt
		for _, t := range []*cel.Type{cel.DoubleType, cel.StringType, cel.BoolType} {
			overloads = append(overloads, cel.Overload(name+"_"+t.String(), []*cel.Type{t, t}, cel.BoolType, cel.BinaryBinding(func(a, b ref.Val) ref.Val {
				if v, ok := equal(a, b).(types.Bool); ok {
					return types.Bool(bool(v) == same)
				}
				return tooClose
			})))
		}
		options = append(options, cel.Function(name, overloads...))
	}
	return options
}

// binary declares an operator on two numbers.
func binary(name string, result *cel.Type, do func(a, b ref.Val) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.Overload("number"+name, []*cel.Type{cel.DoubleType, cel.DoubleType}, result, cel.BinaryBinding(do)))
}

// arithmetic carries standard errors through an operation.
func arithmetic(do func(a, aSigma, b, bSigma float64) (v, sigma float64)) func(a, b ref.Val) ref.Val {
	return func(a, b ref.Val) ref.Val {
		av, as, _ := parts(a)
		bv, bs, _ := parts(b)
		return number(do(av, as, bv, bs))
	}
}

// functionOptions declares the functions and binds them, all but those that need kinematics, which an evaluation brings.
func functionOptions(c *Vocabulary) []cel.EnvOption {
	bindings := c.bindings()
	var options []cel.EnvOption
	for _, f := range functions {
		arguments := make([]*cel.Type, len(f.params))
		for i, p := range f.params {
			arguments[i] = p.Sort.cel()
		}
		bind := cel.LateFunctionBinding()
		if do, ok := bindings[f.name]; ok {
			switch len(arguments) {
			case 1:
				bind = cel.UnaryBinding(func(a ref.Val) ref.Val { return do(a) })
			case 2:
				bind = cel.BinaryBinding(func(a, b ref.Val) ref.Val { return do(a, b) })
			default:
				bind = cel.FunctionBinding(do)
			}
		}
		options = append(options, cel.Function(f.name, cel.Overload(f.name, arguments, f.result.cel(), bind)))
	}
	return options
}

// bindings are the functions that need nothing but their arguments and the contract.
func (c *Vocabulary) bindings() map[string]func(...ref.Val) ref.Val {
	axis := func(i int) func(...ref.Val) ref.Val {
		return func(a ...ref.Val) ref.Val {
			p := a[0].(point)
			return number(units.CmFromMetres(p.at[i]), p.sigmaMM/10)
		}
	}
	return map[string]func(...ref.Val) ref.Val{
		"x_cm": axis(0), "y_cm": axis(1), "z_cm": axis(2),
		"point_cm": pointFromCm,
		"distance_mm": func(a ...ref.Val) ref.Val {
			p, q := a[0].(point), a[1].(point)
			return number(units.MmFromMetres(p.at.Distance(q.at)), p.sigmaMM+q.sigmaMM)
		},
		"centre": c.onObject(func(o world.Object, sigmaMM float64, _ ...ref.Val) ref.Val {
			return point{at: o.Pose.Position, sigmaMM: sigmaMM}
		}),
		"bottom_cm": c.onObject(func(o world.Object, sigmaMM float64, _ ...ref.Val) ref.Val {
			return number(units.CmFromMetres(o.BottomM()), sigmaMM/10)
		}),
		"in_region": c.onObject(func(o world.Object, sigmaMM float64, rest ...ref.Val) ref.Val {
			p, ok := c.Place(string(rest[0].(types.String)))
			if !ok {
				return types.NewErr("no place is called %q", rest[0].Value())
			}
			return inside(p, o.Pose.Position, 2*units.MetresFromMm(sigmaMM))
		}),
		"seen": func(a ...ref.Val) ref.Val {
			_, n := c.find(a[0].(poses), string(a[1].(types.String)))
			return types.Bool(n > 0)
		},
	}
}

// pointFromCm makes a position in the contract's frame of three centimetre numbers.
func pointFromCm(a ...ref.Val) ref.Val {
	var p point
	for i := range 3 {
		v, sigma, _ := parts(a[i])
		p.at[i] = units.MetresFromCm(v)
		p.sigmaMM = max(p.sigmaMM, sigma*10)
	}
	return p
}

// find returns the object with the label and how many carry it; aliases count as their label.
func (c *Vocabulary) find(p poses, name string) (found world.Object, n int) {
	name = c.Label(name)
	for _, o := range p.objects {
		if o.Label == name || c.Label(o.Label) == name {
			found = o
			n++
		}
	}
	return found, n
}

// onObject applies do to the one object of the reading that carries the label: none or several is unknown.
func (c *Vocabulary) onObject(do func(o world.Object, sigmaMM float64, rest ...ref.Val) ref.Val) func(...ref.Val) ref.Val {
	return func(a ...ref.Val) ref.Val {
		p := a[0].(poses)
		o, n := c.find(p, string(a[1].(types.String)))
		if n != 1 {
			return unseen
		}
		return do(o, p.sigmaMM, a[2:]...)
	}
}

// unseen is the unknown of a label that the fresh reading does not hold exactly once.
var unseen = types.NewUnknown(0, types.NewAttributeTrail("an object not seen"))

// inside reports whether a position lies in the place, by the margin on every side; unknown in between.
func inside(p PlaceDecl, at units.Vec3, marginM float64) ref.Val {
	depth := math.Inf(1) // how far inside, negative outside
	for i := range 2 {
		depth = min(depth, at[i]-p.MinM[i], p.MaxM[i]-at[i])
	}
	switch {
	case math.IsNaN(depth):
		return types.NewErr("a position is not finite")
	case marginM > 0 && math.Abs(depth) < marginM:
		return tooClose
	}
	return types.Bool(depth >= 0)
}
