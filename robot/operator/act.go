package operator

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
)

// Hash is the SHA-256 of the act, in hex: what an approval names. It covers every field.
func Hash(act *contractv1.Act) string {
	sum := sha256.Sum256(encoding(act, true))
	return hex.EncodeToString(sum[:])
}

// key identifies an act apart from the number of its request: the same call, asked for again, has the same key.
type key [sha256.Size]byte

func keyOf(act *contractv1.Act) key { return sha256.Sum256(encoding(act, false)) }

// encoding writes every field of the act, empty ones too, in the order of its declaration: number, length, value. No two
// acts have the same one. What this version does not know of the act is written last, so that it cannot hide there.
func encoding(act *contractv1.Act, numbered bool) []byte {
	m := act.ProtoReflect()
	b := []byte("interlock.v1.Act\x00")
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if !numbered && f.Name() == "number" {
			continue
		}
		b = lengthPrefixed(b, f.Number(), valueOf(f, m.Get(f)))
	}
	return lengthPrefixed(b, 0, m.GetUnknown())
}

func lengthPrefixed(b []byte, number protoreflect.FieldNumber, value []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(number))
	b = binary.BigEndian.AppendUint64(b, uint64(len(value)))
	return append(b, value...)
}

// valueOf is a field's value as bytes. An act has texts, bytes and counters; a field of another kind needs a line here.
func valueOf(f protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch {
	case f.IsList() || f.IsMap():
	case f.Kind() == protoreflect.StringKind:
		return []byte(v.String())
	case f.Kind() == protoreflect.BytesKind:
		return v.Bytes()
	case f.Kind() == protoreflect.Uint64Kind:
		return binary.BigEndian.AppendUint64(nil, v.Uint())
	}
	panic("operator: no encoding for the field " + string(f.FullName()))
}

// copied is the message field by field, for messages without messages inside: nobody holds what is on the desk.
func copied[M protoreflect.ProtoMessage](from M) M {
	m := from.ProtoReflect()
	to := m.New()
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() == protoreflect.BytesKind {
			v = protoreflect.ValueOfBytes(bytes.Clone(v.Bytes()))
		}
		to.Set(f, v)
		return true
	})
	to.SetUnknown(bytes.Clone(m.GetUnknown()))
	return to.Interface().(M) //nolint:errcheck // New makes the same type
}
