package contractv1_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "interlock/body/remote/v1" // whose service is walked too
	_ "interlock/contract/v1"
)

// services are all services of the protocols that the repository has: of each .proto file of this folder and of the driver
// protocol's.
func services(t *testing.T) (all []protoreflect.ServiceDescriptor) {
	t.Helper()
	for _, folder := range []string{".", "../../body/remote/v1"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.proto"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			f, err := protoregistry.GlobalFiles.FindFileByPath(filepath.Base(file))
			if err != nil {
				t.Fatalf("%s is not what the program was built from: %v", file, err)
			}
			for i := range f.Services().Len() {
				all = append(all, f.Services().Get(i))
			}
		}
	}
	return all
}

// agents is the one service that an agent can reach.
const agents = "interlock.v1.Robot"

// methods are those of the service that an agent can reach.
func methods(t *testing.T) (all []protoreflect.MethodDescriptor) {
	t.Helper()
	for _, s := range services(t) {
		if s.FullName() != agents {
			continue
		}
		for i := range s.Methods().Len() {
			all = append(all, s.Methods().Get(i))
		}
	}
	if len(all) < 11 {
		t.Fatalf("%d methods: these are not all", len(all))
	}
	return all
}

// effectOf is the word that the method's own package has for it: MOVES or DOES_NOT_MOVE. Empty: it is not marked.
func effectOf(m protoreflect.MethodDescriptor) (word protoreflect.Name) {
	m.Options().ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.FullName() == m.ParentFile().Package().Append("effect") && f.Enum() != nil {
			if e := f.Enum().Values().ByNumber(v.Enum()); e != nil {
				word = e.Name()
			}
		}
		return true
	})
	return word
}

// moving is what may begin a motion, by service: a second way to one needs a second look. A person's services move nothing.
var moving = map[protoreflect.FullName]string{
	agents:                         "Start",
	"interlock.v1.Operator":        "",
	"interlock.driver.v1.Driver":   "Send",
	"interlock.driver.v1.Operator": "",
	"interlock.driver.v1.Lab":      "Advance", // of a simulator, by whoever built the world
}

// Every method of every service, a person's and the driver's too, says whether it moves, and only those move that are
// known to.
//
// Verifies: T01, T39
func TestEveryMethodIsMarked(t *testing.T) {
	unseen := maps.Clone(moving)
	for _, s := range services(t) {
		want, known := moving[s.FullName()]
		if !known {
			t.Errorf("nobody has said what of %s may move", s.FullName())
		}
		delete(unseen, s.FullName())
		var moves []string
		for i := range s.Methods().Len() {
			m := s.Methods().Get(i)
			switch effect := effectOf(m); effect {
			case "MOVES":
				moves = append(moves, string(m.Name()))
			case "DOES_NOT_MOVE":
			default:
				t.Errorf("%s is marked %q", m.FullName(), effect)
			}
			if m.IsStreamingClient() {
				t.Errorf("%s takes a stream: a request is one message, read whole before anything is done", m.FullName())
			}
		}
		if got := strings.Join(moves, " "); got != want {
			t.Errorf("the methods of %s that move are %q, want %q", s.FullName(), got, want)
		}
	}
	for s := range unseen {
		t.Errorf("there is no service %s", s)
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
