package connect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	rpc "connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	contractv1 "interlock/contract/v1"
	"interlock/contract/v1/contractv1connect"
	"interlock/reject"
	"interlock/transport/transporttest"
)

// browser is an HTTP client of one's own, as a peer has.
func browser(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	var p http.Protocols
	p.SetHTTP1(!http2)
	p.SetUnencryptedHTTP2(http2)
	line := &http.Transport{Protocols: &p, DialContext: new(net.Dialer).DialContext}
	t.Cleanup(line.CloseIdleConnections)
	return &http.Client{Transport: withToken{line}}
}

type withToken struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+secret)
	return w.next.RoundTrip(r)
}

// The generated client of each protocol gets the same replies, events and refusals from the one handler.
//
// Verifies: T04
func TestEveryProtocolSaysTheSame(t *testing.T) {
	addr := "http://" + serve(t, "127.0.0.1:0", &echo{}, options())
	for name, c := range map[string]struct {
		http2   bool
		options []rpc.ClientOption
	}{
		"Connect":            {true, nil},
		"Connect JSON":       {true, []rpc.ClientOption{rpc.WithProtoJSON()}},
		"Connect, HTTP/1.1":  {false, []rpc.ClientOption{rpc.WithProtoJSON()}},
		"gRPC":               {true, []rpc.ClientOption{rpc.WithGRPC()}},
		"gRPC JSON":          {true, []rpc.ClientOption{rpc.WithGRPC(), rpc.WithProtoJSON()}},
		"gRPC-Web":           {true, []rpc.ClientOption{rpc.WithGRPCWeb()}},
		"gRPC-Web, HTTP/1.1": {false, []rpc.ClientOption{rpc.WithGRPCWeb()}},
	} {
		t.Run(name, func(t *testing.T) {
			client := contractv1connect.NewRobotClient(browser(t, c.http2), addr, c.options...)
			ack, err := client.Start(t.Context(), &contractv1.StartRequest{MissionId: "m1", ArgsJson: []byte(`{}`)})
			if err != nil || ack.GetMissionId() != "m1" || string(ack.GetNormalizedArgsJson()) != "{}" {
				t.Errorf("start: %v, %v", ack, err)
			}
			stream, err := client.Events(t.Context(), &contractv1.EventsRequest{MissionId: "m1", FromSeq: 2})
			if err != nil {
				t.Fatal(err)
			}
			var seqs []uint64
			for stream.Receive() {
				seqs = append(seqs, stream.Msg().GetSeq())
			}
			if err := errors.Join(stream.Err(), stream.Close()); err != nil || len(seqs) != 2 || seqs[0] != 2 || seqs[1] != 3 {
				t.Errorf("events %v, %v", seqs, err)
			}
			_, err = client.OpenTask(t.Context(), &contractv1.OpenTaskRequest{Words: strings.Repeat("x", 70_000)})
			wantDetail(t, err, rpc.CodeInvalidArgument, reject.TooLarge, "words")
			reply, err := client.AcquireLease(t.Context(), &contractv1.AcquireLeaseRequest{Resource: "arm", Holder: "me"})
			if err != nil || reply.GetLease().GetResource() != "arm" || reply.GetLease().GetHolder() != "me" {
				t.Errorf("lease: %v, %v", reply, err)
			}
		})
	}
}

// wantDetail wants an error of the status with one Rejection as its detail.
func wantDetail(t *testing.T, err error, status rpc.Code, code reject.Code, field string) {
	t.Helper()
	var e *rpc.Error
	if !errors.As(err, &e) || e.Code() != status || len(e.Details()) != 1 {
		t.Fatalf("error %v, want %v with one detail", err, status)
	}
	v, err := e.Details()[0].Value()
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := v.(*contractv1.Rejection); !ok || r.GetCode() != string(code) || r.GetField() != field {
		t.Errorf("detail %v, want %s of %s", v, code, field)
	}
}

// post is what curl does.
func post(t *testing.T, c *http.Client, url, contentType, body string) (status int, reply []byte, h http.Header) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", contentType)
	r, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	reply, err = io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, reply, r.Header
}

