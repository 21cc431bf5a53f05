package rule

import (
	"maps"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// typed is what typing finds out about an expression. Sort none means that a problem was already reported.
type typed struct {
	sort    Sort
	unit    string // of a number; "" for a bare literal
	frame   string // of points and poses; "" where none is known
	literal bool   // a number or text written out, or made of such
	label   string // a text literal's value
}

// typing checks an expression as written, before predicates are expanded: names, sorts, units and frames, each problem
// at its own place.
type typing struct {
	*Scope
	c       *Vocabulary
	formals []Param // of the predicate whose body this is
	inFile  bool    // a label outside the vocabulary is refused in a file, not in a goal
	problem func(e ast.Expr, code, hint, format string, args ...any)
	objects []string     // labels named as literals
	calls   []*Predicate // predicates used, in order
}

var failed = typed{}

// of returns what the expression is.
func (t *typing) of(e ast.Expr) typed {
	switch e.Kind() {
	case ast.LiteralKind:
		return t.literal(e)
	case ast.IdentKind:
		return t.name(e, e.AsIdent())
	case ast.SelectKind:
		if s := e.AsSelect(); s.Operand().Kind() == ast.IdentKind && s.Operand().AsIdent() == "args" && !s.IsTestOnly() {
			return t.argument(e, s.FieldName())
		}
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			if v := t.of(item); v.sort != SortText && v.sort != SortNone {
				t.problem(item, "wrong-type", "", "a list holds texts, not %s", v.sort)
				return failed
			}
		}
		return typed{sort: SortTexts}
	case ast.CallKind:
		return t.call(e, e.AsCall())
	case ast.UnspecifiedExprKind, ast.ComprehensionKind, ast.MapKind, ast.StructKind:
	}
	t.problem(e, "bad-expression", "conditions know names, args.NAME, calls, comparisons, && || ! ?: and + - * /", "this expression is not used in conditions")
	return failed
}

func (t *typing) literal(e ast.Expr) typed {
	switch v := e.AsLiteral().(type) {
	case types.Double:
		return typed{sort: SortNumber, literal: true}
	case types.String:
		return typed{sort: SortText, literal: true, label: string(v)}
	case types.Bool:
		return typed{sort: SortFlag, literal: true}
	}
	t.problem(e, "bad-expression", "", "a literal must be a number, a text, true or false")
	return failed
}

// name resolves an identifier: an argument of the predicate, or a fact.
func (t *typing) name(e ast.Expr, name string) typed {
	for _, p := range t.formals {
		if p.Name == name {
			v := typed{sort: p.Sort, unit: p.Unit}
			if p.Sort == SortPoint {
				v.frame = t.c.Frame
			}
			return v
		}
	}
	if d, ok := t.c.Fact(name); ok {
		v := typed{sort: factSorts[d.Kind], frame: d.Frame}
		if v.sort == SortNumber {
			v.unit = UnitOf(name)
		}
		return v
	}
	known := append([]string{}, t.words...)
	for _, p := range t.formals {
		known = append(known, p.Name)
	}
	hint := Nearest(name, known)
	if _, ok := t.args[name]; ok {
		hint = "did you mean args." + name + "?"
	}
	t.problem(e, "unknown-name", hint, "%q is no fact and no argument here", name)
	return failed
}

func (t *typing) argument(e ast.Expr, name string) typed {
	a, ok := t.args[name]
	if !ok {
		t.problem(e, "unknown-name", Nearest(name, slices.Sorted(maps.Keys(t.args))), "there is no argument %q here", name)
		return failed
	}
	if a.Optional {
		t.problem(e, "optional-argument", "bound it with min and max, or make it required", "a condition cannot rest on %q, which a call may leave out", name)
	}
	return typed{sort: a.Sort, unit: a.Unit}
}

