package connect

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"interlock/reject"
)

// What one message may hold. Arguments of a call are read within the same length.
const (
	maxText   = 64 << 10 // bytes of a text or a byte string
	maxDepth  = 16       // messages inside messages
	maxFields = 4096     // fields and items in all
)

// checkWire refuses protobuf that is read differently by different readers, or that says more than is read: fields
// nobody declared, a field given twice, another wire type than declared, unknown enum values, numbers that are not
// finite, texts that are not UTF-8, and whatever is too long, too deep or too much.
func checkWire(wire []byte, m protoreflect.MessageDescriptor) *reject.Rejection {
	c := wireCheck{}
	return c.message(wire, m, "", 0)
}

type wireCheck struct{ fields int }

func (c *wireCheck) message(wire []byte, m protoreflect.MessageDescriptor, path string, depth int) *reject.Rejection {
	if depth > maxDepth {
		return ptr(reject.New(reject.TooLarge, "messages are nested too deep").In(path).Saw("", strconv.Itoa(maxDepth), "levels"))
	}
	seen := map[protoreflect.FieldNumber]bool{}
	for len(wire) > 0 {
		number, typ, n := protowire.ConsumeTag(wire)
		if n < 0 {
			return broken(path)
		}
		wire = wire[n:]
		f := m.Fields().ByNumber(number)
		if f == nil {
			return ptr(reject.New(reject.UnknownArgument, fmt.Sprintf("%s has no field %d", m.Name(), number)).In(join(path, strconv.Itoa(int(number)))))
		}
		at := join(path, string(f.Name()))
		if seen[number] && f.Cardinality() != protoreflect.Repeated {
			return ptr(reject.New(reject.DuplicateKey, "the field is given twice").In(at))
		}
		seen[number] = true
		if c.fields++; c.fields > maxFields {
			return ptr(reject.New(reject.TooLarge, "the message holds too many fields").In(at).Saw("", strconv.Itoa(maxFields), "fields"))
		}
		n, bad := c.value(wire, f, typ, at, depth)
		if bad != nil {
			return bad
		}
		wire = wire[n:]
	}
	return nil
}

// value checks one field's value and returns its length.
func (c *wireCheck) value(wire []byte, f protoreflect.FieldDescriptor, typ protowire.Type, at string, depth int) (int, *reject.Rejection) {
	want := wireType(f)
	if typ == protowire.BytesType && want != typ && f.IsPacked() {
		return c.packed(wire, f, want, at)
	}
	if typ != want {
		return 0, ptr(reject.New(reject.WrongType, fmt.Sprintf("the field is a %s", f.Kind())).In(at))
	}
	n := protowire.ConsumeFieldValue(f.Number(), typ, wire)
	if n < 0 {
		return 0, broken(at)
	}
	if typ != protowire.BytesType {
		return n, scalar(wire[:n], f, typ, at)
	}
	body, _ := protowire.ConsumeBytes(wire)
	if f.Message() != nil {
		return n, c.message(body, f.Message(), at, depth+1)
	}
	return n, text(body, f, at)
}

// packed checks the items of a repeated scalar, which stand together.
func (c *wireCheck) packed(wire []byte, f protoreflect.FieldDescriptor, typ protowire.Type, at string) (int, *reject.Rejection) {
	items, n := protowire.ConsumeBytes(wire)
	if n < 0 {
		return 0, broken(at)
	}
	for len(items) > 0 {
		k := protowire.ConsumeFieldValue(f.Number(), typ, items)
		if k < 0 {
			return 0, broken(at)
		}
		if c.fields++; c.fields > maxFields {
			return 0, ptr(reject.New(reject.TooLarge, "the message holds too many fields").In(at).Saw("", strconv.Itoa(maxFields), "fields"))
		}
		if bad := scalar(items[:k], f, typ, at); bad != nil {
			return 0, bad
		}
		items = items[k:]
	}
	return n, nil
}

// scalar checks what a number can do wrong: to name no value of its enum, not to fit, not to be finite.
func scalar(wire []byte, f protoreflect.FieldDescriptor, typ protowire.Type, at string) *reject.Rejection {
	switch typ {
	case protowire.VarintType:
		v, _ := protowire.ConsumeVarint(wire)
		return varint(v, f, at)
	case protowire.Fixed64Type:
		v, _ := protowire.ConsumeFixed64(wire)
		if x := math.Float64frombits(v); f.Kind() == protoreflect.DoubleKind && !(math.Abs(x) <= math.MaxFloat64) {
			return notFinite(at)
		}
	case protowire.Fixed32Type:
		v, _ := protowire.ConsumeFixed32(wire)
		if x := math.Float32frombits(v); f.Kind() == protoreflect.FloatKind && !(math.Abs(float64(x)) <= math.MaxFloat32) {
			return notFinite(at)
		}
	case protowire.BytesType, protowire.StartGroupType, protowire.EndGroupType:
	}
	return nil
}

func varint(v uint64, f protoreflect.FieldDescriptor, at string) *reject.Rejection {
	fits := true
	switch f.Kind() {
	case protoreflect.BoolKind:
		fits = v <= 1
	case protoreflect.Uint32Kind, protoreflect.Sint32Kind:
		fits = v <= math.MaxUint32
	case protoreflect.Int32Kind:
		fits = int64(v) >= math.MinInt32 && int64(v) <= math.MaxInt32
	case protoreflect.EnumKind:
		if int64(v) < math.MinInt32 || int64(v) > math.MaxInt32 || f.Enum().Values().ByNumber(protoreflect.EnumNumber(int32(v))) == nil {
			return ptr(reject.New(reject.NotInEnum, fmt.Sprintf("%s has no value %d", f.Enum().Name(), int64(v))).In(at))
		}
	default: // the 64-bit kinds hold whatever a varint does
	}
	if !fits {
		return ptr(reject.New(reject.OutOfRange, fmt.Sprintf("the number is no %s", f.Kind())).In(at))
	}
	return nil
}

func text(body []byte, f protoreflect.FieldDescriptor, at string) *reject.Rejection {
	if len(body) > maxText {
		return ptr(reject.New(reject.TooLarge, "the text is too long").In(at).Saw(strconv.Itoa(len(body)), strconv.Itoa(maxText), "bytes"))
	}
	if f.Kind() == protoreflect.StringKind && !utf8.Valid(body) {
		return ptr(reject.New(reject.Malformed, "the text is not UTF-8").In(at))
	}
	return nil
}

// wireType is how a field's values are written; groups are never declared.
func wireType(f protoreflect.FieldDescriptor) protowire.Type {
	switch f.Kind() {
	case protoreflect.BoolKind, protoreflect.EnumKind, protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind,
		protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Uint64Kind:
		return protowire.VarintType
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
	}
	return protowire.BytesType
}

func broken(path string) *reject.Rejection {
	return ptr(reject.New(reject.Malformed, "the message is no protobuf").In(path))
}

func notFinite(at string) *reject.Rejection {
	return ptr(reject.New(reject.NotFinite, "the number is not finite").In(at))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