// JSON by POST is all it takes, and a refusal can be read without any library.
//
// Verifies: T04
func TestPlainJSONByPost(t *testing.T) {
	server := &echo{}
	base := "http://" + serve(t, "127.0.0.1:0", server, options()) + "/interlock.v1.Robot/"
	c := browser(t, false)
	status, reply, _ := post(t, c, base+"Observe", "application/json", `{}`)
	var o struct{ AtMs string }
	if err := json.Unmarshal(reply, &o); err != nil || status != http.StatusOK || o.AtMs != "7" {
		t.Errorf("observe: %d %s, %v", status, reply, err)
	}
	asked := server.asked.Load()
	status, reply, _ = post(t, c, base+"Start", "application/json", `{"missionId":"m1","speed":1}`)
	var e struct {
		Code    string
		Details []struct {
			Type  string
			Debug struct{ Code, Field string }
		}
	}
	if err := json.Unmarshal(reply, &e); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusBadRequest || e.Code != "invalid_argument" || len(e.Details) != 1 || e.Details[0].Type != "interlock.v1.Rejection" ||
		e.Details[0].Debug.Code != "UNKNOWN_ARGUMENT" || e.Details[0].Debug.Field != "speed" {
		t.Errorf("an unknown field: %d %s", status, reply)
	}
	for _, path := range []string{"Reset", "start", "Start/", "../interlock.v1.Robot/Nothing", ""} {
		if status, reply, _ := post(t, c, base+path, "application/json", `{}`); status != http.StatusNotFound {
			t.Errorf("%q: %d %s", path, status, reply)
		}
	}
	if server.asked.Load() != asked {
		t.Error("the robot heard of what was refused")
	}
}

// reflected are the services a server tells of itself, with their methods.
func reflected(t *testing.T, base string) (methods []protoreflect.MethodDescriptor) {
	t.Helper()
	c := grpcreflect.NewClient(browser(t, true), base)
	stream := c.NewStream(t.Context())
	defer func() { _, _ = stream.Close() }()
	services, err := stream.ListServices()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range services {
		if strings.HasPrefix(string(s), "grpc.reflection.") {
			continue
		}
		files, err := stream.FileContainingSymbol(s)
		if err != nil {
			t.Fatal(err)
		}
		d, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: files})
		if err != nil {
			t.Fatal(err)
		}
		found, err := d.FindDescriptorByName(s)
		if err != nil {
			t.Fatal(err)
		}
		service, ok := found.(protoreflect.ServiceDescriptor)
		if !ok {
			t.Fatalf("%s is no service", s)
		}
		for i := range service.Methods().Len() {
			methods = append(methods, service.Methods().Get(i))
		}
	}
	return methods
}

// Every method that the server tells of, called by an agent with everything and with nothing, leaves a latched stop as
// it is.
//
// Verifies: T02, T05
func TestNoReflectedMethodResetsAStop(t *testing.T) {
	robot, latch := transporttest.Stopped(t)
	base := "http://" + serve(t, "127.0.0.1:0", robot, options())
	before := latch()
	if !before.Stopped {
		t.Fatal("the robot is not stopped")
	}
	methods := reflected(t, base)
	if len(methods) != contractv1.File_robot_service_proto.Services().Get(0).Methods().Len() {
		t.Fatalf("%d methods are told of", len(methods))
	}
	for _, m := range methods {
		in, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
		if err != nil {
			t.Fatal(err)
		}
		full := in.New()
		fields := full.Descriptor().Fields() // those of the program, not of what was reflected
		for i := range fields.Len() {
			if f := fields.Get(i); f.Kind() == protoreflect.StringKind && !f.IsList() {
				full.Set(f, protoreflect.ValueOfString("home"))
			} else if f.Kind() == protoreflect.BoolKind {
				full.Set(f, protoreflect.ValueOfBool(true))
			}
		}
		for _, q := range []proto.Message{in.New().Interface(), full.Interface()} {
			wire, err := proto.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			contentType := "application/proto"
			if m.IsStreamingServer() {
				contentType = "application/connect+proto"
				wire = append([]byte{0, 0, 0, 0, byte(len(wire))}, wire...)
			}
			path := base + "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
			if status, reply, _ := post(t, browser(t, false), path, contentType, string(wire)); status == http.StatusNotFound {
				t.Errorf("%s is told of and does not exist: %s", m.Name(), reply)
			}
			if latch() != before {
				t.Fatalf("%s changed the latch from %+v to %+v", m.FullName(), before, latch())
			}
		}
	}
}

// A robot that panics fails that call, says nothing of itself, and answers the next.
//
// Verifies: T06
func TestAPanicFailsOneCall(t *testing.T) {
	first := true
	server := &echo{start: func(context.Context) (*contractv1.MissionAck, error) {
		if first {
			first = false
			panic("secret of the robot")
		}
		return &contractv1.MissionAck{Accepted: true}, nil
	}}
	url := "http://" + serve(t, "127.0.0.1:0", server, options()) + "/interlock.v1.Robot/Start"
	c := browser(t, false)
	if status, reply, _ := post(t, c, url, "application/json", `{}`); status != http.StatusInternalServerError || bytes.Contains(reply, []byte("secret")) {
		t.Errorf("a panic was answered with %d %s", status, reply)
	}
	if status, reply, _ := post(t, c, url, "application/json", `{}`); status != http.StatusOK {
		t.Errorf("the next call was answered with %d %s", status, reply)
	}
}
