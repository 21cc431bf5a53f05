package strictjson

import (
	"math"
	"strconv"
)

// Kind is the JSON type of a value.
type Kind uint8

// The six JSON types.
const (
	Null Kind = iota + 1
	Bool
	Number
	String
	Object
	Array
)

// String returns the type's name as JSON Schema spells it.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Object:
		return "object"
	case Array:
		return "array"
	}
	return "nothing"
}

// Node is one JSON value. Raw is its exact text, src[Start:End] of the parsed source, which it aliases.
type Node struct {
	Kind       Kind
	Raw        []byte
	Start, End int      // byte offsets in the source, End exclusive
	Members    []Member // of an Object, in the order written
	Items      []*Node  // of an Array
	Text       string   // of a String, decoded
}

// Member is one name and value of an object.
type Member struct {
	Name  string // decoded
	Value *Node
}

// Get returns the value of the member, or nil if n is nil, no object, or has no such member. Names match byte by byte.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// Bool returns the value of a boolean; ok is false for every other type.
func (n *Node) Bool() (value, ok bool) {
	if n == nil || n.Kind != Bool {
		return false, false
	}
	return n.Raw[0] == 't', true
}

// maxExactInteger is 2^53, the largest magnitude up to which every integer is a float64.
const maxExactInteger = 1 << 53

// smallestNormal is the smallest positive normal float64; below it precision is lost.
const smallestNormal = 0x1p-1022

// Number returns the value of a number. ok is false where the float64 would not mean what was written: other types,
// values past the largest float64, values so small that digits are lost, and integers beyond 2^53. -0 becomes 0.
func (n *Node) Number() (value float64, ok bool) {
	if n == nil || n.Kind != Number {
		return 0, false
	}
	if v, ok := smallInteger(n.Raw); ok {
		return v, true
	}
	v, err := strconv.ParseFloat(string(n.Raw), 64)
	if err != nil {
		return 0, false
	}
	magnitude := math.Abs(v)
	switch {
	case magnitude == 0:
		return 0, !hasDigit(n.Raw)
	case !(magnitude >= smallestNormal && magnitude <= math.MaxFloat64):
		return 0, false
	case magnitude > maxExactInteger-1 && isInteger(n.Raw):
		return v, exactInteger(n.Raw)
	}
	return v, true
}

// smallInteger returns the value of an integer literal of so few digits that nothing can be lost.
func smallInteger(literal []byte) (float64, bool) {
	digits := literal
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	v := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int(c-'0')
	}
	if len(digits) < len(literal) {
		v = -v // of an integer: there is no minus zero
	}
	return float64(v), true
}

// exactInteger reports whether the integer literal lies within ±2^53. The float is no help: 2^53+1 rounds to 2^53.
func exactInteger(literal []byte) bool {
	i, err := strconv.ParseInt(string(literal), 10, 64)
	return err == nil && i >= -maxExactInteger && i <= maxExactInteger
}

// isInteger reports whether the literal is written without fraction and exponent.
func isInteger(literal []byte) bool {
	for _, c := range literal {
		if c == '.' || c == 'e' || c == 'E' {
			return false
		}
	}
	return true
}

// hasDigit reports whether the significand of a literal has a digit other than 0.
func hasDigit(literal []byte) bool {
	for _, c := range literal {
		if c == 'e' || c == 'E' {
			return false
		}
		if c >= '1' && c <= '9' {
			return true
		}
	}
	return false
}
