package contract

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a contract file. Nesting is counted before parsing, since the parser recurses.
const (
	fileBytesMax = 1 << 20
	linesMax     = 10_000 // the parser's time grows with the square of some forms
	depthMax     = 16
	nodesMax     = 20_000
)

// kind is the kind of a node: what the file says, not what a schema would like it to be.
type kind uint8

const (
	kindNull kind = iota
	kindText
	kindNumber
	kindFlag
	kindList
	kindMap
)

func (k kind) String() string {
	return [...]string{"nothing", "text", "a number", "true or false", "a list", "a map"}[k]
}

// node is one value of the file with its position.
type node struct {
	kind         kind
	line, column int // from 1, of the value; a block scalar's text starts one line below
	text         string
	plain        bool // text without quotes
	block        bool // block scalar
	number       float64
	flag         bool
	members      []member
	items        []*node
}

// member is one entry of a map, at the position of its key.
type member struct {
	name         string
	line, column int
	value        *node
}

// get returns the value of a member, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// source turns bytes into a node tree, reporting everything that is not plain, unambiguous YAML.
type source struct {
	*report
	nodes int
}

// parse returns the document's root, or nil when there is none to go on with.
func (s *source) parse(src []byte) (root *node) {
	defer func() {
		if p := recover(); p != nil { // the YAML parser is not ours: its panic is a refusal, never ours
			s.add(1, 1, "malformed", "", "", "the file cannot be read as YAML")
			root = nil
		}
	}()
	switch {
	case len(src) > fileBytesMax:
		s.add(1, 1, "too-large", "", "", "the file has %d bytes, the limit is %d", len(src), fileBytesMax)
		return nil
	case bytes.Count(src, []byte("\n")) > linesMax:
		s.add(1, 1, "too-large", "", "", "the file has more than %d lines", linesMax)
		return nil
	case !utf8.Valid(src) || bytes.ContainsFunc(bytes.ReplaceAll(src, []byte("\r\n"), nil), control):
		s.add(1, 1, "malformed", "", "", "the file is not UTF-8 text, or has control characters in it")
		return nil
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		s.add(1, 1, "malformed", "", "save the file without it", "the file starts with a byte order mark")
		return nil
	}
	if line := tooDeep(src); line > 0 {
		s.add(line, 1, "too-deep", "", "", "nested deeper than %d levels", depthMax)
		return nil
	}
	file, err := parser.Parse(lexer.Tokenize(string(src)), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		s.syntax(err)
		return nil
	}
	return s.document(file)
}

// control reports characters no text has; a lone carriage return among them, since not every reader ends a line there.
func control(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }

// document converts the one document of the file.
func (s *source) document(file *ast.File) *node {
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			p := d.Body.GetToken().Position
			s.add(p.Line, p.Column, "malformed", "", "one contract, one file", "a second document starts here")
			return nil
		}
		body = d.Body
	}
	if body == nil {
		s.add(1, 1, "missing-key", "", "start with `robot:`", "the file is empty")
		return nil
	}
	n := s.convert(body, 1, "")
	if n != nil && n.kind != kindMap {
		s.at(n, "wrong-type", "", "", "the file must be a map of keys, not %s", n.kind)
		return nil
	}
	return n
}

// tooDeep returns the line at which the file nests deeper than allowed, counted on the raw text: open brackets,
// entries started on one line, and distinct indentations. Quoted text may only make it count too much.
func tooDeep(src []byte) int {
	brackets := 0
	var indents []int
	for i, line := range bytes.Split(src, []byte("\n")) {
		body := bytes.TrimLeft(line, " \t")
		if len(body) == 0 || body[0] == '#' {
			continue
		}
		indent, entries := len(line)-len(body), 0
		for len(body) > 1 && strings.IndexByte("-?", body[0]) >= 0 && (body[1] == ' ' || body[1] == '\t') {
			entries++
			body = bytes.TrimLeft(body[1:], " \t")
		}
		for len(indents) > 0 && indents[len(indents)-1] >= indent {
			indents = indents[:len(indents)-1]
		}
		indents = append(indents, indent)
		deepest := brackets
		for _, c := range body {
			switch c {
			case '[', '{':
				brackets++
				deepest = max(deepest, brackets)
			case ']', '}':
				brackets = max(0, brackets-1)
			}
		}
		if deepest > depthMax || entries > depthMax || len(indents) > 2*depthMax {
			return i + 1
		}
	}
	return 0
}

