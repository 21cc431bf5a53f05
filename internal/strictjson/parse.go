package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"interlock/reject"
)

// Limits bounds what is read at all.
type Limits struct {
	Bytes   int // length of the text
	Depth   int // nesting of objects and arrays
	Members int // members of objects and items of arrays, in all
}

// DefaultLimits returns the limits for one call of a model or one message of a client: far more than any call needs,
// far less than what makes a parser slow.
func DefaultLimits() Limits { return Limits{Bytes: 64 << 10, Depth: 32, Members: 1024} }

// Fault is a refusal with its place in the text.
type Fault struct {
	Rejection  reject.Rejection
	Offset     int  // byte at which reading stopped
	Unfinished bool // the text ended inside a value: nothing read so far was wrong
}

// Parse reads a text that is exactly one JSON value, with white space around it. The rejection is MALFORMED,
// DUPLICATE_KEY, NOT_FINITE (a bare NaN or Infinity) or TOO_LARGE; its Field is the path of the value at fault, with dots
// ("limits.tip_speed_mps"), and Says holds the byte offset. The nodes alias src, which must not change.
func Parse(src []byte, lim Limits) (*Node, *reject.Rejection) {
	n, end, fault := Scan(src, lim)
	if fault == nil {
		fault = onlySpace(src, end)
	}
	if fault != nil {
		return nil, &fault.Rejection
	}
	return n, nil
}

// Scan reads the first JSON value of src and returns it with the offset of the byte behind it. What follows is not
// looked at.
func Scan(src []byte, lim Limits) (*Node, int, *Fault) {
	if len(src) > lim.Bytes {
		r := reject.New(reject.TooLarge, fmt.Sprintf("the text has %d bytes; at most %d are read", len(src), lim.Bytes))
		return nil, 0, &Fault{Rejection: r.Saw(fmt.Sprint(len(src)), fmt.Sprint(lim.Bytes), "bytes"), Offset: lim.Bytes}
	}
	if n := quickly(src, lim); n != nil {
		return n, n.End, nil
	}
	return decode(src, lim)
}

// decode is Scan by the decoder: it reads every form and finds every fault.
func decode(src []byte, lim Limits) (*Node, int, *Fault) {
	p, _ := parsers.Get().(*parser)
	p.begin(src, lim)
	n := p.value(0)
	fault := p.fault
	p.src, p.slab, p.fault = nil, nil, nil
	parsers.Put(p)
	if fault != nil {
		return nil, fault.Offset, fault
	}
	return n, n.End, nil
}

// parsers keeps decoders between texts, since setting one up costs more than reading a call. No text outlives its Scan
// in them.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// onlySpace refuses anything but white space from the offset on.
func onlySpace(src []byte, from int) *Fault {
	for i := from; i < len(src); i++ {
		if !isSpace(src[i]) {
			says := fmt.Sprintf("one JSON value was expected, and more text follows it at byte %d", i)
			return &Fault{Rejection: reject.New(reject.Malformed, says).By("trailing_text"), Offset: i}
		}
	}
	return nil
}

// isSpace reports whether c is white space in JSON.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// parser builds nodes from the tokens of one text. The first fault ends it.
type parser struct {
	dec     jsontext.Decoder
	input   bytes.Buffer
	src     []byte
	lim     Limits
	members int
	path    []string
	fault   *Fault
	slab    []Node
}

// begin readies p for a text.
func (p *parser) begin(src []byte, lim Limits) {
	p.src, p.lim, p.members, p.path = src, lim, 0, p.path[:0]
	p.input = *bytes.NewBuffer(src)
	p.dec.Reset(&p.input)
	p.slab = make([]Node, 0, 8)
}

// node takes one node from the slab; a full slab is left to its nodes and replaced.
func (p *parser) node() *Node {
	if len(p.slab) == cap(p.slab) {
		p.slab = make([]Node, 0, 8)
	}
	p.slab = p.slab[:len(p.slab)+1]
	return &p.slab[len(p.slab)-1]
}

// value reads the next value, or returns nil with the fault set.
func (p *parser) value(depth int) *Node {
	switch p.dec.PeekKind() {
	case '{':
		return p.object(depth + 1)
	case '[':
		return p.array(depth + 1)
	case 'n':
		return p.scalar(Null)
	case 't', 'f':
		return p.scalar(Bool)
	case '0':
		return p.scalar(Number)
	case '"':
		return p.scalar(String)
	default:
		_, err := p.dec.ReadToken()
		p.fail(err)
		return nil
	}
}

// scalar reads a literal, number or string.
func (p *parser) scalar(kind Kind) *Node {
	raw, err := p.dec.ReadValue()
	if err != nil {
		p.fail(err)
		return nil
	}
	n := p.node()
	n.Kind, n.End = kind, int(p.dec.InputOffset())
	n.Start = n.End - len(raw)
	n.Raw = p.src[n.Start:n.End:n.End]
	if kind == String {
		n.Text = unquote(n.Raw)
	}
	return n
}

