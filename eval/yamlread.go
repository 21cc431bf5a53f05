package eval

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"interlock/units"
)

// maxDepth bounds how deep a suite may nest.
const maxDepth = 12

// reader fills a struct from YAML by its `yaml` tags and notes every problem instead of stopping at the first. It
// coerces nothing: a string is no number, an integer with another base is refused, anchors and tags do not exist.
type reader struct {
	file     string
	problems Problems
	places   map[string][2]int // path → line, column
}

// read parses src into out, a pointer to a struct. places says where each path stands in the file.
func read(file string, src []byte, out any) (places map[string][2]int, problems Problems) {
	r := &reader{file: file, places: map[string][2]int{}}
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		return r.places, Problems{syntaxProblem(file, err)}
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return r.places, Problems{{File: file, Line: 1, Column: 1, Code: "not-one-document", Message: "a suite file is exactly one YAML document"}}
	}
	r.value(tree.Docs[0].Body, reflect.ValueOf(out).Elem(), "", 0)
	return r.places, r.problems
}

func syntaxProblem(file string, err error) Problem {
	p := Problem{File: file, Line: 1, Column: 1, Code: "syntax", Message: err.Error()}
	var located yaml.Error
	if errors.As(err, &located) {
		p.Message = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
		if strings.Contains(p.Message, "already defined") {
			p.Code = "duplicate-key"
		}
	}
	return p
}

func (r *reader) fail(n ast.Node, path, code, hint, format string, args ...any) {
	line, column := position(n)
	r.problems = append(r.problems, Problem{
		File: r.file, Line: line, Column: column, Code: code, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

func position(n ast.Node) (line, column int) {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 0, 0
}

// value fills v from n.
func (r *reader) value(n ast.Node, v reflect.Value, path string, depth int) {
	line, column := position(n)
	r.places[path] = [2]int{line, column}
	if depth > maxDepth {
		r.fail(n, path, "too-deep", "", "more than %d levels", maxDepth)
		return
	}
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		r.fail(n, path, "not-plain", "write the value out", "anchors, aliases and tags are not read")
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		r.value(n, fresh.Elem(), path, depth)
		v.Set(fresh)
	case reflect.Struct:
		r.structure(n, v, path, depth)
	case reflect.Slice, reflect.Array:
		r.sequence(n, v, path, depth)
	case reflect.Map:
		r.mapping(n, v, path, depth)
	case reflect.Interface:
		if s, ok := r.anyScalar(n, path); ok {
			v.Set(reflect.ValueOf(s))
		}
	default:
		r.scalar(n, v, path)
	}
}

func (r *reader) structure(n ast.Node, v reflect.Value, path string, depth int) {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		if tag := v.Type().Field(i).Tag.Get("yaml"); tag != "" {
			fields[tag] = v.Field(i)
		}
	}
	for _, pair := range r.pairs(n, path) {
		name := keyOf(pair)
		field, known := fields[name]
		if !known {
			hint := "known keys: " + strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
			if near := nearest(name, slices.Sorted(maps.Keys(fields))); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			r.fail(pair.Key, join(path, name), "unknown-key", hint, "no key %q here", name)
			continue
		}
		r.value(pair.Value, field, join(path, name), depth+1)
	}
}

func (r *reader) mapping(n ast.Node, v reflect.Value, path string, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	for _, pair := range r.pairs(n, path) {
		item := reflect.New(v.Type().Elem()).Elem()
		r.value(pair.Value, item, join(path, keyOf(pair)), depth+1)
		if item.Kind() != reflect.Interface || !item.IsNil() {
			v.SetMapIndex(reflect.ValueOf(keyOf(pair)), item)
		}
	}
}

func (r *reader) pairs(n ast.Node, path string) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	r.fail(n, path, "wrong-type", "", "expected a mapping, got %s", kindOf(n))
	return nil
}

func keyOf(pair *ast.MappingValueNode) string {
	if s, ok := pair.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return pair.Key.String()
}

func (r *reader) sequence(n ast.Node, v reflect.Value, path string, depth int) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fail(n, path, "wrong-type", "", "expected a list, got %s", kindOf(n))
		return
	}
	if v.Kind() == reflect.Array && len(s.Values) != v.Len() {
		r.fail(n, path, "wrong-type", "", "expected %d items, got %d", v.Len(), len(s.Values))
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values)))
	}
	for i, item := range s.Values {
		r.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i), depth+1)
	}
}

// scalar fills a number, text or flag.
func (r *reader) scalar(n ast.Node, v reflect.Value, path string) {
	s, ok := r.anyScalar(n, path)
	if !ok {
		return
	}
	f, isNumber := s.(float64)
	switch v.Kind() {
	case reflect.String:
		if text, isText := s.(string); isText {
			v.SetString(text)
			return
		}
	case reflect.Bool:
		if flag, isFlag := s.(bool); isFlag {
			v.SetBool(flag)
			return
		}
	case reflect.Float64:
		if isNumber {
			v.SetFloat(f)
			return
		}
	case reflect.Int, reflect.Int64:
		if isNumber && f == float64(int64(f)) {
			v.SetInt(int64(f))
			return
		}
	default:
	}
	r.fail(n, path, "wrong-type", "", "expected %s, got %s", wordFor(v.Kind()), kindOf(n))
}

// anyScalar returns a float64, string or bool.
func (r *reader) anyScalar(n ast.Node, path string) (any, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.BoolNode:
		return s.Value, true
	case *ast.FloatNode:
		if !units.Finite(s.Value) {
			r.fail(n, path, "not-finite", "", "a number must be finite")
			return nil, false
		}
		return s.Value, true
	case *ast.IntegerNode:
		return r.integer(s, path)
	case *ast.NanNode, *ast.InfinityNode:
		r.fail(n, path, "not-finite", "", "a number must be finite")
	default:
		r.fail(n, path, "wrong-type", "", "expected a value, got %s", kindOf(n))
	}
	return nil, false
}

func (r *reader) integer(n *ast.IntegerNode, path string) (any, bool) {
	digits := strings.TrimLeft(n.Token.Value, "+-")
	if strings.ContainsAny(digits, "_xXoObB") || (len(digits) > 1 && digits[0] == '0') {
		r.fail(n, path, "not-decimal", "write it in plain decimal", "%q is not a plain decimal integer", n.Token.Value)
		return nil, false
	}
	const exact = 1 << 53
	switch i := n.Value.(type) {
	case int64:
		if -exact <= i && i <= exact {
			return float64(i), true
		}
	case uint64:
		if i <= exact {
			return float64(i), true
		}
	}
	r.fail(n, path, "out-of-range", "", "%s is beyond 2^53", n.Token.Value)
	return nil, false
}

func wordFor(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
	default:
		return "a number"
	}
}

func kindOf(n ast.Node) string { return strings.ToLower(n.Type().String()) }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
