package connect

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

var (
	startRequest = (&contractv1.StartRequest{}).ProtoReflect().Descriptor()
	openRequest  = (&contractv1.OpenTaskRequest{}).ProtoReflect().Descriptor()
	claimRequest = (&contractv1.ClaimRequest{}).ProtoReflect().Descriptor()
	event        = (&contractv1.Event{}).ProtoReflect().Descriptor()
	sideEffect   = (&contractv1.SideEffect{}).ProtoReflect().Descriptor()
)

// bad is one line of the catalogue of bad input.
type bad struct {
	name    string
	message protoreflect.MessageDescriptor
	src     string
	code    reject.Code
	field   string
}

func badJSON() []bad {
	return []bad{
		{"empty", startRequest, ``, reject.Malformed, ""},
		{"null", startRequest, `null`, reject.WrongType, ""},
		{"an array", startRequest, `[]`, reject.WrongType, ""},
		{"a batch", startRequest, `[{},{}]`, reject.WrongType, ""},
		{"a text", startRequest, `"x"`, reject.WrongType, ""},
		{"trailing garbage", startRequest, `{} x`, reject.Malformed, ""},
		{"two documents", startRequest, `{}{}`, reject.Malformed, ""},
		{"byte-order mark", startRequest, "\xef\xbb\xbf{}", reject.Malformed, ""},
		{"UTF-16", startRequest, "{\x00}\x00", reject.Malformed, ""},
		{"not UTF-8", startRequest, "{\"mission_id\":\"\xff\"}", reject.Malformed, "mission_id"},
		{"lone surrogate", startRequest, `{"mission_id":"\ud800"}`, reject.Malformed, "mission_id"},
		{"comment", startRequest, `{/**/}`, reject.Malformed, ""},
		{"trailing comma", startRequest, `{"mission_id":"m",}`, reject.Malformed, ""},
		{"single quotes", startRequest, `{'mission_id':'m'}`, reject.Malformed, ""},
		{"too deep", startRequest, `{"lease":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`, reject.TooLarge, ""},
		{"too many", openRequest, `{"forbidden":[` + strings.Repeat(`"",`, 5000) + `""]}`, reject.TooLarge, ""},
		{"too long", startRequest, `{"capability":"` + strings.Repeat("x", maxText+1) + `"}`, reject.TooLarge, "capability"},
		{"unknown field", startRequest, `{"speed":1}`, reject.UnknownArgument, "speed"},
		{"unknown field below", startRequest, `{"lease":{"ttl":1}}`, reject.UnknownArgument, "lease.ttl"},
		{"another case", startRequest, `{"Mission_id":"m"}`, reject.UnknownArgument, "Mission_id"},
		{"extension syntax", startRequest, `{"[interlock.v1.effect]":1}`, reject.UnknownArgument, "[interlock.v1.effect]"},
		{"twice", startRequest, `{"mission_id":"a","mission_id":"b"}`, reject.DuplicateKey, "mission_id"},
		{"twice by escape", startRequest, `{"mission_id":"a","mission\u005fid":"b"}`, reject.DuplicateKey, "mission_id"},
		{"twice by its two names", startRequest, `{"mission_id":"a","missionId":"b"}`, reject.DuplicateKey, "mission_id"},
		{"null for a text", startRequest, `{"mission_id":null}`, reject.WrongType, "mission_id"},
		{"null for a message", startRequest, `{"lease":null}`, reject.WrongType, "lease"},
		{"number for a text", startRequest, `{"mission_id":1}`, reject.WrongType, "mission_id"},
		{"text for a flag", openRequest, `{"closed":"true"}`, reject.WrongType, "closed"},
		{"text for an int32", openRequest, `{"max_missions":"3"}`, reject.WrongType, "max_missions"},
		{"fraction", openRequest, `{"max_missions":1.5}`, reject.WrongType, "max_missions"},
		{"fraction that is none", openRequest, `{"max_missions":1.0}`, reject.WrongType, "max_missions"},
		{"exponent", openRequest, `{"max_missions":1e3}`, reject.WrongType, "max_missions"},
		{"minus zero", openRequest, `{"max_missions":-0}`, reject.WrongType, "max_missions"},
		{"beyond int32", openRequest, `{"max_missions":2147483648}`, reject.OutOfRange, "max_missions"},
		{"below int64", startRequest, `{"lease":{"expires_in_ms":"-9223372036854775809"}}`, reject.OutOfRange, "lease.expires_in_ms"},
		{"negative uint64", startRequest, `{"lease":{"epoch":-1}}`, reject.OutOfRange, "lease.epoch"},
		{"5,000 digits", startRequest, `{"lease":{"epoch":` + strings.Repeat("9", 5000) + `}}`, reject.OutOfRange, "lease.epoch"},
		{"space in a number", startRequest, `{"lease":{"epoch":" 1"}}`, reject.WrongType, "lease.epoch"},
		{"NaN", sideEffect, `{"displacement_cm":NaN}`, reject.NotFinite, "displacement_cm"},
		{"NaN as text", sideEffect, `{"displacement_cm":"NaN"}`, reject.WrongType, "displacement_cm"},
		{"1e309", sideEffect, `{"displacement_cm":1e309}`, reject.NotFinite, "displacement_cm"},
		{"lossy underflow", sideEffect, `{"displacement_cm":1e-400}`, reject.NotFinite, "displacement_cm"},
		{"one item for a list", openRequest, `{"forbidden":"red cube"}`, reject.WrongType, "forbidden"},
		{"null in a list", openRequest, `{"forbidden":[null]}`, reject.WrongType, "forbidden[0]"},
		{"arguments as an object", startRequest, `{"args_json":{"x_cm":20}}`, reject.WrongType, "args_json"},
		{"arguments not in base64", startRequest, `{"args_json":"{}"}`, reject.WrongType, "args_json"},
		{"base64 without padding", startRequest, `{"args_json":"e30"}`, reject.WrongType, "args_json"},
		{"unknown enum", event, `{"kind":"EXPLODED"}`, reject.NotInEnum, "kind"},
		{"enum by number", event, `{"kind":1}`, reject.WrongType, "kind"},
		{"a list for a message", claimRequest, `{"claim":[]}`, reject.WrongType, "claim"},
	}
}

