package connect

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"interlock/internal/strictjson"
	"interlock/reject"
)

// jsonLimits bound the JSON form of a message; its length is bounded before.
func jsonLimits(bytes int) strictjson.Limits {
	return strictjson.Limits{Bytes: bytes, Depth: maxDepth, Members: maxFields}
}

// checkJSON is checkWire for the JSON form. It is stricter than protojson: nothing is given twice, under two names or
// as null; a number is no text, but for 64-bit integers, whose canonical form is one; integers are written as such.
func checkJSON(src []byte, m protoreflect.MessageDescriptor) *reject.Rejection {
	root, bad := strictjson.Parse(src, jsonLimits(len(src)))
	if bad != nil {
		return bad
	}
	if bad := jsonMessage(root, m, ""); bad != nil {
		return bad
	}
	if err := protojson.Unmarshal(src, dynamicpb.NewMessage(m)); err != nil {
		return ptr(reject.New(reject.Malformed, "the text is not the message's JSON form"))
	}
	return nil
}

func jsonMessage(n *strictjson.Node, m protoreflect.MessageDescriptor, path string) *reject.Rejection {
	if n.Kind != strictjson.Object {
		return jsonType(n, "an object", path)
	}
	seen := map[protoreflect.FieldNumber]bool{}
	for _, member := range n.Members {
		f := m.Fields().ByJSONName(member.Name)
		if f == nil {
			f = m.Fields().ByTextName(member.Name)
		}
		if f == nil {
			return ptr(reject.New(reject.UnknownArgument, fmt.Sprintf("%s has no field of this name", m.Name())).In(join(path, member.Name)))
		}
		at := join(path, string(f.Name()))
		if seen[f.Number()] {
			return ptr(reject.New(reject.DuplicateKey, "the field is given under both its names").In(at))
		}
		seen[f.Number()] = true
		if bad := jsonField(member.Value, f, at); bad != nil {
			return bad
		}
	}
	return nil
}

func jsonField(n *strictjson.Node, f protoreflect.FieldDescriptor, at string) *reject.Rejection {
	switch {
	case f.IsMap(): // no request has one; protojson reads it
		return nil
	case !f.IsList():
		return jsonValue(n, f, at)
	case n.Kind != strictjson.Array:
		return jsonType(n, "an array", at)
	}
	for i, item := range n.Items {
		if bad := jsonValue(item, f, fmt.Sprintf("%s[%d]", at, i)); bad != nil {
			return bad
		}
	}
	return nil
}

func jsonValue(n *strictjson.Node, f protoreflect.FieldDescriptor, at string) *reject.Rejection {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return jsonMessage(n, f.Message(), at)
	case protoreflect.BoolKind:
		if n.Kind != strictjson.Bool {
			return jsonType(n, "true or false", at)
		}
	case protoreflect.StringKind, protoreflect.BytesKind:
		return jsonText(n, f, at)
	case protoreflect.EnumKind:
		return jsonEnum(n, f, at)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		if n.Kind != strictjson.Number {
			return jsonType(n, "a number", at)
		}
		if _, ok := n.Number(); !ok {
			return notFinite(at)
		}
	default:
		return jsonInteger(n, f, at)
	}
	return nil
}

func jsonText(n *strictjson.Node, f protoreflect.FieldDescriptor, at string) *reject.Rejection {
	if n.Kind != strictjson.String {
		return jsonType(n, "a text", at)
	}
	if f.Kind() == protoreflect.StringKind {
		return text([]byte(n.Text), f, at)
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(n.Text)
	if err != nil {
		return ptr(reject.New(reject.WrongType, "bytes are written in base64, with padding").In(at))
	}
	return text(decoded, f, at)
}

// jsonEnum wants the name of a declared value; a number is not as the list spells it.
func jsonEnum(n *strictjson.Node, f protoreflect.FieldDescriptor, at string) *reject.Rejection {
	if n.Kind != strictjson.String {
		return jsonType(n, "a name", at)
	}
	if f.Enum().Values().ByName(protoreflect.Name(n.Text)) == nil {
		return ptr(reject.New(reject.NotInEnum, fmt.Sprintf("%s has no such value", f.Enum().Name())).In(at).Saw(string(n.Raw), "", ""))
	}
	return nil
}

// jsonInteger wants digits: 64-bit ones may stand in quotes, as protobuf itself writes them.
func jsonInteger(n *strictjson.Node, f protoreflect.FieldDescriptor, at string) *reject.Rejection {
	bits, signed := 32, true
	switch f.Kind() {
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		bits = 64
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		bits, signed = 64, false
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		signed = false
	default: // signed, 32 bits
	}
	digits := string(n.Raw)
	if n.Kind == strictjson.String && bits == 64 {
		digits = n.Text
	} else if n.Kind != strictjson.Number {
		return jsonType(n, "an integer", at)
	}
	var err error
	var canonical string
	if signed {
		var v int64
		v, err = strconv.ParseInt(digits, 10, bits)
		canonical = strconv.FormatInt(v, 10)
	} else {
		var v uint64
		v, err = strconv.ParseUint(digits, 10, bits)
		canonical = strconv.FormatUint(v, 10)
	}
	switch {
	case err != nil && isDigits(digits):
		return ptr(reject.New(reject.OutOfRange, fmt.Sprintf("the number is no %s", f.Kind())).In(at).Saw(string(n.Raw), "", ""))
	case err != nil || canonical != digits:
		return jsonType(n, "an integer, written as such", at)
	}
	return nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (i > 0 || s[i] != '-' || len(s) == 1) {
			return false
		}
	}
	return s != ""
}

func jsonType(n *strictjson.Node, want, at string) *reject.Rejection {
	return ptr(reject.New(reject.WrongType, fmt.Sprintf("expected %s, got %s", want, n.Kind)).In(at))
}
