package rule

import (
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"interlock/world"
)

// term is a part of a condition that can be the cause of its outcome.
type term struct {
	id      int64
	op      string // operators.LogicalAnd, LogicalOr, LogicalNot, "comparison" or ""
	kids    []*term
	is      Comparison // text, op, unit, fact, and the limit where it is written out
	sides   [2]int64   // of a comparison: the measured side, the limit
	program cel.Program
	values  [2]cel.Program
	reads   map[string]bool // names in the comparison

	isDistance bool // the measured side is a distance, so that its limit is a tolerance
}

const comparisonOp = "comparison"

// signs are the comparison operators as written, and mirrored for a limit on the left.
var signs = map[string][2]string{
	operators.Less: {"<", ">"}, operators.LessEquals: {"<=", ">="}, operators.Greater: {">", "<"}, operators.GreaterEquals: {">=", "<="},
	operators.Equals: {"==", "=="}, operators.NotEquals: {"!=", "!="},
}

// opposite is what a negated comparison demands.
var opposite = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

// outline returns the expanded condition as terms.
func (l *Language) outline(p *parsed) *term { return l.term(p.root, p.ast.NativeRep().SourceInfo()) }

func (l *Language) term(e ast.Expr, info *ast.SourceInfo) *term {
	t := &term{id: e.ID(), is: Comparison{Text: write(e, info), Op: "is", Limit: "true", Fact: l.firstFact(e)}}
	if e.Kind() != ast.CallKind || e.AsCall().IsMemberFunction() {
		return t
	}
	name, args := e.AsCall().FunctionName(), e.AsCall().Args()
	switch name {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		t.op = name
		for _, a := range args {
			t.kids = append(t.kids, l.term(a, info))
		}
		return t
	}
	sign, ok := signs[name]
	if !ok || len(args) != 2 {
		return t
	}
	measured, limit := args[0], args[1]
	t.is.Op = sign[0]
	if bare(measured) && !bare(limit) {
		measured, limit, t.is.Op = limit, measured, sign[1]
	}
	t.op, t.sides = comparisonOp, [2]int64{measured.ID(), limit.ID()}
	t.is.Limit, t.reads = "", map[string]bool{}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			t.reads[e.AsIdent()] = true
		}
	}))
	if t.is.Unit = unitIn(measured); t.is.Unit == "" {
		t.is.Unit = unitIn(limit)
	}
	if limit.Kind() == ast.LiteralKind {
		t.is.Limit = celJSON(limit.AsLiteral())
	}
	t.is.Fact, t.isDistance = l.firstFact(measured), l.distance(measured)
	if t.is.Fact == "" {
		t.is.Fact = l.firstFact(limit)
	}
	return t
}

// write returns the text of an expression.
func write(e ast.Expr, info *ast.SourceInfo) string {
	s, err := cel.ExprToString(e, info)
	if err != nil {
		return "the condition"
	}
	return s
}

// bare reports whether an expression is made of literals only.
func bare(e ast.Expr) bool {
	named := false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) { named = named || e.Kind() == ast.IdentKind }))
	return !named
}

// unitIn returns the unit of a checked numeric expression; "" for a bare literal.
func unitIn(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return UnitOf(e.AsIdent())
	case ast.SelectKind:
		return UnitOf(e.AsSelect().FieldName())
	case ast.CallKind:
		if u := UnitOf(e.AsCall().FunctionName()); u != "" {
			return u
		}
		for _, a := range e.AsCall().Args() {
			if u := unitIn(a); u != "" {
				return u
			}
		}
	case ast.UnspecifiedExprKind, ast.ComprehensionKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.StructKind:
	}
	return ""
}

// firstFact returns the first fact an expression reads.
func (l *Language) firstFact(e ast.Expr) string {
	fact := ""
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if fact == "" && e.Kind() == ast.IdentKind && e.AsIdent() != "args" {
			fact = e.AsIdent()
		}
	}))
	return fact
}

// distance reports whether an expression is a distance, or reckoned from one.
func (l *Language) distance(e ast.Expr) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.CallKind {
			s := l.signatures[e.AsCall().FunctionName()]
			found = found || s != nil && s.tolerance
		}
	}))
	return found
}

// plan plans the term, its kids and the sides of its comparison.
func (t *term) plan(program func(id int64) (cel.Program, error)) (err error) {
	if t.program, err = program(t.id); err != nil {
		return err
	}
	if t.op == comparisonOp {
		for i, id := range t.sides {
			if t.values[i], err = program(id); err != nil {
				return err
			}
		}
	}
	for _, k := range t.kids {
		if err = k.plan(program); err != nil {
			return err
		}
	}
	return nil
}