// Verifies: P31
func TestBadJSONIsRefused(t *testing.T) {
	for _, b := range badJSON() {
		t.Run(b.name, func(t *testing.T) { wantRefusal(t, b, checkJSON([]byte(b.src), b.message)) })
	}
}

func wantRefusal(t *testing.T, b bad, got *reject.Rejection) {
	t.Helper()
	switch {
	case got == nil:
		t.Fatalf("%.80q is taken", b.src)
	case got.Code != b.code:
		t.Errorf("code %s, want %s: %s", got.Code, b.code, got.Says)
	case b.field != "" && got.Field != b.field:
		t.Errorf("field %q, want %q", got.Field, b.field)
	}
}

// field writes one field.
func field(n protowire.Number, typ protowire.Type, value ...byte) string {
	return string(append(protowire.AppendTag(nil, n, typ), value...))
}

func varintField(n protowire.Number, v uint64) string {
	return field(n, protowire.VarintType, protowire.AppendVarint(nil, v)...)
}

func textField(n protowire.Number, text string) string {
	return field(n, protowire.BytesType, protowire.AppendBytes(nil, []byte(text))...)
}

func badWire() []bad {
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	inf := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(-1)))
	return []bad{
		{"a cut tag", startRequest, "\x80", reject.Malformed, ""},
		{"a cut text", startRequest, textField(1, "m1")[:3], reject.Malformed, "mission_id"},
		{"field number 0", startRequest, "\x00\x00", reject.Malformed, ""},
		{"unknown field", startRequest, varintField(99, 1), reject.UnknownArgument, "99"},
		{"unknown field below", startRequest, textField(5, varintField(9, 1)), reject.UnknownArgument, "lease.9"},
		{"unknown required extension", startRequest, textField(50201, "x"), reject.UnknownArgument, "50201"},
		{"a group", startRequest, field(99, protowire.StartGroupType) + field(99, protowire.EndGroupType), reject.UnknownArgument, "99"},
		{"a group for a text", startRequest, field(1, protowire.StartGroupType) + field(1, protowire.EndGroupType), reject.WrongType, "mission_id"},
		{"groups in groups", startRequest, strings.Repeat(field(99, protowire.StartGroupType), 20000), reject.UnknownArgument, "99"},
		{"an end of no group", startRequest, field(1, protowire.EndGroupType), reject.WrongType, "mission_id"},
		{"wrong wire type", startRequest, varintField(1, 7), reject.WrongType, "mission_id"},
		{"text for a number", openRequest, textField(4, "3"), reject.WrongType, "max_missions"},
		{"twice", startRequest, textField(1, "a") + textField(1, "b"), reject.DuplicateKey, "mission_id"},
		{"a message twice", startRequest, textField(5, "") + textField(5, ""), reject.DuplicateKey, "lease"},
		{"varint overflow", openRequest, field(4, protowire.VarintType, bytes.Repeat([]byte{0xff}, 11)...), reject.Malformed, "max_missions"},
		{"beyond int32", openRequest, varintField(4, 1<<31), reject.OutOfRange, "max_missions"},
		{"a flag that is 2", openRequest, varintField(7, 2), reject.OutOfRange, "closed"},
		{"length past the end", startRequest, field(1, protowire.BytesType, 200, 1), reject.Malformed, "mission_id"},
		{"2 GiB declared", startRequest, field(1, protowire.BytesType, protowire.AppendVarint(nil, 1<<31)...), reject.Malformed, "mission_id"},
		{"not UTF-8", startRequest, textField(1, "\xff"), reject.Malformed, "mission_id"},
		{"lone surrogate", startRequest, textField(1, "\xed\xa0\x80"), reject.Malformed, "mission_id"},
		{"too long", startRequest, textField(3, strings.Repeat("x", maxText+1)), reject.TooLarge, "args_json"},
		{"too many", openRequest, strings.Repeat(textField(6, ""), maxFields+1), reject.TooLarge, "forbidden"},
		{"unknown enum", event, varintField(3, 77), reject.NotInEnum, "kind"},
		{"enum beyond 32 bits", event, varintField(3, 1<<32), reject.NotInEnum, "kind"},
		{"NaN", sideEffect, field(2, protowire.Fixed64Type, nan...), reject.NotFinite, "displacement_cm"},
		{"infinity", sideEffect, field(2, protowire.Fixed64Type, inf...), reject.NotFinite, "displacement_cm"},
	}
}