// unquote decodes a string literal the decoder has accepted.
func unquote(literal []byte) string {
	inner := literal[1 : len(literal)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	text, err := jsontext.AppendUnquote(nil, literal)
	if err != nil {
		return "" // unreachable: the decoder accepted the literal
	}
	return string(text)
}

// object reads the members of an object.
func (p *parser) object(depth int) *Node {
	n := p.open(Object, depth)
	if n == nil {
		return nil
	}
	for p.dec.PeekKind() != '}' {
		if !p.count() {
			return nil
		}
		name, ok := p.name()
		if !ok {
			return nil
		}
		p.path = append(p.path, name)
		v := p.value(depth)
		if v == nil {
			return nil
		}
		p.path = p.path[:len(p.path)-1]
		n.Members = append(n.Members, Member{Name: name, Value: v})
	}
	return p.shut(n)
}

// name reads a member's name.
func (p *parser) name() (string, bool) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		p.fail(err)
		return "", false
	}
	return unquote(raw), true
}

// array reads the items of an array.
func (p *parser) array(depth int) *Node {
	n := p.open(Array, depth)
	if n == nil {
		return nil
	}
	for p.dec.PeekKind() != ']' {
		if !p.count() {
			return nil
		}
		p.path = append(p.path, fmt.Sprint(len(n.Items)))
		v := p.value(depth)
		if v == nil {
			return nil
		}
		p.path = p.path[:len(p.path)-1]
		n.Items = append(n.Items, v)
	}
	return p.shut(n)
}

// open reads the opening delimiter.
func (p *parser) open(kind Kind, depth int) *Node {
	if depth > p.lim.Depth {
		p.tooLarge("is nested deeper than", p.lim.Depth)
		return nil
	}
	if _, err := p.dec.ReadToken(); err != nil {
		p.fail(err)
		return nil
	}
	n := p.node()
	n.Kind, n.Start = kind, int(p.dec.InputOffset())-1
	if kind == Object {
		n.Members = make([]Member, 0, 4)
	}
	return n
}

// shut reads the closing delimiter.
func (p *parser) shut(n *Node) *Node {
	if _, err := p.dec.ReadToken(); err != nil {
		p.fail(err)
		return nil
	}
	n.End = int(p.dec.InputOffset())
	n.Raw = p.src[n.Start:n.End:n.End]
	return n
}

// count counts one more member or item.
func (p *parser) count() bool {
	p.members++
	if p.members > p.lim.Members {
		p.tooLarge("holds more values than", p.lim.Members)
		return false
	}
	return true
}

func (p *parser) tooLarge(what string, limit int) {
	at := int(p.dec.InputOffset())
	says := fmt.Sprintf("the JSON text %s %d at byte %d", what, limit, at)
	r := reject.New(reject.TooLarge, says).In(strings.Join(p.path, "."))
	r.Limit = fmt.Sprint(limit)
	p.fault = &Fault{Rejection: r, Offset: at}
}

// fail turns the decoder's error into a fault.
func (p *parser) fail(err error) {
	at, field := len(p.src), strings.Join(p.path, ".")
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = min(int(syntax.ByteOffset), len(p.src))
	}
	r := reject.New(reject.Malformed, fmt.Sprintf("strict JSON was expected: %s, at byte %d", reason(err), at))
	f := &Fault{Offset: at}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		r = reject.New(reject.DuplicateKey, fmt.Sprintf("an object holds the key %.80q twice, at byte %d", syntax.JSONPointer.LastToken(), at))
		field = strings.Join(append(p.path, syntax.JSONPointer.LastToken()), ".")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		f.Unfinished, f.Offset = true, len(p.src)
		r = reject.New(reject.Malformed, fmt.Sprintf("the JSON text ends at byte %d before its value does", len(p.src))).By("unfinished")
	case notFinite(p.src, at):
		r = reject.New(reject.NotFinite, fmt.Sprintf("NaN and Infinity are no JSON numbers, at byte %d", at))
	}
	f.Rejection = r.In(field)
	p.fault = f
}

// reason returns the decoder's words without its package's name and path.
func reason(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		return syntax.Err.Error()
	}
	return err.Error()
}

// notFinite reports whether a word for a number that is not finite stands at the offset. The decoder stops at the second
// letter of "nan", which it took for null.
func notFinite(src []byte, at int) bool {
	if at > 0 && src[at-1] == 'n' {
		at--
	}
	text := bytes.TrimLeft(src[at:], "+-")
	for _, word := range []string{"NaN", "nan", "NAN", "Infinity", "infinity", "Inf", "inf", "INF"} {
		rest, found := bytes.CutPrefix(text, []byte(word))
		if found && (len(rest) == 0 || strings.IndexByte(",]} \t\r\n", rest[0]) >= 0) {
			return true
		}
	}
	return false
}