// cause returns the comparison that made the term what it is: of an && chain the first that is as the whole (and so not
// true), of an || the first that is as the whole.
func (t *term) cause(a *activation, found world.Truth) Comparison {
	switch t.op {
	case operators.LogicalAnd, operators.LogicalOr:
		for _, k := range t.kids {
			if v, _ := truth(k.program, a); v == found {
				return k.cause(a, v)
			}
		}
	case operators.LogicalNot:
		c := t.kids[0].cause(a, found.Not())
		if o, ok := opposite[c.Op]; ok && t.kids[0].op == comparisonOp {
			c.Op = o
		} else {
			c.Limit = ""
		}
		c.Text = t.is.Text
		return c
	}
	return t.measure(a, found)
}

// measure fills in what was got.
func (t *term) measure(a *activation, found world.Truth) Comparison {
	c := t.is
	if t.op != comparisonOp {
		if found != world.Unknown {
			c.Got = found.String()
		}
		return c
	}
	if v, _, err := t.values[0].Eval(a); err == nil {
		c.Got = celJSON(v)
	}
	if v, _, err := t.values[1].Eval(a); err == nil {
		c.Limit = celJSON(v)
	}
	return c
}

// Comparisons returns every comparison of the condition with what both sides are now, whatever the outcome.
func (c *Condition) Comparisons(in Inputs) []Comparison {
	a := &activation{vocabulary: c.vocabulary, in: in}
	var list []Comparison
	c.root.each(func(t *term) {
		if t.op == comparisonOp {
			list = append(list, t.measure(a, world.Unknown))
		}
	})
	return list
}

// Tolerances returns the comparisons that bound a distance from above by a written number.
func (c *Condition) Tolerances() (list []Comparison) {
	c.root.each(func(t *term) {
		if t.isDistance && t.is.Limit != "" && (t.is.Op == "<" || t.is.Op == "<=") {
			list = append(list, t.is)
		}
	})
	return list
}

func (t *term) each(do func(*term)) {
	do(t)
	for _, k := range t.kids {
		k.each(do)
	}
}

// survey notes which facts the expanded condition reads, what they are held against, and whether it needs kinematics.
func (c *Condition) survey(root ast.Expr, s *Scope) {
	c.FactNames = nil
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			if _, ok := c.vocabulary.Fact(e.AsIdent()); ok && !slices.Contains(c.FactNames, e.AsIdent()) {
				c.FactNames = append(c.FactNames, e.AsIdent())
			}
		case ast.CallKind:
			sig := s.signatures[e.AsCall().FunctionName()]
			c.NeedsKinematics = c.NeedsKinematics || sig != nil && sig.kinematics
			c.labels(e.AsCall(), sig)
		case ast.UnspecifiedExprKind, ast.ComprehensionKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.SelectKind, ast.StructKind:
		}
	}))
	slices.Sort(c.FactNames)
	c.bounds = make([]bound, len(c.FactNames))
	for i, name := range c.FactNames {
		c.bounds[i] = c.boundOf(name, root)
	}
}

// labels notes the objects a function call names.
func (c *Condition) labels(call ast.CallExpr, sig *signature) {
	if sig == nil {
		return
	}
	for i, p := range sig.params {
		if p.Sort != SortObject || i >= len(call.Args()) || call.Args()[i].Kind() != ast.LiteralKind {
			continue
		}
		if l, ok := call.Args()[i].AsLiteral().(types.String); ok && !slices.Contains(c.objects, c.vocabulary.Label(string(l))) {
			c.objects = append(c.objects, c.vocabulary.Label(string(l)))
		}
	}
}

// boundOf returns the threshold of a fact: the limit where the fact itself is compared, else the comparison as text.
func (c *Condition) boundOf(name string, root ast.Expr) bound {
	d, _ := c.vocabulary.Fact(name)
	b := bound{unit: factUnit(d)}
	facts := map[int64]string{}
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			facts[e.ID()] = e.AsIdent()
		}
	}))
	c.root.each(func(t *term) {
		switch {
		case b.threshold != "" || t.op != comparisonOp:
		case facts[t.sides[0]] == name && t.is.Limit != "":
			b.threshold = t.is.Limit
		case t.reads[name]:
			b.threshold = Quote(t.is.Text)
		}
	})
	return b
}
