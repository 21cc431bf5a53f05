package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// Limits of one condition; predicates could otherwise grow it without end.
const (
	conditionBytesMax = 4096
	conditionDepthMax = 64
	conditionNodesMax = 2000
)

var (
	errNotABool = errors.New("the condition is neither true nor false")
	errTooLarge = fmt.Errorf("with its predicates written out the condition has more than %d parts", conditionNodesMax)
)

// Complaint is a problem inside a condition's text: line from 1, column from 0. Code is one of contract.Problem's.
type Complaint struct {
	Line, Column        int
	Code, Message, Hint string
}

// parsed is a condition's syntax tree with every number a double.
type parsed struct {
	ast  *cel.Ast
	root ast.Expr
}

// place returns where in the text the expression starts.
func (p *parsed) place(e ast.Expr) (line, column int) {
	back := 0 // CEL places a call at its parenthesis and a selection at its dot
	switch {
	case e.Kind() == ast.SelectKind:
		e = e.AsSelect().Operand()
	case e.Kind() == ast.CallKind && !e.AsCall().IsMemberFunction() && Identifier.MatchString(e.AsCall().FunctionName()):
		back = len(e.AsCall().FunctionName())
	}
	at := p.ast.NativeRep().SourceInfo().GetStartLocation(e.ID())
	return max(1, at.Line()), max(0, at.Column()-back)
}

// parse reads a condition's text.
func (l *Language) parse(text string) (*parsed, []Complaint) {
	if len(text) > conditionBytesMax {
		return nil, []Complaint{{1, 0, "too-large", fmt.Sprintf("a condition has at most %d characters", conditionBytesMax), ""}}
	}
	tree, issues := l.env.Parse(text)
	if issues != nil && issues.Err() != nil {
		var list []Complaint
		for _, e := range issues.Errors() {
			list = append(list, Complaint{max(1, e.Location.Line()), max(0, e.Location.Column()), "bad-expression", e.Message, ""})
		}
		return nil, list
	}
	p := &parsed{tree, tree.NativeRep().Expr()}
	return p, p.doubles()
}

// words returns every name and call in a predicate's body.
func (p *Predicate) words() (list []string) {
	if p.body == nil {
		return nil
	}
	ast.PreOrderVisit(p.body.root, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			list = append(list, e.AsIdent())
		case ast.CallKind:
			list = append(list, e.AsCall().FunctionName())
		case ast.UnspecifiedExprKind, ast.ComprehensionKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.SelectKind, ast.StructKind:
		}
	}))
	return list
}

// doubles turns integer literals into doubles: in a contract 2 means 2.0.
func (p *parsed) doubles() (list []Complaint) {
	f := ast.NewExprFactory()
	ast.PostOrderVisit(p.root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.LiteralKind {
			return
		}
		var x float64
		switch v := e.AsLiteral().(type) {
		case types.Int:
			x = float64(v)
		case types.Uint:
			x = float64(v)
		case types.Double:
			x = float64(v)
		default:
			return
		}
		if math.IsInf(x, 0) || math.IsNaN(x) || math.Abs(x) > 1<<53 {
			line, column := p.place(e)
			list = append(list, Complaint{line, column, "not-finite", "the number is too large to be exact", ""})
			return
		}
		e.SetKindCase(f.NewLiteral(e.ID(), types.Double(x)))
	}))
	return list
}

// expansion writes predicates out where they are called. Every node it makes has an id of its own.
type expansion struct {
	*Language
	next    int64
	nodes   int
	factory ast.ExprFactory
	used    []*Predicate
}

// expand replaces the calls of predicates in p by their bodies.
func (l *Language) expand(p *parsed) (used []*Predicate, err error) {
	x := &expansion{Language: l, next: ast.MaxID(p.ast.NativeRep()) + 1, factory: ast.NewExprFactory()}
	out := x.write(p.root, nil)
	if x.nodes > conditionNodesMax {
		return nil, errTooLarge
	}
	p.root.SetKindCase(out)
	return x.used, nil
}

func (x *expansion) id() int64 { x.next++; return x.next }

