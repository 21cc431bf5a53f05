package strictjson

import "bytes"

// quickBytes is the length up to which a text is tried by quick. Its names and strings share one copy of the text, which
// must not keep a long one alive.
const quickBytes = 4 << 10

// quickMembers is how many members of one object quick holds against each other.
const quickMembers = 16

// quick reads an object of the plainest form: members that are objects, numbers, literals, or strings of printable ASCII
// without an escape. Whatever is not certainly right, a fault or only another form, it leaves to the decoder, which then
// reads the text from its beginning and alone says what is wrong. What quick does accept is node by node what the
// decoder makes of it.
type quick struct {
	src     []byte
	text    string // src
	at      int
	lim     Limits
	members int
	slab    []Node
}

// quickly reads src, or returns nil.
func quickly(src []byte, lim Limits) *Node {
	if len(src) > quickBytes {
		return nil
	}
	q := quick{src: src, lim: lim}
	if q.space(); !q.next('{') {
		return nil
	}
	q.text = string(src)
	q.slab = make([]Node, 0, 1+min(quickMembers, bytes.Count(src, []byte{':'}))) // one for each member: rarely more, never needed
	return q.object(1)
}

func (q *quick) space() {
	for q.at < len(q.src) && isSpace(q.src[q.at]) {
		q.at++
	}
}

// next takes the byte if it is the next one.
func (q *quick) next(c byte) bool {
	if q.at < len(q.src) && q.src[q.at] == c {
		q.at++
		return true
	}
	return false
}

func (q *quick) node() *Node {
	if len(q.slab) == cap(q.slab) {
		q.slab = make([]Node, 0, 8)
	}
	q.slab = q.slab[:len(q.slab)+1]
	return &q.slab[len(q.slab)-1]
}

// object reads the members behind an opening brace.
func (q *quick) object(depth int) *Node {
	if depth > q.lim.Depth {
		return nil
	}
	n := q.node()
	n.Kind, n.Start, n.Members = Object, q.at-1, make([]Member, 0, 4)
	q.space()
	if q.next('}') {
		return q.end(n)
	}
	for q.member(n, depth) {
		q.space()
		if q.next('}') {
			return q.end(n)
		}
		if !q.next(',') {
			return nil
		}
		q.space()
	}
	return nil
}

// member reads one name and value into n.
func (q *quick) member(n *Node, depth int) bool {
	if q.members++; q.members > q.lim.Members || len(n.Members) == quickMembers {
		return false
	}
	name, ok := q.string()
	if !ok || n.Get(name) != nil {
		return false
	}
	if q.space(); !q.next(':') {
		return false
	}
	q.space()
	v := q.value(depth)
	n.Members = append(n.Members, Member{Name: name, Value: v})
	return v != nil
}

// end notes that the value ends behind the last byte taken.
func (q *quick) end(n *Node) *Node {
	n.End = q.at
	n.Raw = q.src[n.Start:n.End:n.End]
	return n
}

// value reads a member's value.
func (q *quick) value(depth int) *Node {
	if q.next('{') {
		return q.object(depth + 1)
	}
	if q.at == len(q.src) {
		return nil
	}
	n, ok := q.node(), false
	n.Start = q.at
	switch q.src[q.at] {
	case '"':
		n.Kind = String
		n.Text, ok = q.string()
	case 't':
		n.Kind, ok = Bool, q.word("true")
	case 'f':
		n.Kind, ok = Bool, q.word("false")
	case 'n':
		n.Kind, ok = Null, q.word("null")
	default:
		n.Kind, ok = Number, q.number()
	}
	if !ok {
		return nil
	}
	return q.end(n)
}

func (q *quick) word(w string) bool {
	if len(q.src)-q.at < len(w) || q.text[q.at:q.at+len(w)] != w {
		return false
	}
	q.at += len(w)
	return true
}

// string reads a string literal of printable ASCII without escapes.
func (q *quick) string() (string, bool) {
	if !q.next('"') {
		return "", false
	}
	for from := q.at; q.at < len(q.src); q.at++ {
		switch c := q.src[q.at]; {
		case c == '"':
			q.at++
			return q.text[from : q.at-1], true
		case c == '\\' || c < ' ' || c > '~':
			return "", false
		}
	}
	return "", false
}

// number reads a number literal; what may follow it is the caller's to check.
func (q *quick) number() bool {
	q.next('-')
	if !q.next('0') && !q.digits() {
		return false
	}
	if q.next('.') && !q.digits() {
		return false
	}
	if q.next('e') || q.next('E') {
		if !q.next('-') {
			q.next('+')
		}
		return q.digits()
	}
	return true
}

// digits takes one digit or more.
func (q *quick) digits() bool {
	from := q.at
	for q.at < len(q.src) && q.src[q.at] >= '0' && q.src[q.at] <= '9' {
		q.at++
	}
	return q.at > from
}
