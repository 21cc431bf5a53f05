package contractv1_test

import (
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
)

// methods are all methods of all services of the package.
func methods(t *testing.T) (all []protoreflect.MethodDescriptor) {
	t.Helper()
	services := contractv1.File_robot_service_proto.Services()
	for i := range services.Len() {
		m := services.Get(i).Methods()
		for j := range m.Len() {
			all = append(all, m.Get(j))
		}
	}
	if len(all) < 11 || contractv1.File_interlock_proto.Services().Len() > 0 {
		t.Fatalf("%d methods: these are not all", len(all))
	}
	return all
}

// Verifies: T01
func TestEveryMethodIsMarked(t *testing.T) {
	var moves []string
	for _, m := range methods(t) {
		switch effect := proto.GetExtension(m.Options(), contractv1.E_Effect); effect {
		case contractv1.Effect_MOVES:
			moves = append(moves, string(m.Name()))
		case contractv1.Effect_DOES_NOT_MOVE:
		default:
			t.Errorf("%s is marked %v", m.FullName(), effect)
		}
		if m.IsStreamingClient() {
			t.Errorf("%s takes a stream: a request is one message, read whole before anything is done", m.FullName())
		}
	}
	if got := strings.Join(moves, " "); got != "Start" {
		t.Errorf("the methods that move are %q, want only Start: a second way to a motion needs a second look", got)
	}
}

// personsAct matches what only a person may do, in names of methods, messages and fields.
var personsAct = regexp.MustCompile(`(?i)reset|resume|approv|resolve|takeover|clear|unlatch|override`)

// No method is a person's act, by its name, by its messages' names or by any field that a request has.
//
// Verifies: T02
func TestNoMethodIsAPersonsAct(t *testing.T) {
	for _, m := range methods(t) {
		names := []string{string(m.Name()), string(m.Output().Name())}
		for _, n := range append(names, fieldNames(m.Input())...) {
			if personsAct.MatchString(n) {
				t.Errorf("%s: %q is a person's act, and this service is an agent's", m.FullName(), n)
			}
		}
	}
	if !personsAct.MatchString("ResetStop") || !personsAct.MatchString("stop_reset") {
		t.Error("the pattern misses a reset")
	}
}

// fieldNames are the message's own name and those of all its fields, nested ones too.
func fieldNames(m protoreflect.MessageDescriptor) []string {
	names := []string{string(m.Name())}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		names = append(names, string(f.Name()))
		if f.Message() != nil {
			names = append(names, fieldNames(f.Message())...)
		}
	}
	return names
}
