package operator

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	contractv1 "interlock/contract/v1"
)

// an act with a value in every field.
func whole() *contractv1.Act {
	return &contractv1.Act{
		Robot: "so101", ContractHash: "c0ffee", Capability: "pick", ArgsJson: []byte(`{"name":"red cube"}`), LeaseEpoch: 3,
		Principal: "chat", TaskId: "task-7", Displayed: "so101 is asked to pick", Number: 9,
	}
}

func fieldsOf(m protoreflect.ProtoMessage) (all []protoreflect.FieldDescriptor) {
	fields := m.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		all = append(all, fields.Get(i))
	}
	return all
}

// Whatever field of an act is another, or empty, or new to this version, the hash is another. Walked by the descriptor, so
// that a field which is added counts too.
//
// Verifies: O01, P34
func TestTheHashCoversEveryField(t *testing.T) {
	hashes := map[string]string{Hash(whole()): "unchanged"}
	add := func(name string, act *contractv1.Act) {
		h := Hash(act)
		if was, taken := hashes[h]; taken {
			t.Errorf("%s and %s have one hash", name, was)
		}
		hashes[h] = name
	}
	for _, f := range fieldsOf(whole()) {
		if !whole().ProtoReflect().Has(f) {
			t.Fatalf("the whole act has no %s", f.Name())
		}
		empty, other := whole(), whole()
		empty.ProtoReflect().Clear(f)
		add(string(f.Name())+" empty", empty)
		switch v := other.ProtoReflect().Get(f); f.Kind() {
		case protoreflect.StringKind:
			other.ProtoReflect().Set(f, protoreflect.ValueOfString(v.String()+"x"))
		case protoreflect.BytesKind:
			other.ProtoReflect().Set(f, protoreflect.ValueOfBytes(append(slices.Clone(v.Bytes()), 'x')))
		case protoreflect.Uint64Kind:
			other.ProtoReflect().Set(f, protoreflect.ValueOfUint64(v.Uint()+1))
		default:
			t.Fatalf("%s is of a kind that this test cannot change", f.Name())
		}
		add(string(f.Name())+" changed", other)
	}
	unknown := whole()
	unknown.ProtoReflect().SetUnknown([]byte{0x98, 0x06, 0x01})
	add("a field that this version does not know", unknown)
	if again := Hash(whole()); hashes[again] != "unchanged" || len(again) != 64 {
		t.Error("the hash of an act is not one text of 64 digits")
	}
	for _, f := range fieldsOf(whole()) {
		other := whole()
		other.ProtoReflect().Clear(f)
		if same := keyOf(other) == keyOf(whole()); same != (f.Name() == "number") {
			t.Errorf("without %s the call is the same: %v", f.Name(), same)
		}
	}
}

// decoded reads an encoding back: that this is possible shows that no two acts have the same one.
func decoded(b []byte) (*contractv1.Act, error) {
	const tag = "interlock.v1.Act\x00"
	if len(b) < len(tag) || string(b[:len(tag)]) != tag {
		return nil, errors.New("no tag")
	}
	b = b[len(tag):]
	act := new(contractv1.Act)
	m := act.ProtoReflect()
	for len(b) >= 12 {
		number, n := binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:])
		if b = b[12:]; uint64(len(b)) < n {
			return nil, errors.New("cut")
		}
		v := b[:n]
		b = b[n:]
		if number == 0 {
			m.SetUnknown(v)
			continue
		}
		switch f := m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(number)); f.Kind() {
		case protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(string(v)))
		case protoreflect.BytesKind:
			m.Set(f, protoreflect.ValueOfBytes(v))
		default:
			m.Set(f, protoreflect.ValueOfUint64(binary.BigEndian.Uint64(v)))
		}
	}
	if len(b) != 0 {
		return nil, errors.New("more")
	}
	return act, nil
}

// Verifies: O01, P34
func TestNoTwoActsEncodeAlike(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"", "a", "ab", "\x00", "interlock.v1.Act\x00", "\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00"}))
	acts := rapid.Custom(func(t *rapid.T) *contractv1.Act {
		return &contractv1.Act{
			Robot: text.Draw(t, "robot"), ContractHash: text.Draw(t, "contract"), Capability: text.Draw(t, "capability"),
			ArgsJson: []byte(text.Draw(t, "args")), LeaseEpoch: rapid.Uint64().Draw(t, "epoch"), Principal: text.Draw(t, "principal"),
			TaskId: text.Draw(t, "task"), Displayed: text.Draw(t, "displayed"), Number: rapid.Uint64().Draw(t, "number"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		act := acts.Draw(t, "act")
		back, err := decoded(encoding(act, true))
		if err != nil || !same(act, back) {
			t.Fatalf("%v is read back as %v, %v", act, back, err)
		}
	})
	// What moves from one field to the next is the sharpest case.
	a, b := whole(), whole()
	a.Robot, a.ContractHash = "so10", "1c0ffee"
	b.Principal, b.TaskId = "chattask-7", ""
	if Hash(a) == Hash(whole()) || Hash(b) == Hash(whole()) {
		t.Error("the border between two fields is not hashed")
	}
}

// same compares two acts; absent and empty bytes are one.
func same(a, b *contractv1.Act) bool {
	a, b = proto.CloneOf(a), proto.CloneOf(b)
	for _, act := range []*contractv1.Act{a, b} {
		if len(act.GetArgsJson()) == 0 {
			act.ArgsJson = nil
		}
	}
	return proto.Equal(a, b)
}

// Verifies: O02
func TestACopyIsWholeAndApart(t *testing.T) {
	act := whole()
	act.ProtoReflect().SetUnknown([]byte{0x98, 0x06, 0x01})
	c := copied(act)
	if !proto.Equal(act, c) {
		t.Fatalf("%v is copied as %v", act, c)
	}
	c.ArgsJson[0], c.Robot = 'x', "other"
	if act.GetArgsJson()[0] != '{' || act.GetRobot() != "so101" {
		t.Error("who changes the copy changes the act")
	}
	r := &contractv1.Rejection{Code: "c", Rule: "r", Field: "f", Got: "g", Limit: "l", Unit: "u", Retry: "y", AfterMs: 1, Says: "s"}
	if c := copied(r); !proto.Equal(c, r) || c == r {
		t.Errorf("%v is copied as %v", r, c)
	}
}