// write copies e with the formal names replaced.
func (x *expansion) write(e ast.Expr, formals map[string]ast.Expr) ast.Expr {
	if x.nodes++; x.nodes > conditionNodesMax {
		return x.factory.NewLiteral(x.id(), types.True)
	}
	switch e.Kind() {
	case ast.IdentKind:
		if actual, ok := formals[e.AsIdent()]; ok {
			return x.write(actual, nil)
		}
		return x.factory.NewIdent(x.id(), e.AsIdent())
	case ast.LiteralKind:
		return x.factory.NewLiteral(x.id(), e.AsLiteral())
	case ast.SelectKind:
		s := e.AsSelect()
		return x.factory.NewSelect(x.id(), x.write(s.Operand(), nil), s.FieldName())
	case ast.ListKind:
		return x.factory.NewList(x.id(), x.all(e.AsList().Elements(), formals), nil)
	case ast.CallKind:
		return x.writeCall(e.AsCall(), formals)
	case ast.UnspecifiedExprKind, ast.ComprehensionKind, ast.MapKind, ast.StructKind:
	}
	return x.factory.NewUnspecifiedExpr(x.id())
}

func (x *expansion) all(list []ast.Expr, formals map[string]ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(list))
	for i, e := range list {
		out[i] = x.write(e, formals)
	}
	return out
}

func (x *expansion) writeCall(call ast.CallExpr, formals map[string]ast.Expr) ast.Expr {
	args := x.all(call.Args(), formals)
	if call.IsMemberFunction() {
		return x.factory.NewMemberCall(x.id(), call.FunctionName(), x.write(call.Target(), formals), args...)
	}
	s := x.signatures[call.FunctionName()]
	if s == nil || s.predicate == nil || s.predicate.body == nil {
		return x.factory.NewCall(x.id(), call.FunctionName(), args...)
	}
	if !slices.Contains(x.used, s.predicate) {
		x.used = append(x.used, s.predicate)
	}
	actuals := map[string]ast.Expr{}
	for i, p := range s.params {
		actuals[p.Name] = args[i]
	}
	return x.write(s.predicate.body.root, actuals)
}

// Compile types, expands, checks and plans a condition. The complaints are about its text. In a file, a label outside the
// vocabulary is refused; in a goal only where the vocabulary is closed.
func (s *Scope) Compile(c *Condition, inFile bool) []Complaint {
	c.vocabulary = s.vocabulary
	p, complaints := s.parse(c.That)
	if p == nil || len(complaints) > 0 {
		return complaints
	}
	t := s.typing(c.vocabulary, p, nil, inFile, &complaints)
	if v := t.of(p.root); v.sort != SortFlag && v.sort != SortNone {
		t.problem(p.root, "wrong-type", "compare it with something", "a condition is true or false, this is %s", v.sort)
	}
	if len(complaints) > 0 {
		return complaints
	}
	used, err := s.expand(p)
	if err != nil {
		return []Complaint{{1, 0, "too-large", err.Error(), ""}}
	}
	c.objects = t.objects
	c.name = c.ID
	for _, pr := range used {
		if slices.Contains(t.calls, pr) {
			c.name += " [" + pr.Name + "@" + strconv.Itoa(pr.Version) + "]"
		}
	}
	if err := s.plan(c, p); err != nil {
		return []Complaint{{1, 0, "bad-expression", err.Error(), ""}}
	}
	return nil
}

// typing returns a typing of p whose problems become complaints.
func (s *Scope) typing(c *Vocabulary, p *parsed, formals []Param, inFile bool, list *[]Complaint) *typing {
	return &typing{Scope: s, c: c, formals: formals, inFile: inFile, problem: func(e ast.Expr, code, hint, format string, args ...any) {
		line, column := p.place(e)
		one := Complaint{line, column, code, fmt.Sprintf(format, args...), hint}
		if !slices.Contains(*list, one) {
			*list = append(*list, one)
		}
	}}
}

// plan checks the expanded tree with CEL and plans it and its parts.
func (s *Scope) plan(c *Condition, p *parsed) error {
	outline := s.outline(p)
	swapEquality(p.root)
	checked, issues := s.env.Check(p.ast)
	if issues != nil && issues.Err() != nil {
		return issues.Err()
	}
	native := checked.NativeRep()
	nodes := map[int64]ast.Expr{}
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(func(e ast.Expr) { nodes[e.ID()] = e }))
	programs := func(id int64) (cel.Program, error) {
		part := ast.NewCheckedAST(ast.NewAST(nodes[id], native.SourceInfo()), native.TypeMap(), native.ReferenceMap())
		return s.env.PlanProgram(part)
	}
	if err := outline.plan(programs); err != nil {
		return err
	}
	c.root = outline
	c.survey(p.root, s)
	return nil
}

// swapEquality replaces == and != by our own functions.
func swapEquality(root ast.Expr) {
	f := ast.NewExprFactory()
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Equals:
			e.SetKindCase(f.NewCall(e.ID(), equalName, call.Args()...))
		case operators.NotEquals:
			e.SetKindCase(f.NewCall(e.ID(), differentName, call.Args()...))
		}
	}))
}