// syntax reports the parser's error at its token.
func (s *source) syntax(err error) {
	line, column, message := 1, 1, "the file is not valid YAML"
	var e yaml.Error
	if errors.As(err, &e) {
		message = e.GetMessage()
		if tk := e.GetToken(); tk != nil && tk.Position != nil {
			line, column = max(1, tk.Position.Line), max(1, tk.Position.Column)
		}
	}
	s.add(line, column, "malformed", "", "", "%s", message)
}

// convert turns an AST node into ours. It returns nil for what it reported as unusable.
func (s *source) convert(n ast.Node, depth int, path string) *node {
	position := n.GetToken().Position
	out := &node{line: max(1, position.Line), column: max(1, position.Column)}
	if s.nodes++; s.nodes > nodesMax || depth > depthMax {
		if s.nodes <= nodesMax+1 {
			s.at(out, "too-deep", path, "", "nested deeper than %d levels, or more than %d values", depthMax, nodesMax)
		}
		return nil
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		return s.mapping(out, v.Values, depth, path)
	case *ast.MappingValueNode:
		return s.mapping(out, []*ast.MappingValueNode{v}, depth, path)
	case *ast.SequenceNode:
		out.kind = kindList
		for i, item := range v.Values {
			if c := s.convert(item, depth+1, indexedPath(path, i)); c != nil {
				out.items = append(out.items, c)
			}
		}
		return out
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		s.at(out, "anchor", path, "write the value out", "anchors, aliases and merge keys are refused: a reader must see each value where it applies")
		return nil
	}
	return s.scalar(out, n, path)
}

// mapping converts a map, refusing keys that are not plain text or come twice.
func (s *source) mapping(out *node, values []*ast.MappingValueNode, depth int, path string) *node {
	out.kind = kindMap
	seen := map[string]bool{}
	for i, v := range values {
		position := v.Key.GetToken().Position
		line, column := max(1, position.Line), max(1, position.Column)
		if i == 0 {
			out.line, out.column = line, column
		}
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			code, hint := "wrong-type", "put the key in quotes if it is meant as text"
			if _, merge := v.Key.(*ast.MergeKeyNode); merge {
				code, hint = "anchor", "write the keys out"
			}
			s.add(line, column, code, path, hint, "a key must be text")
			continue
		}
		if seen[key.Value] {
			s.add(line, column, "duplicate-key", join(path, key.Value), "", "the key %q comes twice", key.Value)
			continue
		}
		seen[key.Value] = true
		value := s.convert(v.Value, depth+1, join(path, key.Value))
		if value == nil {
			value = &node{kind: kindNull, line: line, column: column}
		}
		if value.kind == kindNull {
			value.line, value.column = line, column
		}
		out.members = append(out.members, member{key.Value, line, column, value})
	}
	return out
}

var (
	decimal  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	oldFlags = regexp.MustCompile(`^(?i:y|n|yes|no|on|off)$`)
)

// scalar converts a value without members. Numbers are decimal; the words YAML 1.1 read as true and false are refused
// unless quoted.
func (s *source) scalar(out *node, n ast.Node, path string) *node {
	switch v := n.(type) {
	case *ast.NullNode:
		out.kind = kindNull
		return out
	case *ast.BoolNode:
		out.kind, out.flag = kindFlag, v.Value
		return out
	case *ast.IntegerNode, *ast.FloatNode:
		return s.decimal(out, n.GetToken().Value, path)
	case *ast.InfinityNode, *ast.NanNode:
		s.at(out, "not-finite", path, "", "a number must be finite")
		return nil
	case *ast.LiteralNode:
		out.kind, out.text, out.block = kindText, strings.TrimRight(v.Value.Value, "\n"), true
		return out
	case *ast.StringNode:
		out.kind, out.text = kindText, v.Value
		out.plain = v.Token.Type == token.StringType
		switch {
		case out.plain && oldFlags.MatchString(v.Value):
			s.at(out, "ambiguous", path, "write true or false, or put it in quotes", "%q is a flag to some readers and text to others", v.Value)
			return nil
		case out.plain && decimal.MatchString(v.Value):
			return s.decimal(out, v.Value, path)
		}
		return out
	case *ast.TagNode:
		s.at(out, "malformed", path, "", "tags are refused")
		return nil
	}
	s.at(out, "malformed", path, "", "this form of YAML is not used in contract files")
	return nil
}

// decimal converts a number, which must be decimal and finite.
func (s *source) decimal(out *node, literal, path string) *node {
	if !decimal.MatchString(literal) {
		s.at(out, "ambiguous", path, "write it as a decimal number", "%q reads differently in different YAML versions", literal)
		return nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) {
		s.at(out, "not-finite", path, "", "a number must be finite")
		return nil
	}
	out.kind, out.number, out.text = kindNumber, f+0, literal
	return out
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func indexedPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