// call types an operator, a function or a predicate.
func (t *typing) call(e ast.Expr, call ast.CallExpr) typed {
	name, args := call.FunctionName(), call.Args()
	if call.IsMemberFunction() {
		return t.textTest(e, call)
	}
	switch name {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		for _, a := range args {
			t.want(a, SortFlag, "a condition joins true and false")
		}
		return typed{sort: SortFlag}
	case operators.Conditional:
		t.want(args[0], SortFlag, "before the ? stands a condition")
		return t.same(e, t.of(args[1]), t.of(args[2]), "both sides of the : must be alike")
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		t.same(e, t.want(args[0], SortNumber, "only numbers have an order"), t.want(args[1], SortNumber, "only numbers have an order"), "")
		return typed{sort: SortFlag}
	case operators.Equals, operators.NotEquals:
		t.equality(e, args)
		return typed{sort: SortFlag}
	case operators.In:
		t.want(args[0], SortText, "in tests a text")
		t.want(args[1], SortTexts, "in is followed by a list of texts")
		return typed{sort: SortFlag}
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Negate:
		return t.arithmetic(e, name, args)
	}
	s, ok := t.signatures[name]
	if !ok {
		t.problem(e, "unknown-name", Nearest(name, t.words), "%q is no function and no predicate", name)
		return failed
	}
	return t.apply(e, s, args)
}

// want returns what the expression is if it is of the sort, and otherwise a problem. An expression is typed once: its
// cost must not grow with how deep it stands.
func (t *typing) want(e ast.Expr, s Sort, why string) typed {
	v := t.of(e)
	if v.sort == s || v.sort == SortNone || s == SortText && (v.sort == SortObject || v.sort == SortPlace) {
		return v
	}
	t.problem(e, "wrong-type", why, "expected %s, found %s", s, v.sort)
	return failed
}

// same demands one sort and one unit of both sides; a bare literal takes the other side's unit.
func (t *typing) same(e ast.Expr, l, r typed, why string) typed {
	switch {
	case l.sort == SortNone || r.sort == SortNone:
		return failed
	case l.sort != r.sort:
		t.problem(e, "wrong-type", why, "%s does not go with %s", l.sort, r.sort)
		return failed
	case l.sort != SortNumber:
		return l
	case l.literal:
		return r
	case !r.literal && l.unit != r.unit:
		t.problem(e, "unit-mismatch", "convert one side with a factor in a name that ends in the right unit", "%s does not go with %s", unitWord(l.unit), unitWord(r.unit))
		return failed
	}
	return l
}

func unitWord(u string) string {
	if u == "" {
		return "a number without unit"
	}
	return "_" + u
}

// equality types == and !=: numbers, flags, texts; an object's label may be compared with a text.
func (t *typing) equality(e ast.Expr, args []ast.Expr) {
	l, r := t.of(args[0]), t.of(args[1])
	if r.sort == SortObject || r.sort == SortPlace {
		l, r = r, l
	}
	switch {
	case l.sort == SortObject && r.literal && r.sort == SortText:
		t.named(e, r.label, SortObject)
	case l.sort == SortPlace && r.literal && r.sort == SortText:
		t.named(e, r.label, SortPlace)
	case l.sort == SortPoint || l.sort == SortPoses || l.sort == SortTexts:
		t.problem(e, "wrong-type", "use distance_mm", "%s cannot be compared with ==", l.sort)
	default:
		t.same(e, l, r, "")
	}
}

// arithmetic types + - * / and the minus sign. A product keeps its unit, so one factor must be a literal.
func (t *typing) arithmetic(e ast.Expr, op string, args []ast.Expr) typed {
	values := make([]typed, len(args))
	for i, a := range args {
		values[i] = t.want(a, SortNumber, "only numbers can be reckoned with")
	}
	if values[0].sort == SortNone || values[len(values)-1].sort == SortNone {
		return failed
	}
	switch op {
	case operators.Negate:
		return values[0]
	case operators.Add, operators.Subtract:
		return t.same(e, values[0], values[1], "")
	}
	l, r := values[0], values[1]
	switch {
	case op == operators.Divide && !r.literal, op == operators.Multiply && !l.literal && !r.literal:
		t.problem(e, "unit-mismatch", "one factor, and every divisor, must be a written number", "the result would have no unit a name can end in")
		return failed
	case op == operators.Divide && args[1].Kind() == ast.LiteralKind && args[1].AsLiteral() == types.Double(0):
		t.problem(e, "not-finite", "", "division by zero")
		return failed
	case l.literal:
		return r
	}
	return l
}

