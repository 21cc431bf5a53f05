package operator

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"interlock/reject"
)

// checkFlat refuses a message that two readers could read differently, or that says more than is read: fields nobody
// declared, a field given twice, another wire type than declared, a flag that is neither 0 nor 1, texts that are not
// UTF-8. It knows the kinds that the requests to a person's listener have, and refuses every other one.
func checkFlat(wire []byte, m protoreflect.MessageDescriptor) *reject.Rejection {
	seen := map[protowire.Number]bool{}
	for len(wire) > 0 {
		number, typ, n := protowire.ConsumeTag(wire)
		if n < 0 {
			return broken(reject.Malformed, "", "the message is no protobuf")
		}
		wire = wire[n:]
		f := m.Fields().ByNumber(number)
		if f == nil {
			return broken(reject.UnknownArgument, strconv.Itoa(int(number)), fmt.Sprintf("%s has no such field", m.Name()))
		}
		if seen[number] {
			return broken(reject.DuplicateKey, string(f.Name()), "the field is given twice")
		}
		seen[number] = true
		n, refusal := consume(wire, typ, f)
		if refusal != nil {
			return refusal
		}
		wire = wire[n:]
	}
	return nil
}

// consume checks one value and returns its length.
func consume(wire []byte, typ protowire.Type, f protoreflect.FieldDescriptor) (n int, refusal *reject.Rejection) {
	name := string(f.Name())
	switch kind := f.Kind(); {
	case f.Cardinality() == protoreflect.Repeated:
	case kind == protoreflect.StringKind && typ == protowire.BytesType:
		text, n := protowire.ConsumeBytes(wire)
		switch {
		case n < 0:
			return 0, broken(reject.Malformed, name, "the message is no protobuf")
		case !utf8.Valid(text):
			return 0, broken(reject.Malformed, name, "the text is not UTF-8")
		}
		return n, nil
	case (kind == protoreflect.BoolKind || kind == protoreflect.Uint64Kind) && typ == protowire.VarintType:
		v, n := protowire.ConsumeVarint(wire)
		switch {
		case n < 0:
			return 0, broken(reject.Malformed, name, "the message is no protobuf")
		case kind == protoreflect.BoolKind && v > 1:
			return 0, broken(reject.OutOfRange, name, "a flag is 0 or 1")
		}
		return n, nil
	}
	return 0, broken(reject.WrongType, name, "the field is another kind")
}

func broken(code reject.Code, field, says string) *reject.Rejection {
	r := reject.New(code, says).By("message").In(field)
	return &r
}
