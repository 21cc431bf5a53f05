package transporttest

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// filled sets every field of the message, and of those in it, to a value that names the field.
func filled[M proto.Message](m M) M {
	fill(m.ProtoReflect(), string(m.ProtoReflect().Descriptor().Name()))
	return m
}

func fill(m protoreflect.Message, path string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		at := path + "." + string(f.Name())
		switch {
		case f.IsMap():
			m.Mutable(f).Map().Set(protoreflect.ValueOfString(at).MapKey(), single(f.MapValue(), at))
		case f.IsList():
			l := m.Mutable(f).List()
			for n := range 2 {
				item := fmt.Sprintf("%s[%d]", at, n)
				if f.Message() != nil {
					fill(l.AppendMutable().Message(), item)
				} else {
					l.Append(single(f, item))
				}
			}
		case f.Message() != nil:
			fill(m.Mutable(f).Message(), at)
		default:
			m.Set(f, single(f, at))
		}
	}
}

// single is a value of the field's kind that is not its zero value: texts hold the path, and more than ASCII.
func single(f protoreflect.FieldDescriptor, at string) protoreflect.Value {
	number := int64(len(at))
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(-int32(number))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(-number << 40)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(1<<63 + uint64(number))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(number) / 3)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(at + "\x00\xff"))
	default:
		return protoreflect.ValueOfString(at + " – °")
	}
}