// apply types a call of a function or predicate against its signature.
func (t *typing) apply(e ast.Expr, s *signature, args []ast.Expr) typed {
	if s.predicate != nil {
		t.calls = append(t.calls, s.predicate)
	}
	if len(args) != len(s.params) {
		t.problem(e, "wrong-type", "", "%s takes %d arguments, found %d", s.name, len(s.params), len(args))
		return failed
	}
	frames := map[string]bool{}
	for i, p := range s.params {
		v := t.of(args[i])
		t.fits(args[i], s, p, v)
		if v.frame != "" {
			frames[v.frame] = true
		}
	}
	t.frames(e, s, frames)
	out := typed{sort: s.result, unit: s.unit()}
	if s.result == SortPoint {
		out.frame = t.c.Frame
		for f := range frames {
			out.frame = f
		}
	}
	return out
}

// frames demands one frame of all positions of a call, and the contract's where the table or the arm is meant.
func (t *typing) frames(e ast.Expr, s *signature, frames map[string]bool) {
	if len(frames) > 1 {
		t.problem(e, "frame-mismatch", "", "%s needs positions of one frame", s.name)
		return
	}
	base := s.kinematics || s.predicate != nil || s.name == "bottom_cm" || s.name == "in_region"
	for f := range frames {
		if base && f != t.c.Frame {
			t.problem(e, "frame-mismatch", "", "%s needs a position in the frame %q, found %q", s.name, t.c.Frame, f)
		}
	}
}

// fits checks one argument against its parameter.
func (t *typing) fits(e ast.Expr, s *signature, p Param, v typed) {
	switch {
	case v.sort == SortNone:
	case (p.Sort == SortObject || p.Sort == SortPlace) && v.sort == SortText && v.literal:
		t.named(e, v.label, p.Sort)
	case v.sort != p.Sort:
		t.problem(e, "wrong-type", "", "%s of %s must be %s, found %s", p.Name, s.name, p.Sort, v.sort)
	case v.sort == SortNumber && !v.literal && v.unit != p.Unit:
		t.problem(e, "unit-mismatch", "", "%s of %s does not take %s", p.Name, s.name, unitWord(v.unit))
	}
}

// named checks a literal that names an object or a place.
func (t *typing) named(e ast.Expr, name string, s Sort) {
	if s == SortPlace {
		if _, ok := t.c.Place(name); !ok {
			var known []string
			for _, p := range t.c.Places {
				known = append(known, p.Name)
			}
			t.problem(e, "unknown-name", Nearest(name, known), "no place is called %q", name)
		}
		return
	}
	if _, ok := t.c.Object(name); !ok && (t.inFile || t.c.VocabularyClosed) {
		var known []string
		for _, o := range t.c.Objects {
			known = append(append(known, o.Label), o.Aliases...)
		}
		t.problem(e, "unknown-name", Nearest(name, known), "no object is called %q", name)
		return
	}
	if l := t.c.Label(name); !slices.Contains(t.objects, l) {
		t.objects = append(t.objects, l)
	}
}

// textTest types startsWith, endsWith and contains on a text.
func (t *typing) textTest(e ast.Expr, call ast.CallExpr) typed {
	known := []string{"startsWith", "endsWith", "contains"}
	if !slices.Contains(known, call.FunctionName()) || len(call.Args()) != 1 {
		t.problem(e, "unknown-name", Nearest(call.FunctionName(), known), "%q is no test of a text", call.FunctionName())
		return failed
	}
	t.want(call.Target(), SortText, "")
	t.want(call.Args()[0], SortText, "")
	return typed{sort: SortFlag}
}