// Verifies: P31
func TestBadProtobufIsRefused(t *testing.T) {
	for _, b := range badWire() {
		t.Run(b.name, func(t *testing.T) { wantRefusal(t, b, checkWire([]byte(b.src), b.message)) })
	}
}

// Verifies: P31
func TestBadEnvelopesAreRefused(t *testing.T) {
	for name, src := range map[string]string{
		"none": "", "cut": "\x00\x00\x00", "compressed": "\x01\x00\x00\x00\x00", "end of stream": "\x02\x00\x00\x00\x00",
		"too short": "\x00\x00\x00\x00\x02a", "two": "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "2 GiB declared": "\x00\x80\x00\x00\x00",
	} {
		if _, r := unwrapped([]byte(src)); r == nil || r.Code != reject.Malformed {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// Messages deeper than any of ours: the reader of protobuf must not follow them.
//
// Verifies: P31
func TestDepthIsBounded(t *testing.T) {
	c := wireCheck{}
	if r := c.message(nil, startRequest, "lease", maxDepth+1); r == nil || r.Code != reject.TooLarge {
		t.Errorf("a message %d levels down: %v", maxDepth+1, r)
	}
}

// good are requests that must be taken in both forms.
func good() []proto.Message {
	return []proto.Message{
		&contractv1.DescribeRequest{}, &contractv1.ObserveRequest{}, &contractv1.TaskRequest{TaskId: "task-1"},
		&contractv1.StartRequest{MissionId: "m–1", Capability: "move_to", ArgsJson: []byte(`{"x_cm":20}`), Lease: &contractv1.Lease{Epoch: math.MaxUint64, ExpiresInMs: math.MinInt64}},
		&contractv1.OpenTaskRequest{Words: "go", Goal: "tip", MaxMissions: -3, MayChange: []string{"a", "b"}, Closed: true},
		&contractv1.ClaimRequest{TaskId: "task-1", Claim: &contractv1.Claim{Reported: true}},
		&contractv1.Event{Kind: contractv1.EventKind_VERIFIED, Evidence: []*contractv1.Evidence{{Fact: "tip"}, {}}},
		&contractv1.SideEffect{DisplacementCm: -1.25e-3},
	}
}

// Verifies: P31
func TestGoodMessagesAreTaken(t *testing.T) {
	for _, m := range good() {
		d := m.ProtoReflect().Descriptor()
		wire, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if r := checkWire(wire, d); r != nil {
			t.Errorf("%v: %v", m, r)
		}
		for _, names := range []bool{false, true} {
			text, err := protojson.MarshalOptions{UseProtoNames: names, EmitUnpopulated: false}.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if r := checkJSON(text, d); r != nil {
				t.Errorf("%s: %v", text, r)
			}
		}
	}
}

// What the check takes is read by the library whole: nothing unknown is left over, and writing it again and reading
// that gives the same message.
func FuzzWire(f *testing.F) {
	for _, b := range badWire() {
		f.Add([]byte(b.src))
	}
	for _, m := range good() {
		wire, _ := proto.Marshal(m) // shown to work above
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		for _, m := range []proto.Message{&contractv1.StartRequest{}, &contractv1.OpenTaskRequest{}, &contractv1.Event{}} {
			if checkWire(wire, m.ProtoReflect().Descriptor()) != nil {
				continue
			}
			if err := proto.Unmarshal(wire, m); err != nil {
				t.Fatalf("%x is taken and cannot be read: %v", wire, err)
			}
			again, err := proto.Marshal(m)
			if err != nil || len(m.ProtoReflect().GetUnknown()) > 0 {
				t.Fatalf("%x is taken with unknown fields %x, %v", wire, m.ProtoReflect().GetUnknown(), err)
			}
			if r := checkWire(again, m.ProtoReflect().Descriptor()); r != nil {
				t.Fatalf("%x is taken, and what it means is not: %v", wire, r)
			}
		}
	})
}

// What the check takes is read by the library, which drops nothing of it.
func FuzzJSON(f *testing.F) {
	for _, b := range badJSON() {
		f.Add([]byte(b.src))
	}
	for _, m := range good() {
		text, _ := protojson.Marshal(m) // shown to work above
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, m := range []proto.Message{&contractv1.StartRequest{}, &contractv1.OpenTaskRequest{}, &contractv1.Event{}} {
			if checkJSON(src, m.ProtoReflect().Descriptor()) != nil {
				continue
			}
			if err := (protojson.UnmarshalOptions{}).Unmarshal(src, m); err != nil {
				t.Fatalf("%s is taken and cannot be read: %v", src, err)
			}
			wire, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if r := checkWire(wire, m.ProtoReflect().Descriptor()); r != nil {
				t.Fatalf("%s is taken, and the same in protobuf is not: %v", src, r)
			}
		}
	})
}

// Every rejection of this room keeps to the list, and every code of the list has a status.
func TestEveryCodeHasAStatus(t *testing.T) {
	for _, b := range append(badJSON(), badWire()...) {
		if got := fmt.Sprint(status(b.code)); got != "invalid_argument" {
			t.Errorf("%s is the status %s", b.code, got)
		}
	}
}
